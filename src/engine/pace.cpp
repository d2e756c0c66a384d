#include "engine/pace.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "base/signals.h"

namespace numatlas {
namespace {

// Long against a look at the clock (some 20 ns), short against the times over which a memory
// controller's queues fill.
constexpr double burst_ns = 1000;
// Later than this a flow was not slow but away from its CPU.
constexpr std::int64_t longest_delay_ns = 100'000;

}  // namespace

std::function<void(std::uint64_t)> paced(const Flow& flow, Kernel& kernel, Clock& clock) {
  const auto bytes = static_cast<double>(traffic_per_step(flow.kernel).counted());
  if (!flow.rate || !(*flow.rate > 0) || !(bytes > 0)) {
    return [&kernel](std::uint64_t steps) { kernel.run(steps); };
  }
  const double step_ns = bytes / *flow.rate * 1e9;
  const auto burst =
      std::max<std::uint64_t>(1, static_cast<std::uint64_t>(std::lround(burst_ns / step_ns)));
  // The time that is due is whole nanoseconds and a part of one: a clock that has run for months is
  // beyond what a double can tell to a nanosecond.
  return [&kernel, &clock, step_ns, burst, due_ns = std::int64_t{0},
          part_ns = 0.0](std::uint64_t steps) mutable {
    while (steps > 0) {
      std::int64_t now_ns = clock.now_ns();
      if (now_ns > due_ns + longest_delay_ns) due_ns = now_ns;
      while (now_ns < due_ns) {
        if (stop_requested()) return;
        now_ns = clock.now_ns();
      }
      // Who is late does all that is due at once: at the end of each burst the memory runs empty,
      // and near the peak nothing could be made up for.
      const auto late = static_cast<std::uint64_t>(static_cast<double>(now_ns - due_ns) / step_ns);
      const std::uint64_t now_steps = std::min(steps, burst + late);
      kernel.run(now_steps);
      double whole_ns = 0;
      part_ns = std::modf(part_ns + static_cast<double>(now_steps) * step_ns, &whole_ns);
      due_ns += static_cast<std::int64_t>(whole_ns);
      steps -= now_steps;
    }
  };
}

}  // namespace numatlas
