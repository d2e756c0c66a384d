#include "run/estimate_time.h"
#include "kernels/traits.h"

#include <algorithm>
#include <cstddef>

namespace numatlas {

double preparation_of(const Scenario& scenario) {
  // Of a usual server of these years: first touch and a pass of stores; the same, a chain, and the
  // proof of it. Flows are prepared together, until the memory has no more to give.
  constexpr double touch_per_gib = 0.4, chain_per_gib = 1.2, shared_per_gib = 0.06;
  // Touched before the first sample: a line each in a random order, or as bandwidth goes.
  constexpr double walk_per_gib = 0.5, pass_per_gib = 0.1;
  constexpr double whatever_the_size = 0.005;
  double slowest = 0, all = 0;
  for (const Flow& flow : scenario.flows) {
    if (flow.shares) continue;
    const double bytes = static_cast<double>(flow.region.bytes.value) +
                         (flow.source ? static_cast<double>(flow.source->bytes.value) : 0);
    const bool chained = traits_of(flow.kernel.name).chases();
    const double ready = bytes * (chained ? chain_per_gib : touch_per_gib);
    const double warm = static_cast<double>(flow.warm_up.value);
    slowest = std::max(slowest, (ready + warm * (chained ? walk_per_gib : pass_per_gib)) / gib);
    all += bytes / gib * shared_per_gib;
  }
  return whatever_the_size + std::max(slowest, all);
}

double least_time_of(const Benchmark& benchmark, const Setup& setup) {
  // Less than this gives intervals that say little.
  constexpr double recorded_per_point = 0.05;
  double seconds = 0;
  for (std::size_t i = 0; i < setup.plan.size(); ++i) {
    if (setup.skips[i]) continue;
    seconds += recorded_per_point + preparation_of(setup.plan[i].scenario);
  }
  const double part_of_plan = benchmark.time_until(0);
  // What is refined works on memory like that of the plan, much of which is at hand already.
  constexpr double of_refined = 0.5;
  return part_of_plan > 0 ? seconds * (1 + of_refined * (1 / part_of_plan - 1)) : seconds;
}

}  // namespace numatlas
