// Internal: the CUDA driver's interface as far as it is used here, in declarations of our own. Its
// functions are exported by libcuda.so.1 under these names since CUDA 6.0 at the latest.
#pragma once

#include <cstddef>
#include <cstdint>

#include "gpu/driver/calls.h"

namespace numatlas::cuda {

/// The driver's handles are pointers to what it does not show; a device is a number.
using Device = int;
using Context = void*;
using Stream = void*;
using Event = void*;
using Module = void*;
using Function = void*;
using Address = std::uint64_t;

inline constexpr int attribute_can_map_host_memory = 19;
inline constexpr int attribute_async_engine_count = 40;
inline constexpr int attribute_managed_memory = 83;
inline constexpr unsigned register_portable = 1, register_mapped = 2;
inline constexpr unsigned alloc_portable = 1, alloc_mapped = 2;
inline constexpr unsigned managed_attach_global = 1;
inline constexpr unsigned stream_non_blocking = 1;
inline constexpr unsigned event_default = 0, event_blocking_sync = 1;

/// What is needed of libcuda.so.1; a feature's entry may be empty.
struct DriverApi {
  explicit DriverApi(const Library& library) : symbols(library) {}

  Symbols symbols;
  Entry<unsigned> init{symbols, "cuInit"};
  Entry<int*> driver_version{symbols, "cuDriverGetVersion"};
  Entry<int, const char**> error_name{symbols, "cuGetErrorName"};
  Entry<int*> device_count{symbols, "cuDeviceGetCount"};
  Entry<Device*, int> device_get{symbols, "cuDeviceGet"};
  Entry<char*, int, Device> device_name{symbols, "cuDeviceGetName"};
  Entry<std::size_t*, Device> device_memory{symbols, "cuDeviceTotalMem_v2"};
  Entry<int*, int, Device> device_attribute{symbols, "cuDeviceGetAttribute"};
  Entry<char*, int, Device> device_pci{symbols, "cuDeviceGetPCIBusId"};

  Entry<Context*, Device> context_retain{symbols, "cuDevicePrimaryCtxRetain"};
  Entry<Context> context_set{symbols, "cuCtxSetCurrent"};

  Entry<void*, std::size_t, unsigned> host_register{symbols, "cuMemHostRegister_v2"};
  Entry<void*> host_unregister{symbols, "cuMemHostUnregister"};
  Entry<void**, std::size_t, unsigned> host_alloc{symbols, "cuMemHostAlloc"};
  Entry<void*> host_free{symbols, "cuMemFreeHost"};
  Entry<Address*, void*, unsigned> host_address{symbols, "cuMemHostGetDevicePointer_v2",
                                                Need::feature};
  Entry<Address*, std::size_t, unsigned> managed_alloc{symbols, "cuMemAllocManaged", Need::feature};
  Entry<Address*, std::size_t> alloc{symbols, "cuMemAlloc_v2"};
  Entry<Address> free{symbols, "cuMemFree_v2"};

  Entry<Address, const void*, std::size_t, Stream> to_device{symbols, "cuMemcpyHtoDAsync_v2"};
  Entry<void*, Address, std::size_t, Stream> to_host{symbols, "cuMemcpyDtoHAsync_v2"};
  Entry<Address, Address, std::size_t, Stream> within{symbols, "cuMemcpyDtoDAsync_v2"};
  Entry<Address, Context, Address, Context, std::size_t, Stream> peer_copy{
      symbols, "cuMemcpyPeerAsync", Need::feature};
  Entry<Address, unsigned char, std::size_t, Stream> fill{symbols, "cuMemsetD8Async"};

  Entry<Stream*, unsigned> stream_create{symbols, "cuStreamCreate"};
  Entry<Stream> stream_destroy{symbols, "cuStreamDestroy_v2"};
  Entry<Stream> stream_wait{symbols, "cuStreamSynchronize"};
  Entry<Stream, Event, unsigned> stream_wait_event{symbols, "cuStreamWaitEvent"};
  Entry<Event*, unsigned> event_create{symbols, "cuEventCreate"};
  Entry<Event, Stream> event_record{symbols, "cuEventRecord"};
  Entry<Event> event_wait{symbols, "cuEventSynchronize"};
  // Not its _v2, which drivers before 12.8 do not have.
  Entry<float*, Event, Event> event_elapsed{symbols, "cuEventElapsedTime"};
  Entry<Event> event_destroy{symbols, "cuEventDestroy_v2"};

  Entry<int*, Device, Device> can_access_peer{symbols, "cuDeviceCanAccessPeer", Need::feature};
  Entry<Context, unsigned> enable_peer{symbols, "cuCtxEnablePeerAccess", Need::feature};
  Entry<Module*, const void*> module_load{symbols, "cuModuleLoadData", Need::feature};
  Entry<Function*, Module, const char*> module_function{symbols, "cuModuleGetFunction",
                                                        Need::feature};
  Entry<Function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, Stream,
        void**, void**>
      launch{symbols, "cuLaunchKernel", Need::feature};
};

}  // namespace numatlas::cuda
