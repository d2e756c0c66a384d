// Memory that a GPU's driver gives: of the GPU itself, or the host's, pinned or managed by it.
#pragma once

#include "gpu/runtime.h"
#include "kernels/kernel.h"
#include "memory/buffer.h"

namespace numatlas {

/// The memory of a flow that a GPU works on: `region` as allocate() gives it, unless it is the
/// GPU's own (gpu:N; data() is then an address of the GPU's, not to be touched) or the driver's
/// (Pinning::driver, ::managed), which it puts where the calling thread's policy says while it
/// allocates.
Expected<std::unique_ptr<Buffer>> allocate_for_gpu(const Region& region, const DeviceWork& work);

/// N of gpu:N; -1 for memory of the host.
int gpu_of(const MemoryPlacement& placement);

}  // namespace numatlas
