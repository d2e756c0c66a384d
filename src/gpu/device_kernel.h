// Kernels that a GPU runs, or its copy engines. A step is a copy (or several small ones, or a
// launch of the chase); the thread that calls queues them, and is never far ahead.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "gpu/runtime.h"
#include "kernels/kernel.h"
#include "machine/machine.h"
#include "memory/buffer.h"

namespace numatlas {

/// How long a step took, on this host's CLOCK_MONOTONIC.
struct DeviceStep {
  std::int64_t start_ns = 0, duration_ns = 0;
};

/// How many threads a launch has.
struct LaunchGrid {
  unsigned blocks = 0, threads = 0;  ///< threads of a block
};

/// What the GPU's side tells of a flow, beside the samples that the CPU takes.
struct DeviceReport {
  /// By the GPU's own events, around each step in its stream. In order; the first ones may be
  /// missing in very long runs.
  std::vector<DeviceStep> steps;
  std::int64_t clock_error_ns = 0;  ///< of the steps' starts on the host's clock, at most
  std::vector<double> pin_seconds, unpin_seconds;  ///< each time
  std::optional<PciLink> link;       ///< of the GPU, at its fastest while steps were under way
  std::optional<DeviceState> state;  ///< just after the last step
  std::string route;                 ///< between GPUs: "direct", "through the host"; else ""
  std::optional<LaunchGrid> grid;    ///< of streams
};

class DeviceKernel : public Kernel {
 public:
  /// What has to be done when the memory stands and its place was looked at: pinning it. By the
  /// thread that will run it.
  virtual Expected<void> attach() = 0;
  /// Waits for all that is under way.
  virtual void finish() = 0;
  /// Undoes attach().
  virtual void detach() = 0;
  virtual DeviceReport take_report() = 0;
};

/// Memory of GPU number `gpu`; data() is an address of the GPU's, not to be touched. Errors:
/// unavailable (no such GPU), resource (about "size").
Expected<std::unique_ptr<Buffer>> allocate_on_gpu(Bytes bytes, int gpu);

/// Of any kernel that is on_gpu. `from`, `to`: the GPUs whose memory is copied from and to, -1 for
/// the host's; where nothing is copied `to` is where the memory is. Errors: unavailable (no such
/// GPU; what its driver lacks).
Expected<std::unique_ptr<DeviceKernel>> make_device_kernel(const KernelSpec& spec, int from,
                                                           int to);

// Internal: the kernels behind make_device_kernel.

/// `device` drives the copy: the one copied from, where both sides are GPUs; nullopt: the host.
std::unique_ptr<DeviceKernel> make_device_copy(const KernelSpec& spec, const DeviceRef& device,
                                               const std::optional<DeviceRef>& from,
                                               const std::optional<DeviceRef>& to);
// The others work on memory of `owner`; nullopt: of the host.
std::unique_ptr<DeviceKernel> make_device_chase(const KernelSpec& spec, const DeviceRef& device,
                                                const std::optional<DeviceRef>& owner);
std::unique_ptr<DeviceKernel> make_device_stream(const KernelSpec& spec, const DeviceRef& device,
                                                 const std::optional<DeviceRef>& owner);
std::unique_ptr<DeviceKernel> make_device_counters(const KernelSpec& spec, const DeviceRef& device,
                                                   const std::optional<DeviceRef>& owner);

}  // namespace numatlas
