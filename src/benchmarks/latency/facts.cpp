#include "benchmarks/latency/facts.h"

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdlib>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <ranges>
#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/add_once.h"
#include "base/text.h"
#include "base/units.h"
#include "benchmarks/common.h"
#include "machine/identity.h"
#include "record/labels.h"
#include "run/flows.h"
#include "run/levels.h"
#include "run/metrics.h"

namespace numatlas {
namespace {

using Points = std::vector<const Case*>;

double latency_of(const Case& one) { return host_estimate_of(one, "latency")->value; }

std::string level_of(const Case& one) { return one.flows.empty() ? "-" : one.flows.front().level; }

/// The points of one kind of pages that have a latency, by the level that their size fits; each by
/// size.
std::map<std::string, Points> cases_by_level(const RunReport& report, const std::string& pages) {
  std::map<std::string, Points> levels;
  for (const Case& one : report.cases) {
    if (one.pages == pages && host_estimate_of(one, "latency"))
      levels[level_of(one)].push_back(&one);
  }
  for (auto& [level, points] : levels) std::ranges::stable_sort(points, {}, &Case::size);
  return levels;
}

Fact latency_fact(const char* key, const std::string& level, const Case& one,
                  const std::string& line) {
  return {
      key,
      {{"level", level}, {"size", std::to_string(one.size.value)}, {"pages", one.pages}},
      fmt::format("latency of {} ({} at random, {} pages)", level, to_text(one.size), one.pages),
      "s",
      *host_estimate_of(one, "latency"),
      "Idle latency",
      line};
}

// Caches ------------------------------------------------------------------------------------------

/// The points whose loads a cache mostly answers: nearer to its own latency, that of its smallest
/// point, than to the latency of what comes after it. A guest or a partitioned cache has less than
/// the machine shows.
Points held_points(const Points& points, double beyond) {
  const double own = latency_of(*points.front());
  if (own > as_slow_as_beyond * beyond) return {};
  const auto missed = std::ranges::find_if(
      points, [&](const auto* point) { return latency_of(*point) > (own + beyond) / 2; });
  return {points.begin(), missed};
}

/// Of the points that a level holds the widest range of sizes over which it has a latency of its
/// own: about the same, up to a size at least 1.5 times as large. The misses of the level before
/// it, of the TLB and of neighbours make it rise a little on every machine. Empty where there is
/// none.
Points plateau_of(const Points& held) {
  constexpr double width = 1.25, least_span = 1.5;
  // Far above the smallest sizes it is not this level's: those take a third of it at least, as the
  // level before answers most of their loads.
  constexpr double most_above = 3;
  Points plateau;
  double widest = 0, lowest = std::numeric_limits<double>::infinity();
  for (const auto* point : held) lowest = std::min(lowest, latency_of(*point));
  for (auto first = held.begin(); first != held.end(); ++first) {
    double low = latency_of(**first), high = low;
    for (auto last = first; last != held.end(); ++last) {
      low = std::min(low, latency_of(**last));
      high = std::max(high, latency_of(**last));
      if (high > width * low || low > most_above * lowest) break;
      const double span =
          static_cast<double>((*last)->size.value) / static_cast<double>((*first)->size.value);
      if (span < least_span || span <= widest) continue;
      widest = span;
      plateau = {first, last + 1};
    }
  }
  return plateau;
}

/// Why a cache's latency may rise with every size that fits it.
std::string no_plateau_text(const RunReport& report, const Case& one, const std::string& level) {
  const WorkerRow& worker = report.workers[static_cast<std::size_t>(one.flows.front().worker)];
  const auto host = static_cast<std::size_t>(worker.host);
  if (worker.cpus.empty() || host >= report.machines.size()) return "it rises with every size";
  const Machine& machine = report.machines[host];
  if (is_virtual(machine)) return "a virtual machine may have a part of it";
  const Cache* const cache = machine.cache_of(worker.cpus.front(), level.back() - '0');
  std::set<std::optional<int>> cores;
  for (const CpuId id : cache == nullptr ? CpuSet{} : cache->cpus)
    if (const Cpu* const cpu = machine.find_cpu(id)) cores.insert(cpu->core);
  if (cores.size() > 1) return fmt::format("shared by {}", count_text(cache->cpus.size(), "CPU"));
  return one.pages == name_of(PageKind::base) ? "TLB misses add to it" : "it rises with every size";
}

/// How much of a cache answers, where the sizes show its end.
Fact capacity_fact(const std::string& level, const Case& last_held, const Case& first_missed) {
  Estimate held(static_cast<double>(last_held.size.value));
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

/// A cache's latency in the middle of its plateau; of a single size what that takes; else the range
/// of all sizes that fit it, with the reason. `pages`: ", thp pages" where nothing else says so.
std::vector<Fact> cache_facts(const RunReport& report, const std::string& level,
                              const Points& points, const Points& held, const std::string& pages) {
  const Points plateau = plateau_of(held);
  const bool only = held.size() == 1 && points.size() == 1;
  if (only || !plateau.empty()) {
    const Case& typical = only ? *held.front() : *plateau[(plateau.size() - 1) / 2];
    const std::string size = to_text(typical.size);
    return {latency_fact("cache_latency", level, typical,
                         fmt::format("{} {{}} ({}{})", level,
                                     only ? fmt::format("at {} only", size) : size, pages))};
  }
  const auto [low, high] =
      std::ranges::minmax_element(points, {}, [](const auto* one) { return latency_of(*one); });
  const std::string why =
      held.empty() ? "about as slow as what lies beyond it" : no_plateau_text(report, **low, level);
  const std::string from =
      low == high
          ? ""
          : three_digits(latency_of(**low) * reading_of(latency_of(**high), "s").scale) + " to ";
  Fact lowest = latency_fact("cache_latency_lowest", level, **low, "");
  lowest.heading.clear();
  lowest.words += ", the lowest of its sizes: no plateau";
  Fact highest = latency_fact("cache_latency_highest", level, **high,
                              fmt::format("{} {}{{}}, no plateau{}: {}", level, from, pages, why));
  highest.words += ", the highest of its sizes: no plateau";
  highest.estimate = Estimate(highest.estimate.value);  // the range says how far it is known
  return {lowest, highest};
}

/// Of the points past all caches that the machine lists, those that one more answers: their latency
/// stays where it is while the size doubles, far below that of the largest size. A mix of loads
/// from a cache and from memory becomes slower with every size.
Points unlisted_points(const Points& points) {
  constexpr double same = 1.1;
  const double most = as_slow_as_beyond * latency_of(*points.back());
  auto end = points.begin();
  for (auto point = points.begin(); point != points.end(); ++point) {
    const double latency = latency_of(**point);
    const bool flat = std::any_of(points.begin(), point, [&](const auto* smaller) {
      return 2 * smaller->size.value <= (*point)->size.value &&
             latency <= same * latency_of(*smaller);
    });
    if (flat && latency <= most) end = point + 1;
  }
  return {points.begin(), end};
}

/// Of each cache its latency, and where it ends if that is within the size shown. `pages`: the
/// largest, with the fewest misses of the TLB.
std::vector<Fact> facts_of_caches(const RunReport& report, const std::string& pages) {
  std::vector<Fact> facts;
  const auto levels = cases_by_level(report, pages);
  const auto memory = levels.find("memory");
  const std::string said = memory != levels.end() ? "" : fmt::format(", {} pages", pages);
  for (auto level = levels.begin(); level != levels.end(); ++level) {
    const auto& [name, points] = *level;
    if (!name.starts_with('L')) continue;
    double beyond = std::numeric_limits<double>::infinity();
    if (const auto next = std::next(level); next != levels.end() && next->first != side_cache_level)
      beyond = latency_of(next == memory ? *next->second.back() : *next->second.front());
    const Points held = held_points(points, beyond);
    std::ranges::move(cache_facts(report, name, points, held, said), std::back_inserter(facts));
    if (!held.empty() && held.size() < points.size())
      facts.push_back(capacity_fact(name, *held.back(), *points[held.size()]));
  }
  const Points unlisted = memory != levels.end() ? unlisted_points(memory->second) : Points{};
  if (unlisted.empty()) return facts;
  const char* const name = "unlisted cache";
  const Case& typical = *unlisted[unlisted.size() - 2];
  facts.push_back(latency_fact("cache_latency", name, typical,
                               fmt::format("{} {{}} ({})", name, to_text(typical.size))));
  facts.push_back(capacity_fact(name, *unlisted.back(), *memory->second[unlisted.size()]));
  return facts;
}

// Memory ------------------------------------------------------------------------------------------

/// Of the largest size with the largest pages, and what the misses of the TLB add with others.
std::vector<Fact> facts_of_memory(const RunReport& report, const std::vector<std::string>& kinds) {
  std::vector<Fact> facts;
  const Case* best = nullptr;
  for (auto kind = kinds.rbegin(); kind != kinds.rend(); ++kind) {
    const std::string& pages = *kind;
    const Points points = cases_by_level(report, pages)["memory"];
    if (points.empty()) continue;
    const Case& one = *points.back();
    const std::string size = to_text(one.size);
    facts.push_back(latency_fact("memory_latency", "memory", one,
                                 best != nullptr
                                     ? fmt::format("{{}} with {} pages", pages)
                                     : fmt::format("memory {{}} ({}, {} pages)", size, pages)));
    if (best != nullptr && one.size == best->size) {
      Fact& cost = facts.emplace_back(latency_fact("tlb_cost", "memory", one, "TLB misses add {}"));
      cost.words =
          fmt::format("added by TLB misses per load with {} pages, relative to {} pages ({})",
                      pages, best->pages, size);
      cost.estimate =
          difference_of(*host_estimate_of(one, "latency"), *host_estimate_of(*best, "latency"));
    }
    if (best == nullptr) best = &one;
  }
  return facts;
}

std::vector<Fact> facts_of_chains(RunReport report) {
  // A core's bandwidth no longer rises where so much of the most is reached.
  constexpr double nearly_all = 0.95;
  add_against({loads_in_flight}, report);
  std::vector<Fact> facts;
  for (const CaseGroup& kind : groups_of(report, {"pages"})) {
    const Bytes largest = (*std::ranges::max_element(kind.cases, {}, &Case::size))->size;
    const auto in_flight = [&](const Case* one) {
      const bool counts = one->size == largest && cache_text(*one).empty();
      return counts ? value_of(host_estimate_of(*one, "loads_in_flight")) : std::nullopt;
    };
    const auto* const most = highest_of(kind.cases, in_flight);
    if (most == nullptr || label_of(**most, "chains") == "1") continue;
    const Estimate all = *host_estimate_of(**most, "loads_in_flight");
    const Case& enough = **lowest_of(kind.cases, [&](const Case* one) -> std::optional<double> {
      if (!(in_flight(one) >= nearly_all * all.value)) return std::nullopt;
      return std::atof(label_of(*one, "chains").c_str());
    });
    const std::string chains = label_of(enough, "chains"), pages = enough.pages;
    facts.push_back({"loads_in_flight",
                     {{"level", "memory"}, {"pages", pages}, {"chains", chains}},
                     fmt::format("misses that one CPU keeps open at once, {} pages; {} chains "
                                 "reach {:.0f} % of it",
                                 pages, chains, nearly_all * 100),
                     "1",
                     all});
    const auto rate = host_estimate_of(enough, "chains_bandwidth");
    if (!rate) continue;
    const std::string with = fmt::format("with {} chains, ", chains);
    facts.push_back({"chains_bandwidth", facts.back().where,
                     fmt::format("random loads of one CPU {}{} pages", with, pages), "B/s", *rate,
                     "Parallelism",
                     fmt::format("random loads of one CPU {{}} {}{:.0f} misses open, {} pages",
                                 with, all.value, pages)});
  }
  return facts;
}

bool has_case_label(const RunReport& report, const std::string& name) {
  return std::ranges::any_of(report.cases,
                             [&](const Case& one) { return find_label(one, name) != nullptr; });
}

std::vector<Fact> facts_of_all(const RunReport& report) {
  if (has_case_label(report, "chains")) return facts_of_chains(report);
  const bool threads = has_case_label(report, "threads");
  const std::string label = threads ? "threads" : "stride";
  const auto text_of = [&](const Case& one) { return label_text(report, one, label); };
  const std::string first = text_of(report.cases.front());
  RunReport of_first = report;
  std::erase_if(of_first.cases, [&](const auto& one) { return text_of(one) != first; });
  std::vector<std::string> kinds;
  for (const Case& one : of_first.cases)
    if (host_estimate_of(one, "latency")) add_once(kinds, one.pages);
  std::vector<Fact> facts;
  if (!kinds.empty()) {
    facts = facts_of_caches(of_first, kinds.back());
    std::ranges::move(facts_of_memory(of_first, kinds), std::back_inserter(facts));
  }
  const Bytes largest = std::ranges::max(report.cases, {}, &Case::size).size;
  for (const Case& result : report.cases) {
    const std::string value = text_of(result);
    if (value == first || result.size != largest || !host_estimate_of(result, "latency")) continue;
    Fact& fact = facts.emplace_back(
        latency_fact(threads ? "threads_latency" : "stride_latency", level_of(result), result,
                     threads ? fmt::format("{{}} with {} threads", value)
                             : fmt::format("{{}} at stride {}, {} pages", value, result.pages)));
    fact.where.emplace_back(label, value);
    fact.words += threads ? fmt::format(", {} threads together", value) : ", stride " + value;
  }
  return facts;
}

// Places ------------------------------------------------------------------------------------------

/// What a flow's latency is of: a mean over unlike cores or memories is that of neither. In their
/// order the cores of most CPUs come first, and local memory.
struct Place {
  std::pair<std::ptrdiff_t, std::ptrdiff_t> rank;  ///< of the kind of cores
  std::string cores;                               ///< "" where all of a machine are alike
  bool other_memory = false;
  std::string memory;  ///< "local", "remote", "CXL" (memory_class), "nodes 0,2"
  int distance = 0;
  friend auto operator<=>(const Place&, const Place&) = default;
};

Place place_of(const RunReport& report, const FlowResult& flow) {
  const WorkerRow& worker = report.workers[static_cast<std::size_t>(flow.worker)];
  const auto host = static_cast<std::size_t>(worker.host);
  const Machine* const machine = host < report.machines.size() ? &report.machines[host] : nullptr;
  Place place;
  const bool known = machine != nullptr && !worker.cpus.empty();
  if (const CpuKind* const kind = known ? machine->kind_of(worker.cpus.front()) : nullptr) {
    place.rank = {-std::ssize(kind->cpus), kind - machine->cpu_kinds.data()};
    place.cores = kind->name;
  }
  const NodeSet nodes = nodes_of(observed_memory(flow));
  const NodeId from = worker.cpu_node;
  if (nodes.size() > 1) {
    place.memory = "nodes " + to_list(nodes);
  } else if (!nodes.empty() && from.value >= 0) {
    const NodeId to = nodes.front();
    place.memory = memory_class(machine, std::to_string(from.value), std::to_string(to.value));
    if (machine != nullptr) place.distance = distance_between(*machine, from, to);
  }
  place.other_memory = place.memory != "local";
  return place;
}

/// The report with the flows of this place only.
RunReport part_of(const RunReport& report, const Place& place) {
  RunReport its = report;
  for (Case& one : its.cases) {
    std::erase_if(one.flows, [&](const auto& flow) { return place_of(report, flow) != place; });
    one.figures.clear();
    one.host_totals.clear();
    one.groups = medians_of(one, its);
  }
  std::erase_if(its.cases, [](const Case& one) { return one.flows.empty(); });
  return its;
}

}  // namespace

std::vector<Fact> latency_facts(const RunReport& report) {
  std::set<Place> places;
  std::set<std::pair<std::string, int>> memories;
  for (const Case& one : report.cases) {
    for (const FlowResult& flow : one.flows) {
      const Place& place = *places.insert(place_of(report, flow)).first;
      memories.emplace(place.memory, place.distance);
    }
  }
  if (places.empty()) return {};
  if (places.size() == 1) return facts_of_all(report);
  const bool unlike = places.begin()->cores != places.rbegin()->cores;
  const std::string* told = nullptr;  // cores whose caches are
  std::vector<Fact> facts;
  for (const Place& place : places) {
    const auto alike =
        std::ranges::count(memories, place.memory, &std::pair<std::string, int>::first);
    const std::string memory = memories.size() < 2 ? ""
                               : alike > 1
                                   ? fmt::format("{} at distance {}", place.memory, place.distance)
                                   : place.memory;
    const bool caches = told == nullptr || *told != place.cores;
    told = &place.cores;
    for (Fact& fact : facts_of_all(part_of(report, place))) {
      const bool of_memory = where_of(fact, "level") == "memory";
      if (!of_memory && !caches) continue;
      std::vector<std::string> names;
      if (unlike) {
        fact.where.emplace_back("kind", place.cores);
        fact.words += fmt::format(", {} cores", place.cores);
        names.push_back(place.cores);
      }
      if (of_memory && !memory.empty()) {
        fact.where.emplace_back("place", memory);
        fact.words += ", memory: " + memory;
        names.push_back(memory);
      }
      if (!names.empty() && !fact.line.empty())
        fact.line = fmt::format("{}: {}", fmt::join(names, ", "), fact.line);
      facts.push_back(std::move(fact));
    }
  }
  return facts;
}

}  // namespace numatlas
