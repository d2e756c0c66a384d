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
constexpr double longest_delay_ns = 100'000;

}  // namespace

std::function<void(std::uint64_t)> paced(const Flow& flow, Kernel& kernel, Clock& clock) {
  const auto bytes = static_cast<double>(kernel.traffic_a_step().counted());
  if (!flow.rate || !(*flow.rate > 0) || !(bytes > 0)) {
    return [&kernel](std::uint64_t steps) { kernel.run(steps); };
  }
  const double step_ns = bytes / *flow.rate * 1e9;
  const auto burst =
      std::max<std::uint64_t>(1, static_cast<std::uint64_t>(std::lround(burst_ns / step_ns)));
  return [&kernel, &clock, step_ns, burst, due = 0.0](std::uint64_t steps) mutable {
    while (steps > 0) {
      const std::uint64_t now_steps = std::min(steps, burst);
      auto now = static_cast<double>(clock.now_ns());
      if (now > due + longest_delay_ns) due = now;
      while (now < due) {
        if (stop_requested()) return;
        now = static_cast<double>(clock.now_ns());
      }
      kernel.run(now_steps);
      due += static_cast<double>(now_steps) * step_ns;
      steps -= now_steps;
    }
  };
}

}  // namespace numatlas
