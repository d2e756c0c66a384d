#include "benchmarks/latency/chains.h"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "base/size_list.h"
#include "benchmarks/extremes.h"
#include "record/cache_level.h"
#include "record/labels.h"

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

}  // namespace numatlas
