// Takes samples of one kernel for as long as the stop rule says. The same code under the real clock
// and under the scripted one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "engine/clock.h"
#include "engine/scenario.h"

namespace numatlas {

class Sampler {
 public:
  /// `run` performs steps of the kernel; all references must outlive the sampler. `steps_per_pass`:
  /// the first run, which shows how long a step takes, is no longer than that. `turns`: workers
  /// that share its CPU, itself included, whose turns are no stops of the whole process. `ready`:
  /// called before each run with its steps, and no part of its time.
  Sampler(Clock& clock, const StopRule& rule, std::function<void(std::uint64_t)> run,
          std::uint64_t steps_per_pass = ~std::uint64_t{0}, double turns = 1,
          std::function<void(std::uint64_t)> ready = {});

  /// Finds the steps of a sample: long against the timer (overhead under 1 %). Ends early
  /// where three runs take half of the rule's time, or all of them the whole.
  void calibrate();
  /// Takes one sample; also once it is done, while there is room.
  void record();
  /// Runs as long as a sample, unrecorded.
  void run_unrecorded();
  bool done() const { return done_; }
  bool empty() const { return samples_.empty(); }
  /// Moves what was found into the trace.
  void finish(Trace& trace) &&;

 private:
  void make_ready() {
    if (ready_) ready_(steps_);
  }
  /// Takes one sample and returns when it ended.
  std::int64_t take_sample();
  /// Notes the last sample where the thread lost its CPU in it. Asking after each would disturb:
  /// only one that took much longer than those before can be such.
  void look_for_stop();
  /// Starts over with longer samples when they come out far shorter than calibrated.
  void recalibrate_if_short();
  /// The rest of the time is for recording.
  bool calibrated_long() const { return calibrating_ns_ >= rule_.time.count(); }

  Clock& clock_;
  StopRule rule_;
  std::function<void(std::uint64_t)> run_, ready_;
  std::int64_t overhead_ns_;
  std::int64_t target_ns_;  ///< least duration of a sample
  std::int64_t stop_ns_;    ///< no turn of a scheduler takes so long
  int recalibrations_ = 0;
  std::int64_t calibrating_ns_ = 0;
  std::uint64_t steps_;
  std::vector<Sample> samples_;
  std::vector<std::size_t> stopped_;  ///< as Trace's
  /// Duration of the last sample in which it was not; before the first, as calibrated.
  std::int64_t last_running_ns_ = 0;
  std::uint64_t switches_ = 0;  ///< the clock's, when last asked
  bool done_ = false;
  StopReason reason_ = StopReason::interrupted;
};

}  // namespace numatlas
