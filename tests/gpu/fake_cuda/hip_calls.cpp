// The same devices behind AMD's names: with the other files here a libamdhip64.so.7. Settings and
// the log are those of fake.h, calls in them go by CUDA's names. As the real one may, hipSetDevice
// leaves the calling thread on one CPU.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <string>

#include <sched.h>

#include "fake.h"

using fake::Address;

extern "C" {
int cuInit(unsigned);
int cuDeviceGetCount(int*);
int cuDeviceGet(int*, int);
int cuDeviceGetName(char*, int, int);
int cuDeviceTotalMem_v2(std::size_t*, int);
int cuDeviceGetAttribute(int*, int, int);
int cuDeviceGetPCIBusId(char*, int, int);
int cuDevicePrimaryCtxRetain(void**, int);
int cuCtxSetCurrent(void*);
int cuMemHostRegister_v2(void*, std::size_t, unsigned);
int cuMemHostUnregister(void*);
int cuMemHostGetDevicePointer_v2(Address*, void*, unsigned);
int cuMemAlloc_v2(Address*, std::size_t);
int cuMemFree_v2(Address);
int cuMemcpyHtoDAsync_v2(Address, const void*, std::size_t, void*);
int cuMemcpyDtoHAsync_v2(void*, Address, std::size_t, void*);
int cuMemcpyDtoDAsync_v2(Address, Address, std::size_t, void*);
int cuMemsetD8Async(Address, unsigned char, std::size_t, void*);
int cuStreamCreate(void**, unsigned);
int cuStreamDestroy_v2(void*);
int cuStreamSynchronize(void*);
int cuEventCreate(void**, unsigned);
int cuEventRecord(void*, void*);
int cuEventSynchronize(void*);
int cuEventElapsedTime(float*, void*, void*);
int cuEventDestroy_v2(void*);
int cuDeviceCanAccessPeer(int*, int, int);
int cuCtxEnablePeerAccess(void*, unsigned);
int cuModuleGetFunction(void**, void*, const char*);
int cuLaunchKernel(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                   void*, void**, void**);
}

FAKE_CUDA hipInit(unsigned flags) { return cuInit(flags); }
FAKE_CUDA hipRuntimeGetVersion(int* version) {
  *version = 60'342'133;  // 6.3.42133
  return 0;
}
extern "C" __attribute__((visibility("default"))) const char* hipGetErrorName(int code) {
  switch (code) {
    case fake::out_of_memory: return "hipErrorOutOfMemory";
    case 100: return "hipErrorNoDevice";
    case fake::not_found: return "hipErrorNotFound";
    case 700: return "hipErrorIllegalAddress";
    case fake::registered_already: return "hipErrorHostMemoryAlreadyRegistered";
    default: return "hipErrorUnknown";
  }
}
FAKE_CUDA hipGetDeviceCount(int* count) { return cuDeviceGetCount(count); }
FAKE_CUDA hipDeviceGet(int* handle, int device) { return cuDeviceGet(handle, device); }
FAKE_CUDA hipDeviceGetName(char* name, int room, int device) {
  return cuDeviceGetName(name, room, device);
}
FAKE_CUDA hipDeviceTotalMem(std::size_t* bytes, int device) {
  return cuDeviceTotalMem_v2(bytes, device);
}
FAKE_CUDA hipDeviceGetAttribute(int* value, int attribute, int device) {
  // HIP's numbers, and CUDA's.
  static const std::map<int, int> numbers{{2, 40},  {3, 19},  {19, 38}, {57, 39},
                                          {59, 37}, {60, 36}, {63, 16}};
  const auto found = numbers.find(attribute);
  if (found == numbers.end()) return fake::invalid_value;
  return cuDeviceGetAttribute(value, found->second, device);
}
FAKE_CUDA hipDeviceGetPCIBusId(char* text, int room, int device) {
  return cuDeviceGetPCIBusId(text, room, device);
}
FAKE_CUDA hipSetDevice(int device) {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(static_cast<std::size_t>(sched_getcpu()), &one);
  (void)sched_setaffinity(0, sizeof one, &one);
  void* context = nullptr;
  const int code = cuDevicePrimaryCtxRetain(&context, device);
  return code == 0 ? cuCtxSetCurrent(context) : code;
}
FAKE_CUDA hipHostRegister(void* start, std::size_t bytes, unsigned flags) {
  return cuMemHostRegister_v2(start, bytes, flags);
}
FAKE_CUDA hipHostUnregister(void* start) { return cuMemHostUnregister(start); }
FAKE_CUDA hipHostGetDevicePointer(Address* there, void* start, unsigned flags) {
  return cuMemHostGetDevicePointer_v2(there, start, flags);
}
FAKE_CUDA hipMalloc(Address* start, std::size_t bytes) { return cuMemAlloc_v2(start, bytes); }
FAKE_CUDA hipFree(Address start) { return cuMemFree_v2(start); }

