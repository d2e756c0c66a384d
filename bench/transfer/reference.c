/* Copies between the host and a GPU as programs usually measure them, to compare `numatlas transfer` with:
 * memory of the driver's, several copies queued in one stream between two events, the median left to
 * the reader. It shares nothing with numatlas, and loads the CUDA driver by itself:
 *
 *   cc -O2 reference.c -o reference -ldl
 *   ./reference [GPU [MIB [COPIES [ROUNDS]]]]        (0 512 16 7)
 *   ./reference alone [GPU [BYTES [COPIES [ROUNDS]]]]
 *   ./reference where [GPU]                          name and PCI address of the GPU
 *
 * `alone` times as numa-gpu-xfer-bench does: pinned memory of our own, each copy by itself between two
 * events, the device waited for after each, no warm-up.
 * Prints JSON: bytes a second by the GPU's events, a value a round; of copies alone the mean seconds of
 * one. Exit status 77: there is no GPU, and why. Run it on CPUs of the GPU's node: that is where memory
 * then comes from. */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef uint64_t address;
enum { skipped = 77, warm_ups = 4, non_blocking = 1, portable = 1 };

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

/* Milliseconds of `count` copies, after which the device is waited for. */
static double timed(const struct copies *work, int count, void *start, void *end) {
  float milliseconds = 0;
  CALL(cuEventRecord, (void *, void *), start, work->stream);
  queue(work, count);
  CALL(cuEventRecord, (void *, void *), end, work->stream);
  CALL(cuCtxSynchronize, (void));
  CALL(cuEventElapsedTime, (float *, void *, void *), &milliseconds, start, end);
  if (!(milliseconds > 0)) fail(1, "the events are no time apart", 0);
  return milliseconds;
}

static void measure(const char *name, const struct copies *work, int count, int rounds, int alone) {
  void *start = NULL, *end = NULL;
  CALL(cuEventCreate, (void **, unsigned), &start, 0);
  CALL(cuEventCreate, (void **, unsigned), &end, 0);
  if (!alone) queue(work, warm_ups);
  CALL(cuStreamSynchronize, (void *), work->stream);
  printf(", \"%s\": [", name);
  for (int round = 0; round < rounds; ++round) {
    double milliseconds = 0;
    for (int i = 0; alone && i < count; ++i) milliseconds += timed(work, 1, start, end);
    if (!alone) milliseconds = timed(work, count, start, end);
    const double seconds = milliseconds * 1e-3;
    printf("%s%.9g", round ? ", " : "", alone ? seconds / count : (double)count * (double)work->bytes / seconds);
  }
  printf("]");
  CALL(cuEventDestroy_v2, (void *), start);
  CALL(cuEventDestroy_v2, (void *), end);
}

static unsigned char byte_at(size_t i) { return (unsigned char)(i * 31 + (i >> 12) * 7 + 1); }

int main(int count, char **words) {
  const int where = count > 1 && strcmp(words[1], "where") == 0;
  const int alone = count > 1 && strcmp(words[1], "alone") == 0;
  if (where || alone) ++words, --count;
  const int index = count > 1 ? atoi(words[1]) : 0;
  const long long size = count > 2 ? atoll(words[2]) : alone ? 4096 : 512;
  const int copies = count > 3 ? atoi(words[3]) : alone ? 100 : 16, rounds = count > 4 ? atoi(words[4]) : 7;
  if (index < 0 || size < 1 || copies < 1 || rounds < 1 || count > 5)
    fail(2, "usage: reference [where] [GPU [MIB [COPIES [ROUNDS]]]], reference alone [GPU [BYTES ...]]", 0);
  const struct gpu gpu = open_gpu(index);
  printf("{\"name\": \"%s\", \"pci\": \"%s\"", gpu.name, gpu.pci);
  if (where) return printf("}\n"), 0;

  const size_t page = 4096;
  const size_t bytes = alone ? ((size_t)size + page - 1) / page * page : (size_t)size << 20;
  struct copies work = {1, NULL, 0, bytes, NULL};
  if (alone) {
    work.host = aligned_alloc(page, bytes);
    if (!work.host) fail(1, "no memory", 0);
    memset(work.host, 0, bytes);
    CALL(cuMemHostRegister_v2, (void *, size_t, unsigned), work.host, bytes, portable);
  } else {
    CALL(cuMemHostAlloc, (void **, size_t, unsigned), (void **)&work.host, bytes, 0);
  }
  CALL(cuMemAlloc_v2, (address *, size_t), &work.device, work.bytes);
  CALL(cuStreamCreate, (void **, unsigned), &work.stream, non_blocking);
  for (size_t i = 0; i < work.bytes; ++i) work.host[i] = byte_at(i);
  measure("h2d", &work, copies, rounds, alone);
  /* What comes back came from the GPU. */
  memset(work.host, 0, work.bytes);
  work.to_gpu = 0;
  measure("d2h", &work, copies, rounds, alone);
  for (size_t i = 0; i < work.bytes; ++i) {
    if (work.host[i] != byte_at(i)) fail(1, "the copies are wrong", 0);
  }
  printf("}\n");
  CALL(cuStreamDestroy_v2, (void *), work.stream);
  CALL(cuMemFree_v2, (address), work.device);
  if (alone) {
    CALL(cuMemHostUnregister, (void *), work.host);
    free(work.host);
  } else {
    CALL(cuMemFreeHost, (void *), work.host);
  }
  return 0;
}
