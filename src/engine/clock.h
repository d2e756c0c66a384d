// Time as the engine sees it.
#pragma once

#include <cstdint>

namespace numatlas {

class Clock {
 public:
  virtual ~Clock() = default;
  virtual std::int64_t now_ns() = 0;
  virtual void sleep_until(std::int64_t time_ns) = 0;
  /// Times that the calling thread lost its CPU to something else; 0 where nobody counts.
  virtual std::uint64_t switches() const { return 0; }
};

/// CLOCK_MONOTONIC: one clock for all processes of a host.
class MonotonicClock final : public Clock {
 public:
  std::int64_t now_ns() override;
  void sleep_until(std::int64_t time_ns) override;
  std::uint64_t switches() const override;
};

/// Advances only when told to: by each reading (as if reading cost that much) and by `advance`.
class ScriptedClock final : public Clock {
 public:
  explicit ScriptedClock(std::int64_t cost_of_reading_ns) : cost_ns_(cost_of_reading_ns) {}
  std::int64_t now_ns() override { return now_ns_ += cost_ns_; }
  void sleep_until(std::int64_t time_ns) override {
    if (time_ns > now_ns_) now_ns_ = time_ns;
  }
  void advance(double nanoseconds);
  /// Something else runs for so long.
  void lose_cpu(double nanoseconds) {
    ++switches_;
    advance(nanoseconds);
  }
  std::uint64_t switches() const override { return switches_; }
  /// Without reading it.
  double time_ns() const { return static_cast<double>(now_ns_) + part_ns_; }

 private:
  std::int64_t now_ns_ = 0;
  std::int64_t cost_ns_;
  double part_ns_ = 0;
  std::uint64_t switches_ = 0;
};

/// Median cost of one reading, from readings back to back.
std::int64_t timer_overhead_ns(Clock& clock);

}  // namespace numatlas