FAKE_CUDA hipMemcpyHtoDAsync(Address to, const void* from, std::size_t bytes, void* stream) {
  return cuMemcpyHtoDAsync_v2(to, from, bytes, stream);
}
FAKE_CUDA hipMemcpyDtoHAsync(void* to, Address from, std::size_t bytes, void* stream) {
  return cuMemcpyDtoHAsync_v2(to, from, bytes, stream);
}
FAKE_CUDA hipMemcpyDtoDAsync(Address to, Address from, std::size_t bytes, void* stream) {
  return cuMemcpyDtoDAsync_v2(to, from, bytes, stream);
}
FAKE_CUDA hipMemsetD8Async(Address to, unsigned char byte, std::size_t bytes, void* stream) {
  return cuMemsetD8Async(to, byte, bytes, stream);
}
FAKE_CUDA hipStreamCreateWithFlags(void** stream, unsigned flags) {
  return cuStreamCreate(stream, flags);
}
FAKE_CUDA hipStreamDestroy(void* stream) { return cuStreamDestroy_v2(stream); }
FAKE_CUDA hipStreamSynchronize(void* stream) { return cuStreamSynchronize(stream); }
FAKE_CUDA hipEventCreateWithFlags(void** event, unsigned flags) {
  return cuEventCreate(event, flags);
}
FAKE_CUDA hipEventRecord(void* event, void* stream) { return cuEventRecord(event, stream); }
FAKE_CUDA hipEventSynchronize(void* event) { return cuEventSynchronize(event); }
FAKE_CUDA hipEventElapsedTime(float* milliseconds, void* start, void* end) {
  return cuEventElapsedTime(milliseconds, start, end);
}
FAKE_CUDA hipEventDestroy(void* event) { return cuEventDestroy_v2(event); }
FAKE_CUDA hipDeviceCanAccessPeer(int* can, int device, int peer) {
  return cuDeviceCanAccessPeer(can, device, peer);
}
// Takes what the fake libhiprtc.so.7 made, and has the kernels that this defines.
FAKE_CUDA hipModuleLoadData(void** module, const void* image) {
  if (const int code = fake::begin("cuModuleLoadData", "", true)) return code;
  const char* const text = static_cast<const char*>(image);
  if (std::strncmp(text, "fake code object", 16) != 0) return fake::invalid_image;
  *module = new std::string(text);  // never unloaded
  return 0;
}
FAKE_CUDA hipModuleGetFunction(void** function, void* module, const char* name) {
  const auto& image = *static_cast<std::string*>(module);
  if (image.find(std::string(name) + '(') == std::string::npos &&
      image.find(std::string(name) + ',') == std::string::npos)
    return fake::not_found;
  return cuModuleGetFunction(function, nullptr, name);
}
FAKE_CUDA hipModuleLaunchKernel(void* function, unsigned blocks_x, unsigned blocks_y,
                                unsigned blocks_z, unsigned threads_x, unsigned threads_y,
                                unsigned threads_z, unsigned shared, void* stream, void** arguments,
                                void** extra) {
  return cuLaunchKernel(function, blocks_x, blocks_y, blocks_z, threads_x, threads_y, threads_z,
                        shared, stream, arguments, extra);
}
FAKE_CUDA hipDeviceEnablePeerAccess(int peer, unsigned flags) {
  if (peer < 0 || peer >= fake::settings().devices) return fake::invalid_device;
  return cuCtxEnablePeerAccess(fake::devices()[static_cast<std::size_t>(peer)].get(), flags);
}
