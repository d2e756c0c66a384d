// Internal: takes lines out of all caches of all CPUs.
#pragma once

#if defined(__x86_64__)
#include <emmintrin.h>
#endif

namespace numatlas {

/// x86: clflush (SSE2); Arm: DC CIVAC, which Linux allows programs. Elsewhere nothing happens.
inline void flush_line(const void* line) {
#if defined(__x86_64__)
  _mm_clflush(line);
#elif defined(__aarch64__)
  asm volatile("dc civac, %0" : : "r"(line) : "memory");
#else
  (void)line;
#endif
}

/// What was flushed before is out when this returns.
inline void flush_is_done() {
#if defined(__x86_64__)
  _mm_mfence();
#elif defined(__aarch64__)
  asm volatile("dsb ish" : : : "memory");
#endif
}

constexpr bool can_flush() {
#if defined(__x86_64__) || defined(__aarch64__)
  return true;
#else
  return false;
#endif
}

}  // namespace numatlas
