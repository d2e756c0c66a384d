#include "run/rounds.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
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

const std::vector<Flow>& flows_of(const std::vector<PlannedScenario>& plan, const PointRun& point) {
  return plan[point.first].scenario.flows;
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

/// Whether one can have the pages of the other, flow by flow as far as both have some.
bool same_memory(const std::vector<Flow>& a, const std::vector<Flow>& b) {
  const auto both = static_cast<std::ptrdiff_t>(std::min(a.size(), b.size()));
  return std::equal(a.begin(), a.begin() + both, b.begin(), [](const Flow& one, const Flow& other) {
    return same_work(one, other) || same_pages(one, other);
  });
}

/// Finds the neighbours of points, in the order of the plan.
class Neighbourhoods {
 public:
  explicit Neighbourhoods(const std::vector<PlannedScenario>& plan) : plan_(plan) {}

  /// Of what has the number `index` among all points.
  void place(PointRun& point, std::size_t index) {
    const auto& flows = flows_of(plan_, point);
    point.neighbours = point.work = index;
    if (flows.empty() || point.count > 1 || point.in_turn || !keeps_memory(plan_, point)) return;
    const Region& region = flows.front().region;
    const std::pair memory{flows.front().worker, std::max(region.bytes, region.within).value};
    const auto [begin, end] = firsts_.equal_range(memory);
    const auto found = std::find_if(begin, end, [&](const auto& first) {
      return same_memory(flows_of(plan_, *first.second), flows);
    });
    if (found == end)
      firsts_.emplace(memory, &point);
    else
      point.neighbours = found->second->neighbours;
    const bool goes_on = last_ != nullptr && last_->neighbours == point.neighbours &&
                         std::ranges::equal(flows_of(plan_, *last_), flows, same_work);
    if (goes_on) point.work = last_->work;
    last_ = &point;
  }

 private:
  const std::vector<PlannedScenario>& plan_;
  /// One of each, by what can only be alike.
  std::multimap<std::pair<int, std::uint64_t>, const PointRun*> firsts_;
  const PointRun* last_ = nullptr;
};

/// Seconds to prepare the memory of a point after its neighbours: of one of them on the average.
struct AmongNeighbours {
  std::size_t count = 0;
  double in_turn = 0;  ///< all together, each once: the same work goes on with what is there
  double sitting = 0;  ///< where each has an order of its own, or writes anew, for several visits
  const Scenario* last = nullptr;

  void add(const Scenario& scenario) {
    in_turn += preparation_of(scenario, {last, true});
    sitting += preparation_of(scenario, {last, false});
    last = &scenario;
    ++count;
  }
};

/// Memory for all visits of a point at once, for one and the others, or for each.
void plan_sittings(PointRun& point, const AmongNeighbours& all, bool keep_memory) {
  constexpr int least = static_cast<int>(least_visits);
  const double sitting = all.sitting / static_cast<double>(all.count);
  const double measured = point.time.count();
  // All preparing together is to take no longer than half of the measuring.
  if (least * point.preparation <= measured / 2) return;
  const bool one_first = 2 * sitting <= measured;
  // Many that share it have their visits with less preparing than if each sat down by itself.
  if (!keep_memory && least * point.preparation < (one_first ? 2 : 1) * sitting) return;
  point.preparation = sitting;
  point.later_sitting = keep_memory ? most_visits : least;
  point.first_sitting = one_first && !keep_memory ? 1 : point.later_sitting;
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
                                const std::vector<std::optional<Error>>& skips,
                                std::span<const PointRun> earlier, Seconds time,
                                const RunOptions& options) {
  std::vector<PointRun> points(earlier.begin(), earlier.end());
  const std::size_t from = points.empty() ? 0 : points.back().first + points.back().count;
  double scenarios = 0;
  for (std::size_t i = from; i < plan.size(); ++i) {
    const PlannedScenario& planned = plan[i];
    if (i == from || plan[i - 1].point != planned.point) {
      PointRun point;
      point.first = i;
      point.skipped = true;
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
    const MemoryBefore pages{&planned.scenario, false};
    point.touching += preparation_of(planned.scenario) - preparation_of(planned.scenario, pages);
    point.visiting += visiting_of(planned.scenario);
    point.workers = std::max(point.workers, planned.scenario.flows.size());
    ++scenarios;
  }
  Neighbourhoods neighbourhoods(plan);
  for (std::size_t i = 0; i < points.size(); ++i) neighbourhoods.place(points[i], i);
  points.erase(points.begin(), points.begin() + static_cast<std::ptrdiff_t>(earlier.size()));
  std::map<std::size_t, AmongNeighbours> among;
  for (const PointRun& point : points)
    if (point.count == 1 && !point.skipped) among[point.neighbours].add(plan[point.first].scenario);
  for (PointRun& point : points) {
    if (options.time_of_all)
      point.time = time / std::max(1.0, scenarios) * static_cast<double>(point.count);
    if (point.skipped) continue;
    AmongNeighbours all{1, point.preparation, point.preparation};
    if (point.count == 1) all = among[point.neighbours];
    point.preparation = all.in_turn / static_cast<double>(all.count);
    // Whoever says how often wants that often; and memory does not wait for a far next visit.
    if (options.visits == 0 && !point.once && !point.in_turn && keeps_memory(plan, point))
      plan_sittings(point, all, options.keep_memory);
  }
  return points;
}

TimeNeeded time_needed(std::span<const PointRun> points, const RunOptions& options,
                       const std::vector<Machine>& machines) {
  // What it asks its host for, once.
  constexpr double times_fresh = 8;
  const bool asks_host = std::ranges::any_of(machines, is_virtual);
  double fresh = 0;
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
    needed.preparing += sittings_for(point, visits) * point.preparation;
    if (asks_host) fresh = std::max(fresh, times_fresh * point.touching);
    least += point.preparation +
             point.first_sitting * (shortest_window.count() * count + point.visiting);
  }
  if (needed.cases == 0) return {};
  needed.preparing += fresh;
  least += fresh;
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
  std::vector<std::size_t> left;
  for (std::size_t i = 0; i < points.size(); ++i)
    if (!points[i].ended) left.push_back(i);
  const auto workers = [&](std::size_t i) { return points[i].workers; };
  if (round == 0) std::ranges::stable_sort(left, std::ranges::greater{}, workers);
  // Neighbours, by the works that they do, each with its points.
  using Works = std::vector<std::vector<std::size_t>>;
  std::vector<Works> blocks;
  std::map<std::size_t, std::size_t> block_of, work_of;
  for (const std::size_t i : left) {
    const PointRun& point = points[i];
    const std::size_t block = block_of.emplace(point.neighbours, blocks.size()).first->second;
    if (block == blocks.size()) blocks.emplace_back();
    Works& works = blocks[block];
    const std::size_t work = work_of.emplace(point.work, works.size()).first->second;
    if (work == works.size()) works.emplace_back();
    works[work].push_back(i);
  }
  std::uint64_t state = seed + static_cast<std::uint64_t>(round) * 0x9e3779b97f4a7c15;
  const auto shuffle = [&](auto& items) {
    // Fisher and Yates; the remainder's bias is far below anything that matters here.
    for (std::size_t i = items.size(); round > 0 && i > 1; --i)
      std::swap(items[i - 1], items[split_mix(state) % i]);
  };
  shuffle(blocks);
  std::vector<std::size_t> order;
  for (Works& works : blocks) {
    shuffle(works);
    for (auto& work : works) {
      shuffle(work);
      order.insert(order.end(), work.begin(), work.end());
    }
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
