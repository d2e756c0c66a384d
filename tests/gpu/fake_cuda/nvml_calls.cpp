// A libnvidia-ml.so.1 of our own, as far as it is used: clocks of the devices of the fake driver.
//
// Environment (read at each call):
//   NUMATLAS_FAKE_CUDA_CLOCK=MHZ      of every device; without it the library does not start
//   NUMATLAS_FAKE_CUDA_SLOWED=BITS    reasons for lower clocks, as NVML has them (0x20), or none
//   NUMATLAS_FAKE_CUDA_SLOWED_CALLS=N only the first N answers have these reasons
//   NUMATLAS_FAKE_CUDA_MIG=1          devices are slices
#include <atomic>
#include <cstdlib>
#include <cstring>

namespace {

constexpr int success = 0, driver_not_loaded = 9, not_found = 6;

unsigned long long number(const char* name) {
  const char* const text = std::getenv(name);
  return text == nullptr ? 0 : std::strtoull(text, nullptr, 0);
}

}  // namespace

extern "C" {
[[gnu::visibility("default")]] int nvmlInit_v2();
[[gnu::visibility("default")]] int nvmlDeviceGetHandleByPciBusId_v2(const char* address,
                                                                    void** handle);
[[gnu::visibility("default")]] int nvmlDeviceGetClockInfo(void* handle, unsigned type,
                                                          unsigned* mhz);
[[gnu::visibility("default")]] int nvmlDeviceGetCurrentClocksThrottleReasons(
    void* handle, unsigned long long* reasons);

[[gnu::visibility("default")]] int nvmlDeviceGetMigMode(void* handle, unsigned* now,
                                                        unsigned* next);

int nvmlDeviceGetMigMode(void*, unsigned* now, unsigned* next) {
  *now = *next = number("NUMATLAS_FAKE_CUDA_MIG") != 0;
  return success;
}

int nvmlInit_v2() { return number("NUMATLAS_FAKE_CUDA_CLOCK") == 0 ? driver_not_loaded : success; }

int nvmlDeviceGetHandleByPciBusId_v2(const char* address, void** handle) {
  static char device;
  if (std::strlen(address) != std::strlen("0000:41:00.0")) return not_found;
  *handle = &device;
  return success;
}

int nvmlDeviceGetClockInfo(void*, unsigned, unsigned* mhz) {
  *mhz = static_cast<unsigned>(number("NUMATLAS_FAKE_CUDA_CLOCK"));
  return success;
}

int nvmlDeviceGetCurrentClocksThrottleReasons(void*, unsigned long long* reasons) {
  static std::atomic<unsigned long long> answers = 0;
  const unsigned long long limit = number("NUMATLAS_FAKE_CUDA_SLOWED_CALLS");
  const bool slowed = limit == 0 || answers++ < limit;
  *reasons = slowed ? number("NUMATLAS_FAKE_CUDA_SLOWED") : 0;
  return success;
}
}
