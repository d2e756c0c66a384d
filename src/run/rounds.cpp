#include "run/rounds.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "engine/sharing.h"
#include "kernels/permutation.h"
#include "machine/identity.h"
#include "run/estimate_time.h"

namespace numatlas {
namespace {

using Seconds = std::chrono::duration<double>;

/// Whether one can go on with the memory that the other leaves behind.
bool same_memory(const PlannedScenario& a, const PlannedScenario& b) {
  const auto& one = a.scenario.flows;
  const auto& other = b.scenario.flows;
  return !one.empty() && one.size() == other.size() &&
         std::equal(one.begin(), one.end(), other.begin(), same_work);
}

/// Whether the engine can keep its memory from one run to the next.
bool keeps_memory(const std::vector<PlannedScenario>& plan, const PointRun& point) {
  const auto first = plan.begin() + static_cast<std::ptrdiff_t>(point.first);
  return std::all_of(first, first + static_cast<std::ptrdiff_t>(point.count), [](const auto& one) {
    const Scenario& scenario = one.scenario;
    for (std::size_t i = 0; i < scenario.flows.size(); ++i) {
      const Flow& flow = scenario.flows[i];
      if (on_gpu(flow.kernel) || !same_work(flow, flow) ||
          !stands_alone(scenario, static_cast<int>(i)))
        return false;
    }
    return true;
  });
}

/// Memory for all visits of a point at once, for one and the others, or for each.
void plan_sittings(PointRun& point, bool keep_memory) {
  constexpr int all = static_cast<int>(least_visits);
  // All preparing together is to take no longer than half of the measuring.
  const double prepared = point.preparation, measured = point.time.count();
  if (all * prepared <= measured / 2) return;
  if (keep_memory) {
    point.first_sitting = point.later_sitting = most_visits;
    return;
  }
  point.later_sitting = all;
  point.first_sitting = 2 * prepared <= measured ? 1 : all;
}

/// How often memory is still to be made for so many visits.
int sittings_for(const PointRun& point, int visits) {
  const int anew = visits - std::min(visits, point.ready);
  if (anew == 0) return 0;
  const bool first = point.visits() == 0 && point.ready == 0;
  const int rest = first ? std::max(0, anew - point.first_sitting) : anew;
  return (first ? 1 : 0) + (rest + point.later_sitting - 1) / point.later_sitting;
}

/// What it takes until every point has so many visits.
struct Needs {
  double visits = 0;
  double preparing = 0;  ///< seconds
  double time = 0;       ///< most seconds that any of the points is to be measured for
};

Needs needs_of(std::span<const PlanPoints> plans, int target) {
  Needs needs;
  for (const PlanPoints& plan : plans) {
    for (const PointRun& point : plan.points) {
      const int more = target - point.visits();
      if (point.ended || point.skipped || more <= 0) continue;
      needs.visits += more * static_cast<double>(point.count);
      needs.time = std::max(needs.time, point.time.count());
      needs.preparing +=
          (sittings_for(point, more) * point.preparation + more * point.visiting) * plan.slower;
    }
  }
  return needs;
}

}  // namespace

bool may_end_early(const RunOptions& options, const std::vector<Machine>& machines) {
  return options.visits == 0 && std::ranges::none_of(machines, is_virtual);
}

std::vector<PointRun> points_of(const std::vector<PlannedScenario>& plan,
                                const std::vector<std::optional<Error>>& skips, std::size_t from,
                                Seconds time, const RunOptions& options) {
  std::vector<PointRun> points;
  double scenarios = 0;
  for (std::size_t i = from; i < plan.size(); ++i) {
    const PlannedScenario& planned = plan[i];
    if (i == from || plan[i - 1].point != planned.point) {
      PointRun point;
      point.first = i;
      point.skipped = true;
      const bool goes_on = i > from && same_memory(plan[i - 1], planned);
      point.neighbours = goes_on ? points.back().neighbours : points.size();
      point.time = Seconds(planned.scenario.stop.time);
      points.push_back(std::move(point));
    }
    PointRun& point = points.back();
    ++point.count;
    point.once = point.once || planned.scenario.stop.passes;
    point.in_turn = point.in_turn || planned.in_turn;
    if (skips[i]) continue;
    point.skipped = false;
    point.preparation += preparation_of(planned.scenario);
    point.visiting += visiting_of(planned.scenario);
    ++scenarios;
  }
  for (PointRun& point : points) {
    if (options.time_of_all)
      point.time = time / std::max(1.0, scenarios) * static_cast<double>(point.count);
    // Whoever says how often wants that often; and memory does not wait for a far next visit.
    if (options.visits > 0 || point.once || point.in_turn || !keeps_memory(plan, point)) continue;
    // Made once for all that share it.
    const auto sharing = std::count_if(points.begin(), points.end(), [&](const PointRun& other) {
      return other.neighbours == point.neighbours && !other.skipped;
    });
    const double alone = point.preparation;
    point.preparation = alone / static_cast<double>(std::max<std::ptrdiff_t>(1, sharing));
    // Many that share it have their visits with less preparing than if each sat down by itself.
    const bool many = sharing >= static_cast<std::ptrdiff_t>(least_visits);
    if (many && !options.keep_memory) continue;
    plan_sittings(point, options.keep_memory);
    if (point.later_sitting > 1) point.preparation = alone;  // each makes its own
  }
  return points;
}

TimeNeeded time_needed(std::span<const PointRun> points, const RunOptions& options,
                       const std::vector<Machine>& machines) {
  const double slower = std::ranges::any_of(machines, is_virtual) ? 3 : 1;
  const int fixed = options.visits;
  const bool divides = options.time_of_all || options.limit.count() > 0;
  TimeNeeded needed;
  double measuring = 0, least = 0;
  for (const PointRun& point : points) {
    if (point.once) return {};  // it takes as many passes as it takes
    if (point.skipped) continue;
    const double count = static_cast<double>(point.count);
    const int visits = fixed > 0 ? fixed : options.time_of_all ? 1 : most_visits;
    const double window = options.time_of_all && fixed == 0 ? 0 : point.time.count() / visits;
    needed.cases += point.count;
    measuring += visits * (std::max(shortest_window.count(), window) * count + point.visiting);
    needed.preparing += sittings_for(point, visits) * slower * point.preparation;
    least += slower * point.preparation +
             point.first_sitting * (shortest_window.count() * count + point.visiting);
  }
  if (needed.cases == 0) return {};
  needed.seconds = measuring + needed.preparing;
  if (!divides || fixed > 0) return needed;
  const double time = Seconds(options.time_of_run()).count();
  const double all = std::max(least, options.time_of_all ? time : std::min(time, needed.seconds));
  needed.preparing *= std::min(1.0, all / needed.seconds);
  needed.seconds = all;
  return needed;
}

std::string time_text(const TimeNeeded& needed, const RunOptions& options, bool may_end_early) {
  if (needed.seconds == 0) return "";
  const bool divided = options.visits == 0 && (options.time_of_all || options.limit.count() > 0);
  const std::string text =
      fmt::format("{} {:.{}f} s: {}", may_end_early ? "at most" : "about", needed.seconds,
                  needed.seconds < 3 ? 1 : 0, count_text(needed.cases, "case"));
  if (!divided)
    return text + fmt::format(" of {:g} s, and {:.0f} s to prepare memory",
                              Seconds(options.stop.time).count(), needed.preparing);
  constexpr double none = 0.5;  // in whole seconds
  return needed.preparing < std::max(none, needed.seconds / 4)
             ? text
             : text + fmt::format(", {:.0f} s of it to prepare memory", needed.preparing);
}

std::vector<std::size_t> order_of(const std::vector<PointRun>& points, int round,
                                  std::uint64_t seed) {
  // Neighbours in the plan, each with its points.
  std::vector<std::vector<std::size_t>> blocks;
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (points[i].ended) continue;
    const bool goes_on =
        !blocks.empty() && points[blocks.back().back()].neighbours == points[i].neighbours;
    if (!goes_on) blocks.emplace_back();
    blocks.back().push_back(i);
  }
  std::uint64_t state = seed + static_cast<std::uint64_t>(round) * 0x9e3779b97f4a7c15;
  const auto shuffle = [&](auto& items) {
    // Fisher and Yates; the remainder's bias is far below anything that matters here.
    for (std::size_t i = items.size(); i > 1; --i)
      std::swap(items[i - 1], items[split_mix(state) % i]);
  };
  if (round > 0) shuffle(blocks);
  std::vector<std::size_t> order;
  for (auto& block : blocks) {
    if (round > 0) shuffle(block);
    order.insert(order.end(), block.begin(), block.end());
  }
  return order;
}

TimeLeft divide_time(std::span<const PlanPoints> plans, const PointRun& next, double slower,
                     double left) {
  // Longer than this a visit is better divided.
  constexpr double longest = 0.05, part = 0.05;
  const double shortest = shortest_window.count();
  for (int target = static_cast<int>(least_visits); target > 0; --target) {
    const Needs needs = needs_of(plans, target);
    if (needs.visits == 0) {
      // All have what they need at least: one more for the point at hand.
      const double window = std::max(longest, part * next.time.count());
      const double needed = (sittings_for(next, 1) * next.preparation + next.visiting) * slower +
                            static_cast<double>(next.count) * window;
      return {target, Seconds(left >= needed ? window : 0)};
    }
    const double window = (left - needs.preparing) / needs.visits;
    if (window >= shortest || target == 1)
      return {target, Seconds(std::clamp(window, shortest, std::max(longest, part * needs.time)))};
  }
  return {};
}

}  // namespace numatlas
