// Internal: NVIDIA's management library (NVML), which comes with the driver: clocks, what holds
// them down, and whether they are slices (MIG). Declarations of our own.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "gpu/driver/calls.h"
#include "gpu/runtime.h"

namespace numatlas::cuda {

/// libnvidia-ml.so.1, loaded when it is first asked. Calls may come from any thread.
class Management {
 public:
  /// `pci_address` as sysfs has it. nullopt where there is no such library, it does not start, or
  /// it knows no such device.
  std::optional<DeviceState> state(const std::string& pci_address);
  /// Whether MIG is on; false where nobody says.
  bool mig(const std::string& pci_address);

 private:
  using Handle = void*;
  struct Api {
    explicit Api(const Library& library) : symbols(library) {}
    Symbols symbols;
    Entry<> init{symbols, "nvmlInit_v2"};
    Entry<const char*, Handle*> by_address{symbols, "nvmlDeviceGetHandleByPciBusId_v2"};
    Entry<Handle, unsigned, unsigned*> clock{symbols, "nvmlDeviceGetClockInfo"};
    Entry<Handle, unsigned long long*> throttle_reasons{
        symbols, "nvmlDeviceGetCurrentClocksThrottleReasons", Need::feature};
    // Now, and after the next start.
    Entry<Handle, unsigned*, unsigned*> mig{symbols, "nvmlDeviceGetMigMode", Need::feature};
  };

  void load();
  std::optional<Handle> handle_of(const std::string& pci_address);

  std::mutex mutex_;
  bool looked_for_ = false;
  std::unique_ptr<Api> api_;  ///< nullptr: not usable
  std::map<std::string, std::optional<Handle>> handles_;
};

/// "heat, power limit": the reasons that slow a GPU down, in words. What is normal (idle, clocks
/// that were set, GPUs of a group that run alike) is none.
std::string slowdown_text(unsigned long long reasons);

}  // namespace numatlas::cuda
