// The highest and the lowest of a range: of cases, facts, cells; and bandwidths as shares of the
// highest one that the same run measured.
#pragma once

#include <iterator>
#include <optional>

#include "record/estimate.h"
#include "record/report.h"

namespace numatlas {

inline std::optional<double> value_of(const std::optional<Estimate>& estimate) {
  return estimate ? std::optional(estimate->value) : std::nullopt;
}

/// The first element with the highest `value(element)`, an optional; nullptr where no element has
/// one.
template <class Range, class Value>
auto highest_of(Range& range, const Value& value) {
  decltype(&*std::begin(range)) best = nullptr;
  decltype(value(*best)) most;
  for (auto& element : range) {
    const auto its = value(element);
    if (!its || (most && !(*its > *most))) continue;
    best = &element;
    most = its;
  }
  return best;
}

/// The same of the lowest.
template <class Range, class Value>
auto lowest_of(Range& range, const Value& value) {
  return highest_of(range, [&](const auto& element) {
    const auto its = value(element);
    return its ? std::optional(-*its) : std::nullopt;
  });
}

/// Adds "best_share" beside each "bandwidth_sum" of memory: over all hosts, and of each host where
/// there are several. Nothing of what a cache held.
void add_best_shares(RunReport& report);

}  // namespace numatlas
