// The kernels of device/kernels.h for NVIDIA's GPUs: clang makes numatlas.ptx of it (tests/gpu/ptx write), which the
// driver compiles for the GPU at hand. No header of a toolkit is needed.
#ifndef __CUDACC__
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#endif
#define KERNEL extern "C" __global__
#define DEVICE __device__

typedef unsigned long long u64;
struct alignas(16) Pair {
  u64 x, y;
};

#define LOAD(name, instruction)                                             \
  DEVICE inline u64 name(u64 address) {                                     \
    u64 value;                                                              \
    asm volatile(instruction " %0, [%1];" : "=l"(value) : "l"(address));    \
    return value;                                                           \
  }
LOAD(load_anew, "ld.volatile.global.u64")
LOAD(load_cached, "ld.global.ca.u64")
LOAD(load_shared, "ld.global.cg.u64")

DEVICE inline Pair load_pair(u64 address) {
  Pair value;
  asm volatile("ld.global.cg.v2.u64 {%0, %1}, [%2];" : "=l"(value.x), "=l"(value.y) : "l"(address));
  return value;
}

// Four words: so it was measured (docs/gpu.md).
DEVICE inline Pair load_pair_anew(u64 address) {
  unsigned a, b, c, d;
  asm volatile("ld.volatile.global.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(a), "=r"(b), "=r"(c), "=r"(d)
               : "l"(address));
  Pair value;
  value.x = static_cast<u64>(b) << 32 | a;
  value.y = static_cast<u64>(d) << 32 | c;
  return value;
}

DEVICE inline void store(u64 address, u64 value) {
  asm volatile("st.global.u64 [%0], %1;" : : "l"(address), "l"(value) : "memory");
}
DEVICE inline void store_pair(u64 address, Pair value) {
  asm volatile("st.global.v2.u64 [%0], {%1, %2};" : : "l"(address), "l"(value.x), "l"(value.y) : "memory");
}

DEVICE inline u64 fetch_add(u64 address) {
  u64 before;
  asm volatile("atom.global.add.u64 %0, [%1], 1;" : "=l"(before) : "l"(address) : "memory");
  return before;
}

#define REGISTER(name, type, letter, source)                          \
  DEVICE inline type name() {                                         \
    type value;                                                       \
    asm volatile("mov." source ";" : "=" letter(value) : : "memory"); \
    return value;                                                     \
  }
REGISTER(cycles, u64, "l", "u64 %0, %%clock64")
REGISTER(nanoseconds, u64, "l", "u64 %0, %%globaltimer")
REGISTER(block_number, unsigned, "r", "u32 %0, %%ctaid.x")
REGISTER(number_of_blocks, unsigned, "r", "u32 %0, %%nctaid.x")
REGISTER(thread_number, unsigned, "r", "u32 %0, %%tid.x")
REGISTER(threads_of_block, unsigned, "r", "u32 %0, %%ntid.x")
DEVICE inline u64 first_word() { return static_cast<u64>(block_number()) * threads_of_block() + thread_number(); }
DEVICE inline u64 all_threads() { return static_cast<u64>(number_of_blocks()) * threads_of_block(); }

DEVICE inline double number(u64 value) { return __builtin_bit_cast(double, value); }
DEVICE inline u64 bits(double value) { return __builtin_bit_cast(u64, value); }
DEVICE inline double multiply_add(double a, double b, double c) { return __builtin_fma(a, b, c); }

#include "../device/kernels.h"
