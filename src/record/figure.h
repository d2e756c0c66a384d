// One quantity of a case or a flow, and where its samples lay, in bins: small whatever their
// number.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/statistics.h"
#include "record/boxed.h"
#include "record/estimate.h"
#include "record/unit.h"

namespace numatlas {

/// Counts of positive samples in logarithmic bins. Bin i holds values from ratio^i to ratio^(i+1).
struct Distribution {
  static constexpr double ratio = 1.02;
  std::vector<int> bins;              ///< ascending
  std::vector<std::uint64_t> counts;  ///< of each of `bins`, more than 0

  bool empty() const { return bins.empty(); }
  friend bool operator==(const Distribution&, const Distribution&) = default;
};

/// Of ascending samples without NaN, in bins that are `fineness` times as narrow: files have those
/// of 2 %, percentiles over visits take narrower ones. Samples of 0 or less and infinite ones are
/// left out.
inline constexpr int fine = 10;
Distribution distribution_of(std::span<const double> sorted, int fineness = 1);

/// The same of positive values, ascending, with how many samples have each.
using Weighted = std::vector<std::pair<double, std::uint64_t>>;
Distribution distribution_of(const Weighted& values);
/// The middle of each bin.
Weighted middles_of(const Distribution& distribution, int fineness = 1);
/// What so many per cent of the samples do not exceed; of none 0. Within a bin samples lie as far
/// apart as one another.
double percentile_of(const Distribution& distribution, double percent);

/// Counts of both.
Distribution merged(const Distribution& a, const Distribution& b);

/// Of the samples of both: counts, extremes, mean and deviation from the summaries, all that ranks
/// samples from their merged distribution, which is in fine bins.
Summary combined(const Summary& a, const Summary& b, const Distribution& both);

struct Figure {
  std::string key;  ///< "latency", "bandwidth_sum"
  Unit unit;
  std::optional<Estimate> estimate;  ///< absent when it could not be measured
  Boxed<Summary> summary;            ///< of the samples, where there are several
  Distribution distribution{};       ///< of these samples in fine bins; of one visit only

  std::optional<double> value() const {
    return estimate ? std::optional<double>(estimate->value) : std::nullopt;
  }
};

/// Half width of its interval over its value; absent without an interval.
inline std::optional<double> half_width(const Figure& figure) {
  return figure.estimate ? half_width(*figure.estimate) : std::nullopt;
}

/// The figure of that key; nullptr where there is none.
inline const Figure* find_figure(const std::vector<Figure>& figures, const std::string& key) {
  const auto found = std::ranges::find(figures, key, &Figure::key);
  return found == figures.end() ? nullptr : &*found;
}

}  // namespace numatlas
