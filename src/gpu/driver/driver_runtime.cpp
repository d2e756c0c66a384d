// DeviceRuntime over the calls of either vendor's driver.
#include <algorithm>
#include <array>
#include <atomic>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <deque>
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

/// The device that the calling thread made current last, and whose. Drivers keep it by thread.
struct CurrentDevice {
  const void* driver = nullptr;
  int device = -1;
};
thread_local CurrentDevice current_device;

}  // namespace

/// Calls with their errors in words, and the device that a call is for made current in the calling
/// thread. Contexts are retained when a device is first used and kept to the process's end: the
/// driver's own exit handler gives them back, and calls after it would fail.
class DeviceRuntime::Driver {
 public:
  Driver(std::unique_ptr<DriverApi> its_api, Vendor its_vendor, int count)
      : api_(std::move(its_api)), vendor(std::move(its_vendor)), api(*api_) {
    int version = 0;
    description = vendor.words.driver;
    if (call(api.version, &version)) description += " " + vendor.version_text(version);
    for (int index = 0; index < count; ++index) read_device(index);
  }

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
  /// One call for a device.
  template <class... Parameters, class... Arguments>
  Expected<void> call_on(int device, const Entry<Parameters...>& entry, Arguments... arguments) {
    TRY(enter(device));
    return call(entry, arguments...);
  }
  /// One call for a device, which gives a value by its first parameter.
  template <class Value, class... Parameters, class... Arguments>
  Expected<Value> value_on(int device, const Entry<Value*, Parameters...>& entry,
                           Arguments... arguments) {
    Value value{};
    TRY(call_on(device, entry, &value, arguments...));
    return value;
  }
  /// What a call made for a device, which another one destroys. A lost device has nothing to
  /// destroy.
  std::shared_ptr<void> owned(int device, DriverApi::Handle handle,
                              const Entry<DriverApi::Handle>& destroy) {
    return {handle, [this, device, &destroy](DriverApi::Handle made) {
              (void)call_on(device, destroy, made);
            }};
  }
  /// Makes a device current in the calling thread.
  Expected<void> enter(int device) {
    TRY(check(device));
    if (current_device.driver == this && current_device.device == device) return {};
    current_device = {};
    const KeptCpus kept;
    if (api.has_contexts()) {
      const auto context = TRY(context_of(device));
      TRY(call(api.context_set, context));
    } else {
      TRY(call(api.device_set, device));
    }
    current_device = {this, device};
    return {};
  }
  Expected<void> check(int device) const {
    if (device >= 0 && device < static_cast<int>(devices.size())) return {};
    return fail(ErrorKind::unavailable,
                fmt::format("{}: it has no device {}", vendor.words.driver, device));
  }
  Expected<DriverApi::Device> handle_of(int device) {
    TRY(check(device));
    Used& one = used(device);
    const std::lock_guard lock(one.mutex);
    if (one.handle < 0) {
      TRY(call(api.device_get, &one.handle, device));
    }
    return one.handle;
  }
  Expected<DriverApi::Handle> context_of(int device) {
    TRY(check(device));
    Used& one = used(device);
    if (const DriverApi::Handle known = one.context.load()) return known;
    const auto handle = TRY(handle_of(device));
    const std::lock_guard lock(one.mutex);
    if (const DriverApi::Handle known = one.context.load()) return known;
    const KeptCpus kept;
    DriverApi::Handle context = nullptr;
    TRY(call(api.context_retain, &context, handle));
    one.context = context;
    return context;
  }
  /// The kernels of a device, which is current.
  Expected<DriverApi::Handle> module_of(int device) {
    Used& one = used(device);
    const std::lock_guard lock(one.mutex);
    if (one.module != nullptr) return one.module;
    const KeptCpus kept;
    const auto code = TRY(vendor.kernels());
    DriverApi::Handle module = nullptr;
    const void* const image = code.data();
    TRY(call(api.module_load, &module, image));
    return one.module = module;
  }
  /// The current device reaches a peer; that it does so already is no error.
  template <class Peer>
  Expected<void> reach(const Entry<Peer, unsigned>& entry, Peer peer) const {
    const int code = TRY(answer(entry, peer, 0U));
    if (code != 0 && code != driver_code::peer_already) return fail(error_of(entry.symbol, code));
    return {};
  }
  Error error_of(const char* symbol, int code) const {
    return call_error(vendor.words, symbol, code, api_->error_name(code));
  }

 private:
  struct Used {
    std::mutex mutex;
    DriverApi::Device handle = -1;  ///< -1: the driver would not say
    std::atomic<DriverApi::Handle> context{nullptr};
    DriverApi::Handle module = nullptr;  ///< of the kernels
  };

  Used& used(int device) { return used_[static_cast<std::size_t>(device)]; }
  void read_device(int index);

  std::unique_ptr<DriverApi> api_;
  std::deque<Used> used_;  // never moved: mutexes

