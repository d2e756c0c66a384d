// Internal: AMD's HIP runtime as far as it is used here, in declarations of our own. Its functions
// are exported by libamdhip64.so.5, .6 and .7 alike, and so are these attributes' numbers.
#pragma once

#include <cstddef>

#include "gpu/driver/calls.h"

namespace numatlas::hip {

using Stream = void*;
using Event = void*;
using Module = void*;
using Function = void*;

inline constexpr int attribute_async_engine_count = 2;
inline constexpr int attribute_can_map_host_memory = 3;
inline constexpr int attribute_managed_memory = 24;
inline constexpr unsigned register_portable = 1, register_mapped = 2;
inline constexpr unsigned malloc_portable = 1, malloc_mapped = 2;
inline constexpr unsigned malloc_by_policy = 0x20000000;  ///< where the thread's memory policy says
inline constexpr unsigned managed_attach_global = 1;
inline constexpr unsigned stream_non_blocking = 1;
inline constexpr unsigned event_default = 0, event_blocking_sync = 1;
inline constexpr int copy_to_device = 1, copy_to_host = 2, copy_within = 3, copy_any = 4;

/// What is needed of libamdhip64; a feature's entry may be empty.
struct HipApi {
  explicit HipApi(const Library& library) : symbols(library) {}

  Symbols symbols;
  Entry<unsigned> init{symbols, "hipInit"};
  Entry<int*> version{symbols, "hipRuntimeGetVersion", Need::feature};
  Entry<int*> device_count{symbols, "hipGetDeviceCount"};
  Entry<char*, int, int> device_name{symbols, "hipDeviceGetName"};
  Entry<std::size_t*, int> device_memory{symbols, "hipDeviceTotalMem", Need::feature};
  Entry<int*, int, int> device_attribute{symbols, "hipDeviceGetAttribute"};
  Entry<char*, int, int> device_pci{symbols, "hipDeviceGetPCIBusId"};
  Entry<int> set_device{symbols, "hipSetDevice"};

  Entry<void*, std::size_t, unsigned> host_register{symbols, "hipHostRegister"};
  Entry<void*> host_unregister{symbols, "hipHostUnregister"};
  Entry<void**, std::size_t, unsigned> host_malloc{symbols, "hipHostMalloc", Need::feature};
  Entry<void*> host_free{symbols, "hipHostFree", Need::feature};
  Entry<void**, void*, unsigned> host_address{symbols, "hipHostGetDevicePointer", Need::feature};
  Entry<void**, std::size_t, unsigned> managed_malloc{symbols, "hipMallocManaged", Need::feature};
  Entry<void**, std::size_t> malloc{symbols, "hipMalloc"};
  Entry<void*> free{symbols, "hipFree"};

  Entry<void*, const void*, std::size_t, int, Stream> copy{symbols, "hipMemcpyAsync"};
  Entry<void*, int, std::size_t, Stream> fill{symbols, "hipMemsetAsync"};

  Entry<Stream*, unsigned> stream_create{symbols, "hipStreamCreateWithFlags"};
  Entry<Stream> stream_destroy{symbols, "hipStreamDestroy"};
  Entry<Stream> stream_wait{symbols, "hipStreamSynchronize"};
  Entry<Stream, Event, unsigned> stream_wait_event{symbols, "hipStreamWaitEvent"};
  Entry<Event*, unsigned> event_create{symbols, "hipEventCreateWithFlags"};
  Entry<Event, Stream> event_record{symbols, "hipEventRecord"};
  Entry<Event> event_wait{symbols, "hipEventSynchronize"};
  Entry<float*, Event, Event> event_elapsed{symbols, "hipEventElapsedTime"};
  Entry<Event> event_destroy{symbols, "hipEventDestroy"};

  Entry<int*, int, int> can_access_peer{symbols, "hipDeviceCanAccessPeer", Need::feature};
  Entry<int, unsigned> enable_peer{symbols, "hipDeviceEnablePeerAccess", Need::feature};

  Entry<Module*, const void*> module_load{symbols, "hipModuleLoadData", Need::feature};
  Entry<Function*, Module, const char*> module_function{symbols, "hipModuleGetFunction",
                                                        Need::feature};
  Entry<Function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, Stream,
        void**, void**>
      launch{symbols, "hipModuleLaunchKernel", Need::feature};

  /// Returns the name itself, unlike CUDA's; may be nullptr.
  const char* (*error_name)(int) =
      reinterpret_cast<const char* (*)(int)>(symbols.find("hipGetErrorName", Need::feature));
};

}  // namespace numatlas::hip
