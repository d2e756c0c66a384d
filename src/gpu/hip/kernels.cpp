#include "gpu/hip/kernels.h"

namespace numatlas::hip {

// hiprtc compiles it for the GPU at hand. No header is needed, so that clang alone compiles it as
// well (tests/gpu/hip_source). Loads are volatile: the caches of the GPU that are not coherent with
// the host are passed by (glc, sc0 sc1). Pointers of the global address space, which needs no look
// at which one it is. Loops are not unrolled, as in the PTX of cuda/.
const char* const kernels_source = R"(#ifndef __global__
#define __global__ __attribute__((global))
#endif

typedef unsigned long long u64;
typedef unsigned Word __attribute__((ext_vector_type(4)));
#define GLOBAL __attribute__((address_space(1)))

extern "C" __global__ void numatlas_chase(u64 delta, u64 address, u64 loads, u64 result) {
#pragma unroll 1
  for (; loads != 0; --loads) address = *(const volatile GLOBAL u64*)(address + delta);
  *(GLOBAL u64*)result = address;
}

extern "C" __global__ void numatlas_copy(u64 destination, u64 source, u64 words) {
  const u64 threads = __builtin_amdgcn_workgroup_size_x();
  const u64 step = __builtin_amdgcn_grid_size_x();
  const u64 first = __builtin_amdgcn_workgroup_id_x() * threads + __builtin_amdgcn_workitem_id_x();
#pragma unroll 1
  for (u64 i = first; i < words; i += step)
    ((GLOBAL Word*)destination)[i] = ((const volatile GLOBAL Word*)source)[i];
}
)";

}  // namespace numatlas::hip
