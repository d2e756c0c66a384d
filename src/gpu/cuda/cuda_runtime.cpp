#include "gpu/cuda/cuda_runtime.h"

#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <optional>
#include <utility>

#include "gpu/cuda/kernels.h"
#include "placement/kept_cpus.h"

namespace numatlas::cuda {

CudaRuntime::CudaRuntime(std::unique_ptr<DriverApi> api, DriverWords words, int count)
    : VendorRuntime("cuda", std::move(words)), api_(std::move(api)) {
  int version = 0;
  // 12040 is 12.4.
  description_ = call(api_->driver_version, &version)
                     ? fmt::format("{} {}.{}", words_.driver, version / 1000, version % 1000 / 10)
                     : words_.driver;
  for (int index = 0; index < count; ++index) read_device(index);
}

/// What one device does not say leaves the others as they are.
void CudaRuntime::read_device(int index) {
  Used& used = used_.emplace_back();
  DeviceInfo& info = devices_.emplace_back();
  info.name = fmt::format("GPU {} (the driver does not tell its name)", index);
  Device device = -1;
  if (!call(api_->device_get, &device, index)) return;
  used.handle = device;
  std::array<char, 256> text{};
  const auto room = static_cast<int>(text.size() - 1);
  if (call(api_->device_name, text.data(), room, device)) info.name = text.data();
  text = {};
  if (call(api_->device_pci, text.data(), room, device)) {
    info.pci_address = sysfs_pci_address(text.data());
  }
  std::size_t bytes = 0;
  if (call(api_->device_memory, &bytes, device)) info.memory = Bytes{bytes};
  const auto attribute = [&](int which) -> std::optional<int> {
    int value = 0;
    if (!call(api_->device_attribute, &value, which, device)) return std::nullopt;
    return value;
  };
  info.copy_engines = attribute(attribute_async_engine_count);
  info.maps_host_memory = attribute(attribute_can_map_host_memory).value_or(0) != 0;
  info.managed_memory = attribute(attribute_managed_memory).value_or(0) != 0;
}

const char* CudaRuntime::error_name(int code) const {
  const char* name = nullptr;
  return api_->error_name.function(code, &name) == 0 ? name : nullptr;
}

Expected<Context> CudaRuntime::context_of(int device) {
  TRY(check(device));
  Used& one = used(device);
  if (Context known = one.context.load()) return known;
  const std::lock_guard lock(one.mutex);
  if (Context known = one.context.load()) return known;
  const KeptCpus kept;
  Device handle = one.handle;
  if (handle < 0) {
    TRY(call(api_->device_get, &handle, device));
    one.handle = handle;
  }
  Context context = nullptr;
  TRY(call(api_->context_retain, &context, handle));
  one.context = context;
  return context;
}

Expected<void> CudaRuntime::make_current(int device) {
  const auto context = TRY(context_of(device));
  return call(api_->context_set, context);
}

Expected<bool> CudaRuntime::can_reach_peer(int device, int peer) {
  // The handles are known once there is a context.
  for (int each : {device, peer}) {
    TRY(context_of(each));
  }
  int can = 0;
  return call(api_->can_access_peer, &can, used(device).handle, used(peer).handle).map([&] {
    return can != 0;
  });
}

Expected<void> CudaRuntime::reach_peer(int device, int peer) {
  const auto context = TRY(context_of(peer));
  TRY(enter(device));
  return peer_on(api_->enable_peer, context);
}

std::optional<DeviceState> CudaRuntime::state(int device) {
  if (!check(device)) return std::nullopt;
  return management_.state(devices_[static_cast<std::size_t>(device)].pci_address);
}

Expected<FunctionHandle> CudaRuntime::kernel(int device, const std::string& name) {
  TRY(enter(device));
  Used& one = used(device);
  const std::lock_guard lock(one.mutex);
  if (one.module == nullptr) {
    Module module = nullptr;
    const void* const text = kernels_ptx;
    TRY(call(api_->module_load, &module, text));
    one.module = module;
  }
  return kernel_of(api_->module_function, one.module, name);
}

Expected<void> CudaRuntime::launch(int device, StreamHandle stream, FunctionHandle function,
                                   unsigned blocks, unsigned threads, void** arguments) {
  void** const no_extra = nullptr;
  return call_on(device, api_->launch, function, blocks, 1U, 1U, threads, 1U, 1U, 0U, stream,
                 arguments, no_extra);
}

}  // namespace numatlas::cuda
