// What the workers do between the common start and the last end.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "engine/agreement.h"
#include "engine/pace.h"
#include "engine/real_engine.h"

namespace numatlas {
namespace {

/// A CPU that slept runs the next milliseconds more slowly: 2 % of a pass of 20 ms where it was
/// tried (bench/stream).
void stay_awake(Clock& clock) {
  constexpr std::int64_t warm_ns = 3'000'000;
  const std::int64_t end_ns = clock.now_ns() + warm_ns;
  while (clock.now_ns() < end_ns && !stop_requested()) {
  }
}

}  // namespace

/// By the first thread: when all memory of this rank stands.
void RealEngine::agree_to_start(TeamRun& run, int thread) {
  if (thread != 0) return;
  std::vector<const Trace*> traces;
  for (const Job& job : run.jobs) traces.push_back(&job.trace);
  const bool made_anew =
      std::any_of(run.jobs.begin(), run.jobs.end(), [](const Job& job) { return !job.goes_on; });
  if (options_.when_prepared && made_anew) options_.when_prepared(traces);
  phase(run.scenario, "measuring");
  run.agreed = agree_on_start(run);
}

/// Every rank says whether it is ready; the lowest one's error becomes everyone's. It is the only
/// word between hosts: from here on the flows of a host wait for each other, in its shared memory.
Expected<void> RealEngine::agree_on_start(const TeamRun& run) {
  std::optional<Error> mine;
  for (const Job& job : run.jobs) {
    if (job.error && !mine) mine = job.error;
  }
  TRY(agree(comm_, mine));
  met_before_ = met_;
  met_ += flows_here_ * (1 + run.scenario.stop.steps.value_or(0));
  finished_target_ += measured_here_;
  left_target_ += flows_here_;
  tries_widths_ = TRY(some_width_is_open(run));
  return {};
}

bool RealEngine::goes_on() {
  if (stop_requested() || comm_.peer_failed()) block_->stop.store(1, std::memory_order_release);
  return block_->stop.load(std::memory_order_acquire) == 0;
}

bool RealEngine::stays() {
  // Not asleep, and whoever has a CPU of its own keeps it: who wakes up begins late.
  if (workers_per_cpu_ > 1) std::this_thread::yield();
  return goes_on();
}

bool RealEngine::waiting(const std::atomic<std::uint64_t>& counter, std::uint64_t target) {
  return counter.load(std::memory_order_acquire) < target && goes_on();
}

/// All of them, each as soon as every flow of the host is there. A flow whose time is over still
/// comes to the others' steps.
void RealEngine::record_steps(std::uint64_t steps, Meeting& all, Sampler& sampler) {
  std::uint64_t begun = 0;
  for (; begun < steps && block_->stop.load(std::memory_order_acquire) == 0; ++begun) {
    all.wait([&] { return stays(); });
    if (!sampler.done()) sampler.record();
  }
  all.leave(steps - begun);
}

/// What a sample of the flow is: its kernel's steps, held to a rate where it has one.
std::function<void(std::uint64_t)> RealEngine::steps_of(TeamRun& run, const Flow& flow, Job& job) {
  Kernel& kernel = *job.kernel;
  if (!run.scenario.stop.whole_passes) return paced(flow, kernel, clock_);
  // Where all flows of a rank write memory that lasts, one thread makes it last when all are done.
  std::optional<Meeting> of_rank;
  if (kernel.persists_together()) of_rank.emplace(run.done_together, run.jobs.size(), 0);
  return [this, &run, &kernel, of_rank, first = &job == &run.jobs.front()](auto steps) mutable {
    const std::int64_t start = clock_.now_ns();
    kernel.run(steps);
    if (of_rank) {
      of_rank->wait([this] { return stays(); });
      if (first && goes_on())
        for (Job& each : run.jobs) each.kernel->persist();
      of_rank->wait([this] { return stays(); });
    }
    if (options_.slow_down > 1) {
      const auto end = clock_.now_ns();
      const auto longer = static_cast<double>(end - start) * (options_.slow_down - 1);
      clock_.sleep_until(end + static_cast<std::int64_t>(longer));
    }
  };
}

/// Until all measured flows of the host had their time.
void RealEngine::record(const Scenario& scenario, const Flow& flow, Meeting& all, Job& job) {
  Sampler& sampler = *job.sampler;
  Window& window = windows_[job.window];
  const std::uint64_t switches = clock_.switches();
  const bool load = flow.role == Role::load;
  job.kernel->count_anew();
  window.start_ns = clock_.now_ns();
  if (scenario.stop.steps) {
    record_steps(*scenario.stop.steps, all, sampler);
    block_->finished.fetch_add(load ? 0 : 1, std::memory_order_acq_rel);
  }
  while (!scenario.stop.steps && waiting(block_->finished, finished_target_)) {
    const bool counts = !load && !sampler.done();
    sampler.record();
    // Started over: what was recorded before does not count.
    if (sampler.empty()) {
      job.kernel->count_anew();
      window.start_ns = clock_.now_ns();
    }
    if (counts && sampler.done()) block_->finished.fetch_add(1, std::memory_order_acq_rel);
  }
  window.end_ns = clock_.now_ns();
  job.trace.involuntary_switches = clock_.switches() - switches;
}

void RealEngine::sample(const TeamRun& run, const Flow& flow, Job& job) {
  const Scenario& scenario = run.scenario;
  Kernel& kernel = *job.kernel;
  const std::size_t pass_bytes = flow.region.bytes.value;
  // Less than a pass is for caches that hold the memory's last part in any case: memory that was in
  // use a moment ago needs next to none of it. Nor does the next visit with the same memory.
  constexpr std::uint64_t going_on = 4 * mib;
  const bool goes_round = flow.warm_up.value >= pass_bytes;
  const std::uint64_t warm_up_bytes = job.reused && (job.goes_on || !goes_round)
                                          ? std::min(flow.warm_up.value, going_on)
                                          : flow.warm_up.value;
  const std::uint64_t warm_up = static_cast<std::uint64_t>(
      static_cast<double>(kernel.steps_per_pass()) * static_cast<double>(warm_up_bytes) /
      static_cast<double>(pass_bytes));
  Sampler& sampler = *job.sampler;
  if (scenario.stop.whole_passes && workers_per_cpu_ <= 1) stay_awake(clock_);
  job.trace.cpu_before = current_cpu();
  // In pieces, so that a stop is seen: each takes a few milliseconds at most. The last piece runs
  // like the measured part.
  constexpr std::uint64_t most = 1 << 16, last = 1 << 14;
  for (std::uint64_t left = warm_up; left > 0 && !stop_requested();) {
    const std::uint64_t piece = left > last ? std::min(left - last, most) : left;
    kernel.ready(piece);
    left > last ? kernel.run_ahead(piece) : kernel.run(piece);
    left -= piece;
  }
  job.trace.warm_up_steps = warm_up;
  sampler.calibrate();
  Window& window = windows_[job.window];
  window.start_ns = clock_.now_ns();
  // Nobody records until everybody runs, and everybody runs until all had their time.
  Meeting all(block_->arrived, flows_here_, met_before_);
  all.wait([&] {
    if (scenario.stop.steps) return stays();
    sampler.run_unrecorded();
    return goes_on();
  });
  record(scenario, flow, all, job);
  job.left->store(true, std::memory_order_release);
  // The other side may wait for an answer in its last sample.
  while (job.owner_left && !job.owner_left->load(std::memory_order_acquire) &&
         block_->stop.load(std::memory_order_acquire) == 0) {
    sampler.run_unrecorded();
  }
  job.trace.cpu_after = current_cpu();
  std::move(sampler).finish(job.trace);
  job.sampler.reset();
  block_->left.fetch_add(1, std::memory_order_acq_rel);
  // A load has no time of its own: it ended as it should when the measured ones did.
  if (flow.role == Role::load && block_->stop.load(std::memory_order_acquire) == 0)
    job.trace.stop = StopReason::time_cap;
}

void RealEngine::wait_for_windows() {
  // The others leave within a sample of each other, unless one is stopped just now.
  constexpr std::chrono::microseconds nap{50};
  while (waiting(block_->left, left_target_)) std::this_thread::sleep_for(nap);
}

/// Part of the time that a flow ran in which every flow of its host ran: all run on until the last
/// had its time, so only the starts matter.
void RealEngine::note_overlap(const Scenario& scenario, Job& job) {
  Trace& trace = job.trace;
  if (trace.stop == StopReason::interrupted) return;
  const Window& mine = windows_[job.window];
  std::int64_t last_start = mine.start_ns;
  for (std::uint64_t i = 0; i < flows_here_; ++i)
    last_start = std::max(last_start, windows_[i].start_ns);
  const std::int64_t end = std::max(last_start, mine.end_ns);
  // The other flows end within a sample of this one's end.
  trace.together_start_ns = last_start;
  trace.together_end_ns = end;
  // Without room for more samples a flow runs on unrecorded.
  if (!trace.samples.empty()) {
    const Sample& last = trace.samples.back();
    trace.together_end_ns = std::clamp(last.start_ns + last.duration_ns, last_start, end);
  }
  if (scenario.flows[static_cast<std::size_t>(job.flow)].role == Role::load) return;
  const std::int64_t ran = mine.end_ns - mine.start_ns;
  trace.overlap = ran > 0 ? static_cast<double>(end - last_start) / static_cast<double>(ran) : 1;
}

}  // namespace numatlas
