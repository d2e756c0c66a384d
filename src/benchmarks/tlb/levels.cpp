#include "benchmarks/tlb/levels.h"

#include <algorithm>
#include <cmath>
#include <optional>

namespace numatlas {
namespace {

// Below it costs are alike whatever they are: noise of a load that hits the first-level cache.
constexpr double floor_s = 1e-9;
constexpr double least_step_s = 0.8e-9, least_step_times = 1.4;
// A level between two others holds at least twice as much as the one before it: three numbers of
// pages, as these are half an octave apart.
constexpr std::size_t least_between = 3, least_at_ends = 2;
// One level more has to explain so much of what is left, or it is the slope of a walk's cost.
constexpr double explained = 0.5;

/// The points cut into runs.
class Runs {
 public:
  explicit Runs(const std::vector<TlbPoint>& points) {
    for (const TlbPoint& point : points)
      logs_.push_back(std::log((std::max(0.0, point.cost) + floor_s) / floor_s));
  }
  std::size_t size() const { return logs_.size(); }
  double mean(std::size_t begin, std::size_t end) const {
    double sum = 0;
    for (std::size_t i = begin; i < end; ++i) sum += logs_[i];
    return sum / static_cast<double>(end - begin);
  }
  /// In seconds.
  double cost(std::size_t begin, std::size_t end) const {
    return (std::exp(mean(begin, end)) - 1) * floor_s;
  }
  double squares(std::size_t begin, std::size_t end) const {
    const double middle = mean(begin, end);
    double sum = 0;
    for (std::size_t i = begin; i < end; ++i) sum += (logs_[i] - middle) * (logs_[i] - middle);
    return sum;
  }
  /// Whether the run up to `end` costs surely more than the one up to `begin`.
  bool steps(std::size_t start, std::size_t begin, std::size_t end) const {
    const double low = std::exp(mean(start, begin)), high = std::exp(mean(begin, end));
    // All of the second run: an outlier in it makes no step of the others.
    const double lowest = std::exp(*std::min_element(at(begin), at(end)));
    return high >= least_step_times * low && (high - low) * floor_s >= least_step_s &&
           (lowest - low) * floor_s >= least_step_s / 2;
  }

 private:
  std::vector<double>::const_iterator at(std::size_t index) const {
    return logs_.begin() + static_cast<std::ptrdiff_t>(index);
  }

  std::vector<double> logs_;
};

struct Cut {
  std::size_t first = 0, second = 0;  ///< where the second and the third run begin
  double squares = 0;
};

/// Into two runs, or into three, each of which costs surely more than the one before it.
std::optional<Cut> best_cut(const Runs& runs, bool into_three) {
  std::optional<Cut> best;
  const std::size_t end = runs.size(), last = end - least_at_ends;
  for (std::size_t a = least_at_ends; a <= last; ++a) {
    for (std::size_t b = into_three ? a + least_between : end; b <= (into_three ? last : end);
         ++b) {
      const double squares = runs.squares(0, a) + runs.squares(a, b) + runs.squares(b, end);
      const bool steps = runs.steps(0, a, b) && (b == end || runs.steps(a, b, end));
      if (steps && (!best || squares < best->squares)) best = Cut{a, b, squares};
    }
  }
  return best;
}

/// The step within a first run that begins without a cost and does not stay so, whatever an outlier
/// leaves of it.
std::optional<Cut> step_within(const std::vector<TlbPoint>& points, const Runs& runs,
                               std::size_t end) {
  std::optional<Cut> best;
  if (std::none_of(points.begin(), points.begin() + static_cast<std::ptrdiff_t>(end),
                   [](const TlbPoint& point) { return point.cost < least_step_s / 2; }))
    return best;
  for (std::size_t at = least_at_ends; at + least_at_ends <= end; ++at) {
    const double squares = runs.squares(0, at) + runs.squares(at, end);
    if (runs.cost(at, end) - runs.cost(0, at) >= least_step_s && (!best || squares < best->squares))
      best = Cut{at, end, squares};
  }
  return best;
}

}  // namespace

std::size_t typical_of(const std::vector<TlbPoint>& points, std::size_t begin, std::size_t end) {
  std::vector<std::size_t> order;
  for (std::size_t i = begin; i < end; ++i) order.push_back(i);
  const auto middle = order.begin() + static_cast<std::ptrdiff_t>(order.size() / 2);
  std::nth_element(order.begin(), middle, order.end(),
                   [&](std::size_t a, std::size_t b) { return points[a].cost < points[b].cost; });
  return *middle;
}

std::vector<TlbLevel> tlb_levels(const std::vector<TlbPoint>& points) {
  const Runs runs(points);
  if (runs.size() < 2 * least_at_ends) return {};
  std::optional<Cut> cut = best_cut(runs, false);
  const auto two = best_cut(runs, true);
  if (two && (!cut || two->squares <= (1 - explained) * cut->squares)) cut = two;
  if (!cut) return {};
  if (runs.cost(0, cut->first) > least_step_s) {
    const auto within = step_within(points, runs, cut->first);
    if (!within) return {{2, cut->first - 1, typical_of(points, cut->first, cut->second)}};
    cut = within;
  }
  std::vector<TlbLevel> levels{{1, cut->first - 1, typical_of(points, cut->first, cut->second)}};
  if (cut->second < runs.size())
    levels.push_back({2, cut->second - 1, typical_of(points, cut->second, runs.size())});
  return levels;
}

}  // namespace numatlas
