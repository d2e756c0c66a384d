// Internal: steps in a stream of one GPU, a few at a time, each timed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "gpu/device_kernel.h"

namespace numatlas {

class StepQueue {
 public:
  using Work = std::function<Expected<void>(const StreamHandle&)>;

  /// `depth` steps are under way at a time, each between two events; of a depth of 1 each is waited
  /// for before the next is queued. `sleeps`: waiting threads sleep.
  StepQueue(const DeviceRef& device, int depth, bool sleeps)
      : device_(device), depth_(depth), sleeps_(sleeps) {}

  StepQueue(const StepQueue&) = delete;
  StepQueue& operator=(const StepQueue&) = delete;

  Expected<void> open();
  /// Gives the device's kernels access to memory of `owner`, which may be another device.
  Expected<void> reach(const DeviceRef& owner);
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

  DeviceRef device_;
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
