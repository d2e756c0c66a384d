#include "record/sample.h"

#include <algorithm>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
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

double Sample::deviation() const { return std::sqrt(variance); }

Sample mean_of(std::span<const double> values) {
  const auto n = static_cast<double>(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / n;
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return {mean, squares / (n - 1) / n, n - 1};
}

Sample logarithm_of(double value, const Interval& interval, double freedom, double unit) {
  const double half = std::max(interval.high - value, value - interval.low) / value;
  const double error = half / upper_quantile(freedom, 0.05 / 2);
  return {std::log(value / unit), error * error, freedom};
}

Sample sum_of(std::initializer_list<Sample> parts) {
  Sample sum;
  double weights = 0;
  for (const Sample& part : parts) {
    sum.location += part.location;
    sum.variance += part.variance;
    weights += part.variance * part.variance / part.freedom;
  }
  if (weights > 0) sum.freedom = sum.variance * sum.variance / weights;
  return sum;
}

Sample difference(const Sample& sample, const Sample& reference) {
  return sum_of({sample, {-reference.location, reference.variance, reference.freedom}});
}

double half_width(const Sample& sample, double risk) {
  return upper_quantile(sample.freedom, risk / 2) * sample.deviation();
}

Interval interval_of(const Sample& sample, double risk) {
  const double half = half_width(sample, risk);
  return {sample.location - half, sample.location + half};
}

double chance_of(const Sample& sample) {
  const double far = std::abs(sample.location);
  if (!(sample.variance > 0)) return far > 0 ? 0 : 1;
  const double t = far / sample.deviation();
  return std::isinf(t) ? 0 : 2 * upper_tail(t, sample.freedom);
}

double chance_below(const Sample& sample) {
  if (!(sample.variance > 0)) return sample.location < 0 ? 0 : 1;
  return upper_tail(-sample.location / sample.deviation(), sample.freedom);
}

}  // namespace numatlas
