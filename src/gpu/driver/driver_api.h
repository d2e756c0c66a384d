// Internal: the calls of a GPU's driver that are used here, in declarations of our own:
// libcuda.so.1 exports those of CUDA since 6.0 at the latest, libamdhip64.so.5, .6 and .7 theirs.
// The calls of the two differ in little but their names.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gpu/driver/calls.h"
#include "gpu/runtime.h"

namespace numatlas {

enum class CallNames { cuda, hip };

/// Handles are pointers to what the driver does not show; a device is a number.
struct DriverApi {
  using Address = std::uint64_t;
  using Device = int;
  using Handle = void*;

  DriverApi(const Library& library, CallNames names) : symbols(library), names_(names) {}

  Symbols symbols;

 private:
  CallNames names_;
  const char* name(const char* cuda, const char* hip) const {
    return names_ == CallNames::cuda ? cuda : hip;
  }

 public:
  Entry<unsigned> init{symbols, name("cuInit", "hipInit")};
  Entry<int*> version{symbols, name("cuDriverGetVersion", "hipRuntimeGetVersion"), Need::feature};
  Entry<int*> device_count{symbols, name("cuDeviceGetCount", "hipGetDeviceCount")};
  Entry<Device*, int> device_get{symbols, name("cuDeviceGet", "hipDeviceGet")};
  Entry<char*, int, Device> device_name{symbols, name("cuDeviceGetName", "hipDeviceGetName")};
  Entry<std::size_t*, Device> device_memory{
      symbols, name("cuDeviceTotalMem_v2", "hipDeviceTotalMem"), Need::feature};
  Entry<int*, int, Device> device_attribute{symbols,
                                            name("cuDeviceGetAttribute", "hipDeviceGetAttribute")};
  Entry<char*, int, Device> device_pci{symbols,
                                       name("cuDeviceGetPCIBusId", "hipDeviceGetPCIBusId")};

  Entry<void*, std::size_t, unsigned> host_register{
      symbols, name("cuMemHostRegister_v2", "hipHostRegister")};
  Entry<void*> host_unregister{symbols, name("cuMemHostUnregister", "hipHostUnregister")};
  Entry<Address*, void*, unsigned> host_address{
      symbols, name("cuMemHostGetDevicePointer_v2", "hipHostGetDevicePointer"), Need::feature};
  Entry<Address*, std::size_t> alloc{symbols, name("cuMemAlloc_v2", "hipMalloc")};
  Entry<Address> free{symbols, name("cuMemFree_v2", "hipFree")};

  Entry<Address, const void*, std::size_t, Handle> to_device{
      symbols, name("cuMemcpyHtoDAsync_v2", "hipMemcpyHtoDAsync")};
  Entry<void*, Address, std::size_t, Handle> to_host{
      symbols, name("cuMemcpyDtoHAsync_v2", "hipMemcpyDtoHAsync")};
  Entry<Address, Address, std::size_t, Handle> between{
      symbols, name("cuMemcpyDtoDAsync_v2", "hipMemcpyDtoDAsync")};
  Entry<Address, unsigned char, std::size_t, Handle> fill{
      symbols, name("cuMemsetD8Async", "hipMemsetD8Async")};

  Entry<Handle*, unsigned> stream_create{symbols,
                                         name("cuStreamCreate", "hipStreamCreateWithFlags")};
  Entry<Handle> stream_destroy{symbols, name("cuStreamDestroy_v2", "hipStreamDestroy")};
  Entry<Handle> stream_wait{symbols, name("cuStreamSynchronize", "hipStreamSynchronize")};
  Entry<Handle*, unsigned> event_create{symbols, name("cuEventCreate", "hipEventCreateWithFlags")};
  Entry<Handle, Handle> event_record{symbols, name("cuEventRecord", "hipEventRecord")};
  Entry<Handle> event_wait{symbols, name("cuEventSynchronize", "hipEventSynchronize")};
  // Not CUDA's _v2, which drivers before 12.8 do not have.
  Entry<float*, Handle, Handle> event_elapsed{symbols,
                                              name("cuEventElapsedTime", "hipEventElapsedTime")};
  Entry<Handle> event_destroy{symbols, name("cuEventDestroy_v2", "hipEventDestroy")};

