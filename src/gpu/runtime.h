// What the program wants of GPUs: one class over the calls of CUDA's or HIP's driver, which is
// loaded at run time; cuda/ and hip/ say what differs. No toolkit is needed to build or to run.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "base/error.h"
#include "base/units.h"

namespace numatlas {

/// An address as a GPU sees it: in its own memory, or mapped from the host's.
using DeviceAddress = std::uint64_t;
/// The driver's own handles; nullptr is none. Each goes with its last copy.
using StreamHandle = std::shared_ptr<void>;
using EventHandle = std::shared_ptr<void>;
using MemoryHandle = std::shared_ptr<void>;  ///< get() is an address of the GPU's
using PinHandle = std::shared_ptr<void>;     ///< get() is where pinned memory of the host starts
using FunctionHandle = void*;
inline DeviceAddress address_of(const MemoryHandle& memory) {
  return reinterpret_cast<DeviceAddress>(memory.get());
}

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

struct Driver;
template <class... Parameters>
struct Entry;

/// A GPU of a driver, which numbers them (CUDA_VISIBLE_DEVICES and its like are the driver's to
/// heed). Calls may come from any thread; each makes the device current. Errors name the call and
/// the driver's own name of the error: kind resource for memory that is not there, unavailable for
/// what this driver or device does not have, io for a device that fails or is lost. Contexts are
/// retained when a device is first used and kept to the process's end: the driver's own exit
/// handler gives them back, and calls after it would fail.
class Device {
 public:
  Device(std::shared_ptr<const Driver> driver, int number);
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  const DeviceInfo& info() const { return info_; }
  bool has_driver_of(const Device& other) const { return driver_ == other.driver_; }

  Expected<MemoryHandle> allocate(Bytes bytes);
  /// Pins memory of the host; `mapped`: kernels of the GPU may read it as well.
  Expected<PinHandle> pin(void* start, std::size_t bytes, bool mapped);
  /// Where a kernel of the device finds pinned, mapped memory of the host.
  Expected<DeviceAddress> mapped_address(void* start);

  /// A stream that does not wait for the default one.
  Expected<StreamHandle> create_stream();
  Expected<void> wait_for_stream(const StreamHandle& stream);
  /// Whatever `work` queues in a stream of its own, waited for.
  Expected<void> in_own_stream(const std::function<Expected<void>(const StreamHandle&)>& work);
  /// Queued; `host` is the host's side, or what is copied from between devices, `address` the
  /// device's. Memory that is not pinned is copied as the driver does it, which may be before this
  /// returns.
  Expected<void> copy(const StreamHandle& stream, CopyWay way, DeviceAddress address, void* host,
                      std::size_t bytes);
  Expected<void> fill(const StreamHandle& stream, DeviceAddress address, std::uint8_t byte,
                      std::size_t bytes);

  /// `sleeps`: who waits for it sleeps instead of spinning.
  Expected<EventHandle> create_event(bool sleeps);
  Expected<void> record(const EventHandle& event, const StreamHandle& stream);
  Expected<void> wait_for_event(const EventHandle& event);
  /// Seconds between two events that have come.
  Expected<double> elapsed(const EventHandle& start, const EventHandle& end);

  /// Peers are devices of the same driver.
  Expected<bool> can_reach(Device& peer);
  /// Copies to the peer go directly; being so already is no error.
  Expected<void> reach(Device& peer);

  /// How it runs now; nullopt where nobody says. Takes some microseconds, and much longer the first
  /// time.
  std::optional<DeviceState> state() const;

  /// A kernel by its name ("chase"), compiled once; unavailable where this driver or what it
  /// compiles with does not have it.
  Expected<FunctionHandle> kernel(const std::string& name);
  /// One launch; `arguments` are pointers to the values, as the drivers want them.
  Expected<void> launch(const StreamHandle& stream, FunctionHandle function, unsigned blocks,
                        unsigned threads, void** arguments);

 private:
  void read_info();
  /// Makes it current in the calling thread.
  Expected<void> enter();
  Expected<int> handle();
  Expected<void*> context();
  Expected<void*> module();
  template <class... Parameters, class... Arguments>
  Expected<void> call(const Entry<Parameters...>& entry, Arguments... arguments);
  template <class Value, class... Parameters, class... Arguments>
  Expected<Value> value(const Entry<Value*, Parameters...>& entry, Arguments... arguments);
  template <class Made>
  std::shared_ptr<void> owned(Made made, const Entry<Made>& destroy);

  std::shared_ptr<const Driver> driver_;
  int number_;  ///< the driver's own
  DeviceInfo info_;
  std::mutex mutex_;
  int handle_ = -1;  ///< -1: the driver would not say
  std::atomic<void*> context_{nullptr};
  void* module_ = nullptr;  ///< of the kernels
};

/// A driver that was looked for.
struct RuntimeState {
  std::string name;              ///< "cuda", "hip"
  std::string description{};     ///< "CUDA driver 12.4"; "" where it does not start
  std::deque<Device> devices{};  ///< none where it cannot be used
  /// Why not: no library; a toolkit's stub; no device; driver and kernel module do not match.
  std::optional<Error> problem{};
};

/// The drivers of this machine, looked for once; never unloaded. The calling thread's CPUs are the
/// same afterwards. Libraries: libcuda.so.1; libamdhip64.so.7, .6, .5.
std::array<RuntimeState, 2>& device_runtimes();

int device_count();
/// `gpu:N` is number N of all devices of all drivers, CUDA's first. Error (unavailable): there is
/// no such GPU; says which there are, or why there is none.
Expected<Device*> find_device(int index);

}  // namespace numatlas
