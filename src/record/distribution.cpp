#include "record/distribution.h"

#include <cmath>
#include <cstddef>
#include <map>

namespace numatlas {
namespace {

Distribution from_counts(const std::map<int, std::uint64_t>& counts) {
  Distribution distribution;
  for (const auto& [bin, count] : counts) {
    distribution.bins.push_back(bin);
    distribution.counts.push_back(count);
  }
  return distribution;
}

}  // namespace

Distribution distribution_of(std::span<const double> samples) {
  static const double log_ratio = std::log(Distribution::ratio);
  std::map<int, std::uint64_t> counts;
  for (const double sample : samples) {
    if (sample > 0 && std::isfinite(sample))
      ++counts[static_cast<int>(std::floor(std::log(sample) / log_ratio))];
  }
  return from_counts(counts);
}

Distribution merged(const Distribution& a, const Distribution& b) {
  std::map<int, std::uint64_t> counts;
  for (const Distribution* part : {&a, &b})
    for (std::size_t i = 0; i < part->bins.size(); ++i) counts[part->bins[i]] += part->counts[i];
  return from_counts(counts);
}

}  // namespace numatlas
