#include "benchmarks/latency/facts.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdlib>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/units.h"
#include "benchmarks/extremes.h"
#include "record/cache_level.h"
#include "record/labels.h"
#include "run/benchmark.h"
#include "run/levels.h"

namespace numatlas {
namespace {

// A core's bandwidth no longer rises where so much of the most is reached.
constexpr double nearly_all = 0.95;

/// 0 where the run had no --chains.
int chains_of(const ScenarioResult& one) { return std::atoi(label_of(one, "chains").c_str()); }

}  // namespace

std::vector<Figure> chains_figures(const FlowResult& flow, const ScenarioResult& visit,
                                   Bytes line) {
  const int chains = chains_of(visit);
  const Figure* const latency = find_figure(flow, "latency");
  if (chains == 0 || latency == nullptr || !latency->estimate || !(latency->estimate->value > 0))
    return {};
  const double bytes = chains * static_cast<double>(line.value);
  return {{"chains_bandwidth", "B/s", divided_into(bytes, *latency->estimate), std::nullopt}};
}

void add_loads_in_flight(RunReport& report) {
  for (ScenarioResult& one : report.scenarios) {
    if (chains_of(one) == 0) continue;
    for (const ScenarioResult& alone : report.scenarios) {
      if (chains_of(alone) != 1 || alone.size != one.size || alone.pages != one.pages) continue;
      const auto first = estimate_of(alone, "latency"), together = estimate_of(one, "latency");
      if (!first || !together || !(together->value > 0)) continue;
      const Estimate times = &alone == &one ? Estimate(1) : ratio_of(*first, *together);
      one.figures.push_back({"loads_in_flight", "1", scaled(times, chains_of(one)), std::nullopt});
    }
  }
}

std::vector<View> chains_views(const RunReport& report) {
  std::vector<View> views;
  for (const CaseGroup& group : groups_of(report, {"pages", "size"})) {
    const ScenarioResult& any = *group.cases.front();
    View view;
    view.kind = ViewKind::curve;
    view.where = group.labels;
    view.title = fmt::format("Independent chains from one CPU ({} {}, {} pages)", to_text(any.size),
                             any.order, any.pages);
    view.notes = {
        "latency: of a load while all chains have one in flight; bandwidth: the lines that they "
        "load",
        "in flight: loads per second times the latency of one chain (Little's law)"};
    if (report.workers.size() > 1 && !report.serial)
      view.notes.push_back("medians of the workers, which run at the same time");
    view.rows = "chains";
    view.cells = {label_column("chains", "chains"), label_column("fits", "level"),
                  figure_column("latency ns", "latency", in_ns, Part::with_interval),
                  figure_column("GB/s", "chains_bandwidth", in_gb_per_s),
                  figure_column("in flight", "loads_in_flight", 1, Part::value, 1)};
    views.push_back(std::move(view));
  }
  return views;
}

std::vector<Fact> chains_facts(const RunReport& report) {
  std::vector<Fact> facts;
  for (const CaseGroup& kind : groups_of(report, {"pages"})) {
    Bytes largest;
    for (const ScenarioResult* one : kind.cases) largest = std::max(largest, one->size);
    const auto in_flight = [&](const ScenarioResult* one) {
      const bool counts = one->size == largest && cache_text(*one).empty();
      return counts ? value_of(host_estimate_of(*one, "loads_in_flight")) : std::nullopt;
    };
    const auto* const found = highest_of(kind.cases, in_flight);
    if (found == nullptr || chains_of(**found) < 2) continue;
    const ScenarioResult* const most = *found;
    const Estimate all = *host_estimate_of(*most, "loads_in_flight");
    const auto chains_if_enough = [&](const ScenarioResult* one) {
      return in_flight(one) >= nearly_all * all.value ? std::optional<double>(chains_of(*one))
                                                      : std::nullopt;
    };
    const ScenarioResult* const enough = *lowest_of(kind.cases, chains_if_enough);
    const std::string chains = label_of(*enough, "chains");
    const std::vector<std::pair<std::string, std::string>> where{
        {"level", "memory"}, {"pages", most->pages}, {"chains", chains}};
    facts.push_back(
        {"loads_in_flight", where,
         fmt::format("misses that one CPU keeps open at once, {} pages; {} chains reach "
                     "{:.0f} % of it",
                     most->pages, chains, nearly_all * 100),
         "1", all});
    if (const auto rate = host_estimate_of(*enough, "chains_bandwidth"))
      facts.push_back(
          {"chains_bandwidth", where,
           fmt::format("random loads of one CPU with {} chains, {} pages", chains, most->pages),
           "B/s", *rate, "Parallelism",
           fmt::format("random loads of one CPU {{}} with {} chains, {:.0f} misses open", chains,
                       all.value)});
  }
  return facts;
}

namespace {

std::string level_of(const ScenarioResult& point) {
  return point.flows.empty() ? "-" : point.flows.front().level;
}

using Points = std::vector<const ScenarioResult*>;

double latency_of(const ScenarioResult& point) { return host_estimate_of(point, "latency")->value; }

/// The points of one kind of pages that have a latency, by the level that their size fits; each by
/// size.
std::map<std::string, Points> points_by_level(const RunReport& report, const std::string& pages) {
  std::map<std::string, Points> levels;
  for (const ScenarioResult& point : report.scenarios) {
    if (point.pages == pages && !is_control(point) && host_estimate_of(point, "latency"))
      levels[level_of(point)].push_back(&point);
  }
  for (auto& [level, points] : levels) {
    std::sort(points.begin(), points.end(),
              [](const auto* a, const auto* b) { return a->size < b->size; });
  }
  return levels;
}

/// The points whose loads a cache mostly answers: nearer to its own latency, that of its smallest
/// point, than to the latency of what comes after it. A guest or a partitioned cache has less than
/// the machine shows.
Points held_points(const Points& points, double beyond) {
  const double own = latency_of(*points.front());
  Points held;
  if (own > as_slow_as_beyond * beyond) return held;
  for (const ScenarioResult* point : points) {
    if (latency_of(*point) > (own + beyond) / 2) break;
    held.push_back(point);
  }
  return held;
}

Fact latency_fact(const char* key, const std::string& level, const ScenarioResult& point,
                  const std::string& line) {
  return {key,
          {{"level", level}, {"size", std::to_string(point.size.value)}, {"pages", point.pages}},
          fmt::format("latency of {} ({} at random, {} pages)", level, to_text(point.size),
                      point.pages),
          "s",
          *host_estimate_of(point, "latency"),
          "Idle latency",
          line};
}

/// How much of a cache answers, where the sizes show its end.
Fact capacity_fact(const std::string& level, const ScenarioResult& last_held,
                   const ScenarioResult& first_missed) {
  Estimate held;
  held.value = static_cast<double>(last_held.size.value);
  held.low = held.value;
  held.high = static_cast<double>(first_missed.size.value);
  held.method = Method::derived;
  held.n = last_held.flows.size();
  return {"cache_capacity",
          {{"level", level}, {"pages", last_held.pages}},
          fmt::format("where {} ends: most loads of {} hit it, most of {} miss it ({} pages)",
                      level, to_text(last_held.size), to_text(first_missed.size), last_held.pages),
          "B",
          held,
          "Idle latency",
          level + " ends at {}"};
}

/// Of the points past all caches that the machine lists, those that one more answers: their latency
/// stays where it is while the size doubles, far below that of the largest size. A mix of loads
/// from a cache and from memory becomes slower with every size.
Points unlisted_points(const Points& points) {
  constexpr double same = 1.1;
  const double most = as_slow_as_beyond * latency_of(*points.back());
  std::size_t held = 0;
  for (std::size_t i = 1; i < points.size(); ++i) {
    const double latency = latency_of(*points[i]);
    const bool flat = std::any_of(points.begin(), points.begin() + static_cast<std::ptrdiff_t>(i),
                                  [&](const auto* smaller) {
                                    return 2 * smaller->size.value <= points[i]->size.value &&
                                           latency <= same * latency_of(*smaller);
                                  });
    if (flat && latency <= most) held = i + 1;
  }
  return {points.begin(), points.begin() + static_cast<std::ptrdiff_t>(held)};
}

/// Of each cache its latency at a size that it really holds, and where it ends if that is within
/// the size shown. `pages`: the largest, with the fewest misses of the TLB.
void add_caches(std::vector<Fact>& facts, const RunReport& report, const std::string& pages) {
  const auto levels = points_by_level(report, pages);
  const std::array<const char*, 5> order{"L1", "L2", "L3", "L4", "memory"};
  for (std::size_t i = 0; i + 1 < order.size(); ++i) {
    const auto points = levels.find(order[i]);
    if (points == levels.end()) continue;
    std::optional<double> beyond;  // of the next level that was measured
    for (std::size_t next = i + 1; next < order.size() && !beyond; ++next) {
      const auto found = levels.find(order[next]);
      const bool memory = next + 1 == order.size();
      if (found != levels.end())
        beyond = latency_of(memory ? *found->second.back() : *found->second.front());
    }
    const Points held = beyond ? held_points(points->second, *beyond) : points->second;
    // About as slow as what comes after it: not to be seen here.
    if (held.empty()) continue;
    // The largest size that a level holds shares it with whatever else is there.
    const ScenarioResult& typical = *held[held.size() > 1 ? held.size() - 2 : 0];
    facts.push_back(latency_fact("cache_latency", order[i], typical,
                                 fmt::format("{} {{}} ({})", order[i], to_text(typical.size))));
    if (held.size() < points->second.size())
      facts.push_back(capacity_fact(order[i], *held.back(), *points->second[held.size()]));
  }
  const auto memory = levels.find("memory");
  const Points unlisted = memory != levels.end() ? unlisted_points(memory->second) : Points{};
  if (unlisted.empty()) return;
  const char* const level = "unlisted cache";
  const ScenarioResult& typical = *unlisted[unlisted.size() - 2];
  facts.push_back(latency_fact("cache_latency", level, typical,
                               fmt::format("{} {{}} ({})", level, to_text(typical.size))));
  facts.push_back(capacity_fact(level, *unlisted.back(), *memory->second[unlisted.size()]));
}

/// Of the largest size with the largest pages, and what the misses of the TLB add with others.
void add_memory(std::vector<Fact>& facts, const RunReport& report,
                const std::vector<std::string>& kinds) {
  const auto memory_of = [&](const std::string& pages) -> const ScenarioResult* {
    auto levels = points_by_level(report, pages);
    return levels["memory"].empty() ? nullptr : levels["memory"].back();
  };
  const ScenarioResult* const best = memory_of(kinds.back());
  for (auto pages = kinds.rbegin(); pages != kinds.rend(); ++pages) {
    const ScenarioResult* const point = memory_of(*pages);
    if (point == nullptr) continue;
    const std::string size = to_text(point->size);
    const bool compared = best != nullptr && point != best;
    facts.push_back(latency_fact("memory_latency", "memory", *point,
                                 compared
                                     ? fmt::format("{{}} with {} pages", *pages)
                                     : fmt::format("memory {{}} ({}, {} pages)", size, *pages)));
    if (!compared || point->size != best->size) continue;
    Fact cost = latency_fact("tlb_cost", "memory", *point, "TLB misses add {}");
    cost.words =
        fmt::format("added by TLB misses per load with {} pages, relative to {} pages ({})", *pages,
                    best->pages, size);
    cost.estimate =
        difference_of(*host_estimate_of(*point, "latency"), *host_estimate_of(*best, "latency"));
    facts.push_back(std::move(cost));
  }
}

/// The largest size at the stride of --control-stride.
void add_controls(std::vector<Fact>& facts, const RunReport& report, const std::string& pages) {
  for (const ScenarioResult& point : report.scenarios) {
    if (!is_control(point) || point.pages != pages) continue;
    if (!host_estimate_of(point, "latency")) continue;
    const std::string stride = to_text(point.stride);
    Fact fact = latency_fact("control_latency", level_of(point), point,
                             fmt::format("{} {{}} at a stride of {}", level_of(point), stride));
    fact.where.emplace_back("stride", compact_text(point.stride));
    fact.words += ", at a stride of " + stride;
    facts.push_back(std::move(fact));
  }
}

std::vector<Fact> facts_of_all(const RunReport& report) {
  std::vector<std::string> kinds;
  for (const ScenarioResult& point : report.scenarios) {
    if (std::find(kinds.begin(), kinds.end(), point.pages) == kinds.end())
      kinds.push_back(point.pages);
  }
  std::vector<Fact> facts;
  if (kinds.empty()) return facts;
  add_caches(facts, report, kinds.back());
  add_memory(facts, report, kinds);
  add_controls(facts, report, kinds.back());
  return facts;
}

/// The kind of cores that a flow ran on; nullptr where all of its machine's are alike.
const CpuKind* kind_of(const RunReport& report, const FlowResult& flow) {
  const WorkerRow& worker = report.workers[static_cast<std::size_t>(flow.worker)];
  const auto host = static_cast<std::size_t>(worker.host);
  if (worker.cpus.empty() || host >= report.machines.size()) return nullptr;
  return report.machines[host].kind_of(worker.cpus.front());
}

/// The report with the flows of one kind of cores only.
RunReport part_of_kind(const RunReport& report, const std::string& name) {
  RunReport part = report;
  for (ScenarioResult& point : part.scenarios) {
    std::erase_if(point.flows, [&](const FlowResult& flow) {
      const CpuKind* const kind = kind_of(report, flow);
      return kind == nullptr || kind->name != name;
    });
    point.groups.clear();
    point.host_totals.clear();
  }
  std::erase_if(part.scenarios, [](const ScenarioResult& point) { return point.flows.empty(); });
  return part;
}

}  // namespace

bool is_control(const ScenarioResult& one) { return one.labels == control_label; }

std::vector<Fact> latency_facts(const RunReport& report) {
  std::vector<std::string> kinds;  // that were measured; that of most CPUs first
  for (const Machine& machine : report.machines) {
    std::vector<const CpuKind*> all;
    for (const CpuKind& kind : machine.cpu_kinds) all.push_back(&kind);
    std::stable_sort(all.begin(), all.end(),
                     [](auto* a, auto* b) { return a->cpus.size() > b->cpus.size(); });
    for (const CpuKind* kind : all) {
      const bool measured = std::ranges::any_of(report.scenarios, [&](const auto& point) {
        return std::ranges::any_of(
            point.flows, [&](const FlowResult& flow) { return kind_of(report, flow) == kind; });
      });
      if (measured && std::ranges::find(kinds, kind->name) == kinds.end())
        kinds.push_back(kind->name);
    }
  }
  if (kinds.size() < 2) return facts_of_all(report);
  std::vector<Fact> facts;
  for (const std::string& kind : kinds) {
    for (Fact& fact : facts_of_all(part_of_kind(report, kind))) {
      fact.where.emplace_back("kind", kind);
      fact.words += fmt::format(", {} cores", kind);
      fact.line = fmt::format("{}: {}", kind, fact.line);
      facts.push_back(std::move(fact));
    }
  }
  return facts;
}

std::vector<Fact> threads_facts(const RunReport& report) {
  RunReport least = report;
  Bytes largest;
  for (const ScenarioResult& point : report.scenarios) largest = std::max(largest, point.size);
  const std::string first = label_of(report.scenarios.front(), "threads");
  std::erase_if(least.scenarios,
                [&](const auto& one) { return label_of(one, "threads") != first; });
  std::vector<Fact> facts = latency_facts(least);
  for (const ScenarioResult& point : report.scenarios) {
    const std::string threads = label_of(point, "threads");
    if (threads == first || point.size != largest || !host_estimate_of(point, "latency")) continue;
    Fact fact = latency_fact("threads_latency", level_of(point), point,
                             fmt::format("{{}} with {} threads", threads));
    fact.where.emplace_back("threads", threads);
    fact.words += fmt::format(", {} threads together", threads);
    facts.push_back(std::move(fact));
  }
  return facts;
}

}  // namespace numatlas
