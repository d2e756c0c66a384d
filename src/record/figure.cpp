#include "record/figure.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

namespace numatlas {
namespace {

double width_of(int fineness) { return std::pow(Distribution::ratio, 1.0 / fineness); }

/// What so many per cent of the samples do not exceed, as ranks of sorted samples would have it;
/// `width`: how far apart, relatively, samples of one value may lie.
double percentile_of(const Weighted& values, double percent, double width) {
  std::uint64_t all = 0, before = 0;
  for (const auto& [value, count] : values) all += count;
  const double position = percent / 100 * static_cast<double>(all - 1);
  for (const auto& [value, count] : values) {
    if (position < static_cast<double>(before + count)) {
      const double part =
          (position - static_cast<double>(before) + 0.5) / static_cast<double>(count);
      return value * std::pow(width, std::min(part, 1.0) - 0.5);
    }
    before += count;
  }
  return values.back().first;
}

}  // namespace

Distribution distribution_of(std::span<const double> sorted, int fineness) {
  const double log_ratio = std::log(Distribution::ratio) / fineness;
  const auto bin_of = [&](double sample) {
    return static_cast<int>(std::floor(std::log(sample) / log_ratio));
  };
  Distribution distribution;
  auto sample = std::upper_bound(sorted.begin(), sorted.end(), 0.0);
  const auto last = std::lower_bound(sample, sorted.end(), std::numeric_limits<double>::infinity());
  while (sample != last) {
    const int bin = bin_of(*sample);
    const auto end =
        std::partition_point(sample, last, [&](double other) { return bin_of(other) == bin; });
    distribution.bins.push_back(bin);
    distribution.counts.push_back(static_cast<std::uint64_t>(end - sample));
    sample = end;
  }
  return distribution;
}

Distribution merged(const Distribution& a, const Distribution& b) {
  Distribution sum;
  sum.bins.reserve(a.bins.size() + b.bins.size());
  std::ranges::set_union(a.bins, b.bins, std::back_inserter(sum.bins));
  sum.counts.reserve(sum.bins.size());
  std::size_t in_a = 0, in_b = 0;
  for (const int bin : sum.bins) {
    std::uint64_t count = 0;
    if (in_a < a.bins.size() && a.bins[in_a] == bin) count += a.counts[in_a++];
    if (in_b < b.bins.size() && b.bins[in_b] == bin) count += b.counts[in_b++];
    sum.counts.push_back(count);
  }
  return sum;
}

Distribution distribution_of(const Weighted& values) {
  Distribution distribution;
  for (const auto& [value, count] : values) {
    const auto bin = static_cast<int>(std::floor(std::log(value) / std::log(Distribution::ratio)));
    if (distribution.empty() || distribution.bins.back() != bin) {
      distribution.bins.push_back(bin);
      distribution.counts.push_back(0);
    }
    distribution.counts.back() += count;
  }
  return distribution;
}

Weighted middles_of(const Distribution& distribution, int fineness) {
  Weighted values;
  for (std::size_t i = 0; i < distribution.bins.size(); ++i)
    values.emplace_back(std::pow(width_of(fineness), distribution.bins[i] + 0.5),
                        distribution.counts[i]);
  return values;
}

double percentile_of(const Distribution& distribution, double percent) {
  if (distribution.empty()) return 0;
  return percentile_of(middles_of(distribution), percent, width_of(1));
}

Summary combined(const Summary& a, const Summary& b, const Distribution& both) {
  const auto n = static_cast<double>(a.n), m = static_cast<double>(b.n), all = n + m;
  Summary sum = b;
  sum.n = a.n + b.n;
  sum.ci_low = sum.ci_high = std::nullopt;
  sum.min = std::min(a.min, b.min);
  sum.max = std::max(a.max, b.max);
  sum.mean = (a.mean * n + b.mean * m) / all;
  const auto squares = [&](const Summary& s, double count) {
    const double deviation = s.stddev.value_or(0), shift = s.mean - sum.mean;
    return (count - 1) * deviation * deviation + count * shift * shift;
  };
  sum.stddev = std::sqrt((squares(a, n) + squares(b, m)) / (all - 1));
  if (both.empty()) return sum;
  const Weighted values = middles_of(both, fine);
  const auto at = [&](double percent) {
    return std::clamp(percentile_of(values, percent, width_of(fine)), sum.min, sum.max);
  };
  sum.median = at(50);
  sum.p5 = at(5);
  sum.p25 = at(25);
  sum.p75 = at(75);
  sum.p95 = at(95);
  sum.p99 = at(99);
  const double fence = 1.5 * (sum.p75 - sum.p25);
  Weighted deviations;
  sum.outliers = 0;
  for (const auto& [value, count] : values) {
    if (value < sum.p25 - fence || value > sum.p75 + fence) sum.outliers += count;
    deviations.emplace_back(std::abs(value - sum.median), count);
  }
  std::ranges::sort(deviations);
  sum.mad = percentile_of(deviations, 50, 1);
  return sum;
}

}  // namespace numatlas
