#include "run/estimate_time.h"

#include <algorithm>
#include <chrono>
#include <cstddef>

#include "engine/sharing.h"
#include "kernels/kind.h"
#include "record/estimate.h"
#include "run/levels.h"
#include "run/rounds.h"

namespace numatlas {

namespace {

/// Seconds for the flows of a scenario, which work together until the memory has no more to give;
/// `of_flow`: of one of them alone, by its number.
template <class OfFlow>
double together(const Scenario& scenario, const OfFlow& of_flow) {
  // Of a usual server of these years.
  constexpr double shared = 0.15;
  double slowest = 0, all = 0;
  for (std::size_t i = 0; i < scenario.flows.size(); ++i) {
    if (scenario.flows[i].shares) continue;
    const double alone = of_flow(i, kind_of(scenario.flows[i].kernel).preparation);
    slowest = std::max(slowest, alone);
    all += alone * shared;
  }
  return std::max(slowest, all);
}

double bytes_of(const Flow& flow) {
  return static_cast<double>(flow.region.bytes.value) +
         (flow.source ? static_cast<double>(flow.source->bytes.value) : 0);
}

double touched_part(const Flow& flow) {
  const double bytes = bytes_of(flow);
  return bytes > 0 ? static_cast<double>(touched_bytes(flow).value) / bytes : 0;
}

/// Part of the time for all cases in which those of the plan are measured.
double part_of_plan(const Benchmark& benchmark) {
  const double part = benchmark.refinement.time_until(0);
  return part > 0 ? part : 1;
}

}  // namespace

double preparation_of(const Scenario& scenario, const MemoryBefore& before) {
  constexpr double whatever_the_size = 0.005;
  // Of pages that are touched, however little of them is written.
  constexpr double touch = 0.3;
  const std::size_t known = before.scenario != nullptr ? before.scenario->flows.size() : 0;
  return whatever_the_size + together(scenario, [&](std::size_t i, const Preparation& each) {
           const Flow& flow = scenario.flows[i];
           const Flow* const last = i < known ? &before.scenario->flows[i] : nullptr;
           if (last != nullptr && before.contents && same_work(*last, flow)) return 0.0;
           const bool stands = last != nullptr && same_pages(*last, flow);
           const double written = static_cast<double>(touched_bytes(flow).value);
           return ((stands ? 0 : bytes_of(flow) * touch) + written * (each.fill - touch) +
                   static_cast<double>(flow.warm_up.value) * touched_part(flow) * each.warm) /
                  gib;
         });
}

double visiting_of(const Scenario& scenario) {
  constexpr double whatever_the_size = 0.003;
  return whatever_the_size + together(scenario, [&](std::size_t i, const Preparation& each) {
           const Flow& flow = scenario.flows[i];
           return bytes_of(flow) * touched_part(flow) * each.check / gib;
         });
}

void choose_time(RunOptions& options, const Benchmark& benchmark, const Setup& setup) {
  constexpr std::chrono::duration<double> usual{10};
  const auto cases = std::ranges::count_if(setup.skips, [](const auto& skip) { return !skip; });
  const bool all_known = std::ranges::any_of(setup.plan, &PlannedCase::later);
  const auto least = static_cast<double>(least_visits) * shortest_window *
                     (static_cast<double>(cases) / (all_known ? 1 : part_of_plan(benchmark)));
  Nanoseconds& time = options.time_of_all ? options.stop.time : options.limit;
  if (!options.time_of_all) time = std::chrono::duration_cast<Nanoseconds>(usual);
  time = std::max(time, std::chrono::duration_cast<Nanoseconds>(least));
}

std::vector<double> least_times_of(const Benchmark& benchmark, const Setup& setup) {
  // Less than this gives intervals that say little.
  constexpr double recorded_per_case = 0.05;
  // What is refined works on memory like that of the plan, much of which is at hand already.
  constexpr double of_refined = 0.5;
  const double more = 1 + of_refined * (1 / part_of_plan(benchmark) - 1);
  std::vector<double> seconds;
  for (std::size_t i = 0; i < setup.plan.size(); ++i) {
    const Scenario& scenario = setup.plan[i].scenario;
    const bool counts = !setup.skips[i] && !(setup.plan[i].later && more > 1);
    seconds.push_back(
        !counts ? 0
                : more * (recorded_per_case + preparation_of(scenario) + visiting_of(scenario)));
  }
  return seconds;
}

}  // namespace numatlas
