#include "record/uncertain.h"

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

}  // namespace numatlas
