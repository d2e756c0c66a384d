// Internal: the functions that run on GPUs themselves. numatlas.cu is their source; the text is
// compiled by the driver for the GPU at hand.
#pragma once

namespace numatlas {

/// PTX with both: numatlas_chase and numatlas_copy.
extern const char* const device_functions;
/// (u64 delta, u64 address, u64 loads, u64 result): follows a chain of the host's addresses, each
/// `delta` from where the GPU finds it, and writes where it ends. One thread.
inline constexpr const char* chase_function = "numatlas_chase";
/// (u64 destination, u64 source, u64 words of 16 bytes), by all threads of the launch.
inline constexpr const char* copy_function = "numatlas_copy";

}  // namespace numatlas
