// What the program wants of GPUs: one class over the calls of CUDA's or HIP's driver, which is
// loaded at run time; cuda/ and hip/ say what differs. No toolkit is needed to build or to run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/units.h"

namespace numatlas {

/// An address as a GPU sees it: in its own memory, or mapped from the host's.
using DeviceAddress = std::uint64_t;
/// The driver's own handles; nullptr is none. A stream or an event goes with its last copy.
using StreamHandle = std::shared_ptr<void>;
using EventHandle = std::shared_ptr<void>;
using FunctionHandle = void*;

/// A GPU as its driver tells of it.
struct DeviceInfo {
  std::string name;         ///< "NVIDIA H200"
  std::string pci_address;  ///< "0000:41:00.0" in lower case, as sysfs has it; "" unknown
  Bytes memory;
  std::optional<int> copy_engines;  ///< copies that it can do at the same time
  bool maps_host_memory = false;    ///< pinned memory of the host can be read by its kernels
  int multiprocessors = 1;
  int threads = 1;                       ///< the most that a multiprocessor has at a time
  std::optional<Bytes> shared_cache;     ///< of all multiprocessors together: the second level
  std::optional<double> peak_bandwidth;  ///< bytes a second of its memory: bus width times clock
  bool mig = false;                      ///< a slice of a GPU, as far as the driver says so
};

/// How a device runs at a moment.
struct DeviceState {
  std::optional<double> frequency;  ///< Hz of its processors
  /// What holds its clocks down: "heat, power limit"; "" for nothing, or where the driver does not
  /// say.
  std::string slowed_by;
};

/// The last one: between two addresses of one GPU, or of two.
enum class CopyWay { host_to_device, device_to_host, device_to_device };

/// The kernels of device/kernels.h, which says what each does, are called by its names there
/// without this.
inline constexpr const char* kernel_prefix = "numatlas_";

struct DriverApi;
struct Vendor;

/// One driver. Devices are numbered as the driver does (CUDA_VISIBLE_DEVICES and its like are the
/// driver's to heed). Calls may come from any thread; each makes its device current. Errors name
/// the call and the driver's own name of the error: kind resource for memory that is not there,
/// unavailable for what this driver or device does not have, io for a device that fails or is lost.
class DeviceRuntime {
 public:
  /// The driver has been started and has that many devices.
  DeviceRuntime(std::unique_ptr<DriverApi> api, Vendor vendor, int count);
  ~DeviceRuntime();
  DeviceRuntime(const DeviceRuntime&) = delete;
  DeviceRuntime& operator=(const DeviceRuntime&) = delete;

  const std::string& name() const;         ///< "cuda"
  const std::string& description() const;  ///< "CUDA driver 12.4"
  const std::vector<DeviceInfo>& devices() const;

  Expected<DeviceAddress> allocate(int device, Bytes bytes);
  Expected<void> free(int device, DeviceAddress address);
  /// Pins memory of the host; `mapped`: kernels of the GPU may read it as well.
  Expected<void> pin(int device, void* start, std::size_t bytes, bool mapped);
  Expected<void> unpin(int device, void* start);
  /// Where a kernel of the device finds pinned, mapped memory of the host.
  Expected<DeviceAddress> mapped_address(int device, void* start);

  /// A stream that does not wait for the default one.
  Expected<StreamHandle> create_stream(int device);
  Expected<void> wait_for_stream(int device, const StreamHandle& stream);
  /// Queued; `host` is the host's side, or what is copied from between devices, `address` the
  /// device's. Memory that is not pinned is copied as the driver does it, which may be before this
  /// returns.
  Expected<void> copy(int device, const StreamHandle& stream, CopyWay way, DeviceAddress address,
                      void* host, std::size_t bytes);
  Expected<void> fill(int device, const StreamHandle& stream, DeviceAddress address,
                      std::uint8_t byte, std::size_t bytes);

  /// `sleeps`: who waits for it sleeps instead of spinning.
  Expected<EventHandle> create_event(int device, bool sleeps);
  Expected<void> record(int device, const EventHandle& event, const StreamHandle& stream);
  Expected<void> wait_for_event(int device, const EventHandle& event);
  /// Seconds between two events that have come, of one device.
  Expected<double> elapsed(int device, const EventHandle& start, const EventHandle& end);

  Expected<bool> can_reach_peer(int device, int peer);
  /// Copies from the device to the peer go directly; being so already is no error.
  Expected<void> reach_peer(int device, int peer);

  /// How it runs now; nullopt where nobody says. Takes some microseconds, and much longer the first
  /// time.
  std::optional<DeviceState> state(int device);

  /// A kernel by its name ("chase"), compiled once a device; unavailable where this driver or what
  /// it compiles with does not have it.
  Expected<FunctionHandle> kernel(int device, const std::string& name);
  /// One launch; `arguments` are pointers to the values, as the drivers want them.
  Expected<void> launch(int device, const StreamHandle& stream, FunctionHandle function,
                        unsigned blocks, unsigned threads, void** arguments);

 private:
  class Driver;
  std::unique_ptr<Driver> driver_;
};

/// A driver that was looked for.
struct RuntimeState {
  std::string name;                        ///< "cuda", "hip"
  std::unique_ptr<DeviceRuntime> runtime;  ///< nullptr where it has no device or is not there
  /// Why not: no library; a toolkit's stub; no device; driver and kernel module do not match.
  std::optional<Error> problem;
};

/// The drivers of this machine, looked for once; never unloaded. The calling thread's CPUs are the
/// same afterwards. Libraries: libcuda.so.1; libamdhip64.so.7, .6, .5.
const std::vector<RuntimeState>& device_runtimes();

/// Internal: looks for each, in the order of their folders' names. CMake makes it from the folders.
std::vector<RuntimeState> probe_runtimes();

/// A device of any driver: `gpu:N` is number N of all devices of all drivers, CUDA's first.
struct DeviceRef {
  DeviceRuntime* runtime = nullptr;
  int device = 0;  ///< the driver's own number
  const DeviceInfo& info() const { return runtime->devices()[static_cast<std::size_t>(device)]; }
};
int device_count();
/// Whatever `work` queues in a stream of its own, waited for.
Expected<void> in_own_stream(const DeviceRef& device,
                             const std::function<Expected<void>(const StreamHandle&)>& work);
/// Error (unavailable): there is no such GPU; says which there are, or why there is none.
Expected<DeviceRef> find_device(int index);

}  // namespace numatlas