 public:
  Vendor vendor;
  const DriverApi& api;
  std::string description;
  std::vector<DeviceInfo> devices;
};

/// What one device does not say leaves the others as they are.
void DeviceRuntime::Driver::read_device(int index) {
  used_.emplace_back();
  DeviceInfo& info = devices.emplace_back();
  info.name = fmt::format("GPU {} (the driver does not tell its name)", index);
  const auto handle = handle_of(index);
  if (!handle) return;
  std::array<char, 256> text{};
  const auto room = static_cast<int>(text.size() - 1);
  if (call(api.device_name, text.data(), room, *handle) && text[0] != '\0') info.name = text.data();
  text = {};
  if (call(api.device_pci, text.data(), room, *handle))
    info.pci_address = sysfs_pci_address(text.data());
  std::size_t bytes = 0;
  if (call(api.device_memory, &bytes, *handle)) info.memory = Bytes{bytes};
  const auto attribute = [&](int which) {
    int value = 0;
    return call(api.device_attribute, &value, which, *handle) ? value : 0;
  };
  const Vendor::Attributes& number = vendor.attributes;
  // Releases of HIP that do not know the number of engines say 0.
  const int engines = attribute(number.copy_engines);
  if (engines > 0) info.copy_engines = engines;
  info.maps_host_memory = attribute(number.maps_host_memory) != 0;
  info.multiprocessors = std::max(1, attribute(number.multiprocessors));
  info.threads = std::max(1, attribute(number.threads));
  const int cache = attribute(number.shared_cache);
  if (cache > 0) info.shared_cache = Bytes{static_cast<std::uint64_t>(cache)};
  // Two transfers a clock. Of GDDR memory AMD's driver gives another clock, and of that no multiple
  // holds; HBM has wide buses.
  constexpr int least_of_hbm = 1024;
  const int width = attribute(number.bus_width);
  const double rate = 1e3 * attribute(number.memory_clock) * 2 * width / 8;
  if (rate > 0 && (api.has_contexts() || width >= least_of_hbm)) info.peak_bandwidth = rate;
  info.mig = vendor.is_slice && vendor.is_slice(info.pci_address);
}

DeviceRuntime::DeviceRuntime(std::unique_ptr<DriverApi> api, Vendor vendor, int count)
    : driver_(std::make_unique<Driver>(std::move(api), std::move(vendor), count)) {}
DeviceRuntime::~DeviceRuntime() = default;

const std::string& DeviceRuntime::name() const { return driver_->vendor.name; }
const std::string& DeviceRuntime::description() const { return driver_->description; }
const std::vector<DeviceInfo>& DeviceRuntime::devices() const { return driver_->devices; }

Expected<DeviceAddress> DeviceRuntime::allocate(int device, Bytes bytes) {
  return driver_->value_on(device, driver_->api.alloc, bytes.value);
}

Expected<void> DeviceRuntime::free(int device, DeviceAddress address) {
  return driver_->call_on(device, driver_->api.free, address);
}

Expected<void> DeviceRuntime::pin(int device, void* start, std::size_t bytes, bool mapped) {
  const auto& entry = driver_->api.host_register;
  TRY(driver_->enter(device));
  const int code = TRY(
      driver_->answer(entry, start, bytes, register_portable | (mapped ? register_mapped : 0U)));
  if (code == 0) return {};
  Error error = driver_->error_of(entry.symbol, code);
  if (code == driver_code::invalid_value) {
    error.kind = ErrorKind::unavailable;
    error.hint = "the driver does not pin this memory; that of files and devices often is so";
  }
  return fail(std::move(error));
}

Expected<void> DeviceRuntime::unpin(int device, void* start) {
  return driver_->call_on(device, driver_->api.host_unregister, start);
}

Expected<DeviceAddress> DeviceRuntime::mapped_address(int device, void* start) {
  return driver_->value_on(device, driver_->api.host_address, start, 0U);
}

Expected<StreamHandle> DeviceRuntime::create_stream(int device) {
  const DriverApi& api = driver_->api;
  const auto stream = TRY(driver_->value_on(device, api.stream_create, stream_non_blocking));
  return driver_->owned(device, stream, api.stream_destroy);
}

Expected<void> DeviceRuntime::wait_for_stream(int device, const StreamHandle& stream) {
  return driver_->call_on(device, driver_->api.stream_wait, stream.get());
}

Expected<void> DeviceRuntime::copy(int device, const StreamHandle& stream, CopyWay way,
                                   DeviceAddress address, void* host, std::size_t bytes) {
  const DriverApi& api = driver_->api;
  switch (way) {
    case CopyWay::host_to_device:
      return driver_->call_on(device, api.to_device, address, host, bytes, stream.get());
    case CopyWay::device_to_host:
      return driver_->call_on(device, api.to_host, host, address, bytes, stream.get());
    case CopyWay::device_to_device: break;
  }
  // All GPUs of a driver have one space of addresses.
  return driver_->call_on(device, api.between, address, reinterpret_cast<DeviceAddress>(host),
                          bytes, stream.get());
}

