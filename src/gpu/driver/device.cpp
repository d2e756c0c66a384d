// Device over the calls of either vendor's driver.
#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "gpu/driver/driver_api.h"
#include "gpu/runtime.h"
#include "placement/kept_cpus.h"

namespace numatlas {
namespace {

using namespace driver_flag;

/// "0000:41:00.0" of what a driver says ("00000000:41:00.0", "0000:C1:00.0"): as sysfs has it.
std::string sysfs_pci_address(std::string address) {
  std::transform(address.begin(), address.end(), address.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (std::count(address.begin(), address.end(), ':') == 1) address.insert(0, "0000:");
  // Four digits of the domain, more only where they count.
  constexpr std::size_t digits = 4;
  std::size_t domain = address.find(':');
  while (domain != std::string::npos && domain > digits && address.front() == '0') {
    address.erase(0, 1);
    --domain;
  }
  return address;
}

/// The device that the calling thread made current last. Drivers keep it by thread.
thread_local const Device* current_device = nullptr;

}  // namespace

/// A driver's calls with their errors in words.
struct Driver {
  Driver(const Library& library, Vendor its_vendor)
      : vendor(std::move(its_vendor)), api(library, vendor.call_names) {}

  /// What the driver answers to a call, 0 for success; an error where it has no such call.
  template <class... Parameters, class... Arguments>
  Expected<int> answer(const Entry<Parameters...>& entry, Arguments... arguments) const {
    if (entry.function != nullptr) return entry.function(arguments...);
    return fail(ErrorKind::unavailable,
                fmt::format("the {} has no {}", vendor.words.driver, call_name(entry.symbol)),
                "a later driver may have it");
  }
  /// One call for no device, or for the one that is current.
  template <class... Parameters, class... Arguments>
  Expected<void> call(const Entry<Parameters...>& entry, Arguments... arguments) const {
    const int code = TRY(answer(entry, arguments...));
    if (code != 0) return fail(error_of(entry.symbol, code));
    return {};
  }
  /// The current device reaches a peer; that it does so already is no error.
  template <class Peer>
  Expected<void> reach(const Entry<Peer, unsigned>& entry, Peer peer) const {
    const int code = TRY(answer(entry, peer, 0U));
    if (code != 0 && code != driver_code::peer_already) return fail(error_of(entry.symbol, code));
    return {};
  }
  Error error_of(const char* symbol, int code) const {
    return call_error(vendor.words, symbol, code, api.error_name(code));
  }

