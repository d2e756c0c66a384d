#include "engine/sharing.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "kernels/traits.h"

namespace numatlas {
namespace {

/// Without what the flows that share its memory were.
std::vector<std::size_t> own_stops(const Flow& flow, const Trace& trace) {
  if (trace.samples.empty()) return {};
  const StepKind step = traits_of(flow.kernel).step;
  const bool is_gpu = on_gpu(flow.kernel);
  // The kernel's own work, such as clearing a huge page, and bursts of a crowded memory may take
  // far longer than usual: with these only what the sampler saw counts.
  const bool may_take_long =
      step == StepKind::fault || step == StepKind::migration || step == StepKind::lines;
  // Who waits for a counter that others have runs all the while.
  const auto* const counter = flow.kernel.find<CounterParameters>();
  const bool waits = counter != nullptr && counter->workers > 1;
  if (!is_gpu && (may_take_long || waits)) return trace.stopped;
  // Nothing else makes a block of some hundred loads so much slower than the others. The thread of
  // a GPU hears of several steps at once, and was stopped only where both say so.
  constexpr std::int64_t far_longer = 20;
  std::vector<std::int64_t> times;
  for (const Sample& sample : trace.samples) times.push_back(sample.duration_ns);
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  std::vector<std::size_t> stopped;
  for (std::size_t i = 0; i < trace.samples.size(); ++i) {
    const bool seen = std::ranges::binary_search(trace.stopped, i);
    const bool is_long = trace.samples[i].duration_ns >= far_longer * *middle;
    if (is_gpu ? seen && is_long : seen || is_long) stopped.push_back(i);
  }
  return stopped;
}

/// When flows on the same memory did not run together.
struct Apart {
  const Flow* owner = nullptr;
  std::int64_t all_since_ns = std::numeric_limits<std::int64_t>::min();  ///< the last one began
  std::int64_t all_until_ns = std::numeric_limits<std::int64_t>::max();  ///< the first one ended
  struct Time {
    std::int64_t start_ns, end_ns;
  };
  std::vector<Time> times;
};

/// When it was stopped. What passed before such a sample may be a part of it.
void add_times(const Trace& trace, Apart& apart) {
  if (!trace.samples.empty()) {
    const Sample& last = trace.samples.back();
    apart.all_since_ns = std::max(apart.all_since_ns, trace.samples.front().start_ns);
    apart.all_until_ns = std::min(apart.all_until_ns, last.start_ns + last.duration_ns);
  }
  for (const std::size_t i : trace.stopped) {
    const Sample& sample = trace.samples[i];
    const Sample& before = trace.samples[i > 0 ? i - 1 : 0];
    apart.times.push_back({i > 0 ? before.start_ns + before.duration_ns : sample.start_ns,
                           sample.start_ns + sample.duration_ns});
  }
}

/// Samples that ended before all had begun, that began after one had ended, or that touch one of
/// the times, which are sorted by their starts.
std::vector<std::size_t> samples_in(const Trace& trace, const Apart& apart) {
  std::vector<std::size_t> found;
  auto next = apart.times.begin();
  for (std::size_t i = 0; i < trace.samples.size(); ++i) {
    const Sample& sample = trace.samples[i];
    const std::int64_t end_ns = sample.start_ns + sample.duration_ns;
    while (next != apart.times.end() && next->end_ns <= sample.start_ns) ++next;
    if (end_ns <= apart.all_since_ns || sample.start_ns >= apart.all_until_ns ||
        (next != apart.times.end() && next->start_ns < end_ns))
      found.push_back(i);
  }
  return found;
}

/// Whether one can go on with memory of the other, if what it does there and its region allow it.
bool may_follow(const Flow& a, const Flow& b) {
  // The weights of the system may have changed under a weighted one.
  return a.region.placement.mode != MemoryMode::weighted && a.worker == b.worker &&
         a.source == b.source && a.first_touch == b.first_touch && !a.shares && !b.shares;
}

}  // namespace

const Flow& memory_owner(const Scenario& scenario, const Flow& flow) {
  return flow.shares ? scenario.flows[static_cast<std::size_t>(*flow.shares)] : flow;
}

int toucher_of(const Flow& flow) { return flow.first_touch.value_or(flow.worker); }

bool stands_alone(const Scenario& scenario, int flow) {
  return !scenario.flows[static_cast<std::size_t>(flow)].shares &&
         std::none_of(scenario.flows.begin(), scenario.flows.end(),
                      [&](const Flow& other) { return other.shares == flow; });
}

bool same_work(const Flow& a, const Flow& b) {
  return may_follow(a, b) && a.kernel == b.kernel && a.region == b.region;
}

bool same_pages(const Flow& a, const Flow& b) {
  const auto leaves_them = [](const Flow& flow) {
    const StepKind step = traits_of(flow.kernel).step;
    return step != StepKind::fault && step != StepKind::migration && !on_gpu(flow.kernel);
  };
  Region of_b = b.region;
  if (a.region.within.value > 0 && !is_from_pool(a.region.pages)) of_b.bytes = a.region.bytes;
  return may_follow(a, b) && leaves_them(a) && leaves_them(b) && a.region == of_b;
}

void note_stops(const Scenario& scenario, std::vector<Trace>& traces, bool share_cpus) {
  const auto flow_of = [&](const Trace& trace) -> const Flow& {
    return scenario.flows[static_cast<std::size_t>(trace.flow)];
  };
  for (Trace& trace : traces) trace.stopped = own_stops(flow_of(trace), trace);
  if (share_cpus) return;
  std::vector<Apart> of_memory;
  for (const Trace& trace : traces) {
    if (stands_alone(scenario, trace.flow)) continue;
    const Flow* const owner = &memory_owner(scenario, flow_of(trace));
    auto found = std::ranges::find(of_memory, owner, &Apart::owner);
    if (found == of_memory.end())
      found = of_memory.insert(found, Apart{.owner = owner, .times = {}});
    add_times(trace, *found);
  }
  for (Apart& apart : of_memory) std::ranges::sort(apart.times, {}, &Apart::Time::start_ns);
  for (Trace& trace : traces) {
    // What moves memory is over all of the time (running_samples_of).
    if (traits_of(flow_of(trace).kernel).step == StepKind::lines) continue;
    const Flow* const owner = &memory_owner(scenario, flow_of(trace));
    const auto found = std::ranges::find(of_memory, owner, &Apart::owner);
    if (found != of_memory.end()) trace.stopped = samples_in(trace, *found);
  }
}

}  // namespace numatlas
