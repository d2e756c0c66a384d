/* A known-good chase with several chains: what `bench/chains` compares `numatlas latency --chains`
 * and `numatlas tlb` with. One cycle by Sattolo's shuffle over the nodes; each chain is a register
 * that starts equally far along it, found by walking.
 *
 *   chains BYTES STRIDE CHAINS SECONDS PAGES     PAGES: base or thp
 *
 * Prints the nanoseconds that all chains take for a load each: the median of 41 blocks of loads. */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

enum { most = 16, blocks = 41 };

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static uint64_t state = 88172645463325252u;
static uint64_t random_below(uint64_t n) { /* xorshift64 */
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return state % n;
}

#define LOAD(i) \
  if (n > i) __asm__ volatile("mov (%1), %0" : "=r"(p##i) : "r"(p##i));
#define ALL(what)                                                                          \
  what(0) what(1) what(2) what(3) what(4) what(5) what(6) what(7) what(8) what(9) what(10) \
      what(11) what(12) what(13) what(14) what(15)
#define DECLARE(i) void* p##i = start[i];
#define STORE(i) start[i] = p##i;
/* `n` is a constant where this is inlined, so that no test is left in the loop. */
static inline __attribute__((always_inline)) void walk(void** start, uint64_t steps, int n) {
  ALL(DECLARE)
  for (; steps > 0; --steps) {
    ALL(LOAD)
  }
  ALL(STORE)
}
#define CASE(i) \
  case i + 1: walk(start, steps, i + 1); break;
static void walk_some(void** start, uint64_t steps, int n) {
  switch (n) { ALL(CASE) }
}

static int by_value(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

int main(int count, char** words) {
  if (count != 6) return 2;
  const uint64_t bytes = strtoull(words[1], 0, 10), stride = strtoull(words[2], 0, 10);
  const int n = atoi(words[3]);
  const double seconds = atof(words[4]);
  const uint64_t nodes = bytes / stride, huge = 2u << 20;
  if (n < 1 || n > most || nodes < 2 * (uint64_t)n) return 2;
  char* memory =
      mmap(0, bytes + 2 * huge, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return 1;
  memory = (char*)(((uintptr_t)memory + huge - 1) & ~(uintptr_t)(huge - 1));
  madvise(memory, (bytes + huge - 1) & ~(huge - 1),
          strcmp(words[5], "thp") == 0 ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
  uint64_t* order = malloc(nodes * sizeof *order);
  for (uint64_t i = 0; i < nodes; ++i) order[i] = i;
  for (uint64_t i = nodes - 1; i > 0; --i) {
    const uint64_t j = random_below(i), kept = order[i];
    order[i] = order[j];
    order[j] = kept;
  }
  for (uint64_t i = 0; i < nodes; ++i) *(void**)(memory + i * stride) = memory + order[i] * stride;
  free(order);
  void* start[most] = {0};
  void* at = memory;
  for (uint64_t step = 0; step < nodes; ++step) {
    if (step % (nodes / (uint64_t)n) == 0 && step / (nodes / (uint64_t)n) < (uint64_t)n)
      start[step / (nodes / (uint64_t)n)] = at;
    at = *(void**)at;
  }
  if (at != memory) return 1;
  uint64_t steps = 1000;
  double taken = 0;
  while (taken < seconds * 1e9 / blocks) { /* also warms the caches */
    const double begin = now();
    walk_some(start, steps, n);
    taken = now() - begin;
    if (taken < seconds * 1e9 / blocks) steps *= 2;
  }
  double times[blocks];
  for (int i = 0; i < blocks; ++i) {
    const double begin = now();
    walk_some(start, steps, n);
    times[i] = (now() - begin) / (double)steps;
  }
  qsort(times, blocks, sizeof *times, by_value);
  printf("%.4f\n", times[blocks / 2]);
  return 0;
}
