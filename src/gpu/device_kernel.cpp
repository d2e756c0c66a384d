#include "gpu/device_kernel.h"

#include <cstddef>
#include <utility>

#include <fmt/format.h>

namespace numatlas {
namespace {

/// Whether kernels of a GPU may work on another one's memory.
Expected<void> check_reach(const DeviceRef& device, int gpu, const DeviceRef& owner, int peer) {
  if (gpu == peer) return {};
  bool can = owner.runtime == device.runtime;
  if (can) {
    can = TRY(device.runtime->can_reach_peer(device.device, owner.device));
  }
  if (can) return {};
  return fail(ErrorKind::unavailable,
              fmt::format("GPU {} cannot read the memory of GPU {} itself", gpu, peer),
              "copies between them are those of numatlas transfer --measure peer");
}

}  // namespace

Expected<std::unique_ptr<Buffer>> allocate_on_gpu(Bytes bytes, int gpu) {
  const auto device = TRY(find_device(gpu));
  const auto address = device.runtime->allocate(device.device, bytes);
  if (address)
    return std::make_unique<Buffer>(
        reinterpret_cast<void*>(*address), bytes.value, PolicyOutcome{"GPU memory", ""},
        Buffer::Functions{
            // A lost device has nothing to give back.
            .free = [device, at = *address] { (void)device.runtime->free(device.device, at); },
            .residency = [](const ProcessMappings&) { return Residency{}; }});
  Error error = address.error();
  if (error.kind == ErrorKind::resource) {
    error.subject = "size";
    error.message = fmt::format("{} on GPU {}, which has {}: {}", to_rounded_text(bytes), gpu,
                                to_rounded_text(device.info().memory), error.message);
    error.hint = "request less; another process may be using its memory";
  }
  return fail(std::move(error));
}

Expected<std::unique_ptr<DeviceKernel>> make_device_kernel(const KernelSpec& spec, int from,
                                                           int to) {
  const auto& work = *spec.find<DeviceWork>();
  const auto device = TRY(find_device(work.gpu));
  const bool copies = spec.find<DeviceCopyParameters>() != nullptr;
  if ((copies ? work.pinning == Pinning::zero_copy : to < 0) && !device.info().maps_host_memory) {
    return fail(ErrorKind::unavailable,
                fmt::format("GPU {} cannot read the host's memory itself", work.gpu));
  }
  std::optional<DeviceRef> owner;
  if (to >= 0) owner = TRY(find_device(to));
  if (copies && from >= 0 && owner && owner->runtime != device.runtime) {
    return fail(ErrorKind::unavailable,
                fmt::format("GPUs {} and {} have different drivers, which cannot copy to each "
                            "other",
                            from, to));
  }
  if (copies)
    return make_device_copy(spec, device, from >= 0 ? std::optional(device) : std::nullopt, owner);
  if (owner) TRY(check_reach(device, work.gpu, *owner, to));
  if (spec.find<DeviceStreamParameters>() != nullptr)
    return make_device_stream(spec, device, owner);
  if (spec.find<DeviceCounterParameters>() != nullptr)
    return make_device_counters(spec, device, owner);
  return make_device_chase(spec, device, owner);
}

}  // namespace numatlas
