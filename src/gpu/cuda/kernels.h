// Internal: the kernels of runtime.h as PTX. numatlas.cu is their source; the driver compiles the
// text for the GPU at hand.
#pragma once

namespace numatlas::cuda {

extern const char* const kernels_ptx;

}  // namespace numatlas::cuda