Expected<void> DeviceRuntime::fill(int device, const StreamHandle& stream, DeviceAddress address,
                                   std::uint8_t byte, std::size_t bytes) {
  return driver_->call_on(device, driver_->api.fill, address, byte, bytes, stream.get());
}

Expected<EventHandle> DeviceRuntime::create_event(int device, bool sleeps) {
  const DriverApi& api = driver_->api;
  const auto event = TRY(
      driver_->value_on(device, api.event_create, sleeps ? event_blocking_sync : event_default));
  return driver_->owned(device, event, api.event_destroy);
}

Expected<void> DeviceRuntime::record(int device, const EventHandle& event,
                                     const StreamHandle& stream) {
  return driver_->call_on(device, driver_->api.event_record, event.get(), stream.get());
}

Expected<void> DeviceRuntime::wait_for_event(int device, const EventHandle& event) {
  return driver_->call_on(device, driver_->api.event_wait, event.get());
}

Expected<double> DeviceRuntime::elapsed(int device, const EventHandle& start,
                                        const EventHandle& end) {
  constexpr double seconds_in_one = 1e-3;
  const float milliseconds =
      TRY(driver_->value_on(device, driver_->api.event_elapsed, start.get(), end.get()));
  return static_cast<double>(milliseconds) * seconds_in_one;
}

Expected<bool> DeviceRuntime::can_reach_peer(int device, int peer) {
  const auto handle = TRY(driver_->handle_of(device));
  const auto peers = TRY(driver_->handle_of(peer));
  return driver_->value_on(device, driver_->api.can_access_peer, handle, peers).map([](int can) {
    return can != 0;
  });
}

Expected<void> DeviceRuntime::reach_peer(int device, int peer) {
  const DriverApi& api = driver_->api;
  if (!api.has_contexts()) {
    const auto handle = TRY(driver_->handle_of(peer));
    TRY(driver_->enter(device));
    return driver_->reach(api.enable_peer_device, handle);
  }
  const auto context = TRY(driver_->context_of(peer));
  TRY(driver_->enter(device));
  return driver_->reach(api.enable_peer, context);
}

std::optional<DeviceState> DeviceRuntime::state(int device) {
  if (!driver_->check(device)) return std::nullopt;
  return driver_->vendor.state(devices()[static_cast<std::size_t>(device)].pci_address);
}

Expected<FunctionHandle> DeviceRuntime::kernel(int device, const std::string& name) {
  TRY(driver_->enter(device));
  const auto module = TRY(driver_->module_of(device));
  const std::string symbol = kernel_prefix + name;
  FunctionHandle found = nullptr;
  const auto got = driver_->call(driver_->api.module_function, &found, module, symbol.c_str());
  if (got) return found;
  Error error = got.error();
  error.message += ": " + symbol;
  return fail(std::move(error));
}

Expected<void> DeviceRuntime::launch(int device, const StreamHandle& stream,
                                     FunctionHandle function, unsigned blocks, unsigned threads,
                                     void** arguments) {
  void** const no_extra = nullptr;
  return driver_->call_on(device, driver_->api.launch, function, blocks, 1U, 1U, threads, 1U, 1U,
                          0U, stream.get(), arguments, no_extra);
}

RuntimeState unusable(const std::string& name, std::string message, std::string hint) {
  return {name, nullptr, Error{ErrorKind::unavailable, std::move(message), std::move(hint)}};
}

bool is_absent(const Library& library, const std::string& name) {
  return library.problem().starts_with(name + ": cannot open shared object file: No such file");
}

RuntimeState start_driver(const Library& library, Vendor vendor) {
  auto api = std::make_unique<DriverApi>(library, vendor.call_names);
  if (const std::string& missing = api->symbols.missing(); !missing.empty())
    return unusable(vendor.name, fmt::format("{} has no {}", vendor.library, missing),
                    vendor.later_version);
  const auto failed = [&](const char* call, int code) {
    const auto [why, hint] = vendor.start_problem(code);
    const Error error = call_error(vendor.words, call, code, api->error_name(code));
    return unusable(vendor.name, fmt::format("{}: {}", error.message, why), hint);
  };
  if (const int code = api->init.function(0); code != 0) return failed(api->init.symbol, code);
  int count = 0;
  int code = api->device_count.function(&count);
  if (code == 0 && count == 0) code = driver_code::no_device;
  if (code != 0) return failed(api->device_count.symbol, code);
  std::string name = vendor.name;
  return {std::move(name),
          std::make_unique<DeviceRuntime>(std::move(api), std::move(vendor), count),
          {}};
}

}  // namespace numatlas
