// What the workers do between the common start and the last end.
#include <algorithm>
#include <atomic>
#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "engine/agreement.h"
#include "engine/real_engine.h"

namespace numatlas {

/// By the first thread: when all memory of this rank stands.
void RealEngine::agree_to_start(TeamRun& run, int thread) {
  if (thread != 0) return;
  std::vector<const Trace*> traces;
  for (const Job& job : run.jobs) traces.push_back(&job.trace);
  const bool made_anew =
      std::any_of(run.jobs.begin(), run.jobs.end(), [](const Job& job) { return !job.goes_on; });
  if (options_.when_prepared && made_anew) options_.when_prepared(traces);
  phase(run.scenario, "measuring");
  run.start = agree_on_start(run);
}

/// Every rank says whether it is ready; the lowest one's error becomes everyone's. Then rank 0
/// names a time, and each host translates it to its own clock.
Expected<std::int64_t> RealEngine::agree_on_start(const TeamRun& run) {
  std::optional<Error> mine;
  for (const Job& job : run.jobs) {
    if (job.error && !mine) mine = job.error;
  }
  TRY(agree(comm_, mine));
  running_target_ += flows_here_;
  steps_target_ += flows_here_ * run.scenario.stop.steps.value_or(0);
  finished_target_ += measured_here_;
  left_target_ += flows_here_;
  tries_widths_ = TRY(some_width_is_open(run));
  return name_start();
}

/// Rank 0 names a time. By its clock it also decides whether clocks are to be measured again first,
/// which it says by naming none.
Expected<std::int64_t> RealEngine::name_start() {
  // Time for the word to reach everyone, from one to two to four, and for each to wake: waiting
  // ranks look every millisecond, and oversubscribed ones queue for their CPU.
  const auto hops = static_cast<std::int64_t>(std::bit_width(static_cast<unsigned>(comm_.size())));
  const std::int64_t lead_ns = 2'000'000 + 1'000'000 * hops + 200'000 * comm_.local_size();
  const auto soon = [&] { return clock_.now_ns() + lead_ns; };
  constexpr std::int64_t measure_first = 0;
  std::int64_t start_ns = TRY(comm_.broadcast_value(clocks_.due() ? measure_first : soon()));
  if (start_ns == measure_first) {
    TRY(clocks_.measure());
    start_ns = TRY(comm_.broadcast_value(soon()));
  }
  const int here = comm_.layout().host_of[static_cast<std::size_t>(comm_.rank())];
  return start_ns + clocks_.at(here, Nanoseconds(start_ns)).offset.count();
}

bool RealEngine::waiting(const std::atomic<std::uint64_t>& counter, std::uint64_t target) {
  if (counter.load(std::memory_order_acquire) >= target) return false;
  if (stop_requested() || comm_.peer_failed()) block_->stop.store(1, std::memory_order_release);
  return block_->stop.load(std::memory_order_acquire) == 0;
}

/// All of them, each as soon as every flow of the host is there.
void RealEngine::record_steps(std::uint64_t steps, Sampler& sampler) {
  const std::uint64_t before = steps_target_ - flows_here_ * steps;
  std::uint64_t begun = 0;
  while (!sampler.done() && block_->stop.load(std::memory_order_acquire) == 0) {
    block_->steps.fetch_add(1, std::memory_order_acq_rel);
    ++begun;
    // Not asleep: who wakes up queues its step late.
    while (waiting(block_->steps, before + begun * flows_here_)) std::this_thread::yield();
    sampler.record();
  }
  // Nobody waits for a flow whose time is over.
  block_->steps.fetch_add(steps - begun, std::memory_order_acq_rel);
}

/// Until all measured flows of the host had their time.
void RealEngine::record(const Scenario& scenario, const Flow& flow, Job& job) {
  Sampler& sampler = *job.sampler;
  Window& window = windows_[job.window];
  const std::uint64_t switches = clock_.switches();
  const bool load = flow.role == Role::load;
  job.kernel->count_anew();
  window.start_ns = clock_.now_ns();
  if (scenario.stop.steps) {
    record_steps(*scenario.stop.steps, sampler);
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
  clock_.sleep_until(*run.start);
  job.trace.start_lateness_ns = clock_.now_ns() - *run.start;
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
  block_->running.fetch_add(1, std::memory_order_acq_rel);
  while (waiting(block_->running, running_target_)) {
    if (!scenario.stop.steps) sampler.run_unrecorded();
  }
  record(scenario, flow, job);
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
