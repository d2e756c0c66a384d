#include "engine/simulated/null_groups.h"

#include <cmath>

#include "kernels/permutation.h"

namespace numatlas {

GroupTimes simulated_groups(unsigned loads, double load_ns, double time_ns,
                            const std::optional<DelayNoise>& delays, std::uint64_t state) {
  // A counter of 2 GHz, and an interrupt each 4 ms.
  constexpr double ticks_per_ns = 2, timer_ns = 20, interrupt_ns = 4e6;
  const auto uniform = [&] { return static_cast<double>(split_mix(state) >> 11) * 0x1p-53; };
  GroupTimes times;
  times.loads = loads;
  times.ns_per_tick = 1 / ticks_per_ns;
  times.timer_ticks = timer_ns * ticks_per_ns;
  times.sees_interrupts = true;
  double left_ns = time_ns;
  while (left_ns > 0) {
    double group_ns = 0;
    for (unsigned load = 0; load < loads; ++load) {
      const double unit = uniform();
      group_ns += load_ns * (1 + 0.05 * unit * unit);
      if (delays && uniform() < delays->share) group_ns += static_cast<double>(delays->by.count());
    }
    left_ns -= group_ns;
    const auto ticks = std::lround((group_ns + timer_ns) * ticks_per_ns);
    times.add(static_cast<std::uint64_t>(ticks), uniform() < group_ns / interrupt_ns);
  }
  return times;
}

}  // namespace numatlas