  Entry<int*, Device, Device> can_access_peer{
      symbols, name("cuDeviceCanAccessPeer", "hipDeviceCanAccessPeer"), Need::feature};
  Entry<Handle*, const void*> module_load{symbols, name("cuModuleLoadData", "hipModuleLoadData"),
                                          Need::feature};
  Entry<Handle*, Handle, const char*> module_function{
      symbols, name("cuModuleGetFunction", "hipModuleGetFunction"), Need::feature};
  Entry<Handle, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, Handle,
        void**, void**>
      launch{symbols, name("cuLaunchKernel", "hipModuleLaunchKernel"), Need::feature};

  // CUDA names a device by its context where HIP takes its number.
  Entry<Handle*, Device> context_retain{symbols, name("cuDevicePrimaryCtxRetain", nullptr)};
  Entry<Handle> context_set{symbols, name("cuCtxSetCurrent", nullptr)};
  Entry<Handle, unsigned> enable_peer{symbols, name("cuCtxEnablePeerAccess", nullptr),
                                      Need::feature};
  Entry<Device> device_set{symbols, name(nullptr, "hipSetDevice")};
  Entry<Device, unsigned> enable_peer_device{symbols, name(nullptr, "hipDeviceEnablePeerAccess"),
                                             Need::feature};

  bool has_contexts() const { return names_ == CallNames::cuda; }
  /// The driver's name of an error; nullptr where it has none.
  const char* error_name(int code) const {
    if (names_ == CallNames::hip) return hip_error_name == nullptr ? nullptr : hip_error_name(code);
    const char* text = nullptr;
    return cuda_error_name.function(code, &text) == 0 ? text : nullptr;
  }

 private:
  Entry<int, const char**> cuda_error_name{symbols, name("cuGetErrorName", nullptr)};
  const char* (*hip_error_name)(int) = reinterpret_cast<const char* (*)(int)>(
      names_ == CallNames::hip ? symbols.find("hipGetErrorName", Need::feature) : nullptr);
};

// Flags, which have the same values in both.
namespace driver_flag {
inline constexpr unsigned register_portable = 1, register_mapped = 2;
inline constexpr unsigned stream_non_blocking = 1;
inline constexpr unsigned event_default = 0, event_blocking_sync = 1;
}  // namespace driver_flag

/// What differs between the drivers of two vendors, beside the names of their calls.
struct Vendor {
  std::string name;     ///< "cuda"
  std::string library;  ///< "libcuda.so.1"
  CallNames call_names = CallNames::cuda;
  DriverWords words;
  std::string later_version;  ///< what to do where the library lacks a call
  /// Numbers of attributes of devices.
  struct Attributes {
    int copy_engines = 0, maps_host_memory = 0;
    int multiprocessors = 0, threads = 0;  ///< the most threads of one of them
    int shared_cache = 0;                  ///< bytes
    int memory_clock = 0, bus_width = 0;   ///< kHz, bits
  } attributes;
  std::string (*version_text)(int){};  ///< "12.4" of 12040
  /// Why the driver does not start with an error of this number, and what to do.
  std::pair<std::string, std::string> (*start_problem)(int code){};
  /// The module that has the kernels (runtime.h), for the device that is current.
  std::function<Expected<std::vector<char>>()> kernels;
  /// How the device at a PCI address runs now; nullopt where nobody says.
  std::function<std::optional<DeviceState>(const std::string& pci_address)> state;
  /// Whether the device at a PCI address is a slice of a GPU; none: nobody says.
  std::function<bool(const std::string& pci_address)> is_slice{};
};

/// Each looks for its driver, and starts it.
RuntimeState probe_cuda();
RuntimeState probe_hip();

/// Starts the driver that was loaded and counts its devices.
RuntimeState start_driver(const Library& library, Vendor vendor);
/// The state of a driver that is there and cannot be used.
RuntimeState unusable(const std::string& name, std::string message, std::string hint);
/// Whether the dynamic linker did not find the file itself; a library that is there may lack
/// another one.
bool is_absent(const Library& library, const std::string& name);

}  // namespace numatlas
