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

Expected<DeviceAddress> HostMapping::map(const DeviceRef& device, std::byte* host,
                                         std::size_t bytes) {
  device_ = device;
  TRY(device.runtime->pin(device.device, host, bytes, true));
  pinned_ = host;
  return device.runtime->mapped_address(device.device, host);
}

void HostMapping::unmap() {
  if (pinned_ != nullptr) (void)device_.runtime->unpin(device_.device, pinned_);
  pinned_ = nullptr;
}

tl::unexpected<Error> wrong_result(std::string message) {
  return fail(ErrorKind::internal, std::move(message),
              "a defect of this machine's memory, link, GPU or driver, or of numatlas");
}

Expected<std::unique_ptr<DeviceKernel>> make_device_kernel(const KernelSpec& spec, int from,
                                                           int to) {
  const auto& work = *spec.find<DeviceWork>();
  const auto* const chase = spec.find<DeviceChaseParameters>();
  const auto device = TRY(find_device(work.gpu));
  const bool streams = spec.find<DeviceStreamParameters>() != nullptr;
  const bool counts = spec.find<DeviceCounterParameters>() != nullptr;
  const bool in_place = streams || counts || chase != nullptr;
  const bool maps = in_place ? to < 0 : work.pinning == Pinning::zero_copy;
  if (maps && !device.info().maps_host_memory) {
    return fail(ErrorKind::unavailable,
                fmt::format("GPU {} cannot read the host's memory itself", work.gpu));
  }
  if (in_place && to >= 0) {
    const auto owner = TRY(find_device(to));
    TRY(check_reach(device, work.gpu, owner, to));
    if (counts) return make_device_counters(spec, device, owner, false);
    return streams ? make_device_stream(spec, device, owner, false)
                   : make_memory_chase(spec, device, owner);
  }
  if (streams) return make_device_stream(spec, device, device, true);
  if (counts) return make_device_counters(spec, device, device, true);
  if (chase != nullptr) return make_device_chase(spec, device);
  if (from < 0 && to < 0)
    return fail(ErrorKind::usage, "a copy of a GPU is from one or to one; this has none");
  DeviceRef other = device;
  if (from >= 0 && to >= 0) {
    const auto found = TRY(find_device(to));
    if (found.runtime != device.runtime) {
      return fail(ErrorKind::unavailable,
                  fmt::format("GPUs {} and {} have different drivers, which cannot copy to each "
                              "other",
                              from, to));
    }
    other = found;
  }
  return make_device_copy(spec, device, other, from, to);
}

}  // namespace numatlas
