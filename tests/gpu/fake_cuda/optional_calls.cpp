// What old drivers do not have: a second library is built without this file.
#include <cstdint>
#include <cstring>
#include <functional>
#include <mutex>
#include <string>

#include "fake.h"

using fake::Address;
using fake::Device;
using fake::Function;
using fake::Operation;
using fake::Stream;

FAKE_CUDA cuMemHostGetDevicePointer_v2(Address* address, void* start, unsigned) {
  if (const int code = fake::begin("cuMemHostGetDevicePointer", "", true)) return code;
  if (!fake::pinned().holds(start, 1)) return fake::invalid_value;
  *address = reinterpret_cast<std::uintptr_t>(start);
  return 0;
}

FAKE_CUDA cuDeviceCanAccessPeer(int* can, int device, int peer) {
  const std::string text = "device=" + std::to_string(device) + " peer=" + std::to_string(peer);
  *can = device != peer ? 1 : 0;
  return fake::begin("cuDeviceCanAccessPeer", text, false);
}

FAKE_CUDA cuCtxEnablePeerAccess(void* context, unsigned) {
  auto* const peer = static_cast<Device*>(context);
  if (peer == nullptr) return fake::invalid_context;
  const std::string text = "peer=" + std::to_string(peer->index);
  if (const int code = fake::begin("cuCtxEnablePeerAccess", text, true)) return code;
  Device& device = *fake::current();
  if (&device == peer) return fake::invalid_device;
  const std::lock_guard lock(device.mutex);
  return device.peers.insert({peer->index, true}).second ? 0 : fake::peer_already;
}

FAKE_CUDA cuModuleLoadData(void** module, const void* image) {
  if (const int code = fake::begin("cuModuleLoadData", "", true)) return code;
  if (std::strncmp(static_cast<const char*>(image), ".version", 8) != 0) return fake::invalid_image;
  static int any;
  *module = &any;
  return 0;
}

FAKE_CUDA cuModuleGetFunction(void** function, void*, const char* name) {
  const std::string text = std::string("name=") + name;
  if (const int code = fake::begin("cuModuleGetFunction", text, true)) return code;
  const Function* const found = fake::function_named(name);
  if (found == nullptr) return fake::not_found;
  *function = const_cast<Function*>(found);
  return 0;
}

FAKE_CUDA cuLaunchKernel(void* function, unsigned blocks, unsigned, unsigned, unsigned threads,
                         unsigned, unsigned, unsigned, void* handle, void** arguments, void**) {
  Stream* stream = nullptr;
  if (const int code = fake::stream_of(handle, stream)) return code;
  const auto& kernel = *static_cast<const Function*>(function);
  const std::string text = "device=" + std::to_string(stream->device.index) +
                           " stream=" + std::to_string(stream->number) + " name=" + kernel.name +
                           " blocks=" + std::to_string(blocks) +
                           " threads=" + std::to_string(threads);
  if (const int code = fake::begin("cuLaunchKernel", text, true)) return code;
  const std::uint64_t all = static_cast<std::uint64_t>(blocks) * threads;
  stream->push({Operation::Kind::copy, kernel.work(arguments, all)});
  return 0;
}
