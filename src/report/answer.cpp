#include "report/answer.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/add_once.h"
#include "base/text.h"
#include "base/units.h"
#include "machine/cpu_use.h"
#include "memory/buffer.h"
#include "record/cache_level.h"
#include "record/labels.h"
#include "report/fact_text.h"
#include "report/notes.h"

namespace numatlas {
namespace {

/// Figures of one heading that the answer has, at most.
constexpr std::size_t most_figures = 4;

/// "123 to 338 ns"
std::string span_text(const std::vector<Estimate>& values, Unit unit) {
  const auto by_value = [](const Estimate& one) { return one.value; };
  const Estimate& least = *std::ranges::min_element(values, {}, by_value);
  const Estimate& most = *std::ranges::max_element(values, {}, by_value);
  if (values.size() == 1) return estimate_text(least, unit);
  const Reading reading = reading_of(most.value, unit);
  const std::string low = three_digits(least.value * reading.scale),
                    high = three_digits(most.value * reading.scale);
  return (low == high ? low : low + " to " + high) + reading.unit;
}

std::string heading_text(const RunReport& report, const std::string& heading) {
  std::vector<const Fact*> cells, figures;
  for (const Fact& fact : report.facts) {
    if (fact.heading != heading) continue;
    (fact.line.find("{}") == std::string::npos ? cells : figures).push_back(&fact);
  }
  const Machine* const machine = report.machines.empty() ? nullptr : &report.machines.front();
  if (cells.size() == 1) return fmt::format("{}: {}", heading, cells_text(cells, machine));
  if (!cells.empty())
    return fmt::format("{}: {}", heading.substr(0, heading.find(", ")), cells_text(cells, machine));
  // Memory is what most ask for; the latencies of its caches follow, and then where they end. All
  // memories are told, however many.
  const auto memory = std::ranges::stable_partition(
      figures, [](const Fact* one) { return one->key == "memory_latency"; });
  std::ranges::stable_partition(memory,
                                [](const Fact* one) { return one->key != "cache_capacity"; });
  const auto told = static_cast<std::size_t>(memory.begin() - figures.begin());
  figures.resize(std::min(figures.size(), std::max(most_figures, told)));
  std::vector<std::string> texts;
  for (const Fact* fact : figures)
    texts.push_back(std::string(fact->line).replace(fact->line.find("{}"), 2, figure_text(*fact)));
  return fmt::format("{}: {}", heading, fmt::join(texts, ", "));
}

/// What a case found: over all of its workers, of the only one, or of each of several.
std::vector<const Figure*> figures_of_case(const ScenarioResult& one) {
  const auto is_told = [](const Figure& figure) {
    return figure.unit.is_time_or_rate() && figure.estimate;
  };
  const auto first = [&](const std::vector<Figure>& figures) -> const Figure* {
    const auto found = std::ranges::find_if(figures, is_told);
    return found == figures.end() ? nullptr : &*found;
  };
  const auto is_measured = [](const FlowResult& flow) { return !flow.load; };
  if (one.flows.empty() || std::ranges::count_if(one.flows, is_measured) > 1) {
    if (const Figure* const sum = first(one.figures)) return {sum};
  }
  std::vector<const Figure*> all;
  for (const FlowResult& flow : one.flows) {
    const Figure* const its = is_measured(flow) ? first(flow.figures) : nullptr;
    if (its != nullptr && (all.empty() || its->unit == all.front()->unit)) all.push_back(its);
  }
  return all;
}

/// Of a report without facts: each of a few cases, or the span of many.
std::string cases_text(const RunReport& report) {
  std::vector<std::pair<const ScenarioResult*, std::vector<const Figure*>>> found;
  for (const ScenarioResult& one : report.scenarios)
    if (auto figures = figures_of_case(one); !figures.empty())
      found.emplace_back(&one, std::move(figures));
  std::vector<std::string> texts;
  std::vector<Unit> units;
  std::map<Unit, std::vector<Estimate>> values;
  for (const auto& [one, figures] : found) {
    std::vector<Estimate> its;
    for (const Figure* const figure : figures) its.push_back(*figure->estimate);
    const Unit unit = figures.front()->unit;
    texts.push_back(fmt::format("{}: {}", one->name, span_text(its, unit)));
    add_once(units, unit);
    values[unit].insert(values[unit].end(), its.begin(), its.end());
  }
  if (found.size() <= most_figures) return fmt::format("{}", fmt::join(texts, "; "));
  texts.clear();
  for (const Unit unit : units) texts.push_back(span_text(values[unit], unit));
  return fmt::format("{}: {}", count_text(found.size(), "case"), fmt::join(texts, ", "));
}

std::vector<std::string> headings_of(const RunReport& report) {
  std::vector<std::string> headings;
  for (const Fact& fact : report.facts)
    if (!fact.heading.empty()) add_once(headings, fact.heading);
  return headings;
}

/// What all cases have in common that is not the default and that no fact says: "page-local order,
/// stride 256B, base pages". A fact that names its pages says them.
std::string choices_text(const RunReport& report) {
  constexpr const char* usual_order = "random";
  std::vector<std::string> orders, strides, pages;
  for (const ScenarioResult& one : report.scenarios) {
    const bool of_gpu =
        std::ranges::any_of(one.flows, [](const auto& flow) { return flow.gpu.has_value(); });
    if (one.flows.empty() || of_gpu || !label_of(one, "control").empty()) continue;
    add_once(pages, one.pages);
    if (one.order.empty()) continue;
    add_once(orders, one.order);
    add_once(strides, compact_text(one.stride));
  }
  std::vector<std::string> chosen;
  if (orders.size() == 1 && orders.front() != usual_order)
    chosen.push_back(orders.front() + " order");
  const Machine* const machine = report.machines.empty() ? nullptr : &report.machines.front();
  const Cache* const nearest = machine == nullptr || machine->cpus.empty()
                                   ? nullptr
                                   : machine->cache_of(machine->cpus[0].id, 1);
  const Bytes line = nearest == nullptr ? Bytes{64} : nearest->line_size.value_or(Bytes{64});
  if (strides.size() == 1 && strides.front() != compact_text(line))
    chosen.push_back("stride " + strides.front());
  const bool said = std::ranges::any_of(
      report.facts, [](const Fact& fact) { return !where_of(fact, "pages").empty(); });
  const bool usual = machine == nullptr || pages.size() != 1 || pages.front().empty() ||
                     pages.front() == name_of(best_pages(*machine).kind);
  if (!said && !usual) chosen.push_back(pages.front() + " pages");
  return fmt::format("{}", fmt::join(chosen, ", "));
}

bool has_cells(const RunReport& report, const std::string& heading) {
  return std::ranges::any_of(
      report.facts, [&](const Fact& fact) { return fact.heading == heading && fact.line.empty(); });
}

std::string all_figures_text(const RunReport& report) {
  std::string figures;
  for (const std::string& heading : headings_of(report)) {
    const std::string text = heading_text(report, heading);
    constexpr std::size_t widest = 120;
    // Cells are what `matrix` was asked for, however long.
    const bool is_long = !figures.empty() && figures.size() + text.size() > widest;
    if (is_long && !has_cells(report, heading)) break;
    figures += (figures.empty() ? "" : "; ") + text;
  }
  if (figures.empty()) figures = cases_text(report);
  const std::string choices = figures.empty() ? "" : choices_text(report);
  return choices.empty() ? figures : figures + "; " + choices;
}

}  // namespace

std::string cells_text(const std::vector<const Fact*>& cells, const Machine* machine) {
  const Unit unit = cells.front()->unit;
  if (cells.size() == 1) return estimate_text(cells.front()->estimate, unit);
  std::map<std::string, std::vector<Estimate>> of_class;
  std::vector<std::string> classes{"local", "remote"};
  for (const Fact* cell : cells) {
    const std::string name =
        memory_class(machine, where_of(*cell, "cpu_node"), where_of(*cell, "memory_node"));
    add_once(classes, name);
    of_class[name].push_back(cell->estimate);
  }
  if (of_class.size() == 1) return span_text(of_class.begin()->second, unit);
  std::vector<std::string> texts;
  for (const std::string& name : classes) {
    const auto found = of_class.find(name);
    if (found != of_class.end()) texts.push_back(name + " " + span_text(found->second, unit));
  }
  return fmt::format("{}", fmt::join(texts, ", "));
}

std::string distrust_of(const RunReport& report) { return distrust_of(std::span(&report, 1)); }

std::string distrust_of(std::span<const RunReport> reports) {
  std::vector<std::string> hosts;
  std::map<std::string, std::vector<CpuUse>> parts;
  for (const RunReport& report : reports) {
    for (std::size_t host = 0; host < report.cpu_use.size() && host < report.hosts.size(); ++host) {
      add_once(hosts, report.hosts[host]);
      parts[report.hosts[host]].push_back(report.cpu_use[host]);
    }
  }
  std::vector<std::pair<std::string, CpuUse>> by_host;
  for (const std::string& host : hosts) by_host.emplace_back(host, use_of_all(parts[host]));
  return cpu_use_warning(by_host);
}

std::string unreliable_text(const std::string& why, const std::string& answer) {
  return fmt::format("UNRELIABLE: {}\n({})\n", why, answer);
}

std::string doubt_of(const RunReport& report) {
  const auto is_lost = [](const ScenarioResult& one) {
    return one.status == Status::failed || one.status == Status::incomplete;
  };
  const auto lost = std::ranges::find_if(report.scenarios, is_lost);
  if (is_null_engine(report.engine)) return null_engine_note;
  if (lost != report.scenarios.end())
    return fmt::format("{} of {}: {}: {}", std::ranges::count_if(report.scenarios, is_lost),
                       count_text(report.scenarios.size(), "case"), name_of(lost->status),
                       lost->reason);
  for (const char* code : {"two-speeds", "oversubscribed", "low-overlap", "gpu-slowed", "page-size",
                           "placement", "pages-moved"}) {
    std::vector<Warning> found;
    std::ranges::copy_if(report.warnings, std::back_inserter(found),
                         [&](const Warning& one) { return one.code == code; });
    if (!found.empty()) return counted(found).front();
  }
  if (std::ranges::any_of(report.facts, has_star)) return star_note();
  return guest_note(report.machines);
}

Trust trust_of(const std::vector<RunReport>& reports) {
  if (reports.empty() || is_null_engine(reports.front().engine)) return {};
  if (std::string why = distrust_of(reports); !why.empty()) return {"unreliable", std::move(why)};
  for (const RunReport& report : reports)
    if (std::string doubt = doubt_of(report); !doubt.empty()) return {"doubtful", std::move(doubt)};
  return {"trusted", ""};
}

std::string answer_text(const RunReport& report) {
  const std::string figures = all_figures_text(report);
  if (figures.empty()) return "";
  const std::string star =
      figures.find('*') != std::string::npos ? "; " + star_words() : std::string();
  if (const std::string why = distrust_of(report); !why.empty())
    return unreliable_text(why + star, figures);
  std::string doubt = doubt_of(report);
  if (!doubt.empty() && doubt != star_note()) doubt += star;
  return figures + "\n" + (doubt.empty() ? "" : "! " + doubt + "\n");
}

}  // namespace numatlas
