#include "run/file_device_flows.h"

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>

#include "gpu/buffers.h"
#include "kernels/traits.h"
#include "memory/source.h"
#include "run/device_flows.h"

namespace numatlas {

PageKind pages_of_side(const MemoryPlacement& placement, const std::optional<PageKind>& asked,
                       PageKind otherwise) {
  return gpu_of(placement) >= 0 ? PageKind::base : asked.value_or(otherwise);
}

void fill_in_device(const FileFlow& file, std::size_t index, const PlanInput& input, Flow& flow) {
  DeviceWork& work = flow.kernel.device;
  work = {};
  work.gpu = gpu_of_flow(file);
  work.bytes = flow.region.bytes;
  work.pinning = file.pin.value_or(Pinning::pinned);
  work.depth = file.depth.value_or(0);
  if (traits_of(file.kernel).chases_on_gpu()) {
    work.loads = file.loads.value_or(usual_loads(work.bytes));
    work.caches = file.caches.value_or(HostCaches::cold);
  } else {
    work.copies = file.copies.value_or(usual_copies(work.bytes, work.depth));
  }
  flow.kernel.chain.seed =
      file.seed ? *file.seed + index : input.options.seed + static_cast<std::uint64_t>(flow.worker);
  flow.warm_up = file.warm_up.value_or(device_warm_up(flow));
}

Expected<void> check_gpus(const FileFlow& file, const Machine& machine) {
  if (!traits_of(file.kernel).on_gpu) return {};
  for (const int gpu : {gpu_of_flow(file), gpu_in(file.memory)}) {
    if (gpu >= 0 && find_gpu(machine, gpu) == nullptr)
      return fail(error_at_gpu(file, gpu, no_such_gpu(gpu, usable_gpus({machine}))));
  }
  return {};
}

void write_device_keys(const Flow& flow, FileFlow& file) {
  const DeviceWork& work = flow.kernel.device;
  file.seed = flow.kernel.chain.seed;
  if (traits_of(flow.kernel.name).chases_on_gpu()) {
    file.gpu = work.gpu;
    file.loads = work.loads;
    if (work.caches != HostCaches::cold) file.caches = work.caches;
    return;
  }
  if (work.gpu != gpu_of_flow(file)) file.gpu = work.gpu;
  if (work.pinning != Pinning::pinned) file.pin = work.pinning;
  if (work.depth > 0) file.depth = work.depth;
  file.copies = work.copies;
  file.source->size = std::nullopt;
}

}  // namespace numatlas
