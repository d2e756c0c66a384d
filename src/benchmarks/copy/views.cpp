#include "benchmarks/copy/views.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "base/size_list.h"
#include "record/cache_level.h"
#include "record/labels.h"

namespace numatlas {
namespace {

/// Bytes read and written are twice the bytes copied.
constexpr double once = 0.5;

/// Whose CPUs copied.
std::string side_words(const std::string& side) {
  if (side == "from") return "those of the node copied from";
  if (side == "to") return "those of the node copied to";
  if (side == "nearest") return "those nearest to the node";
  return "all, whatever their node";
}

View matrix_of(const RunReport& report, const CaseGroup& group) {
  const ScenarioResult& any = *group.cases.front();
  std::set<std::string> sides;
  std::size_t workers = 0;
  for (const ScenarioResult* one : group.cases) {
    if (one->flows.empty()) continue;
    sides.insert(label_text(report, *one, "side"));
    workers = std::max(workers, one->flows.size());
  }
  View view;
  view.kind = ViewKind::matrix;
  view.where = group.labels;
  view.rows = "from";
  view.columns = "to";
  view.title = fmt::format("Copies in GB/s ({}, {} stores, pages: {}, kernels: {})",
                           to_text(any.size), any.stores, any.pages, report.isa);
  if (has_label(report, "threads"))
    view.title += ", threads: " + label_text(report, any, "threads");
  view.notes = {
      "one row per source, one column per target; each byte counts once (STREAM counts it as read "
      "and as written)"};
  // Workers that ran in turn have no sum: the median of what each copied.
  const bool in_turn = report.serial && workers > 1;
  view.cells = {in_turn ? figure_column("", "bandwidth", once * in_gb_per_s)
                        : figure_column("", "copy_rate", in_gb_per_s, Part::with_interval)};
  if (in_turn) view.notes.push_back("workers ran one after the other: the median of them");
  if (sides.size() == 1)
    view.notes.push_back("CPUs: " + side_words(*sides.begin()));
  else
    view.cells.push_back(label_column("", "side"));
  if (sides.size() > 1) {
    for (const std::string& side : sides)
      view.notes.push_back(fmt::format("{}: copied by CPUs, {}", side, side_words(side)));
  }
  return view;
}

View table_of(const RunReport& report) {
  View view;
  view.title = fmt::format(
      "Copies in GB/s (kernels: {}; size: read by a worker, and as much written)", report.isa);
  view.notes = {
      "copied: all workers over their common time; each byte counts once (STREAM counts it as read "
      "and as written)",
      "moved: read and written, including write-allocate reads of regular stores; -: in a cache"};
  view.cells = {label_column("from", "from"),
                label_column("to", "to"),
                label_column("nodes seen", "copied_between"),
                label_column("CPUs of node", "cpu_nodes"),
                label_column("chosen", "side"),
                label_column("stores", "stores"),
                label_column("size", "size"),
                label_column("pages", "pages"),
                label_column("workers", "workers"),
                figure_column("copied", "copy_rate", in_gb_per_s),
                figure_column(plus_minus(), "copy_rate", in_gb_per_s, Part::half_width),
                figure_column("best", "copy_rate", in_gb_per_s, Part::best),
                figure_column("moved", "traffic_sum", in_gb_per_s),
                figure_column("worker median", "bandwidth", once * in_gb_per_s)};
  return view;
}

}  // namespace

std::vector<Figure> copy_totals(const ScenarioResult& point) {
  const Figure* sum = find_total(point, "bandwidth_sum");
  if (sum == nullptr || !sum->estimate) return {};
  return {{"copy_rate", sum->unit, scaled(*sum->estimate, once), std::nullopt}};
}

std::vector<View> copy_views(const RunReport& report) {
  if (groups_of(report, {"from", "to"}).size() < 2) return {table_of(report)};
  std::vector<View> views;
  for (const CaseGroup& group : groups_of(report, {"pages", "size", "stores", "threads"}))
    views.push_back(matrix_of(report, group));
  return views;
}

/// "bind:2" is node 2.
std::string place_words(const std::string& memory) {
  return memory.starts_with("bind:") ? "node " + memory.substr(5) : memory;
}

std::vector<Fact> copy_facts(const RunReport& report) {
  std::vector<Fact> facts;
  for (const ScenarioResult& point : report.scenarios) {
    const auto rate = host_estimate_of(point, "copy_rate");
    if (!rate || !cache_text(point).empty()) continue;
    const std::string from = label_of(point, "from"), to = label_of(point, "to");
    facts.push_back({"copy_rate",
                     {{"from", from}, {"to", to}, {"cpu_nodes", label_of(point, "cpu_nodes")}},
                     fmt::format("copies from {} to {}, by {} CPUs of node {}, bytes counted once",
                                 place_words(from), place_words(to), point.flows.size(),
                                 label_of(point, "cpu_nodes")),
                     "B/s",
                     *rate});
  }
  const auto [low, high] = std::minmax_element(
      facts.begin(), facts.end(),
      [](const Fact& a, const Fact& b) { return a.estimate.value < b.estimate.value; });
  for (const auto& [fact, word] : {std::pair(low, "lowest "), {high, "highest "}}) {
    if (fact == facts.end()) continue;
    fact->heading = "Copies";
    fact->line =
        fmt::format("{}{{}} ({} to {})", low == high ? "" : word,
                    place_words(where_of(*fact, "from")), place_words(where_of(*fact, "to")));
  }
  return facts;
}

}  // namespace numatlas
