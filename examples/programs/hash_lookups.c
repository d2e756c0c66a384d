/* Lookups in a hash table much larger than the caches. Each key is made of the value found before,
 * so the lookups wait for each other as those of a program that walks a structure: their time is
 * the memory's latency, TLB misses included. hash_lookups [MIB] [MILLIONS]      default: 1024 MiB,
 * 20 million lookups Prints "ns per lookup: N", without the time to fill the table. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

struct slot {
  uint64_t key, value;
  uint64_t rest[6]; /* a cache line */
};

static uint64_t mixed(uint64_t x) { /* the finaliser of MurmurHash3, which is a bijection */
  x ^= x >> 33;
  x *= 0xff51afd7ed558ccdULL;
  x ^= x >> 33;
  x *= 0xc4ceb9fe1a85ec53ULL;
  return x ^ (x >> 33);
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int main(int argc, char** argv) {
  const uint64_t bytes = (argc > 1 ? strtoull(argv[1], NULL, 10) : 1024) << 20;
  const uint64_t lookups = (argc > 2 ? strtoull(argv[2], NULL, 10) : 20) * 1000000;
  uint64_t slots = 1;
  while (slots * 2 * sizeof(struct slot) <= bytes) slots *= 2;
  struct slot* table = malloc(slots * sizeof *table);
  if (table == NULL) {
    fprintf(stderr, "no memory for %llu slots\n", (unsigned long long)slots);
    return 1;
  }
  for (uint64_t i = 0; i < slots; i++) {
    table[i].key = i;
    table[i].value = mixed(i + 1);
  }
  uint64_t key = 1, found = 0;
  const double start = now();
  for (uint64_t i = 0; i < lookups; i++) {
    const struct slot* slot = &table[mixed(key) & (slots - 1)];
    found += slot->key & 1;
    key = slot->value + i;
  }
  const double seconds = now() - start;
  printf("ns per lookup: %.2f\n", seconds / (double)lookups * 1e9);
  return found > lookups; /* never: so that nothing is left out */
}
