#include "benchmarks/latency/facts.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdlib>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/add_once.h"
#include "base/text.h"
#include "base/units.h"
#include "benchmarks/extremes.h"
#include "machine/identity.h"
#include "record/cache_level.h"
#include "record/labels.h"
#include "run/benchmark.h"
#include "run/levels.h"
#include "run/metrics.h"

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

namespace {

std::vector<Fact> chains_facts_of_all(RunReport report) {
  add_loads_in_flight(report);
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
           fmt::format("random loads of one CPU {{}} with {} chains, {:.0f} misses open, {} pages",
                       chains, all.value, most->pages)});
  }
  return facts;
}

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
    if (point.pages == pages && host_estimate_of(point, "latency"))
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

/// A level has a latency of its own where it is about the same over a range of sizes: within this
/// factor, up to a size at least so many times as large. The misses of the level before it, of the
/// TLB and of neighbours make it rise a little on every machine.
constexpr double plateau_width = 1.25, plateau_span = 1.5;
/// Far above the smallest sizes it is not this level's: those take a third of it at least, as the
/// level before answers most of their loads.
constexpr double plateau_above = 3;

/// Of the points that a level holds the widest such range; empty where there is none.
Points plateau_of(const Points& held) {
  Points plateau;
  double widest = 0, lowest = held.empty() ? 0 : latency_of(*held.front());
  for (const auto* point : held) lowest = std::min(lowest, latency_of(*point));
  for (auto first = held.begin(); first != held.end(); ++first) {
    double low = latency_of(**first), high = low;
    for (auto last = first; last != held.end(); ++last) {
      low = std::min(low, latency_of(**last));
      high = std::max(high, latency_of(**last));
      if (high > plateau_width * low || low > plateau_above * lowest) break;
      const double span =
          static_cast<double>((*last)->size.value) / static_cast<double>((*first)->size.value);
      if (span < plateau_span || span <= widest) continue;
      widest = span;
      plateau = {first, last + 1};
    }
  }
  return plateau;
}

