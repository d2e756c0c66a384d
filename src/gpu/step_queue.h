// Steps in a stream of one GPU, a few at a time, each timed: what they tell, and the queue.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "gpu/runtime.h"
#include "machine/machine.h"

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

class StepQueue {
 public:
  using Work = std::function<Expected<void>(const StreamHandle&)>;

  /// `depth` steps are under way at a time, each between two events; of a depth of 1 each is waited
  /// for before the next is queued. `sleeps`: waiting threads sleep.
  StepQueue(Device& device, int depth, bool sleeps)
      : device_(device), depth_(depth), sleeps_(sleeps) {}

  StepQueue(const StepQueue&) = delete;
  StepQueue& operator=(const StepQueue&) = delete;

  Expected<void> open();
  /// Gives the device's kernels access to memory of `owner`, which may be another device.
  Expected<void> reach(Device& owner);
  /// Queues steps, so that as many as before are under way when it returns (`depth` from the first
  /// call on). What fails is kept as problem(), and nothing is queued any more.
  void run(std::uint64_t steps, const Work& work);
  /// Once, when all steps were asked for.
  void finish();
  const std::optional<Error>& problem() const { return problem_; }
  void set_problem(const Error& error) { problem_ = error; }
  const StreamHandle& stream() const { return stream_; }
  DeviceReport& report() { return report_; }

 private:
  struct Slot {
    EventHandle start, end;
    bool under_way = false;
  };

  /// An event, and when it came by the host's clock.
  struct Moment {
    EventHandle event;
    std::int64_t time_ns = 0, error_ns = 0;
  };

  Expected<Moment> moment_now();
  Expected<void> correct_for_drift();
  Expected<void> run_one(const Work& work);
  Expected<void> queue(Slot& slot, const Work& work);
  Expected<void> collect(Slot& slot);
  void look_at_link(std::int64_t now_ns);
  void keep(std::int64_t start_ns, std::int64_t duration_ns);

  Device& device_;
  int depth_;
  bool sleeps_;
  StreamHandle stream_;
  Moment base_;
  std::vector<Slot> slots_;
  std::size_t next_ = 0;
  bool filled_ = false;
  std::int64_t next_look_ns_ = 0;
  int looks_ = 0;
  std::optional<Error> problem_;
  DeviceReport report_;
};

}  // namespace numatlas
