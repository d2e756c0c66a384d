/* Works in its registers and touches no memory to speak of: no placement of memory or pages can
 * make it faster. compute_only [MILLIONS]      default: 500 million steps */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  const uint64_t steps = (argc > 1 ? strtoull(argv[1], NULL, 10) : 500) * 1000000;
  uint64_t x = 88172645463325252ULL;
  for (uint64_t i = 0; i < steps; i++) { /* xorshift (Marsaglia 2003) */
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
  }
  printf("%llu\n", (unsigned long long)x);
  return 0;
}
