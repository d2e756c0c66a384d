#include "gpu/hip/hip_runtime.h"

#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "gpu/hip/kernels.h"
#include "machine/pci_link.h"
#include "machine/tree.h"
#include "placement/kept_cpus.h"

namespace numatlas::hip {
namespace {

void* pointer_of(DeviceAddress address) {
  return reinterpret_cast<void*>(static_cast<std::uintptr_t>(address));
}
DeviceAddress address_of(void* pointer) {
  return static_cast<DeviceAddress>(reinterpret_cast<std::uintptr_t>(pointer));
}

}  // namespace

HipRuntime::HipRuntime(std::unique_ptr<HipApi> api, Compiler compiler, DriverWords words, int count)
    : VendorRuntime("hip", std::move(words)),
      api_(std::move(api)),
      compiler_(std::move(compiler)),
      loaded_(static_cast<std::size_t>(count)) {
  int version = 0;
  // 50221153 is 5.2.21153: major * 10^7 + minor * 10^5 + patch.
  description_ =
      call(api_->version, &version)
          ? fmt::format("{} {}.{}", words_.driver, version / 10'000'000, version / 100'000 % 100)
          : words_.driver;
  for (int index = 0; index < count; ++index) read_device(index);
}

/// What one device does not say leaves the others as they are.
void HipRuntime::read_device(int index) {
  DeviceInfo& info = devices_.emplace_back();
  info.name = fmt::format("GPU {} (the driver does not tell its name)", index);
  std::array<char, 256> text{};
  const auto room = static_cast<int>(text.size() - 1);
  if (call(api_->device_name, text.data(), room, index) && text[0] != '\0') info.name = text.data();
  text = {};
  if (call(api_->device_pci, text.data(), room, index)) {
    info.pci_address = sysfs_pci_address(text.data());
  }
  std::size_t bytes = 0;
  if (call(api_->device_memory, &bytes, index)) info.memory = Bytes{bytes};
  const auto attribute = [&](int which) {
    int value = 0;
    return call(api_->device_attribute, &value, which, index) ? value : 0;
  };
  // Releases that do not know the number of engines say 0.
  const int engines = attribute(attribute_async_engine_count);
  if (engines > 0) info.copy_engines = engines;
  info.maps_host_memory = attribute(attribute_can_map_host_memory) != 0;
  info.managed_memory = attribute(attribute_managed_memory) != 0;
}

const char* HipRuntime::error_name(int code) const {
  return api_->error_name == nullptr ? nullptr : api_->error_name(code);
}

Expected<void> HipRuntime::make_current(int device) {
  const KeptCpus kept;
  return call(api_->set_device, device);
}

Expected<DeviceAddress> HipRuntime::allocate(int device, Bytes bytes) {
  void* start = nullptr;
  return call_on(device, api_->malloc, &start, bytes.value).map([&] { return address_of(start); });
}

Expected<void> HipRuntime::free(int device, DeviceAddress address) {
  return call_on(device, api_->free, pointer_of(address));
}

Expected<void> HipRuntime::pin(int device, void* start, std::size_t bytes, bool mapped) {
  const unsigned flags = register_portable | (mapped ? register_mapped : 0U);
  return pin_on(device, api_->host_register, start, bytes, flags);
}

Expected<void> HipRuntime::unpin(int device, void* start) {
  return call_on(device, api_->host_unregister, start);
}

Expected<void*> HipRuntime::allocate_pinned(int device, Bytes bytes) {
  void* start = nullptr;
  return call_on(device, api_->host_malloc, &start, bytes.value,
                 malloc_portable | malloc_mapped | malloc_by_policy)
      .map([&] { return start; });
}

Expected<void> HipRuntime::free_pinned(int device, void* start) {
  return call_on(device, api_->host_free, start);
}

Expected<void*> HipRuntime::allocate_managed(int device, Bytes bytes) {
  void* start = nullptr;
  return call_on(device, api_->managed_malloc, &start, bytes.value, managed_attach_global).map([&] {
    return start;
  });
}

Expected<void> HipRuntime::free_managed(int device, void* start) {
  return call_on(device, api_->free, start);
}

Expected<DeviceAddress> HipRuntime::mapped_address(int device, void* start) {
  void* there = nullptr;
  return call_on(device, api_->host_address, &there, start, 0U).map([&] {
    return address_of(there);
  });
}

Expected<StreamHandle> HipRuntime::create_stream(int device) {
  Stream stream = nullptr;
  return call_on(device, api_->stream_create, &stream, stream_non_blocking).map([&] {
    return stream;
  });
}

Expected<void> HipRuntime::destroy_stream(int device, StreamHandle stream) {
  return call_on(device, api_->stream_destroy, stream);
}

Expected<void> HipRuntime::wait_for_stream(int device, StreamHandle stream) {
  return call_on(device, api_->stream_wait, stream);
}

Expected<void> HipRuntime::copy(int device, StreamHandle stream, CopyWay way, DeviceAddress address,
                                void* host, std::size_t bytes) {
  void* const there = pointer_of(address);
  switch (way) {
    case CopyWay::host_to_device:
      return call_on(device, api_->copy, there, host, bytes, copy_to_device, stream);
    case CopyWay::device_to_host:
      return call_on(device, api_->copy, host, there, bytes, copy_to_host, stream);
    case CopyWay::within_device: break;
  }
  return call_on(device, api_->copy, there, host, bytes, copy_within, stream);
}

Expected<void> HipRuntime::copy_between(int stream_device, StreamHandle stream, int to,
                                        DeviceAddress to_address, int from,
                                        DeviceAddress from_address, std::size_t bytes) {
  for (int device : {to, from}) {
    TRY(check(device));
  }
  // Its addresses say which devices they are of.
  return call_on(stream_device, api_->copy, pointer_of(to_address), pointer_of(from_address), bytes,
                 to == from ? copy_within : copy_any, stream);
}

Expected<void> HipRuntime::fill(int device, StreamHandle stream, DeviceAddress address,
                                std::uint8_t byte, std::size_t bytes) {
  return call_on(device, api_->fill, pointer_of(address), byte, bytes, stream);
}

Expected<EventHandle> HipRuntime::create_event(int device, bool sleeps) {
  Event event = nullptr;
  return call_on(device, api_->event_create, &event, sleeps ? event_blocking_sync : event_default)
      .map([&] { return event; });
}

Expected<void> HipRuntime::destroy_event(int device, EventHandle event) {
  return call_on(device, api_->event_destroy, event);
}

Expected<void> HipRuntime::record(int device, EventHandle event, StreamHandle stream) {
  return call_on(device, api_->event_record, event, stream);
}

Expected<void> HipRuntime::wait_for_event(int device, EventHandle event) {
  return call_on(device, api_->event_wait, event);
}

Expected<void> HipRuntime::stream_waits(int device, StreamHandle stream, EventHandle event) {
  return call_on(device, api_->stream_wait_event, stream, event, 0U);
}

Expected<double> HipRuntime::elapsed(int device, EventHandle start, EventHandle end) {
  constexpr double seconds_in_one = 1e-3;
  float milliseconds = 0;
  return call_on(device, api_->event_elapsed, &milliseconds, start, end).map([&] {
    return static_cast<double>(milliseconds) * seconds_in_one;
  });
}

Expected<bool> HipRuntime::can_reach_peer(int device, int peer) {
  TRY(check(peer));
  int can = 0;
  return call_on(device, api_->can_access_peer, &can, device, peer).map([&] { return can != 0; });
}

Expected<void> HipRuntime::reach_peer(int device, int peer) {
  TRY(check(peer));
  TRY(enter(device));
  return peer_on(api_->enable_peer, peer);
}

/// The kernel's driver tells of the clock, and of what holds it down only in forms that differ from
/// one GPU to the next.
std::optional<DeviceState> HipRuntime::state(int device) {
  if (!check(device)) return std::nullopt;
  const auto frequency =
      gpu_frequency(Tree(""), devices_[static_cast<std::size_t>(device)].pci_address);
  if (!frequency) return std::nullopt;
  return DeviceState{frequency, ""};
}

Expected<FunctionHandle> HipRuntime::kernel(int device, const std::string& name) {
  TRY(enter(device));
  Loaded& one = loaded_[static_cast<std::size_t>(device)];
  const std::lock_guard lock(one.mutex);
  if (one.module == nullptr) {
    const KeptCpus kept;
    // For the device that is current.
    const auto code = TRY(compiler_.compile(kernels_source));
    Module module = nullptr;
    const void* const image = code.data();
    TRY(call(api_->module_load, &module, image));
    one.module = module;
  }
  return kernel_of(api_->module_function, one.module, name);
}

Expected<void> HipRuntime::launch(int device, StreamHandle stream, FunctionHandle function,
                                  unsigned blocks, unsigned threads, void** arguments) {
  void** const no_extra = nullptr;
  return call_on(device, api_->launch, function, blocks, 1U, 1U, threads, 1U, 1U, 0U, stream,
                 arguments, no_extra);
}

}  // namespace numatlas::hip
