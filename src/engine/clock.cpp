#include "engine/clock.h"

#include <sys/resource.h>

#include <cerrno>
#include <ctime>

#include <algorithm>
#include <array>

#include "base/units.h"

namespace numatlas {

std::int64_t MonotonicClock::now_ns() { return monotonic_ns(); }

void MonotonicClock::sleep_until(std::int64_t time_ns) {
  // The kernel wakes a sleeper about 50 us late; the last stretch is spun away.
  constexpr std::int64_t spin_ns = 100'000;
  const std::int64_t wake_ns = time_ns - spin_ns;
  if (wake_ns > now_ns()) {
    const timespec wake{static_cast<time_t>(wake_ns / 1'000'000'000),
                        static_cast<long>(wake_ns % 1'000'000'000)};
    // A signal ends the sleep early: the caller looks at stop_requested() itself.
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &wake, nullptr);
  }
  while (now_ns() < time_ns) {
  }
}

std::uint64_t MonotonicClock::switches() const {
  rusage usage{};
  return getrusage(RUSAGE_THREAD, &usage) == 0 ? static_cast<std::uint64_t>(usage.ru_nivcsw) : 0;
}

void ScriptedClock::advance(double nanoseconds) {
  part_ns_ += nanoseconds;
  const auto whole = static_cast<std::int64_t>(part_ns_);
  now_ns_ += whole;
  part_ns_ -= static_cast<double>(whole);
}

std::int64_t timer_overhead_ns(Clock& clock) {
  std::array<std::int64_t, 301> costs{};
  std::int64_t before = clock.now_ns();
  for (std::int64_t& cost : costs) {
    const std::int64_t after = clock.now_ns();
    cost = after - before;
    before = after;
  }
  std::nth_element(costs.begin(), costs.begin() + costs.size() / 2, costs.end());
  return std::max<std::int64_t>(1, costs[costs.size() / 2]);
}

}  // namespace numatlas
