#include "record/modes.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <span>
#include <vector>

#include <fmt/format.h>

#include "record/estimate.h"
#include "record/unit.h"

namespace numatlas {
namespace {

/// The best split into two groups also parts normal samples by some deviations within the groups,
/// the further the fewer there are: 99.5 % of 5 by less than 15, of 10 by less than 7, of 40 by
/// less than 4 (simulated, 20,000 times each).
double least_distance(std::size_t values) {
  const double spread = 4 / (static_cast<double>(values) - 1);
  return 6 + 9 * spread * spread;
}

std::string text_of(const std::vector<double>& values, Unit unit, const char* what) {
  const auto modes = modes_of(values);
  if (!modes) return "";
  return fmt::format("two speeds: {} in {:.0f} % of {} {}, {} in {:.0f} %",
                     quantity_text(modes->low, unit), 100 * modes->low_share, values.size(), what,
                     quantity_text(modes->high, unit), 100 - 100 * modes->low_share);
}

double mean_of(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

/// Whether the logarithms of the two groups are further apart than they are wide as well.
bool are_apart_in_logarithms(std::span<const double> sorted, double low_share) {
  std::vector<double> logs;
  for (const double value : sorted) logs.push_back(std::log(value / sorted[0]));
  const auto n = static_cast<double>(logs.size());
  const auto lows = static_cast<std::size_t>(std::lround(low_share * n));
  const std::span all(logs);
  const double low = mean_of(all.first(lows)), high = mean_of(all.subspan(lows));
  double squares = 0;
  for (std::size_t i = 0; i < logs.size(); ++i) {
    const double off = logs[i] - (i < lows ? low : high);
    squares += off * off;
  }
  return high - low >= least_distance(logs.size()) * std::sqrt(squares / (n - 2));
}

}  // namespace

std::optional<Modes> modes_of(std::span<const double> values) {
  constexpr double least_difference = 0.05;
  if (values.size() < least_visits) return std::nullopt;
  std::vector<double> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  const auto n = sorted.size();
  double sum = 0, squares = 0;
  for (const double value : sorted) {
    sum += value;
    squares += (value - sorted[0]) * (value - sorted[0]);
  }
  // Relative to the least one, so that no digits are lost.
  sum -= static_cast<double>(n) * sorted[0];
  std::optional<Modes> best;
  double least_within = 0, low_sum = sorted[1] - sorted[0];
  for (std::size_t low = 2; low + 2 <= n; ++low) {
    const auto lows = static_cast<double>(low), highs = static_cast<double>(n - low);
    const double low_mean = low_sum / lows, high_mean = (sum - low_sum) / highs;
    const double within =
        std::max(0.0, squares - lows * low_mean * low_mean - highs * high_mean * high_mean);
    if (!best || within < least_within) {
      least_within = within;
      best = Modes{sorted[0] + low_mean, sorted[0] + high_mean, lows / static_cast<double>(n)};
    }
    low_sum += sorted[low] - sorted[0];
  }
  const double deviation = std::sqrt(least_within / static_cast<double>(n - 2));
  const double apart = best->high - best->low;
  if (apart < least_difference * best->low || apart < least_distance(n) * deviation)
    return std::nullopt;
  // Nor is the long tail of a skewed distribution a second speed: on a logarithmic scale it joins
  // on.
  if (sorted[0] > 0 && !are_apart_in_logarithms(sorted, best->low_share)) return std::nullopt;
  return best;
}

std::string modes_text(const VisitValues& figure) {
  return text_of(figure.values, figure.unit, "visits");
}

std::string modes_text(const PilotSeries& pilot) {
  return text_of(pilot.values, pilot.unit, "pilots");
}

}  // namespace numatlas
