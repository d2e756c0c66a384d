// Where a quantity lies and how well that is known, in Student's way. All intervals over visits,
// launches, rounds and pairs, and all chances of differences, are made here. Pure.
#pragma once

#include <initializer_list>
#include <limits>
#include <span>

#include "base/statistics.h"

namespace numatlas {

/// In the unit of the quantity, or a logarithm: differences of logarithms are ratios.
struct Sample {
  double location = 0;
  double variance = 0;                                       ///< of the location
  double freedom = std::numeric_limits<double>::infinity();  ///< degrees of it, of the variance
  double deviation() const;
  friend bool operator==(const Sample&, const Sample&) = default;
};

/// The mean of values, and how well it is known. Undefined for fewer than two.
Sample mean_of(std::span<const double> values);
/// The logarithm of `value` over `unit`, as well known as the value is by its 95 % interval.
Sample logarithm_of(double value, const Interval& interval, double freedom, double unit = 1);

/// Of independent parts: their variances add up, with the degrees of freedom of Welch (Biometrika
/// 34, 1947) and Satterthwaite (Biometrics Bulletin 2, 1946).
Sample sum_of(std::initializer_list<Sample> parts);
Sample difference(const Sample& sample, const Sample& reference);

/// Half of the interval that misses the truth with the probability `risk`.
double half_width(const Sample& sample, double risk);
Interval interval_of(const Sample& sample, double risk);
/// How likely a location is that far from 0, on either side, where the truth is 0.
double chance_of(const Sample& sample);
/// The same of one that far below 0.
double chance_below(const Sample& sample);

}  // namespace numatlas
