// Memory that a GPU's driver gives: of the GPU itself, or the host's, pinned or managed by it.
#pragma once

#include <memory>

#include "gpu/runtime.h"
#include "kernels/kernel.h"
#include "memory/source.h"

namespace numatlas {

/// The memory of a flow that a GPU works on: `region` as allocate() gives it, unless it is the
/// GPU's own (gpu:N; data() is then an address of the GPU's, not to be touched) or the driver's
/// (Pinning::driver, ::managed): a policy of the calling thread holds while it allocates pinned
/// memory, and while we touch managed memory, which is when it gets its pages.
Expected<std::unique_ptr<Buffer>> allocate_for_gpu(const Region& region, const DeviceWork& work);

}  // namespace numatlas
