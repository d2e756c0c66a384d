#include "engine/sampler.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/signals.h"

namespace numatlas {
namespace {

// A time cap of any length is divided into at most this many samples (1 MiB of them a worker).
constexpr std::int64_t most_samples = 60'000;
// Some more than that, since samples may come out shorter than calibrated.
constexpr std::size_t most_room = most_samples + most_samples / 4;
// Short samples show more of the spread; under 20 us the 1 % rule would bind on slow timers anyway.
constexpr std::int64_t shortest_sample_ns = 20'000;
// Enough to see whether they come out as calibrated.
constexpr std::size_t first_samples = 100;
// Of the first run: next to nothing for loads. A pass may be less: a round trip of a line takes
// milliseconds where CPUs are emulated by turns.
constexpr std::uint64_t most_first_steps = 64;
// What no count tells of, as that a signal stopped the process: longer than turns of a scheduler,
// and a part of the time that would change its figures.
constexpr std::int64_t shortest_stop_ns = 10'000'000, stops_per_time = 20;
// Loads are unrolled by 16.
constexpr std::uint64_t step_unit = 16;

}  // namespace

Sampler::Sampler(Clock& clock, const StopRule& rule, std::function<void(std::uint64_t)> run,
                 std::uint64_t steps_per_pass, double turns,
                 std::function<void(std::uint64_t)> ready)
    : clock_(clock),
      rule_(rule),
      run_(std::move(run)),
      ready_(std::move(ready)),
      overhead_ns_(timer_overhead_ns(clock)),
      target_ns_(
          std::max({shortest_sample_ns, 110 * overhead_ns_, rule.time.count() / most_samples})),
      stop_ns_(static_cast<std::int64_t>(
          std::max(1.0, turns) *
          static_cast<double>(std::max(shortest_stop_ns, rule.time.count() / stops_per_time)))),
      steps_(rule.whole_passes ? steps_per_pass
             : rule.steps      ? 1
                               : std::clamp<std::uint64_t>(steps_per_pass, 1, most_first_steps)) {
  // Touched now, so that recording takes no page fault; it grows where samples come out shorter
  // yet.
  constexpr std::int64_t least_room = 1000, shorter = 3;
  const std::int64_t room = shorter * (rule.time.count() / target_ns_) + least_room;
  samples_.resize(rule.whole_passes ? *rule.steps
                                    : std::min(static_cast<std::size_t>(room), most_room));
  samples_.clear();
}

void Sampler::look_for_stop() {
  constexpr std::int64_t much_longer = 2, far_longer = 20;
  const std::int64_t time = samples_.back().duration_ns;
  bool stopped = last_running_ns_ > 0 && time >= std::max(stop_ns_, far_longer * last_running_ns_);
  if (time >= much_longer * last_running_ns_) {
    const std::uint64_t switches = clock_.switches();
    stopped = stopped || switches != switches_;
    switches_ = switches;
  }
  if (stopped)
    stopped_.push_back(samples_.size() - 1);
  else
    last_running_ns_ = time;
}

void Sampler::run_unrecorded() {
  make_ready();
  run_(steps_);
}

void Sampler::calibrate() {
  if (rule_.steps) return;
  while (true) {
    std::int64_t best = 0;
    const std::int64_t begin = clock_.now_ns();
    for (int attempt = 0; attempt < 3; ++attempt) {
      make_ready();
      const std::int64_t start = clock_.now_ns();
      run_(steps_);
      const std::int64_t time = clock_.now_ns() - start;
      best = attempt == 0 ? time : std::min(best, time);
    }
    calibrating_ns_ += clock_.now_ns() - begin;
    last_running_ns_ = best;
    // One disturbance must not end it, many must.
    const bool slow = 3 * best >= rule_.time.count() / 2;
    if (best >= target_ns_ || slow || calibrated_long() || stop_requested()) return;
    // Aim at the target, at most 10 times more at once (short runs mislead), at least doubling
    // when far from it.
    const double factor = std::clamp(1.05 * static_cast<double>(target_ns_) /
                                         static_cast<double>(std::max<std::int64_t>(best, 1)),
                                     1.1, 10.0);
    steps_ = (static_cast<std::uint64_t>(static_cast<double>(steps_) * factor) / step_unit + 1) *
             step_unit;
  }
}

void Sampler::record() {
  if (done_ && samples_.size() >= most_room) return run_unrecorded();
  const std::int64_t end = take_sample();
  if (done_) return;
  if (!rule_.steps && samples_.size() == first_samples) {
    recalibrate_if_short();
    if (samples_.empty()) return;
  }
  const bool all = samples_.size() >= rule_.steps.value_or(most_room);
  const bool in_time = end - samples_.front().start_ns < rule_.time.count();
  done_ = all || !(rule_.whole_passes || in_time);
  if (done_) reason_ = all && rule_.steps ? StopReason::passes : StopReason::time_cap;
}

std::int64_t Sampler::take_sample() {
  make_ready();
  const std::int64_t start = clock_.now_ns();
  if (samples_.empty()) {
    stopped_.clear();
    switches_ = clock_.switches();
  }
  run_(steps_);
  const std::int64_t end = clock_.now_ns();
  samples_.push_back({start, end - start});
  look_for_stop();
  return end;
}

void Sampler::recalibrate_if_short() {
  // A disturbance while calibrating leaves too few steps; more than this many are no accident.
  constexpr int most_recalibrations = 3;
  if (recalibrations_ == most_recalibrations || calibrated_long()) return;
  std::vector<std::int64_t> times;
  for (const Sample& sample : samples_) times.push_back(sample.duration_ns);
  std::nth_element(times.begin(), times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2),
                   times.end());
  if (times[times.size() / 2] >= target_ns_ / 2) return;
  ++recalibrations_;
  samples_.clear();
  calibrate();
}

void Sampler::finish(Trace& trace) && {
  trace.stop = reason_;
  trace.steps_per_sample = steps_;
  trace.timer_overhead_ns = overhead_ns_;
  trace.stopped = std::move(stopped_);
  samples_.shrink_to_fit();
  trace.samples = std::move(samples_);
}

}  // namespace numatlas
