#include "gpu/device_kernel.h"

#include <fmt/format.h>

#include "gpu/flush.h"

namespace numatlas {

Expected<std::unique_ptr<DeviceKernel>> make_device_kernel(const KernelSpec& spec, int from,
                                                           int to) {
  const auto& work = *spec.find<DeviceWork>();
  const auto* const chase = spec.find<DeviceChaseParameters>();
  const auto device = TRY(find_device(work.gpu));
  const bool maps = chase != nullptr || work.pinning == Pinning::zero_copy;
  if (maps && !device.info().maps_host_memory) {
    return fail(ErrorKind::unavailable,
                fmt::format("GPU {} cannot read the host's memory itself", work.gpu));
  }
  if (chase != nullptr) {
    if (chase->caches == HostCaches::cold && !can_flush())
      return fail_about(ErrorKind::unavailable, "--caches cold",
                        "programs cannot flush caches here");
    return make_device_chase(spec, device);
  }
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