/// Why a cache's latency may rise with every size that fits it.
std::string no_plateau_text(const RunReport& report, const ScenarioResult& point,
                            const std::string& level) {
  const FlowResult& flow = point.flows.front();
  const WorkerRow& worker = report.workers[static_cast<std::size_t>(flow.worker)];
  const auto host = static_cast<std::size_t>(worker.host);
  if (worker.cpus.empty() || host >= report.machines.size()) return "it rises with every size";
  const Machine& machine = report.machines[host];
  if (is_virtual(machine)) return "a virtual machine may have a part of it";
  const Cache* const cache = machine.cache_of(worker.cpus.front(), level.back() - '0');
  std::set<int> cores;
  for (const CpuId id : cache == nullptr ? CpuSet{} : cache->cpus)
    if (const Cpu* const cpu = machine.find_cpu(id)) cores.insert(cpu->core);
  if (cores.size() > 1) return fmt::format("shared by {}", count_text(cache->cpus.size(), "CPU"));
  return point.pages == name_of(PageKind::base) ? "TLB misses add to it"
                                                : "it rises with every size";
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

/// A cache's latency in the middle of its plateau; of a single size what that takes; else the range
/// of all sizes that fit it, with the reason. `pages`: ", thp pages" where nothing else says so.
void add_cache(std::vector<Fact>& facts, const RunReport& report, const std::string& level,
               const Points& points, const Points& held, const std::string& pages) {
  const Points plateau = plateau_of(held);
  if (!plateau.empty()) {
    const ScenarioResult& typical = *plateau[(plateau.size() - 1) / 2];
    facts.push_back(
        latency_fact("cache_latency", level, typical,
                     fmt::format("{} {{}} ({}{})", level, to_text(typical.size), pages)));
    return;
  }
  if (held.size() == 1 && points.size() == 1) {
    facts.push_back(latency_fact(
        "cache_latency", level, *held.front(),
        fmt::format("{} {{}} (at {} only{})", level, to_text(held.front()->size), pages)));
    return;
  }
  const auto by_latency = [](const auto* a, const auto* b) {
    return latency_of(*a) < latency_of(*b);
  };
  const auto [low, high] = std::ranges::minmax_element(points, by_latency);
  const std::string why =
      held.empty() ? "about as slow as what lies beyond it" : no_plateau_text(report, **low, level);
  Fact lowest = latency_fact("cache_latency_lowest", level, **low, "");
  lowest.heading.clear();
  const std::string from =
      low == high
          ? ""
          : three_digits(latency_of(**low) * reading_of(latency_of(**high), "s").scale) + " to ";
  Fact highest = latency_fact("cache_latency_highest", level, **high,
                              fmt::format("{} {}{{}}, no plateau{}: {}", level, from, pages, why));
  lowest.words += ", the lowest of its sizes: no plateau";
  highest.words += ", the highest of its sizes: no plateau";
  highest.estimate = Estimate(highest.estimate.value);  // the range says how far it is known
  facts.push_back(std::move(lowest));
  facts.push_back(std::move(highest));
}

/// Of each cache its latency, and where it ends if that is within the size shown. `pages`: the
/// largest, with the fewest misses of the TLB.
void add_caches(std::vector<Fact>& facts, const RunReport& report, const std::string& pages) {
  const auto levels = points_by_level(report, pages);
  const std::string said = levels.contains("memory") ? "" : fmt::format(", {} pages", pages);
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
    add_cache(facts, report, order[i], points->second, held, said);
    if (!held.empty() && held.size() < points->second.size())
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
  return facts;
}

/// The kind of cores that a flow ran on; nullptr where all of its machine's are alike.
const CpuKind* kind_of(const RunReport& report, const FlowResult& flow) {
  const WorkerRow& worker = report.workers[static_cast<std::size_t>(flow.worker)];
  const auto host = static_cast<std::size_t>(worker.host);
  if (worker.cpus.empty() || host >= report.machines.size()) return nullptr;
  return report.machines[host].kind_of(worker.cpus.front());
}

/// What the memory of a flow is to its CPUs: "local", "remote", "CXL" (memory_class), and how far
/// it is, 0 where that is unknown; "nodes 0,2" where it lies on several.
std::pair<std::string, int> memory_place_of(const RunReport& report, const FlowResult& flow) {
  const WorkerRow& worker = report.workers[static_cast<std::size_t>(flow.worker)];
  const NodeSet nodes = nodes_of(observed_memory(flow));
  if (nodes.size() > 1) return {"nodes " + to_list(nodes), 0};
  if (nodes.empty() || worker.cpu_node.value < 0) return {"", 0};
  const auto host = static_cast<std::size_t>(worker.host);
  const Machine* const machine = host < report.machines.size() ? &report.machines[host] : nullptr;
  const NumaNode* const from = machine == nullptr ? nullptr : machine->find_node(worker.cpu_node);
  const NodeId to = nodes.front();
  const bool is_known =
      from != nullptr && to != worker.cpu_node && from->distance.contains(to.value);
  return {memory_class(machine, std::to_string(worker.cpu_node.value), std::to_string(to.value)),
          is_known ? from->distance.at(to.value) : 0};
}

/// Flows whose latencies are of one quantity, and what tells them from the others: a mean over
/// unlike cores or memories is that of neither.
struct FactPart {
  std::string cores, memory;  ///< "" where all are alike
  std::function<bool(const FlowResult&)> has;
};

/// The report with these flows only.
RunReport part_of(const RunReport& report, const FactPart& part) {
  RunReport its = report;
  for (ScenarioResult& point : its.scenarios) {
    std::erase_if(point.flows, [&](const FlowResult& flow) { return !part.has(flow); });
    point.figures.clear();
    point.host_totals.clear();
    point.groups = medians_of(point, its);
  }
  std::erase_if(its.scenarios, [](const ScenarioResult& point) { return point.flows.empty(); });
  return its;
}

/// The kinds of cores that were measured, that of most CPUs first; empty where all are alike.
std::vector<std::string> kinds_of_cores(const RunReport& report) {
  std::vector<std::string> kinds;
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
      if (measured) add_once(kinds, kind->name);
    }
  }
  return kinds.size() < 2 ? std::vector<std::string>{} : kinds;
}

