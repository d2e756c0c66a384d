// Internal: the kernels of runtime.h in HIP's C++.
#pragma once

namespace numatlas::hip {

extern const char* const kernels_source;

}  // namespace numatlas::hip
