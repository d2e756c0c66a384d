/* Copies between the host and a GPU as programs usually measure them, to compare `numatlas transfer` with:
 * memory of the driver's, several copies queued in one stream between two events, the median left to
 * the reader. It shares nothing with numatlas, and loads the CUDA driver by itself:
 *
 *   cc -O2 reference.c -o reference -ldl
 *   ./reference [GPU [MIB [COPIES [ROUNDS]]]]        (0 512 16 7)
 *   ./reference where [GPU]                          name and PCI address of the GPU
 *
 * Prints JSON: bytes a second by the GPU's events, a value a round. Exit status 77: there is no GPU, and
 * why. Run it on CPUs of the GPU's node: that is where the driver then takes memory from. */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef uint64_t address;
enum { skipped = 77, warm_ups = 4, non_blocking = 1 };

static void *driver;

static void fail(int status, const char *what, int code) {
  fprintf(stderr, code ? "%s: error %d\n" : "%s\n", what, code);
  exit(status);
}

static void *function(const char *name) {
  void *found = dlsym(driver, name);
  if (!found) fail(1, dlerror(), 0);
  return found;
}

/* CALL(name, (types), arguments...): a function of the driver, whose 0 is success. */
#define CALL(name, types, ...)                                \
  do {                                                        \
    int code = ((int(*) types)function(#name))(__VA_ARGS__);  \
    if (code) fail(1, #name, code);                           \
  } while (0)

struct gpu {
  int device;
  char name[256], pci[32];
};

static struct gpu open_gpu(int index) {
  struct gpu gpu = {0};
  int count = 0;
  void *context = NULL;
  driver = dlopen("libcuda.so.1", RTLD_NOW);
  if (!driver) fail(skipped, dlerror(), 0);
  int code = ((int (*)(unsigned))function("cuInit"))(0);
  if (code) fail(skipped, "cuInit", code);
  CALL(cuDeviceGetCount, (int *), &count);
  if (index >= count) fail(skipped, "there is no such GPU", 0);
  CALL(cuDeviceGet, (int *, int), &gpu.device, index);
  CALL(cuDeviceGetName, (char *, int, int), gpu.name, (int)sizeof gpu.name, gpu.device);
  CALL(cuDeviceGetPCIBusId, (char *, int, int), gpu.pci, (int)sizeof gpu.pci, gpu.device);
  CALL(cuDevicePrimaryCtxRetain, (void **, int), &context, gpu.device);
  CALL(cuCtxSetCurrent, (void *), context);
  return gpu;
}

struct copies {
  int to_gpu;
  unsigned char *host;
  address device;
  size_t bytes;
  void *stream;
};

static void queue(const struct copies *work, int count) {
  for (int i = 0; i < count; ++i) {
    if (work->to_gpu) {
      CALL(cuMemcpyHtoDAsync_v2, (address, const void *, size_t, void *), work->device, work->host, work->bytes,
           work->stream);
    } else {
      CALL(cuMemcpyDtoHAsync_v2, (void *, address, size_t, void *), work->host, work->device, work->bytes,
           work->stream);
    }
  }
}

static void measure(const char *name, const struct copies *work, int count, int rounds) {
  void *start = NULL, *end = NULL;
  CALL(cuEventCreate, (void **, unsigned), &start, 0);
  CALL(cuEventCreate, (void **, unsigned), &end, 0);
  queue(work, warm_ups);
  CALL(cuStreamSynchronize, (void *), work->stream);
  printf(", \"%s\": [", name);
  for (int round = 0; round < rounds; ++round) {
    float milliseconds = 0;
    CALL(cuEventRecord, (void *, void *), start, work->stream);
    queue(work, count);
    CALL(cuEventRecord, (void *, void *), end, work->stream);
    CALL(cuStreamSynchronize, (void *), work->stream);
    CALL(cuEventElapsedTime, (float *, void *, void *), &milliseconds, start, end);
    if (!(milliseconds > 0)) fail(1, "the events are no time apart", 0);
    printf("%s%.9g", round ? ", " : "", (double)count * (double)work->bytes / (milliseconds * 1e-3));
  }
  printf("]");
  CALL(cuEventDestroy_v2, (void *), start);
  CALL(cuEventDestroy_v2, (void *), end);
}

static unsigned char byte_at(size_t i) { return (unsigned char)(i * 31 + (i >> 12) * 7 + 1); }

int main(int count, char **words) {
  const int where = count > 1 && strcmp(words[1], "where") == 0;
  if (where) ++words, --count;
  const int index = count > 1 ? atoi(words[1]) : 0, mib = count > 2 ? atoi(words[2]) : 512;
  const int copies = count > 3 ? atoi(words[3]) : 16, rounds = count > 4 ? atoi(words[4]) : 7;
  if (index < 0 || mib < 1 || copies < 1 || rounds < 1 || count > 5)
    fail(2, "usage: reference [where] [GPU [MIB [COPIES [ROUNDS]]]]", 0);
  const struct gpu gpu = open_gpu(index);
  printf("{\"name\": \"%s\", \"pci\": \"%s\"", gpu.name, gpu.pci);
  if (where) return printf("}\n"), 0;

  struct copies work = {1, NULL, 0, (size_t)mib << 20, NULL};
  CALL(cuMemHostAlloc, (void **, size_t, unsigned), (void **)&work.host, work.bytes, 0);
  CALL(cuMemAlloc_v2, (address *, size_t), &work.device, work.bytes);
  CALL(cuStreamCreate, (void **, unsigned), &work.stream, non_blocking);
  for (size_t i = 0; i < work.bytes; ++i) work.host[i] = byte_at(i);
  measure("h2d", &work, copies, rounds);
  /* What comes back came from the GPU. */
  memset(work.host, 0, work.bytes);
  work.to_gpu = 0;
  measure("d2h", &work, copies, rounds);
  for (size_t i = 0; i < work.bytes; ++i) {
    if (work.host[i] != byte_at(i)) fail(1, "the copies are wrong", 0);
  }
  printf("}\n");
  CALL(cuStreamDestroy_v2, (void *), work.stream);
  CALL(cuMemFree_v2, (address), work.device);
  CALL(cuMemFreeHost, (void *), work.host);
  return 0;
}
