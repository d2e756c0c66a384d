#include "run/estimate_time.h"

#include <algorithm>
#include <cstddef>

#include "kernels/kind.h"

namespace numatlas {

double preparation_of(const Scenario& scenario) {
  // Of a usual server of these years. Flows are prepared together, until the memory has no more to
  // give.
  constexpr double shared_per_gib = 0.06;
  constexpr double whatever_the_size = 0.005;
  double slowest = 0, all = 0;
  for (const Flow& flow : scenario.flows) {
    if (flow.shares) continue;
    const double bytes = static_cast<double>(flow.region.bytes.value) +
                         (flow.source ? static_cast<double>(flow.source->bytes.value) : 0);
    const Preparation each = kind_of(flow.kernel).preparation;
    const double warm = static_cast<double>(flow.warm_up.value);
    slowest = std::max(slowest, (bytes * each.fill + warm * each.warm) / gib);
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