  Vendor vendor;
  DriverApi api;
};

Device::Device(std::shared_ptr<const Driver> driver, int number)
    : driver_(std::move(driver)), number_(number) {
  read_info();
}

/// What one device does not say leaves the others as they are.
void Device::read_info() {
  info_.name = fmt::format("GPU {} (the driver does not tell its name)", number_);
  const auto its_handle = handle();
  if (!its_handle) return;
  const DriverApi& api = driver_->api;
  std::array<char, 256> text{};
  const auto room = static_cast<int>(text.size() - 1);
  if (driver_->call(api.device_name, text.data(), room, *its_handle) && text[0] != '\0')
    info_.name = text.data();
  text = {};
  if (driver_->call(api.device_pci, text.data(), room, *its_handle))
    info_.pci_address = sysfs_pci_address(text.data());
  std::size_t bytes = 0;
  if (driver_->call(api.device_memory, &bytes, *its_handle)) info_.memory = Bytes{bytes};
  const auto attribute = [&](int which) {
    int value = 0;
    return driver_->call(api.device_attribute, &value, which, *its_handle) ? value : 0;
  };
  const Vendor& vendor = driver_->vendor;
  const Vendor::Attributes& number = vendor.attributes;
  // Releases of HIP that do not know the number of engines say 0.
  const int engines = attribute(number.copy_engines);
  if (engines > 0) info_.copy_engines = engines;
  info_.maps_host_memory = attribute(number.maps_host_memory) != 0;
  info_.multiprocessors = std::max(1, attribute(number.multiprocessors));
  info_.threads = std::max(1, attribute(number.threads));
  const int cache = attribute(number.shared_cache);
  if (cache > 0) info_.shared_cache = Bytes{static_cast<std::uint64_t>(cache)};
  // Two transfers a clock. Of GDDR memory AMD's driver gives another clock, and of that no multiple
  // holds; HBM has wide buses.
  constexpr int least_of_hbm = 1024;
  const int width = attribute(number.bus_width);
  const double rate = 1e3 * attribute(number.memory_clock) * 2 * width / 8;
  if (rate > 0 && (api.has_contexts() || width >= least_of_hbm)) info_.peak_bandwidth = rate;
  info_.mig = vendor.is_slice && vendor.is_slice(info_.pci_address);
}

/// One call for this device.
template <class... Parameters, class... Arguments>
Expected<void> Device::call(const Entry<Parameters...>& entry, Arguments... arguments) {
  TRY(enter());
  return driver_->call(entry, arguments...);
}

/// One call for this device, which gives a value by its first parameter.
template <class Value, class... Parameters, class... Arguments>
Expected<Value> Device::value(const Entry<Value*, Parameters...>& entry, Arguments... arguments) {
  Value found{};
  TRY(call(entry, &found, arguments...));
  return found;
}

/// What a call made, which another one destroys. A lost device has nothing to destroy.
template <class Made>
std::shared_ptr<void> Device::owned(Made made, const Entry<Made>& destroy) {
  return {reinterpret_cast<void*>(made),
          [this, made, &destroy](void*) { (void)call(destroy, made); }};
}

Expected<void> Device::enter() {
  if (current_device == this) return {};
  current_device = nullptr;
  const KeptCpus kept;
  if (driver_->api.has_contexts()) {
    const auto its_context = TRY(context());
    TRY(driver_->call(driver_->api.context_set, its_context));
  } else {
    TRY(driver_->call(driver_->api.device_set, number_));
  }
  current_device = this;
  return {};
}

Expected<int> Device::handle() {
  const std::lock_guard lock(mutex_);
  if (handle_ < 0) {
    TRY(driver_->call(driver_->api.device_get, &handle_, number_));
  }
  return handle_;
}

Expected<void*> Device::context() {
  if (void* const known = context_.load()) return known;
  const auto its_handle = TRY(handle());
  const std::lock_guard lock(mutex_);
  if (void* const known = context_.load()) return known;
  const KeptCpus kept;
  void* found = nullptr;
  TRY(driver_->call(driver_->api.context_retain, &found, its_handle));
  context_ = found;
  return found;
}

/// The kernels of this device, which is current.
Expected<void*> Device::module() {
  const std::lock_guard lock(mutex_);
  if (module_ != nullptr) return module_;
  const KeptCpus kept;
  const auto code = TRY(driver_->vendor.kernels());
  void* loaded = nullptr;
  const void* const image = code.data();
  TRY(driver_->call(driver_->api.module_load, &loaded, image));
  return module_ = loaded;
}

Expected<MemoryHandle> Device::allocate(Bytes bytes) {
  const DeviceAddress memory = TRY(value(driver_->api.alloc, bytes.value));
  return owned(memory, driver_->api.free);
}

Expected<PinHandle> Device::pin(void* start, std::size_t bytes, bool mapped) {
  const auto& entry = driver_->api.host_register;
  TRY(enter());
  const int code = TRY(
      driver_->answer(entry, start, bytes, register_portable | (mapped ? register_mapped : 0U)));
  if (code == 0) return owned(start, driver_->api.host_unregister);
  Error error = driver_->error_of(entry.symbol, code);
  if (code == driver_code::invalid_value) {
    error.kind = ErrorKind::unavailable;
    error.hint = "the driver does not pin this memory; that of files and devices often is so";
  }
  return fail(std::move(error));
}

Expected<DeviceAddress> Device::mapped_address(void* start) {
  return value(driver_->api.host_address, start, 0U);
}

Expected<StreamHandle> Device::create_stream() {
  const auto stream = TRY(value(driver_->api.stream_create, stream_non_blocking));
  return owned(stream, driver_->api.stream_destroy);
}

Expected<void> Device::wait_for_stream(const StreamHandle& stream) {
  return call(driver_->api.stream_wait, stream.get());
}

Expected<void> Device::in_own_stream(
    const std::function<Expected<void>(const StreamHandle&)>& work) {
  const auto stream = TRY(create_stream());
  TRY(work(stream));
  return wait_for_stream(stream);
}

Expected<void> Device::copy(const StreamHandle& stream, CopyWay way, DeviceAddress address,
                            void* host, std::size_t bytes) {
  const DriverApi& api = driver_->api;
  switch (way) {
    case CopyWay::host_to_device: return call(api.to_device, address, host, bytes, stream.get());
    case CopyWay::device_to_host: return call(api.to_host, host, address, bytes, stream.get());
    case CopyWay::device_to_device: break;
  }
  // All GPUs of a driver have one space of addresses.
  return call(api.between, address, reinterpret_cast<DeviceAddress>(host), bytes, stream.get());
}

Expected<void> Device::fill(const StreamHandle& stream, DeviceAddress address, std::uint8_t byte,
                            std::size_t bytes) {
  return call(driver_->api.fill, address, byte, bytes, stream.get());
}

Expected<EventHandle> Device::create_event(bool sleeps) {
  const auto event =
      TRY(value(driver_->api.event_create, sleeps ? event_blocking_sync : event_default));
  return owned(event, driver_->api.event_destroy);
}

Expected<void> Device::record(const EventHandle& event, const StreamHandle& stream) {
  return call(driver_->api.event_record, event.get(), stream.get());
}

Expected<void> Device::wait_for_event(const EventHandle& event) {
  return call(driver_->api.event_wait, event.get());
}

Expected<double> Device::elapsed(const EventHandle& start, const EventHandle& end) {
  constexpr double seconds_in_one = 1e-3;
  const float milliseconds = TRY(value(driver_->api.event_elapsed, start.get(), end.get()));
  return static_cast<double>(milliseconds) * seconds_in_one;
}

Expected<bool> Device::can_reach(Device& peer) {
  const auto from = TRY(handle()), to = TRY(peer.handle());
  return TRY(value(driver_->api.can_access_peer, from, to)) != 0;
}

Expected<void> Device::reach(Device& peer) {
  const DriverApi& api = driver_->api;
  if (!api.has_contexts()) {
    const auto to = TRY(peer.handle());
    TRY(enter());
    return driver_->reach(api.enable_peer_device, to);
  }
  const auto to = TRY(peer.context());
  TRY(enter());
  return driver_->reach(api.enable_peer, to);
}

std::optional<DeviceState> Device::state() const {
  return driver_->vendor.state(info_.pci_address);
}

Expected<FunctionHandle> Device::kernel(const std::string& name) {
  TRY(enter());
  const auto kernels = TRY(module());
  const std::string symbol = kernel_prefix + name;
  FunctionHandle found = nullptr;
  const auto got = driver_->call(driver_->api.module_function, &found, kernels, symbol.c_str());
  if (got) return found;
  Error error = got.error();
  error.message += ": " + symbol;
  return fail(std::move(error));
}

Expected<void> Device::launch(const StreamHandle& stream, FunctionHandle function, unsigned blocks,
                              unsigned threads, void** arguments) {
  void** const no_extra = nullptr;
  return call(driver_->api.launch, function, blocks, 1U, 1U, threads, 1U, 1U, 0U, stream.get(),
              arguments, no_extra);
}

RuntimeState unusable(const std::string& name, std::string message, std::string hint) {
  RuntimeState state{name};
  state.problem = Error{ErrorKind::unavailable, std::move(message), std::move(hint)};
  return state;
}

bool is_absent(const Library& library, const std::string& name) {
  return library.problem().starts_with(name + ": cannot open shared object file: No such file");
}

RuntimeState start_driver(const Library& library, Vendor its_vendor) {
  const auto driver = std::make_shared<const Driver>(library, std::move(its_vendor));
  const Vendor& vendor = driver->vendor;
  const DriverApi& api = driver->api;
  if (const std::string& missing = api.symbols.missing(); !missing.empty())
    return unusable(vendor.name, fmt::format("{} has no {}", vendor.library, missing),
                    vendor.later_version);
  const auto failed = [&](const char* call, int code) {
    const auto [why, hint] = vendor.start_problem(code);
    return unusable(vendor.name, fmt::format("{}: {}", driver->error_of(call, code).message, why),
                    hint);
  };
  if (const int code = api.init.function(0); code != 0) return failed(api.init.symbol, code);
  int count = 0;
  int code = api.device_count.function(&count);
  if (code == 0 && count == 0) code = driver_code::no_device;
  if (code != 0) return failed(api.device_count.symbol, code);
  RuntimeState state{vendor.name, vendor.words.driver};
  int version = 0;
  if (driver->call(api.version, &version)) state.description += " " + vendor.version_text(version);
  for (int number = 0; number < count; ++number) state.devices.emplace_back(driver, number);
  return state;
}

}  // namespace numatlas
