/* STREAM's loops (McCalpin 1995) as a plain programmer writes them and a compiler sees them, for
 * bench/bandwidth to compare with: shared arrays, OpenMP threads, whole passes.
 *   stream KERNEL BYTES SECONDS     BYTES: all arrays together
 * Prints the mean of all passes in bytes a second, counted as STREAM counts them. */
#include <omp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double *a, *b, *c;
static const uint64_t* words;
static long n;
static volatile uint64_t kept; /* so that no read is left out */

static void read_all(void) {
  uint64_t sum = 0;
#pragma omp parallel for reduction(+ : sum)
  for (long i = 0; i < n; i++) sum += words[i];
  kept += sum;
}
static void write_all(void) {
#pragma omp parallel for
  for (long i = 0; i < n; i++) a[i] = 3;
}
static void copy_all(void) {
#pragma omp parallel for
  for (long i = 0; i < n; i++) a[i] = b[i];
}
static void scale_all(void) {
#pragma omp parallel for
  for (long i = 0; i < n; i++) a[i] = 3 * b[i];
}
static void add_all(void) {
#pragma omp parallel for
  for (long i = 0; i < n; i++) a[i] = b[i] + c[i];
}
static void triad_all(void) {
#pragma omp parallel for
  for (long i = 0; i < n; i++) a[i] = b[i] + 3 * c[i];
}

static const struct {
  const char* name;
  int arrays;
  void (*run)(void);
} kernels[] = {
    {"read", 1, read_all}, {"write", 1, write_all}, {"copy", 2, copy_all},   {"scale", 2, scale_all},
    {"add", 3, add_all},   {"triad", 3, triad_all}};

static double* array_of(long length) {
  double* array = aligned_alloc(4096, (size_t)(length * 8 + 4095) / 4096 * 4096);
  if (array == NULL) exit(1);
#pragma omp parallel for
  for (long i = 0; i < length; i++) array[i] = 1; /* by the thread that will use it */
  return array;
}

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  for (size_t k = 0; k < sizeof kernels / sizeof *kernels; k++) {
    if (strcmp(kernels[k].name, argv[1]) != 0) continue;
    const int arrays = kernels[k].arrays;
    n = atol(argv[2]) / 8 / arrays;
    a = array_of(n);
    words = (const uint64_t*)a;
    if (arrays > 1) b = array_of(n);
    if (arrays > 2) c = array_of(n);
    kernels[k].run();
    long passes = 0;
    const double start = omp_get_wtime();
    double now = start;
    for (; now - start < atof(argv[3]); now = omp_get_wtime(), passes++) kernels[k].run();
    printf("%.0f\n", (double)passes * (double)n * 8 * arrays / (now - start));
    return 0;
  }
  return 2;
}
