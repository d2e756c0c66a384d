// Where a curve of latency under load bends.
#pragma once

#include <optional>
#include <span>

#include "record/report.h"

namespace numatlas {

/// A point of a curve, in the order of what was asked for: its load in B/s and its latency in s.
struct LoadedPoint {
  Estimate load, latency;
};

struct Knee {
  std::optional<Estimate> load;  ///< at the knee, in B/s; absent: there is none up to `highest`
  double latency = 0;            ///< there, in s
  double highest = 0;            ///< load of the curve
};

/// The knee is where two straight lines meet that fit the points better than one does, by more than
/// their errors (an F test at 1 %), the second of them at least twice as steep and 10 % of the idle
/// latency higher at its end than the first would be. Its interval is that of the places where two
/// lines fit about as well. Points that have no more load than one before them are left out: there
/// the memory is saturated. Nothing where fewer than 6 points are left, or one has no interval or
/// is unknown. Pure.
std::optional<Knee> knee_of(std::span<const LoadedPoint> points);

}  // namespace numatlas
