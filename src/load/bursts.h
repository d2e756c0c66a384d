// When the next burst of a load is due.
#pragma once

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <optional>

#include "engine/clock.h"

namespace numatlas {

/// When each burst of all threads together is due: whoever has a CPU takes the next one, so that
/// the others make up for a thread that has none. The clock must outlive it.
class Bursts {
 public:
  /// What was lost for longer is not made up for.
  static constexpr std::int64_t longest_delay_ns = 250'000'000;

  explicit Bursts(Clock& clock) : clock_(clock), start_ns_(clock.now_ns()) {}

  /// From now on bursts of `bytes` at so many bytes a second; nullopt: without pauses; 0: none.
  void hold(std::optional<double> rate, double bytes) {
    due_.store(since_start(clock_.now_ns()));
    if (!rate || !(*rate > 0)) return interval_.store(rate ? never : 0);
    interval_.store(std::max<std::int64_t>(1, std::llround(bytes / *rate * 1e9 * parts)));
  }
  /// nullopt: none is due for long. Takes the next one; the time when it is due.
  std::optional<std::int64_t> take() {
    const std::int64_t interval = interval_.load(std::memory_order_relaxed);
    if (interval == never) return std::nullopt;
    const std::int64_t now = clock_.now_ns();
    if (interval == 0) return now;
    const std::int64_t least = since_start(now - longest_delay_ns);
    std::int64_t due = due_.load(std::memory_order_relaxed);
    while (!due_.compare_exchange_weak(due, std::max(due, least) + interval)) continue;
    return start_ns_ + std::max(due, least) / parts;
  }

 private:
  static constexpr std::int64_t parts = 1024;  ///< of a nanosecond
  static constexpr std::int64_t never = INT64_MAX;
  std::int64_t since_start(std::int64_t time_ns) const { return (time_ns - start_ns_) * parts; }

  Clock& clock_;
  std::int64_t start_ns_;
  std::atomic<std::int64_t> due_{0}, interval_{never};
};

}  // namespace numatlas
