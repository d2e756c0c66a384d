#include "record/estimate.h"

#include <algorithm>
#include <boost/math/distributions/binomial.hpp>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <cstddef>
#include <numeric>

namespace numatlas {
namespace {

/// What is exceeded with the probability `tail`.
double upper_quantile(double freedom, double tail) {
  if (std::isinf(freedom)) return quantile(complement(boost::math::normal(), tail));
  return quantile(complement(boost::math::students_t(freedom), tail));
}

/// The probability of values above `t`.
double upper_tail(double t, double freedom) {
  if (std::isinf(freedom)) return cdf(complement(boost::math::normal(), t));
  return cdf(complement(boost::math::students_t(freedom), t));
}

constexpr double confidence = 0.95, risk = 1 - confidence;

/// How likely the median of what `n` values were drawn from lies between the `rank`-th smallest
/// and the `rank`-th largest of them.
double coverage_between(std::size_t n, std::size_t rank) {
  const boost::math::binomial below_median(static_cast<double>(n), 0.5);
  return 1 - 2 * cdf(below_median, static_cast<double>(rank) - 1);
}

/// The interval of the median between interpolated order statistics.
std::optional<Interval> interpolated_interval(const std::vector<double>& sorted) {
  const std::size_t n = sorted.size();
  if (n == 0 || coverage_between(n, 1) < confidence) return std::nullopt;
  std::size_t rank = 1;
  while (coverage_between(n, rank + 1) >= confidence) ++rank;
  const double outer = coverage_between(n, rank), inner = coverage_between(n, rank + 1);
  const double part = (outer - confidence) / (outer - inner);
  const auto k = static_cast<double>(rank), count = static_cast<double>(n);
  const double inwards = (count - k) * part / (k + (count - 2 * k) * part);
  const auto towards = [&](double from, double to) { return from + inwards * (to - from); };
  return Interval{towards(sorted[rank - 1], sorted[rank]),
                  towards(sorted[n - rank], sorted[n - rank - 1])};
}

/// Of what is made from estimates: as little sure of changes between visits as they are.
template <class... Estimates>
Method method_from(const Estimates&... estimates) {
  return (is_of_few_visits(estimates) || ...) ? Method::within : Method::derived;
}

}  // namespace

double Uncertain::deviation() const { return std::sqrt(variance); }

Uncertain mean_of(std::span<const double> values) {
  const auto n = static_cast<double>(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / n;
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return {mean, squares / (n - 1) / n, n - 1};
}

Uncertain logarithm_of(const Estimate& figure, double unit) {
  Uncertain one{std::log(figure.value / unit)};
  if (figure.method == Method::visits && figure.n > 1)
    one.freedom = static_cast<double>(figure.n) - 1;
  const double error = *half_width(figure) / upper_quantile(one.freedom, 0.05 / 2);
  one.variance = error * error;
  return one;
}

Uncertain sum_of(std::initializer_list<Uncertain> parts) {
  Uncertain sum;
  double weights = 0;
  for (const Uncertain& part : parts) {
    sum.value += part.value;
    sum.variance += part.variance;
    weights += part.variance * part.variance / part.freedom;
  }
  if (weights > 0) sum.freedom = sum.variance * sum.variance / weights;
  return sum;
}

Uncertain difference(const Uncertain& one, const Uncertain& reference) {
  return sum_of({one, {-reference.value, reference.variance, reference.freedom}});
}

double half_width(const Uncertain& one, double risk) {
  return upper_quantile(one.freedom, risk / 2) * one.deviation();
}

Interval interval_of(const Uncertain& one, double risk) {
  const double half = half_width(one, risk);
  return {one.value - half, one.value + half};
}

Estimate estimate_of(const Uncertain& mean, double risk) {
  Estimate estimate = mean.value;
  const Interval interval = interval_of(mean, risk);
  estimate.low = interval.low;
  estimate.high = interval.high;
  estimate.n = static_cast<std::size_t>(mean.freedom) + 1;
  estimate.method = Method::visits;
  return estimate;
}

double chance_of(const Uncertain& one) {
  const double far = std::abs(one.value);
  if (!(one.variance > 0)) return far > 0 ? 0 : 1;
  const double t = far / one.deviation();
  return std::isinf(t) ? 0 : 2 * upper_tail(t, one.freedom);
}

double chance_below(const Uncertain& one) {
  if (!(one.variance > 0)) return one.value < 0 ? 0 : 1;
  return upper_tail(-one.value / one.deviation(), one.freedom);
}

std::optional<double> half_width(const Estimate& estimate) {
  if (!estimate.low || !estimate.high || estimate.value == 0) return std::nullopt;
  return std::max(estimate.value - *estimate.low, *estimate.high - estimate.value) /
         std::abs(estimate.value);
}

Estimate estimate_of_median(const Summary& summary, const std::optional<double>& block_half_width) {
  Estimate estimate = summary.median;
  estimate.n = summary.n;
  const auto interval = interval_of(summary.median, summary, block_half_width);
  if (!interval) return estimate;
  estimate.low = interval->low;
  estimate.high = interval->high;
  estimate.method = Method::samples;
  return estimate;
}

Estimate estimate_of_median(std::span<const double> values) {
  std::vector<double> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  Estimate estimate = percentile_sorted(sorted, 50);
  estimate.n = sorted.size();
  const auto interval = interpolated_interval(sorted);
  if (!interval) return estimate;
  estimate.low = interval->low;
  estimate.high = interval->high;
  estimate.method = Method::samples;
  return estimate;
}

Estimate estimate_of_stretches(const Summary& summary) {
  constexpr std::size_t stretches = 20;
  // 0.975 quantile of Student's t for 19 degrees of freedom. Stretches are long against what
  // disturbs a sample, so their mean is near enough to normal.
  constexpr double t_19 = 2.093;
  Estimate estimate = summary.mean;
  estimate.n = summary.n;
  if (summary.n != stretches || !summary.stddev || !(summary.mean > 0)) return estimate;
  const double half = t_19 * *summary.stddev / std::sqrt(static_cast<double>(stretches));
  estimate.low = std::max(0.0, summary.mean - half);
  estimate.high = summary.mean + half;
  estimate.method = Method::stretches;
  return estimate;
}

bool is_of_few_visits(const Estimate& estimate) {
  return estimate.low && (estimate.method == Method::within || estimate.method == Method::samples ||
                          estimate.method == Method::stretches);
}

Estimate estimate_of_visits(std::span<const double> values, std::optional<double> low,
                            std::optional<double> high) {
  if (values.size() >= least_visits) {
    Estimate estimate = estimate_of(mean_of(values), risk);
    const bool is_positive = *std::min_element(values.begin(), values.end()) >= 0;
    if (is_positive) estimate.low = std::max(0.0, *estimate.low);
    return estimate;
  }
  const double sum = std::accumulate(values.begin(), values.end(), 0.0);
  Estimate estimate = sum / static_cast<double>(values.size());
  estimate.n = values.size();
  if (!low || !high) return estimate;
  estimate.low = std::min(*low, estimate.value);
  estimate.high = std::max(*high, estimate.value);
  estimate.method = Method::within;
  return estimate;
}

std::optional<Estimate> ratio_of_pairs(std::span<const double> mine, std::span<const double> its,
                                       std::size_t choices) {
  const std::size_t pairs = std::min(mine.size(), its.size());
  if (pairs < least_visits) return std::nullopt;
  std::vector<double> logarithms;
  for (std::size_t i = 0; i < pairs; ++i) {
    if (!(mine[i] > 0) || !(its[i] > 0)) return std::nullopt;
    logarithms.push_back(std::log(mine[i] / its[i]));
  }
  Estimate ratio = estimate_of(mean_of(logarithms),
                               risk / static_cast<double>(std::max<std::size_t>(choices, 1)));
  ratio.value = std::exp(ratio.value);
  ratio.low = std::exp(*ratio.low);
  ratio.high = std::exp(*ratio.high);
  return ratio;
}

Estimate scaled(const Estimate& estimate, double factor) {
  return as_sure_as(estimate.value * factor, estimate);
}

Estimate divided_into(double constant, const Estimate& estimate) {
  Estimate result = constant / estimate.value;
  result.n = estimate.n;
  // An interval that reaches 0 leaves the quotient without an upper end.
  if (!estimate.low || !(*estimate.low > 0)) return result;
  result.low = constant / *estimate.high;
  result.high = constant / *estimate.low;
  result.method = method_from(estimate);
  return result;
}

Estimate ratio_of(const Estimate& one, const Estimate& other) {
  Estimate ratio = one.value / other.value;
  ratio.n = std::min(one.n, other.n);
  if (!one.low || !other.low || !(*other.low > 0)) return ratio;
  ratio.low = *one.low / *other.high;
  ratio.high = *one.high / *other.low;
  ratio.method = method_from(one, other);
  return ratio;
}

Estimate difference_of(const Estimate& one, const Estimate& other) {
  Estimate difference = one.value - other.value;
  difference.n = std::min(one.n, other.n);
  if (!one.low || !other.low) return difference;
  difference.low = *one.low - *other.high;
  difference.high = *one.high - *other.low;
  difference.method = method_from(one, other);
  return difference;
}

Estimate sum_of(const Estimate& one, const Estimate& other) {
  Estimate sum = one.value + other.value;
  sum.n = std::min(one.n, other.n);
  if (!one.low || !other.low) return sum;
  sum.low = *one.low + *other.low;
  sum.high = *one.high + *other.high;
  sum.method = method_from(one, other);
  return sum;
}

Estimate between(const Estimate& one, const Estimate& other, double way) {
  const auto at = [&](double from, double to) { return from + way * (to - from); };
  Estimate result = at(one.value, other.value);
  result.n = std::min(one.n, other.n);
  if (!one.low || !other.low) return result;
  result.low = at(*one.low, *other.low);
  result.high = at(*one.high, *other.high);
  result.method = method_from(one, other);
  return result;
}

std::optional<Estimate> median_of(const std::vector<Estimate>& estimates) {
  std::vector<double> values;
  double widest = 0;
  bool all_have = true, few = false;
  for (const Estimate& one : estimates) {
    values.push_back(one.value);
    few = few || is_of_few_visits(one);
    const auto width = half_width(one);
    all_have = all_have && width;
    widest = std::max(widest, width.value_or(0));
  }
  const auto summary = summarize(values);
  if (!summary) return std::nullopt;
  Estimate median = summary->median;
  median.n = summary->n;
  if (!all_have) return median;
  median.low = std::max(0.0, median.value * (1 - widest));
  median.high = median.value * (1 + widest);
  median.method = few ? Method::within : Method::derived;
  return median;
}

bool surely_more(const Estimate& one, const Estimate& other) {
  return one.low && other.high && *one.low > *other.high;
}

Estimate as_sure_as(double value, const Estimate& from) {
  Estimate result = value;
  result.n = from.n;
  if (!from.low || from.value == 0) return result;
  const double factor = value / from.value;
  result.low = *from.low * factor;
  result.high = *from.high * factor;
  result.method = method_from(from);
  return result;
}

}  // namespace numatlas
