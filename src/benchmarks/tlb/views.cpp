#include "benchmarks/tlb/views.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "base/size_list.h"
#include "benchmarks/tlb/levels.h"
#include "placement/placement.h"
#include "record/labels.h"

namespace numatlas {
namespace {

int pages_of(const ScenarioResult& one) { return std::atoi(label_of(one, "page_count").c_str()); }

/// What was measured with one kind of pages, by number of pages.
struct Sweep {
  std::string kind;
  Bytes page;
  std::vector<const ScenarioResult*> cases;
  std::vector<TlbPoint> points;
};

std::vector<Sweep> sweeps_of(const RunReport& report) {
  std::vector<Sweep> sweeps;
  for (const ScenarioResult& one : report.scenarios) {
    const std::string kind = label_of(one, "page_kind");
    if (kind.empty() || !host_estimate_of(one, "tlb_miss_cost")) continue;
    if (sweeps.empty() || sweeps.back().kind != kind)
      sweeps.push_back({kind, Bytes{one.stride.value - one.stride.value % 4096}, {}, {}});
    sweeps.back().cases.push_back(&one);
  }
  for (Sweep& sweep : sweeps) {
    std::sort(sweep.cases.begin(), sweep.cases.end(),
              [](const auto* a, const auto* b) { return pages_of(*a) < pages_of(*b); });
    for (const ScenarioResult* one : sweep.cases)
      sweep.points.push_back({pages_of(*one), host_estimate_of(*one, "tlb_miss_cost")->value});
  }
  return sweeps;
}

Bytes reach_of(const Sweep& sweep, std::size_t index) {
  return Bytes{static_cast<std::uint64_t>(sweep.points[index].pages) * sweep.page.value};
}

std::vector<std::string> verdict_of(const Sweep& sweep) {
  std::vector<std::string> lines;
  const std::vector<TlbLevel> levels = tlb_levels(sweep.points);
  if (!levels.empty() && levels.front().number > 1)
    lines.push_back(fmt::format("L1 TLB: fewer than {} pages, which cost {:.1f} ns already",
                                sweep.points.front().pages, sweep.points.front().cost * 1e9));
  for (const TlbLevel& level : levels) {
    lines.push_back(fmt::format(
        "L{} TLB: {} to {} pages ({} to {}); a miss costs {:.1f} ns ({} pages)", level.number,
        sweep.points[level.last].pages, sweep.points[level.last + 1].pages,
        to_text(reach_of(sweep, level.last)), to_text(reach_of(sweep, level.last + 1)),
        sweep.points[level.typical].cost * 1e9, sweep.points[level.typical].pages));
  }
  if (levels.empty() && !sweep.points.empty())
    lines.push_back(fmt::format("no TLB misses show up to {} pages ({})", sweep.points.back().pages,
                                to_text(reach_of(sweep, sweep.points.size() - 1))));
  return lines;
}

}  // namespace

void add_tlb_costs(RunReport& report) {
  for (ScenarioResult& one : report.scenarios) {
    if (label_of(one, "page_kind").empty()) continue;
    for (const ScenarioResult& packed : report.scenarios) {
      if (!label_of(packed, "page_kind").empty() || pages_of(packed) != pages_of(one)) continue;
      const auto more = estimate_of(one, "latency"), less = estimate_of(packed, "latency");
      if (!more || !less) continue;
      one.figures.push_back({"packed_latency", "s", *less, std::nullopt});
      one.figures.push_back({"tlb_miss_cost", "s", difference_of(*more, *less), std::nullopt});
    }
  }
}

std::vector<View> tlb_views(const RunReport& report) {
  std::vector<View> views;
  const std::vector<Sweep> sweeps = sweeps_of(report);
  for (const CaseGroup& group : groups_of(report, {"page_kind"})) {
    const std::string& kind = group.labels.front().second;
    const auto sweep = std::find_if(sweeps.begin(), sweeps.end(),
                                    [&](const Sweep& one) { return one.kind == kind; });
    if (sweep == sweeps.end()) continue;
    View view;
    view.kind = ViewKind::curve;
    view.title = fmt::format("Loads of one line per page in ns ({} pages)", kind);
    // Packed lines belong to all kinds, and have no layout of this name.
    view.where = {{"page_kind", kind}, {"lines", "one per page"}};
    view.notes = {
        "packed: as many lines side by side; TLB cost: what one line per page adds to a "
        "load"};
    view.rows = "page_count";
    view.cells = {label_column("pages", "page_count"),
                  label_column("reach", "reach"),
                  label_column("lines fit", "level"),
                  figure_column("one per page", "latency", in_ns, Part::with_interval),
                  figure_column("packed", "packed_latency", in_ns),
                  figure_column("TLB cost", "tlb_miss_cost", in_ns)};
    view.verdict = verdict_of(*sweep);
    views.push_back(std::move(view));
  }
  return views;
}

std::vector<Fact> tlb_facts(const RunReport& report) {
  std::vector<Fact> facts;
  for (const Sweep& sweep : sweeps_of(report)) {
    const std::vector<TlbLevel> levels = tlb_levels(sweep.points);
    for (const TlbLevel& level : levels) {
      const std::string name = fmt::format("L{} TLB", level.number);
      const std::vector<std::pair<std::string, std::string>> where{{"level", name},
                                                                   {"page_kind", sweep.kind}};
      Estimate reach(static_cast<double>(reach_of(sweep, level.last).value));
      reach.low = reach.value;
      reach.high = static_cast<double>(reach_of(sweep, level.last + 1).value);
      reach.method = Method::derived;
      reach.n = sweep.points.size();
      facts.push_back({"tlb_reach", where,
                       fmt::format("memory that the {} reaches with {} pages; {} pages, the next "
                                   "number measured is {}",
                                   name, sweep.kind, sweep.points[level.last].pages,
                                   sweep.points[level.last + 1].pages),
                       "B", reach, "TLB", fmt::format("{} {{}} ({} pages)", name, sweep.kind)});
      facts.push_back({"tlb_miss_cost", where,
                       fmt::format("additional time of a load that misses the {} ({} {} pages)",
                                   name, sweep.points[level.typical].pages, sweep.kind),
                       "s", *host_estimate_of(*sweep.cases[level.typical], "tlb_miss_cost"), "TLB",
                       "a miss {}"});
    }
  }
  return facts;
}

}  // namespace numatlas
