// With which vectors loops over memory are fastest: tried once for each loop, by all workers that
// run it together, since it shows when they load the memory.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/signals.h"
#include "engine/real_engine.h"

namespace numatlas {
namespace {

using nlohmann::json;

/// Turns, each of all widths: from the widest to the narrowest and back by turns, so that no drift
/// favours one.
constexpr std::uint64_t turns = 10;
/// Lines of each array and width, at most: far more than caches between cores and memory hold back,
/// and some milliseconds.
constexpr std::uint64_t most_steps = 1 << 17;

/// A flow's loops, as it names them. Of a run that is reduced to its hosts these have different
/// numbers of workers, and one choice.
VectorWidth loop_in(const Scenario& scenario, const Flow& flow, Operation operation) {
  const std::string kernel = name_of(flow.kernel);
  const auto alike =
      std::count_if(scenario.flows.begin(), scenario.flows.end(),
                    [&](const Flow& other) { return name_of(other.kernel) == kernel; });
  return loop_of(flow.kernel, operation, flow.region.pages,
                 scenario.stop.whole_passes ? 0 : static_cast<std::uint64_t>(alike));
}

const VectorWidth* find(const std::vector<VectorWidth>& found, const VectorWidth& loop) {
  const auto its = std::find_if(found.begin(), found.end(),
                                [&](const VectorWidth& one) { return one.same_loop(loop); });
  return its == found.end() ? nullptr : &*its;
}

json key_of(const VectorWidth& loop) {
  return {loop.kernel, loop.stores, loop.pages, loop.workers};
}

/// From what ranks sent: [key, width, time] each.
json fastest(const std::vector<std::string>& of_ranks) {
  std::map<json, std::vector<WidthTime>> times;
  for (const std::string& text : of_ranks) {
    for (const json& one : json::parse(text)) times[one[0]].emplace_back(one[1], one[2]);
  }
  json chosen = json::array();
  for (const auto& [key, its] : times) {
    std::set<unsigned> tried;
    for (const auto& [width, time] : its) tried.insert(width);
    chosen.push_back({key, fastest_width(its), tried});
  }
  return chosen;
}

}  // namespace

Expected<bool> RealEngine::some_width_is_open(const TeamRun& run) {
  if (options_.widths == nullptr) return false;
  bool open = false;
  for (const Job& job : run.jobs) {
    const Flow& flow = run.flow_of(job);
    if (!flow.in_memory || vector_widths().size() < 2) continue;
    for (const Operation operation : job.kernel->loops())
      open = open || find(*options_.widths, loop_in(run.scenario, flow, operation)) == nullptr;
  }
  return comm_.any(open);
}

void RealEngine::find_widths(TeamRun& run, int thread) {
  if (!run.agreed) return;
  if (tries_widths_) {
    for_own(run, thread, [&](const Flow& flow, Job& job) { try_widths(run, flow, job); });
    run.barrier.wait();
    if (thread == 0) run.agreed = agree_on_widths(run);
    run.barrier.wait();
  }
  for_own(run, thread, [&](const Flow& flow, Job& job) { use_widths(run.scenario, flow, job); });
}

void RealEngine::try_widths(const TeamRun& run, const Flow& flow, Job& job) {
  Kernel& kernel = *job.kernel;
  const std::vector<unsigned> widths = vector_widths();
  // One more, for a CPU that slept.
  const std::uint64_t pieces = turns * widths.size() + 1;
  const std::uint64_t steps = std::min(kernel.steps_per_pass() / pieces, most_steps);
  if (!flow.in_memory || steps == 0) return;
  for (const Operation operation : kernel.loops()) {
    VectorWidth loop = loop_in(run.scenario, flow, operation);
    const VectorWidth* const known = find(*options_.widths, loop);
    const auto time_with = [&](unsigned width) {
      kernel.use_width(operation, known != nullptr ? known->width : width);
      const std::int64_t before = clock_.now_ns();
      if (!stop_requested()) kernel.run(steps);
      return static_cast<double>(std::max<std::int64_t>(1, clock_.now_ns() - before));
    };
    (void)time_with(widths.front());
    for (std::uint64_t turn = 0; turn < turns; ++turn) {
      std::vector<double> times(widths.size());
      for (std::size_t i = 0; i < widths.size(); ++i) {
        const std::size_t place = turn % 2 == 0 ? i : widths.size() - 1 - i;
        times[place] = time_with(widths[place]);
      }
      for (std::size_t i = 0; known == nullptr && i < widths.size(); ++i) {
        loop.width = widths[i];
        job.width_times.emplace_back(loop, times[i]);
      }
    }
    // Passes begin where those before them ended.
    if (run.scenario.stop.whole_passes && !stop_requested())
      kernel.run(kernel.steps_per_pass() - pieces * steps);
  }
}

/// Rank 0 chooses, from the times of all ranks; of a run that is reduced to its hosts from those of
/// its own host, since there may be very many.
Expected<void> RealEngine::agree_on_widths(const TeamRun& run) {
  json mine = json::array();
  const std::vector<int>& hosts = comm_.layout().host_of;
  const bool asked = !run.scenario.stop.whole_passes ||
                     hosts[static_cast<std::size_t>(comm_.rank())] == hosts.front();
  for (const Job& job : run.jobs) {
    for (const auto& [loop, time] : job.width_times)
      if (asked) mine.push_back({key_of(loop), loop.width, time});
  }
  const auto all = TRY(comm_.gather(mine.dump()));
  const auto said = TRY(comm_.broadcast(comm_.rank() == 0 ? fastest(all).dump() : ""));
  for (const json& one : json::parse(said)) {
    const json& key = one[0];
    options_.widths->push_back({key[0], key[1], key[2], key[3], one[1], one[2]});
  }
  // What nobody could try, as on a host whose arrays are too short, is not tried again.
  for (const Job& job : run.jobs) {
    const Flow& flow = run.flow_of(job);
    for (const Operation operation : job.kernel->loops()) {
      const VectorWidth loop = loop_in(run.scenario, flow, operation);
      if (flow.in_memory && find(*options_.widths, loop) == nullptr)
        options_.widths->push_back(loop);
    }
  }
  return {};
}

void RealEngine::use_widths(const Scenario& scenario, const Flow& flow, Job& job) const {
  for (const Operation operation : job.kernel->loops()) {
    const VectorWidth* found = nullptr;
    if (flow.in_memory && options_.widths != nullptr)
      found = find(*options_.widths, loop_in(scenario, flow, operation));
    job.kernel->use_width(operation, found != nullptr ? found->width : 0);
  }
}

}  // namespace numatlas
