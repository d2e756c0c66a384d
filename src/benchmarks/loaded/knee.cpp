#include "benchmarks/loaded/knee.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

namespace numatlas {
namespace {

constexpr std::size_t least_points = 6;

/// Of a straight line, or of two that meet at `knee`: intercept, slope, and what the second adds to
/// the slope.
struct Fit {
  std::array<double, 3> of{};
  double squares = 0;  ///< of the distances, each in its standard error
  double knee = 0;
};

/// A point with the load as a part of the highest one, and one over the variance of its distance.
struct Weighed {
  double x = 0, y = 0, weight = 0;
};

/// By the normal equations, which at most three unknowns between 0 and 1 do not upset. Without a
/// knee there are two.
Fit fitted(const std::vector<Weighed>& points, const std::optional<double>& knee) {
  const std::size_t unknowns = knee ? 3 : 2;
  const auto basis_of = [&](double x) {
    return std::array<double, 3>{1, x, std::max(0.0, x - knee.value_or(x))};
  };
  std::array<std::array<double, 4>, 3> rows{};
  for (const Weighed& point : points) {
    const auto basis = basis_of(point.x);
    for (std::size_t i = 0; i < unknowns; ++i) {
      for (std::size_t j = 0; j < unknowns; ++j) rows[i][j] += point.weight * basis[i] * basis[j];
      rows[i][3] += point.weight * basis[i] * point.y;
    }
  }
  for (std::size_t i = 0; i < unknowns; ++i) {
    for (std::size_t below = i + 1; below < unknowns; ++below) {
      const double factor = rows[below][i] / rows[i][i];
      for (std::size_t j = i; j < 4; ++j) rows[below][j] -= factor * rows[i][j];
    }
  }
  Fit fit;
  fit.knee = knee.value_or(0);
  for (std::size_t i = unknowns; i-- > 0;) {
    double rest = rows[i][3];
    for (std::size_t j = i + 1; j < unknowns; ++j) rest -= rows[i][j] * fit.of[j];
    fit.of[i] = rest / rows[i][i];
  }
  for (const Weighed& point : points) {
    const auto basis = basis_of(point.x);
    const double away =
        point.y - fit.of[0] * basis[0] - fit.of[1] * basis[1] - fit.of[2] * basis[2];
    fit.squares += point.weight * away * away;
  }
  return fit;
}

/// Half of a 95 % interval is about two standard errors. Nothing of what is unknown.
std::optional<double> error_of(const Estimate& estimate) {
  constexpr double errors = 1.96;
  if (!estimate.low || is_unknown(estimate)) return std::nullopt;
  return (*estimate.high - *estimate.low) / (2 * errors);
}

/// Empty where one has no interval, or is unknown. An error in the load counts times the slope.
std::vector<Weighed> weighed(std::span<const LoadedPoint> points) {
  std::vector<const LoadedPoint*> kept;
  for (const LoadedPoint& point : points)
    if (kept.empty() || point.load.value > kept.back()->load.value) kept.push_back(&point);
  std::vector<Weighed> all;
  if (kept.size() < least_points) return all;
  const double highest = kept.back()->load.value;
  for (std::size_t i = 0; i < kept.size(); ++i) {
    const LoadedPoint &point = *kept[i], &before = *kept[i > 0 ? i - 1 : 0],
                      &after = *kept[std::min(i + 1, kept.size() - 1)];
    // Without any load there is none that could be wrong.
    const auto load = point.load.value > 0 ? error_of(point.load) : 0.0;
    const auto latency = error_of(point.latency);
    if (!load || !latency) return {};
    const double slope = std::max(
        0.0, (after.latency.value - before.latency.value) / (after.load.value - before.load.value));
    // No timer and no place of memory is better than that.
    constexpr double least = 0.001;
    const double own = std::max(*latency, least * point.latency.value);
    const double error = std::hypot(own, slope * *load);
    all.push_back({point.load.value / highest, point.latency.value, 1 / (error * error)});
  }
  return all;
}

/// The least quotient of two variances, of 2 and of `degrees` degrees of freedom, that chance
/// exceeds in 1 % of cases.
double least_quotient(double degrees) {
  constexpr double chance = 0.01;
  return degrees / 2 * (std::pow(chance, -2 / degrees) - 1);
}

}  // namespace

std::optional<Knee> knee_of(std::span<const LoadedPoint> points) {
  const std::vector<Weighed> curve = weighed(points);
  if (curve.empty()) return std::nullopt;
  Knee found;
  for (const LoadedPoint& point : points) found.highest = std::max(found.highest, point.load.value);
  const Fit one = fitted(curve, std::nullopt);
  // A line needs two points.
  const double first = curve[1].x, last = curve[curve.size() - 2].x;
  constexpr int steps = 1000;
  const double step = (last - first) / steps;
  std::vector<Fit> bends;
  for (int i = 0; i <= steps; ++i) {
    const Fit two = fitted(curve, first + i * step);
    if (two.of[2] > 0) bends.push_back(two);
  }
  if (bends.empty()) return found;
  const Fit& best = *std::ranges::min_element(bends, {}, &Fit::squares);
  const auto degrees = static_cast<double>(curve.size() - 4);
  // Where the points are further from both lines than their errors, these are too small.
  const double variance = std::max(1.0, best.squares / degrees);
  constexpr double least_rise = 0.1;
  const bool bent = (one.squares - best.squares) / 2 > least_quotient(degrees) * variance;
  const bool steeper = best.of[2] > std::max(0.0, best.of[1]);
  const bool higher = best.of[2] * (1 - best.knee) > least_rise * curve.front().y;
  if (!bent || !steeper || !higher) return found;
  // As good as the best within a 95 % interval: Student's t of 5 degrees of freedom, squared.
  constexpr double as_good = 2.57 * 2.57;
  double low = best.knee, high = best.knee;
  for (const Fit& two : bends) {
    if (two.squares > best.squares + as_good * variance) continue;
    low = std::min(low, two.knee - step);
    high = std::max(high, two.knee + step);
  }
  const double highest = found.highest;
  Estimate& load = found.load.emplace(best.knee * highest);
  load.low = low * highest;
  load.high = high * highest;
  load.n = curve.size();
  load.method = Method::derived;
  found.latency = best.of[0] + best.of[1] * best.knee;
  return found;
}

}  // namespace numatlas
