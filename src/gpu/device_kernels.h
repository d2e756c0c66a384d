// Internal: the kernels behind make_device_kernel.
#pragma once

#include <memory>

#include "gpu/device_kernel.h"

namespace numatlas {

/// `device` drives the copy: the one copied from, where both sides are GPUs; `other` is then the
/// one copied to.
std::unique_ptr<DeviceKernel> make_device_copy(const KernelSpec& spec, const DeviceRef& device,
                                               const DeviceRef& other, int from, int to);
/// A chase of one thread of the GPU through a chain in the host's memory.
std::unique_ptr<DeviceKernel> make_device_chase(const KernelSpec& spec, const DeviceRef& device);

}  // namespace numatlas
