// Devices, contexts, memory of both sides.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <string>

#include "fake.h"

using fake::Address;
using fake::Device;

namespace {

/// What an error is called; nullptr unknown.
const char* name_of(int code) {
  switch (code) {
    case 0: return "CUDA_SUCCESS";
    case fake::invalid_value: return "CUDA_ERROR_INVALID_VALUE";
    case fake::out_of_memory: return "CUDA_ERROR_OUT_OF_MEMORY";
    case 34: return "CUDA_ERROR_STUB_LIBRARY";
    case 46: return "CUDA_ERROR_DEVICE_UNAVAILABLE";
    case 100: return "CUDA_ERROR_NO_DEVICE";
    case fake::invalid_device: return "CUDA_ERROR_INVALID_DEVICE";
    case fake::invalid_image: return "CUDA_ERROR_INVALID_IMAGE";
    case fake::invalid_context: return "CUDA_ERROR_INVALID_CONTEXT";
    case 217: return "CUDA_ERROR_PEER_ACCESS_UNSUPPORTED";
    case fake::invalid_handle: return "CUDA_ERROR_INVALID_HANDLE";
    case fake::not_found: return "CUDA_ERROR_NOT_FOUND";
    case fake::not_ready: return "CUDA_ERROR_NOT_READY";
    case 700: return "CUDA_ERROR_ILLEGAL_ADDRESS";
    case fake::peer_already: return "CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED";
    case fake::registered_already: return "CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED";
    case fake::not_registered: return "CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED";
    case 719: return "CUDA_ERROR_LAUNCH_FAILED";
    case 800: return "CUDA_ERROR_NOT_PERMITTED";
    case 803: return "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH";
    case 999: return "CUDA_ERROR_UNKNOWN";
    default: return nullptr;
  }
}

bool there(int device) { return device >= 0 && device < fake::settings().devices; }

/// A call about a device that needs no context.
int about(const char* name, int device) {
  if (const int code = fake::begin(name, "device=" + std::to_string(device), false)) return code;
  return there(device) ? 0 : fake::invalid_device;
}

std::string size_text(std::size_t bytes) {
  Device* const device = fake::current();
  return "device=" + std::to_string(device == nullptr ? -1 : device->index) +
         " bytes=" + std::to_string(bytes);
}

constexpr std::size_t alignment = 512;  // as the real driver's allocations

void* new_memory(std::size_t bytes) {
  return std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
}

}  // namespace

FAKE_CUDA cuInit(unsigned) {
  if (const int code = fake::begin("cuInit", "", false)) return code;
  return fake::settings().init;
}
FAKE_CUDA cuDriverGetVersion(int* version) {
  *version = 12040;
  return fake::begin("cuDriverGetVersion", "", false);
}
FAKE_CUDA cuGetErrorName(int code, const char** name) {
  *name = name_of(code);
  return *name == nullptr ? fake::invalid_value : 0;
}
FAKE_CUDA cuDeviceGetCount(int* count) {
  *count = fake::settings().devices;
  return fake::begin("cuDeviceGetCount", "", false);
}
FAKE_CUDA cuDeviceGet(int* device, int index) {
  *device = index;
  return about("cuDeviceGet", index);
}
FAKE_CUDA cuDeviceGetName(char* name, int room, int device) {
  std::snprintf(name, static_cast<std::size_t>(room), "numatlas fake GPU %d (test only)", device);
  return about("cuDeviceGetName", device);
}
FAKE_CUDA cuDeviceTotalMem_v2(std::size_t* bytes, int device) {
  *bytes = fake::settings().memory;
  return about("cuDeviceTotalMem", device);
}
FAKE_CUDA cuDeviceGetAttribute(int* value, int attribute, int device) {
  // Two multiprocessors of 256 threads, a cache of 1 MiB, 512 bits at 1 GHz: 128 GB/s.
  static const std::map<int, int> values{{16, 2},           {19, 1},   {36, 1000000}, {37, 512},
                                         {38, 1024 * 1024}, {39, 256}, {40, 2}};
  const auto found = values.find(attribute);
  *value = found == values.end() ? 0 : found->second;
  return about("cuDeviceGetAttribute", device);
}
FAKE_CUDA cuDeviceGetPCIBusId(char* text, int room, int device) {
  // In capitals, as the real one writes it.
  std::snprintf(text, static_cast<std::size_t>(room), "0000:%02X:00.0", device + 1);
  return about("cuDeviceGetPCIBusId", device);
}
FAKE_CUDA cuDevicePrimaryCtxRetain(void** context, int device) {
  if (const int code = about("cuDevicePrimaryCtxRetain", device)) return code;
  *context = fake::devices()[static_cast<std::size_t>(device)].get();
  return 0;
}
FAKE_CUDA cuCtxSetCurrent(void* context) {
  auto* const device = static_cast<Device*>(context);
  const std::string which = device == nullptr ? "none" : std::to_string(device->index);
  if (const int code = fake::begin("cuCtxSetCurrent", "device=" + which, false)) return code;
  fake::current() = device;
  return 0;
}
FAKE_CUDA cuCtxSynchronize() {
  if (const int code = fake::begin("cuCtxSynchronize", "", true)) return code;
  fake::current()->drain();
  return fake::current()->lost;
}

