// The clocks of all hosts during a run. Clocks of two machines drift apart by some 10 us a second,
// so that offsets measured once are wrong after seconds: they are measured again during the run,
// and between two measurements follow from the drift.
#pragma once

#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/units.h"
#include "comm/clock_offset.h"
#include "comm/comm.h"

namespace numatlas {

/// One host's clock, from the last two offsets measured that lie far enough apart to tell a drift.
/// Pure.
class HostClock {
 public:
  /// `seen` is newer than those before.
  void add(const ClockOffset& seen);
  /// The offset at a time of rank 0's clock, on the line through both; the last one alone where
  /// there is no other, or where both differ by no more than their precisions. `precision` holds
  /// while the clocks drift evenly: it has that of both, how well they tell the drift, and, where
  /// the drift is not known, `most_drift`. Needs an offset.
  ClockOffset at(Nanoseconds time) const;
  /// Seconds a second that it gains on rank 0's; 0 where the change lies within the precisions.
  double drift() const;
  /// How far off its offset may have been since the one before, now that it was measured: by the
  /// precision at either end, and by what the drift was off.
  Nanoseconds error_since_last() const { return error_; }

  /// Of quartz clocks of servers, relative to each other.
  static constexpr double most_drift = 1e-4;
  /// Offsets closer together than that tell no drift.
  static constexpr Nanoseconds least_apart{1'000'000'000};

 private:
  /// By how much the offset changed from `before_` to `last_`; 0 where that is within their
  /// precisions.
  Nanoseconds change() const;

  std::optional<ClockOffset> before_, last_;
  Nanoseconds error_{0};
};

/// Collective where it says so: all ranks call it at the same points.
class HostClocks {
 public:
  /// `clock` is for tests.
  explicit HostClocks(Comm& comm, std::function<Nanoseconds()> clock = monotonic_now)
      : comm_(comm), clock_(std::move(clock)) {}

  /// Measures the offsets of all hosts. Collective. Nothing to do for one host.
  Expected<void> measure();
  /// On rank 0: whether it is time to measure again, which is so after 5 s, or after 100 times as
  /// long as it took where that is longer. False for one host. Other ranks do not know.
  bool due() const;
  /// The host's clock less rank 0's, at a time of rank 0's: HostClock::at.
  ClockOffset at(int host, Nanoseconds time) const;
  /// How far off any host's offset may have been so far, up to the last measurement.
  Nanoseconds error() const { return error_; }

 private:
  Comm& comm_;
  std::function<Nanoseconds()> clock_;
  std::vector<HostClock> hosts_;
  Nanoseconds measured_{0}, cost_{0};  ///< when it began last, and how long it took
  Nanoseconds error_{0};
};

}  // namespace numatlas
