#include "analysis/judge.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <numeric>
#include <utility>

namespace numatlas {
namespace {

// Makes the MAD of normally distributed values their standard deviation.
constexpr double mad_to_deviation = 1.4826;

/// Of few values the MAD is too small on average.
double small_sample_factor(std::size_t n) {
  constexpr double factors[] = {1, 1, 1.196, 1.495, 1.363, 1.206, 1.200, 1.140, 1.129, 1.107};
  if (n < std::size(factors)) return factors[n];
  return static_cast<double>(n) / (static_cast<double>(n) - 0.8);
}

}  // namespace

double median_of(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

Uncertain reference_of_peers(std::vector<double> values, double least_spread) {
  const std::size_t count = values.size();
  const double median = median_of(values);
  for (double& value : values) value = std::abs(value - median);
  const double spread =
      std::max(mad_to_deviation * small_sample_factor(count) * median_of(std::move(values)),
               least_spread * median);
  return {median, spread * spread, static_cast<double>(count) - 1};
}

std::vector<bool> standing(const std::vector<double>& chances, Procedure procedure, double risk) {
  std::vector<std::size_t> order(chances.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return chances[i]; });
  const auto holds = [&](std::size_t rank) {
    const auto n = static_cast<double>(order.size()), at = static_cast<double>(rank);
    return chances[order[rank]] <=
           (procedure == Procedure::holm ? risk / (n - at) : risk * (at + 1) / n);
  };
  std::size_t count = 0;
  if (procedure == Procedure::holm) {  // up to the first that is likely enough
    while (count < order.size() && holds(count)) ++count;
  } else {  // up to the last that is not
    count = order.size();
    while (count > 0 && !holds(count - 1)) --count;
  }
  std::vector<bool> stand(chances.size(), false);
  for (std::size_t i = 0; i < count; ++i) stand[order[i]] = true;
  return stand;
}

}  // namespace numatlas