FAKE_CUDA cuMemHostRegister_v2(void* start, std::size_t bytes, unsigned flags) {
  const std::string text = size_text(bytes) + " flags=" + std::to_string(flags);
  if (const int code = fake::begin("cuMemHostRegister", text, true)) return code;
  return fake::pinned().add(start, bytes);
}
FAKE_CUDA cuMemHostUnregister(void* start) {
  if (const int code = fake::begin("cuMemHostUnregister", "", true)) return code;
  for (auto& device : fake::devices()) device->drain();
  return fake::pinned().remove(start);
}
FAKE_CUDA cuMemHostAlloc(void** start, std::size_t bytes, unsigned flags) {
  const std::string text = size_text(bytes) + " flags=" + std::to_string(flags);
  if (const int code = fake::begin("cuMemHostAlloc", text, true)) return code;
  if (bytes == 0) return fake::invalid_value;
  *start = new_memory(bytes);
  return *start == nullptr ? fake::out_of_memory : fake::pinned().add(*start, bytes);
}
FAKE_CUDA cuMemFreeHost(void* start) {
  if (const int code = fake::begin("cuMemFreeHost", "", true)) return code;
  for (auto& device : fake::devices()) device->drain();
  if (fake::pinned().remove(start) != 0) return fake::invalid_value;
  std::free(start);
  return 0;
}

FAKE_CUDA cuMemAlloc_v2(Address* address, std::size_t bytes) {
  if (const int code = fake::begin("cuMemAlloc", size_text(bytes), true)) return code;
  if (bytes == 0) return fake::invalid_value;
  Device& device = *fake::current();
  const std::lock_guard lock(device.mutex);
  if (bytes > fake::settings().memory - device.used) return fake::out_of_memory;
  void* const memory = new_memory(bytes);
  if (memory == nullptr) return fake::out_of_memory;
  *address = reinterpret_cast<std::uintptr_t>(memory);
  device.memory[*address] = bytes;
  device.used += bytes;
  return 0;
}
FAKE_CUDA cuMemFree_v2(Address address) {
  if (const int code = fake::begin("cuMemFree", size_text(0), true)) return code;
  for (auto& device : fake::devices()) device->drain();
  Device& device = *fake::current();
  const std::lock_guard lock(device.mutex);
  const auto found = device.memory.find(address);
  if (found == device.memory.end()) return fake::invalid_value;
  device.used -= found->second;
  device.memory.erase(found);
  std::free(reinterpret_cast<void*>(address));
  return 0;
}
