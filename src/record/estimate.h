// How sure a figure is. An estimate is made once, where the samples are; everybody else reads it.
// All intervals over visits, launches, rounds and pairs, and all chances of differences, are made
// here, in Student's way. Pure.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/statistics.h"

namespace numatlas {

/// What an interval was made from.
enum class Method {
  none,       ///< no interval: too few samples, or a single reading
  samples,    ///< of samples of one visit: relatively as wide as that of their median, the wider of
              ///< its order-statistic interval and, where it has one, that over the medians of 20
              ///< consecutive stretches
  stretches,  ///< the mean rate over the common window; Student's t over its 20 equal stretches
  derived,    ///< made from other estimates
  visits,     ///< the mean of several visits; Student's t over their values
  within,  ///< the same with fewer visits than an interval over them takes: the least that has the
           ///< interval within each visit. Also what is made from such an estimate
};

/// A value with its 95 % confidence interval, in SI base units.
struct Estimate {
  double value = 0;
  std::optional<double> low, high;  ///< both or neither; they enclose the value
  std::size_t n = 0;                ///< samples, stretches or visits that the interval is made of
  Method method = Method::none;

  Estimate() = default;
  /// A reading without an interval.
  Estimate(double reading) : value(reading) {}  // NOLINT: a number is an estimate of itself

  friend bool operator==(const Estimate&, const Estimate&) = default;
};

/// The larger side of the interval over the value; absent without an interval or for a value of 0.
std::optional<double> half_width(const Estimate& estimate);

/// The median of samples. `block_half_width`: that over medians of their blocks (relative), which
/// knows of slow moods of the machine. No interval below 6 samples.
Estimate estimate_of_median(const Summary& summary, const std::optional<double>& block_half_width);

/// The median of independent values, such as one of each host. Its distribution-free interval lies
/// between order statistics, interpolated so that it covers 95 % (Hettmansperger and Sheather,
/// Statistics & Probability Letters 4, 1986). Of fewer than 6 values not even the range covers that
/// much: they have no interval. Without values undefined.
Estimate estimate_of_median(std::span<const double> values);

/// The mean of rates over equal stretches of one window. No interval for other than 20 stretches or
/// a mean that is not positive.
Estimate estimate_of_stretches(const Summary& summary);

/// Visits that an interval over them takes at least, and without which nothing is called converged.
constexpr std::size_t least_visits = 5;

/// Whether it has an interval that says nothing of changes between visits, as there were fewer of
/// them than an interval over visits takes.
bool is_of_few_visits(const Estimate& estimate);

/// The mean over visits with Student's interval, Method::visits. Of fewer than `least_visits` that
/// of Method::within: `low` and `high` enclose the intervals of all visits; absent, there is none.
/// The interval of a quantity that cannot be negative (`values` has none) does not reach below 0.
/// Without values undefined.
Estimate estimate_of_visits(std::span<const double> values, std::optional<double> low,
                            std::optional<double> high);

/// How many times as large one quantity is as another, from values that were measured side by side:
/// the i-th of one belongs to the i-th of the other, as far as both go. The mean of the ratios'
/// logarithms with Student's interval, Method::visits. `choices`: how many candidates `mine` was
/// chosen from by these values; the intervals of all of them hold together in 95 % (Bonferroni), so
/// that of the chosen one does. nullopt for fewer than `least_visits` pairs or a value that is not
/// positive.
std::optional<Estimate> ratio_of_pairs(std::span<const double> mine, std::span<const double> its,
                                       std::size_t choices);

/// `estimate` times a positive factor.
Estimate scaled(const Estimate& estimate, double factor);

/// A positive constant divided by the estimate.
Estimate divided_into(double constant, const Estimate& estimate);

/// One over the other, with what both intervals leave open; no interval where one has none.
Estimate ratio_of(const Estimate& one, const Estimate& other);

/// One less the other, with what both intervals leave open; no interval where one has none.
Estimate difference_of(const Estimate& one, const Estimate& other);

/// One and the other together, with what both intervals leave open; no interval where one has none.
Estimate sum_of(const Estimate& one, const Estimate& other);

/// On the straight line from one (`way` 0) to the other (1).
Estimate between(const Estimate& one, const Estimate& other, double way);

/// The median of estimates of the same quantity, as sure as the least sure of them; no interval
/// where one has none. Absent without any.
std::optional<Estimate> median_of(const std::vector<Estimate>& estimates);

/// Whether the intervals leave no doubt that one is more; false where one has none.
bool surely_more(const Estimate& one, const Estimate& other);

/// `value`, known relatively as well as `from` is.
Estimate as_sure_as(double value, const Estimate& from);

// A figure as people read it.

/// Whether its interval reaches so far, more than half of the value, that both of its ends are told
/// with it.
inline bool is_wide(const Estimate& estimate) {
  constexpr double widest = 0.5;
  return half_width(estimate).value_or(0) > widest;
}

/// Whether it may also be nothing at all: it is wide, and its interval reaches zero.
inline bool is_unknown(const Estimate& estimate) {
  return is_wide(estimate) && *estimate.low <= 0 && *estimate.high >= 0;
}

/// The value by `number` and its unit, of one that is wide "60.0 ns (20.0 to 150)". What is unknown
/// is its interval alone: "0.00 to 96.8 ns", and of a difference that may be none "-0.4 to 0.4",
/// which says how small it is.
template <class Number>
std::string told(const Estimate& estimate, const Number& number, const std::string& unit) {
  const std::string value = number(estimate.value) + unit;
  if (!is_wide(estimate) || number(*estimate.low) == number(*estimate.high)) return value;
  const std::string range = number(*estimate.low) + " to " + number(*estimate.high);
  if (!is_unknown(estimate)) return value + " (" + range + ")";
  return range + unit;
}

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
