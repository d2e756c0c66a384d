/* Makes a checksum of an array much larger than the caches, from its start to its end, again and
 * again. The prefetchers bring the memory faster than the checksum needs it, so neither its latency
 * nor TLB misses matter.
 *   stream_checksum [MIB] [PASSES]      default: 512 MiB, 10 passes
 * Prints "GB/s: N", without the time to fill the array. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int main(int argc, char** argv) {
  const size_t bytes = (size_t)(argc > 1 ? strtoull(argv[1], NULL, 10) : 512) << 20;
  const int passes = argc > 2 ? atoi(argv[2]) : 10;
  const size_t words = bytes / sizeof(uint64_t);
  uint64_t* array = malloc(bytes);
  if (array == NULL) {
    fprintf(stderr, "no memory for %zu bytes\n", bytes);
    return 1;
  }
  for (size_t i = 0; i < words; i++) array[i] = i;
  uint64_t sum =
      0xcbf29ce484222325ULL; /* FNV-1a (Fowler, Noll, Vo), by words; twice for strength */
  const double start = now();
  for (int pass = 0; pass < passes; pass++)
    for (size_t i = 0; i < words; i++) {
      sum = (sum ^ array[i]) * 0x100000001b3ULL;
      sum = (sum ^ sum >> 32) * 0x100000001b3ULL;
    }
  const double seconds = now() - start;
  printf("GB/s: %.3f\n", (double)bytes * passes / seconds * 1e-9);
  return sum == 1; /* hardly ever: so that nothing is left out */
}
