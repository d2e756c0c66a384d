#include "record/distribution.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <map>

namespace numatlas {
Distribution distribution_of(std::span<const double> sorted) {
  static const double log_ratio = std::log(Distribution::ratio);
  const auto bin_of = [](double sample) {
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
  std::map<int, std::uint64_t> counts;
  for (const Distribution* part : {&a, &b})
    for (std::size_t i = 0; i < part->bins.size(); ++i) counts[part->bins[i]] += part->counts[i];
  Distribution sum;
  for (const auto& [bin, count] : counts) {
    sum.bins.push_back(bin);
    sum.counts.push_back(count);
  }
  return sum;
}

}  // namespace numatlas
