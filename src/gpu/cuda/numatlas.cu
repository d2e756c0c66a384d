// The kernels of kernels.cpp, for readers and for the test that compiles them
// (tests/gpu/ptx). No header of a toolkit is needed: clang and nvcc both take this.
#ifndef __CUDACC__
#define __global__ __attribute__((global))
#endif

typedef unsigned long long u64;

struct alignas(16) Word {
  unsigned x, y, z, w;
};

// The loads are written as they have to come out: volatile, so that each one goes to memory whatever
// was loaded before. Loops are not unrolled, so that they can be compared.

extern "C" __global__ void numatlas_chase(u64 delta, u64 address, u64 loads, u64* result) {
#pragma unroll 1
  for (; loads != 0; --loads) {
    asm volatile("ld.volatile.global.u64 %0, [%1];" : "=l"(address) : "l"(address + delta));
  }
  *result = address;
}

extern "C" __global__ void numatlas_copy(Word* destination, const Word* source, u64 words) {
  unsigned block, blocks, thread, threads;
  asm("mov.u32 %0, %%ctaid.x;" : "=r"(block));
  asm("mov.u32 %0, %%nctaid.x;" : "=r"(blocks));
  asm("mov.u32 %0, %%tid.x;" : "=r"(thread));
  asm("mov.u32 %0, %%ntid.x;" : "=r"(threads));
  const u64 step = static_cast<u64>(blocks) * threads;
#pragma unroll 1
  for (u64 i = static_cast<u64>(block) * threads + thread; i < words; i += step) {
    Word word;
    asm volatile("ld.volatile.global.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(word.x), "=r"(word.y), "=r"(word.z), "=r"(word.w)
                 : "l"(source + i));
    destination[i] = word;
  }
}
