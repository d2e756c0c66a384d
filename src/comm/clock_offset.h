// How far the clocks of the hosts are apart. Each host's CLOCK_MONOTONIC starts at its own boot, so
// times of two hosts mean nothing together without an offset.
//
// Method: Cristian's probabilistic clock reading ("Probabilistic clock synchronization",
// Distributed Computing 3, 1989): a message goes to the other host and comes back with the time
// there; the shortest of many round trips bounds the error by half its length. Use for a common
// start window: Hoefler & Belli, "Scientific Benchmarking of Parallel Computing Systems", SC'15.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "base/error.h"
#include "base/units.h"
#include "comm/comm.h"

namespace numatlas {

/// One question to another host: two times of rank 0's clock around one of the other's.
struct RoundTrip {
  Nanoseconds sent{};      ///< rank 0's clock when the question left
  Nanoseconds remote{};    ///< the other host's clock when it answered
  Nanoseconds received{};  ///< rank 0's clock when the answer was here
};

/// `offset` = the host's clock - rank 0's clock; true within +-`precision`, if the clocks run at
/// one rate, at that time. Both are exactly 0 on rank 0's own host.
struct ClockOffset {
  Nanoseconds offset{};
  Nanoseconds precision{};
  Nanoseconds at{};  ///< when it was so, by rank 0's clock; host 0's is known at all times
  friend bool operator==(const ClockOffset&, const ClockOffset&) = default;
};

/// Estimate from the shortest round trip. Triples that end before they start are left out;
/// nullopt if none is left.
std::optional<ClockOffset> estimate_clock_offset(std::span<const RoundTrip> trips);

/// Time since the boot of this host, CLOCK_MONOTONIC.
Nanoseconds monotonic_now();

/// Offsets of all hosts on every rank, by host index of `comm.layout()`. Collective. With one host
/// nothing is sent. `round_trips` to each host: 50 take well under a millisecond on a cluster's
/// network, and one undisturbed among them is enough. `clock` is for tests.
Expected<std::vector<ClockOffset>> measure_clock_offsets(
    Comm& comm, int round_trips = 50, const std::function<Nanoseconds()>& clock = monotonic_now);

}  // namespace numatlas
