// A quantity and how well it is known, in Student's way. All intervals over visits, launches,
// rounds and pairs, and all chances of differences, are made here. Pure.
#pragma once

#include <initializer_list>
#include <limits>
#include <span>

#include "record/estimate.h"

namespace numatlas {

/// In the unit of the quantity, or a logarithm: differences of logarithms are ratios.
struct Uncertain {
  double value = 0;
  double variance = 0;                                       ///< of the value
  double freedom = std::numeric_limits<double>::infinity();  ///< degrees of it, of the variance
  double deviation() const;
  friend bool operator==(const Uncertain&, const Uncertain&) = default;
};

/// The mean of values, and how well it is known. Undefined for fewer than two.
Uncertain mean_of(std::span<const double> values);
/// The logarithm of a positive figure over `unit`, as well known as its interval says.
Uncertain logarithm_of(const Estimate& figure, double unit = 1);

/// Of independent parts: their variances add up, with the degrees of freedom of Welch (Biometrika
/// 34, 1947) and Satterthwaite (Biometrics Bulletin 2, 1946).
Uncertain sum_of(std::initializer_list<Uncertain> parts);
Uncertain difference(const Uncertain& one, const Uncertain& reference);

/// Half of the interval that misses the truth with the probability `risk`.
double half_width(const Uncertain& one, double risk);
Interval interval_of(const Uncertain& one, double risk);
/// Of a mean, with that interval.
Estimate estimate_of(const Uncertain& mean, double risk);
/// How likely a value is that far from 0, on either side, where the truth is 0.
double chance_of(const Uncertain& one);
/// The same of one that far below 0.
double chance_below(const Uncertain& one);

}  // namespace numatlas
