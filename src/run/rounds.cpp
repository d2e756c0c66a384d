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

const std::vector<Flow>& flows_of(const std::vector<PlannedCase>& plan, const CaseRun& run) {
  return plan[run.first].scenario.flows;
}

/// Whether the engine can keep its memory from one run to the next.
bool keeps_memory(const std::vector<PlannedCase>& plan, const CaseRun& run) {
  const auto first = plan.begin() + static_cast<std::ptrdiff_t>(run.first);
  return std::all_of(first, first + static_cast<std::ptrdiff_t>(run.count), [](const auto& one) {
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

/// Finds the neighbours of cases, in the order of the plan.
class Neighbourhoods {
 public:
  explicit Neighbourhoods(const std::vector<PlannedCase>& plan) : plan_(plan) {}

  /// Of what has the number `index` among all cases.
  void place(CaseRun& run, std::size_t index) {
    const auto& flows = flows_of(plan_, run);
    run.neighbours = run.work = index;
    if (flows.empty() || run.count > 1 || run.in_turn || !keeps_memory(plan_, run)) return;
    const Region& region = flows.front().region;
    const std::pair memory{flows.front().worker, std::max(region.bytes, region.within).value};
    const auto [begin, end] = firsts_.equal_range(memory);
    const auto found = std::find_if(begin, end, [&](const auto& first) {
      return same_memory(flows_of(plan_, *first.second), flows);
    });
    if (found == end)
      firsts_.emplace(memory, &run);
    else
      run.neighbours = found->second->neighbours;
    const bool goes_on = last_ != nullptr && last_->neighbours == run.neighbours &&
                         std::ranges::equal(flows_of(plan_, *last_), flows, same_work);
    if (goes_on) run.work = last_->work;
    last_ = &run;
  }

 private:
  const std::vector<PlannedCase>& plan_;
  /// One of each, by what can only be alike.
  std::multimap<std::pair<int, std::uint64_t>, const CaseRun*> firsts_;
  const CaseRun* last_ = nullptr;
};

/// Seconds to prepare the memory of a case after its neighbours: of one of them on the average.
struct AmongNeighbours {
  std::size_t count = 0;
  double in_turn = 0;  ///< all together, each once: the same work goes on with what is there
  double block = 0;    ///< where each has an order of its own, or writes anew, for several visits
  const Scenario* last = nullptr;

  void add(const Scenario& scenario) {
    in_turn += preparation_of(scenario, {last, true});
    block += preparation_of(scenario, {last, false});
    last = &scenario;
    ++count;
  }
};

/// Memory for all visits of a case at once, for one and the others, or for each.
void plan_blocks(CaseRun& run, const AmongNeighbours& all, bool keep_memory) {
  constexpr int least = static_cast<int>(least_visits);
  const double block = all.block / static_cast<double>(all.count);
  const double measured = run.time.count();
  // All preparing together is to take no longer than half of the measuring.
  if (least * run.preparation <= measured / 2) return;
  const bool one_first = 2 * block <= measured;
  // Many that share it have their visits with less preparing than if each sat down by itself.
  if (!keep_memory && least * run.preparation < (one_first ? 2 : 1) * block) return;
  run.preparation = block;
  run.later_block = keep_memory ? most_visits : least;
  run.first_block = one_first && !keep_memory ? 1 : run.later_block;
}

/// How often memory is still to be made for so many visits.
int blocks_for(const CaseRun& run, int visits) {
  const int anew = visits - std::min(visits, run.ready);
  if (anew == 0) return 0;
  const bool first = run.visits() == 0 && run.ready == 0;
  const int rest = first ? std::max(0, anew - run.first_block) : anew;
  return (first ? 1 : 0) + (rest + run.later_block - 1) / run.later_block;
}

/// What it takes until every case has so many visits.
struct Needs {
  double visits = 0;
  double preparing = 0;  ///< seconds
  double time = 0;       ///< most seconds that any of the cases is to be measured for
};

Needs needs_of(std::span<const RunCases> plans, int target) {
  Needs needs;
  for (const RunCases& plan : plans) {
    for (const CaseRun& run : plan.cases) {
      const int more = target - run.visits();
      if (run.ended || run.skipped || more <= 0) continue;
      needs.visits += more * static_cast<double>(run.count);
      needs.time = std::max(needs.time, run.time.count());
      needs.preparing +=
          (blocks_for(run, more) * run.preparation + more * run.visiting) * plan.slower;
    }
  }
  return needs;
}

}  // namespace

bool may_end_early(const RunOptions& options, const std::vector<Machine>& machines) {
  return options.visits == 0 && std::ranges::none_of(machines, is_virtual);
}

std::vector<CaseRun> runs_of_plan(const std::vector<PlannedCase>& plan,
                                  const std::vector<std::optional<Error>>& skips,
                                  std::span<const CaseRun> earlier, Seconds time,
                                  const RunOptions& options) {
  std::vector<CaseRun> runs(earlier.begin(), earlier.end());
  const std::size_t from = runs.empty() ? 0 : runs.back().first + runs.back().count;
  double scenarios = 0;
  for (std::size_t i = from; i < plan.size(); ++i) {
    const PlannedCase& planned = plan[i];
    if (i == from || plan[i - 1].number != planned.number) {
      CaseRun run;
      run.first = i;
      run.skipped = true;
      run.time = Seconds(planned.scenario.stop.time);
      runs.push_back(std::move(run));
    }
    CaseRun& run = runs.back();
    ++run.count;
    run.once = run.once || planned.scenario.stop.whole_passes;
    run.in_turn = run.in_turn || planned.in_turn;
    if (skips[i]) continue;
    run.skipped = false;
    run.preparation += preparation_of(planned.scenario);
    const MemoryBefore pages{&planned.scenario, false};
    run.touching += preparation_of(planned.scenario) - preparation_of(planned.scenario, pages);
    run.visiting += visiting_of(planned.scenario);
    run.workers = std::max(run.workers, planned.scenario.flows.size());
    ++scenarios;
  }
  Neighbourhoods neighbourhoods(plan);
  for (std::size_t i = 0; i < runs.size(); ++i) neighbourhoods.place(runs[i], i);
  runs.erase(runs.begin(), runs.begin() + static_cast<std::ptrdiff_t>(earlier.size()));
  std::map<std::size_t, AmongNeighbours> among;
  for (const CaseRun& run : runs)
    if (run.count == 1 && !run.skipped) among[run.neighbours].add(plan[run.first].scenario);
  for (CaseRun& run : runs) {
    if (options.time_of_all)
      run.time = time / std::max(1.0, scenarios) * static_cast<double>(run.count);
    if (run.skipped) continue;
    AmongNeighbours all{1, run.preparation, run.preparation};
    if (run.count == 1) all = among[run.neighbours];
    run.preparation = all.in_turn / static_cast<double>(all.count);
    // Whoever says how often wants that often; and memory does not wait for a far next visit.
    if (options.visits == 0 && !run.once && !run.in_turn && keeps_memory(plan, run))
      plan_blocks(run, all, options.keep_memory);
  }
  return runs;
}

TimeNeeded time_needed(std::span<const CaseRun> runs, const RunOptions& options,
                       const std::vector<Machine>& machines) {
  // What it asks its host for, once.
  constexpr double times_fresh = 8;
  const bool asks_host = std::ranges::any_of(machines, is_virtual);
  double fresh = 0;
  const int fixed = options.visits;
  const bool divides = options.time_of_all || options.limit.count() > 0;
  TimeNeeded needed;
  double measuring = 0, least = 0;
  for (const CaseRun& run : runs) {
    if (run.once) return {};  // it takes as many passes as it takes
    if (run.skipped) continue;
    const double count = static_cast<double>(run.count);
    const int visits = fixed > 0 ? fixed : options.time_of_all ? 1 : most_visits;
    const double window = options.time_of_all && fixed == 0 ? 0 : run.time.count() / visits;
    needed.cases += run.count;
    measuring += visits * (std::max(shortest_window.count(), window) * count + run.visiting);
    needed.preparing += blocks_for(run, visits) * run.preparation;
    if (asks_host) fresh = std::max(fresh, times_fresh * run.touching);
    least += run.preparation + run.first_block * (shortest_window.count() * count + run.visiting);
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

std::vector<std::size_t> order_of(const std::vector<CaseRun>& runs, int round, std::uint64_t seed) {
  std::vector<std::size_t> left;
  for (std::size_t i = 0; i < runs.size(); ++i)
    if (!runs[i].ended) left.push_back(i);
  const auto workers = [&](std::size_t i) { return runs[i].workers; };
  if (round == 0) std::ranges::stable_sort(left, std::ranges::greater{}, workers);
  // Neighbours, by the works that they do, each with its cases.
  using Works = std::vector<std::vector<std::size_t>>;
  std::vector<Works> blocks;
  std::map<std::size_t, std::size_t> block_of, work_of;
  for (const std::size_t i : left) {
    const CaseRun& run = runs[i];
    const std::size_t block = block_of.emplace(run.neighbours, blocks.size()).first->second;
    if (block == blocks.size()) blocks.emplace_back();
    Works& works = blocks[block];
    const std::size_t work = work_of.emplace(run.work, works.size()).first->second;
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

TimeLeft divide_time(std::span<const RunCases> plans, const CaseRun& next, double slower,
                     double left) {
  // Longer than this a visit is better divided.
  constexpr double longest = 0.05, part = 0.05;
  const double shortest = shortest_window.count();
  for (int target = static_cast<int>(least_visits); target > 0; --target) {
    const Needs needs = needs_of(plans, target);
    if (needs.visits == 0) {
      // All have what they need at least: one more for the case at hand.
      const double window = std::max(longest, part * next.time.count());
      const double needed = (blocks_for(next, 1) * next.preparation + next.visiting) * slower +
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
