// Passes that all flows of all ranks begin together (StopRule::passes).
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/real_engine.h"

namespace numatlas {
namespace {

/// So long before the start a thread is awake and waits: a CPU that slept runs the next
/// milliseconds more slowly (2 % of a pass of 20 ms where it was tried; bench/stream). Workers that
/// share a CPU keep each other from their places by that, and only make sure that they are awake.
constexpr std::int64_t warm_ns = 3'000'000;
constexpr std::int64_t awake_ns = 200'000;

}  // namespace

/// All ranks meet, and hear whether one of them wants to stop.
Expected<void> RealEngine::end_pass(int pass) {
  if (TRY(comm_.any(stop_requested()))) return fail(ErrorKind::interrupted, "interrupted");
  if (comm_.local_rank() != 0 || !options_.after_pass) return {};
  std::vector<Sample> of_host;
  for (std::size_t slot = 0; slot < flows_here_; ++slot) {
    const Window& window = window_of_pass(slot, pass);
    of_host.push_back({window.start_ns - *pass_start_, window.end_ns - window.start_ns});
  }
  return options_.after_pass(pass, of_host);
}

/// What the first thread of a rank does between two passes.
void RealEngine::between_passes(TeamRun& run, int pass) {
  const int passes = *run.scenario.stop.passes;
  std::vector<Job>& jobs = run.jobs;
  // Every flow of a rank has the same kernel.
  if (!jobs.empty() && jobs.front().kernel->persists_together()) {
    for (Job& job : jobs) job.kernel->persist();
    for (Job& job : jobs) window_of_pass(job.window, pass).end_ns = clock_.now_ns();
  }
  if (auto ended = end_pass(pass); !ended) {
    pass_start_ = fail(ended.error());
    return;
  }
  for (Job& job : jobs) {
    const Window& window = window_of_pass(job.window, pass);
    job.trace.samples.push_back({window.start_ns, window.end_ns - window.start_ns});
    if (pass + 1 == passes) job.trace.stop = StopReason::passes;
  }
  if (pass + 1 < passes) {
    pass_start_ = name_start();
  } else if (auto measured = clocks_.measure(); !measured) {  // how far they drifted since the last
    pass_start_ = fail(measured.error());
  }
}

void RealEngine::take_pass(Job& job, std::int64_t start_ns, int pass) {
  Kernel& kernel = *job.kernel;
  Trace& trace = job.trace;
  const std::int64_t before_ns = workers_per_cpu_ > 1 ? awake_ns : warm_ns;
  if (start_ns - clock_.now_ns() > before_ns) clock_.sleep_until(start_ns - before_ns);
  while (clock_.now_ns() < start_ns && !stop_requested()) {
  }
  const std::int64_t start = clock_.now_ns();
  trace.start_lateness_ns = std::max(trace.start_lateness_ns, start - start_ns);
  kernel.run(kernel.steps_per_pass());
  std::int64_t end = clock_.now_ns();
  if (options_.slow_down > 1) {
    const auto longer = static_cast<double>(end - start) * (options_.slow_down - 1);
    clock_.sleep_until(end + static_cast<std::int64_t>(longer));
    end = clock_.now_ns();
  }
  window_of_pass(job.window, pass) = {start, end};
}

void RealEngine::take_passes(TeamRun& run, int thread) {
  if (thread == 0) pass_start_ = *run.start;
  const std::uint64_t switches = clock_.switches();
  for_own(run, thread, [&](const Flow&, Job& job) {
    job.trace.cpu_before = current_cpu();
    job.trace.steps_per_sample = job.kernel->steps_per_pass();
    job.trace.timer_overhead_ns = timer_overhead_ns(clock_);
  });
  for (int pass = 0; pass < *run.scenario.stop.passes; ++pass) {
    run.barrier.wait();
    if (!pass_start_) break;
    for_own(run, thread, [&](const Flow&, Job& job) { take_pass(job, *pass_start_, pass); });
    run.barrier.wait();
    if (thread == 0) between_passes(run, pass);
  }
  for_own(run, thread, [&](const Flow&, Job& job) {
    job.trace.involuntary_switches = clock_.switches() - switches;
    job.trace.cpu_after = current_cpu();
  });
  // Waiting for the other threads: pass_start_ is the first one's.
  run.barrier.wait();
  if (thread == 0 && !pass_start_) block_->stop.store(1, std::memory_order_release);
}

}  // namespace numatlas
