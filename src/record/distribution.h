// Where samples lay, in bins of 2 %: small whatever their number, and exact enough for percentiles.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace numatlas {

/// Counts of positive samples in logarithmic bins. Bin i holds values from ratio^i to ratio^(i+1).
struct Distribution {
  static constexpr double ratio = 1.02;
  std::vector<int> bins;              ///< ascending
  std::vector<std::uint64_t> counts;  ///< of each of `bins`, more than 0

  bool empty() const { return bins.empty(); }
  friend bool operator==(const Distribution&, const Distribution&) = default;
};

/// Of ascending samples without NaN; those of 0 or less and infinite ones are left
/// out.
Distribution distribution_of(std::span<const double> sorted);

/// Counts of both.
Distribution merged(const Distribution& a, const Distribution& b);

}  // namespace numatlas
