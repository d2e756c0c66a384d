#include "base/statistics.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace numatlas {
namespace {

struct Ranks {
  std::size_t low, high;  // zero-based positions in the sorted samples
};

std::optional<Ranks> median_interval_ranks(std::size_t n) {
  if (n <= 5) return std::nullopt;
  const double root = 1.96 * std::sqrt(static_cast<double>(n));
  const double count = static_cast<double>(n);
  // One-based ranks as published; for small n the formula may leave [1, n] and is clamped.
  const double low = std::max(1.0, std::floor((count - root) / 2));
  const double high = std::min(count, std::ceil(1 + (count + root) / 2));
  return Ranks{static_cast<std::size_t>(low) - 1, static_cast<std::size_t>(high) - 1};
}

/// The median of at least one value; puts them into another order.
double median_reordering(std::span<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 != 0) return *middle;
  return *middle + 0.5 * (*std::min_element(middle + 1, values.end()) - *middle);
}

}  // namespace

double percentile_sorted(std::span<const double> sorted, double percent) {
  if (sorted.empty()) return std::nan("");
  const double position = percent / 100 * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  const double part = position - static_cast<double>(below);
  return sorted[below] + part * (sorted[above] - sorted[below]);
}

std::optional<Summary> summarize(std::span<const double> samples) {
  std::vector<double> sorted(samples.begin(), samples.end());
  std::sort(sorted.begin(), sorted.end());
  return summarize_sorted(std::move(sorted));
}

std::optional<Summary> summarize_sorted(std::vector<double> sorted) {
  if (sorted.empty()) return std::nullopt;
  Summary s;
  s.n = sorted.size();
  s.median = percentile_sorted(sorted, 50);
  if (auto ranks = median_interval_ranks(s.n)) {
    s.ci_low = sorted[ranks->low];
    s.ci_high = sorted[ranks->high];
  }
  s.p5 = percentile_sorted(sorted, 5);
  s.p25 = percentile_sorted(sorted, 25);
  s.p75 = percentile_sorted(sorted, 75);
  s.p95 = percentile_sorted(sorted, 95);
  s.p99 = percentile_sorted(sorted, 99);
  s.min = sorted.front();
  s.max = sorted.back();
  const auto count = static_cast<double>(s.n);
  s.mean = std::accumulate(sorted.begin(), sorted.end(), 0.0) / count;
  if (s.n > 1) {
    double squares = 0;
    for (double x : sorted) squares += (x - s.mean) * (x - s.mean);
    s.stddev = std::sqrt(squares / (count - 1));
  }
  const double fence = 1.5 * (s.p75 - s.p25);
  for (double x : sorted) s.outliers += (x < s.p25 - fence || x > s.p75 + fence) ? 1 : 0;
  for (double& x : sorted) x = std::abs(x - s.median);
  s.mad = median_reordering(sorted);
  return s;
}

std::optional<double> relative_half_width(std::vector<double> samples) {
  const auto ranks = median_interval_ranks(samples.size());
  if (!ranks) return std::nullopt;
  const auto at = [&](std::size_t position) {
    const auto it = samples.begin() + static_cast<std::ptrdiff_t>(position);
    std::nth_element(samples.begin(), it, samples.end());
    return *it;
  };
  const std::size_t n = samples.size();
  const double median = (at((n - 1) / 2) + at(n / 2)) / 2;
  if (median == 0) return std::nullopt;
  return std::max(median - at(ranks->low), at(ranks->high) - median) / std::abs(median);
}

std::vector<double> block_medians(std::span<const double> samples, std::size_t blocks) {
  std::vector<double> medians;
  if (blocks == 0 || samples.size() < blocks) return medians;
  const std::size_t length = samples.size() / blocks;
  std::vector<double> all(samples.begin(), samples.end());
  for (std::size_t block = 0; block < blocks; ++block) {
    const std::size_t first = block * length;
    const std::size_t count = block + 1 == blocks ? samples.size() - first : length;
    medians.push_back(median_reordering(std::span(all).subspan(first, count)));
  }
  return medians;
}

Interval hull(const Interval& a, const Interval& b) {
  return {std::min(a.low, b.low), std::max(a.high, b.high)};
}

bool overlap(const Interval& a, const Interval& b) { return a.low <= b.high && b.low <= a.high; }

std::optional<Interval> interval_of(double value, const Summary& summary,
                                    const std::optional<double>& half_width) {
  if (!summary.ci_low || !summary.ci_high) return std::nullopt;
  Interval interval = hull({value, value}, {*summary.ci_low, *summary.ci_high});
  if (half_width) {
    const double width = std::abs(value) * *half_width;
    interval = hull(interval, {std::max(0.0, value - width), value + width});
  }
  return interval;
}

}  // namespace numatlas
