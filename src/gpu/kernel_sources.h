// Internal: the kernels of device/kernels.h as drivers take them.
#pragma once

namespace numatlas {

/// PTX 4.0 for compute capability 5.0, which every driver of the last years compiles for the GPU at
/// hand. clang makes it of cuda/numatlas.cu (tests/gpu/ptx write).
extern const char* const kernels_ptx;
/// HIP's C++, for hiprtc.
extern const char* const kernels_hip;

}  // namespace numatlas