std::vector<FactPart> parts_of(const RunReport& report) {
  std::set<std::pair<bool, std::pair<std::string, int>>> places;  // the local one first
  for (const ScenarioResult& point : report.scenarios)
    for (const FlowResult& flow : point.flows) {
      const auto place = memory_place_of(report, flow);
      places.emplace(place.first != "local", place);
    }
  std::map<std::string, int> distances;  // of a class of memory
  for (const auto& [other, place] : places) ++distances[place.first];
  std::vector<std::string> cores = kinds_of_cores(report);
  if (cores.empty()) cores = {""};
  std::vector<FactPart> parts;
  for (const std::string& core : cores) {
    for (const auto& both : places) {
      const auto place = both.second;
      std::string memory = places.size() < 2 ? "" : place.first;
      if (distances[place.first] > 1) memory += fmt::format(" at distance {}", place.second);
      parts.push_back({core, memory, [&report, core, place](const FlowResult& flow) {
                         const CpuKind* const kind = kind_of(report, flow);
                         return (core.empty() || (kind != nullptr && kind->name == core)) &&
                                memory_place_of(report, flow) == place;
                       }});
    }
  }
  return parts;
}

/// What `facts_of` says of each part by itself; of the caches once for each kind of cores.
std::vector<Fact> facts_by_part(
    const RunReport& report, const std::function<std::vector<Fact>(const RunReport&)>& facts_of) {
  const std::vector<FactPart> parts = parts_of(report);
  std::vector<Fact> facts;
  for (const FactPart& part : parts) {
    const bool is_first = part.memory == parts.front().memory;
    const RunReport its = parts.size() > 1 ? part_of(report, part) : report;
    if (its.scenarios.empty()) continue;  // these cores do not use that memory
    for (Fact& fact : facts_of(its)) {
      if (!is_first && where_of(fact, "level") != "memory") continue;
      std::string name = part.cores;
      if (!part.cores.empty()) {
        fact.where.emplace_back("kind", part.cores);
        fact.words += fmt::format(", {} cores", part.cores);
      }
      if (!part.memory.empty() && where_of(fact, "level") == "memory") {
        fact.where.emplace_back("place", part.memory);
        fact.words += ", memory: " + part.memory;
        name += (name.empty() ? "" : ", ") + part.memory;
      }
      if (!name.empty() && !fact.line.empty()) fact.line = fmt::format("{}: {}", name, fact.line);
      facts.push_back(std::move(fact));
    }
  }
  return facts;
}

std::vector<Fact> facts_of_first(const RunReport& report, const std::string& label) {
  const bool threads = label == "threads";
  const auto text_of = [&](const ScenarioResult& one) { return label_text(report, one, label); };
  RunReport its = report;
  Bytes largest;
  for (const ScenarioResult& point : report.scenarios) largest = std::max(largest, point.size);
  const std::string first = text_of(report.scenarios.front());
  std::erase_if(its.scenarios, [&](const auto& one) { return text_of(one) != first; });
  std::vector<Fact> facts = facts_of_all(its);
  for (const ScenarioResult& point : report.scenarios) {
    const std::string value = text_of(point);
    if (value == first || point.size != largest || !host_estimate_of(point, "latency")) continue;
    const std::string line = threads ? fmt::format("with {} threads", value)
                                     : fmt::format("at stride {}, {} pages", value, point.pages);
    Fact fact = latency_fact(threads ? "threads_latency" : "stride_latency", level_of(point), point,
                             "{} " + line);
    fact.where.emplace_back(label, value);
    fact.words += threads ? fmt::format(", {} threads together", value) : ", stride " + value;
    facts.push_back(std::move(fact));
  }
  return facts;
}

}  // namespace

std::vector<Fact> latency_facts(const RunReport& report) {
  return facts_by_part(report, facts_of_all);
}

std::vector<Fact> facts_by(const RunReport& report, const std::string& label) {
  return facts_by_part(report, [&](const RunReport& its) { return facts_of_first(its, label); });
}

std::vector<Fact> chains_facts(const RunReport& report) {
  return facts_by_part(report, chains_facts_of_all);
}

}  // namespace numatlas
