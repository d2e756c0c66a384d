// When the flows of a host ran together.
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <utility>
#include <vector>

#include "engine/real_engine.h"

namespace numatlas {

void RealEngine::wait_for_windows() {
  // The others leave within a sample of each other, unless one is stopped just now.
  constexpr std::chrono::microseconds nap{50};
  while (waiting(block_->left, left_target_)) std::this_thread::sleep_for(nap);
}

/// Part of the time that a flow ran in which every flow of its host ran: all run on until the last
/// had its time, so only the starts matter, and the pauses.
void RealEngine::note_overlap(const Scenario& scenario, Job& job) {
  Trace& trace = job.trace;
  if (trace.stop == StopReason::interrupted) return;
  const Window& mine = windows_[job.window];
  std::int64_t last_start = mine.start_ns;
  std::vector<Pause> pauses;
  for (std::uint64_t i = 0; i < flows_here_; ++i) {
    last_start = std::max(last_start, windows_[i].start_ns);
    pauses.insert(pauses.end(), windows_[i].pauses.begin(), windows_[i].pauses.end());
  }
  pauses = merged(std::move(pauses));
  // The other flows end within a sample of this one's end.
  trace.together_start_ns = last_start;
  trace.together_end_ns = std::max(last_start, mine.end_ns);
  // Without room for more samples a flow runs on unrecorded.
  if (!trace.samples.empty()) {
    const Sample& last = trace.samples.back();
    trace.together_end_ns =
        std::clamp(last.start_ns + last.duration_ns, last_start, trace.together_end_ns);
  }
  const std::vector<Pause> own = merged(trace.pauses);
  trace.left_out =
      common_time({last_start, trace.together_end_ns}, own, pauses, last_start).left_out;
  // Those after its own end are not its own any more: it only kept the others company.
  trace.pauses = within(own, mine.start_ns, mine.end_ns);
  if (scenario.flows[static_cast<std::size_t>(job.flow)].role == Role::load) return;
  trace.overlap = common_time({mine.start_ns, mine.end_ns}, own, pauses, last_start).overlap;
}

}  // namespace numatlas
