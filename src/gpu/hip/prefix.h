// What device/kernels.h needs, for AMD's GPUs: hiprtc compiles both for the GPU at hand. No header
// is needed, so that clang alone compiles it as well (tests/gpu/hip_source). Pointers are of the
// global address space, which needs no look at which one it is. Loads that are volatile pass by the
// caches of the GPU that are not coherent with the host (glc, sc0 sc1).
#ifndef __global__
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#endif
#define KERNEL extern "C" __global__
#define DEVICE __device__
#define GLOBAL __attribute__((address_space(1)))

typedef unsigned long long u64;
typedef u64 Pair __attribute__((ext_vector_type(2)));

DEVICE inline u64 load_anew(u64 address) { return *(const volatile GLOBAL u64*)address; }
DEVICE inline Pair load_pair_anew(u64 address) { return *(const volatile GLOBAL Pair*)address; }
// An address that all threads have alike would be loaded from by the scalar unit, which has a cache
// of its own.
DEVICE inline u64 of_a_vector(u64 value) {
  asm volatile("" : "+v"(value));
  return value;
}
DEVICE inline u64 load_cached(u64 address) {
  return of_a_vector(*(const GLOBAL u64*)of_a_vector(address));
}
DEVICE inline u64 load_shared(u64 address) {
  return of_a_vector(__builtin_nontemporal_load((const GLOBAL u64*)of_a_vector(address)));
}
DEVICE inline Pair load_pair(u64 address) {
  return __builtin_nontemporal_load((const GLOBAL Pair*)address);
}
DEVICE inline void store(u64 address, u64 value) { *(GLOBAL u64*)address = value; }
DEVICE inline void store_pair(u64 address, Pair value) { *(GLOBAL Pair*)address = value; }

DEVICE inline u64 fetch_add(u64 address) {
  return __hip_atomic_fetch_add((GLOBAL u64*)address, 1ull, __ATOMIC_RELAXED,
                                __HIP_MEMORY_SCOPE_AGENT);
}

// What clocks there are differs from one GPU to the next: launches are timed by events alone.
DEVICE inline u64 cycles() { return 0; }
DEVICE inline u64 nanoseconds() { return 0; }

DEVICE inline u64 all_threads() { return __builtin_amdgcn_grid_size_x(); }
DEVICE inline u64 first_word() {
  return (u64)__builtin_amdgcn_workgroup_id_x() * __builtin_amdgcn_workgroup_size_x() +
         __builtin_amdgcn_workitem_id_x();
}

DEVICE inline double number(u64 value) { return __builtin_bit_cast(double, value); }
DEVICE inline u64 bits(double value) { return __builtin_bit_cast(u64, value); }
DEVICE inline double multiply_add(double a, double b, double c) { return __builtin_fma(a, b, c); }
