#include "benchmarks/cores/views.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/text.h"
#include "benchmarks/extremes.h"
#include "record/labels.h"
#include "record/told.h"
#include "run/metrics.h"

namespace numatlas {
namespace {

/// One measured pair.
struct PairCell {
  std::string first, second, method;
  std::string nearness;  ///< with the kinds of the cores, where there are several
  Estimate time;
};

std::vector<PairCell> cells_of(const RunReport& report) {
  std::vector<PairCell> cells;
  for (const ScenarioResult& point : report.scenarios) {
    for (const FlowResult& flow : point.flows) {
      const Figure* const found = find_figure(flow, "core_to_core");
      if (found == nullptr || !found->estimate) continue;
      const std::string kinds = label_of(point, "kinds");
      cells.push_back({label_of(point, "first_cpu"), label_of(point, "second_cpu"), point.kernel,
                       label_of(point, "nearness") + (kinds.empty() ? "" : ", " + kinds),
                       *found->estimate});
    }
  }
  return cells;
}

/// In the order of the points.
std::vector<std::string> different(const std::vector<PairCell>& cells,
                                   std::string PairCell::*field) {
  std::vector<std::string> values;
  for (const PairCell& cell : cells) {
    if (std::find(values.begin(), values.end(), cell.*field) == values.end())
      values.push_back(cell.*field);
  }
  return values;
}

std::string cell_ns(const Estimate& time) {
  return told(time, [](double seconds) { return fmt::format("{:.1f}", seconds * 1e9); });
}

std::vector<std::string> summary_row(const std::vector<const PairCell*>& cells) {
  std::vector<Estimate> times;
  for (const PairCell* cell : cells) times.push_back(cell->time);
  const auto [low, high] = std::minmax_element(
      cells.begin(), cells.end(),
      [](const PairCell* a, const PairCell* b) { return a->time.value < b->time.value; });
  const auto named = [](const PairCell* cell) {
    return fmt::format("{} ({}-{})", cell_ns(cell->time), cell->first, cell->second);
  };
  const Estimate median = *median_of(times);
  const auto widest = half_width(median);
  return {cells.front()->method,
          cells.front()->nearness,
          std::to_string(cells.size()),
          cell_ns(median),
          named(*low),
          named(*high),
          widest ? half_text(*widest) : "-"};
}

/// Lines of a table of the pairs by how near they are.
std::vector<std::string> summary_lines(const std::vector<PairCell>& cells) {
  std::vector<std::vector<std::string>> rows{{"method", "pairs", "number", "median",
                                              "lowest (CPUs)", "highest (CPUs)",
                                              std::string("widest ") + plus_minus()}};
  for (const std::string& method : different(cells, &PairCell::method)) {
    // Nearest first.
    for (const char* start : {"same core", "same L", "same node", "other node", "unknown"}) {
      for (const std::string& nearness : different(cells, &PairCell::nearness)) {
        std::vector<const PairCell*> near;
        for (const PairCell& cell : cells) {
          if (cell.method == method && cell.nearness == nearness) near.push_back(&cell);
        }
        if (!near.empty() && nearness.starts_with(start)) rows.push_back(summary_row(near));
      }
    }
  }
  // Of one pair a summary has nothing that its cell has not.
  if (std::ranges::all_of(
          rows, [](const auto& row) { return row.at(2) == "1" || row.at(2) == "number"; }))
    return {};
  std::vector<std::string> lines;
  std::istringstream text(aligned(rows, 2));
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  return lines;
}

std::string home_words(const ScenarioResult& any) {
  const std::string home = label_of(any, "home");
  if (home == "first") return "the line lies where the CPU of the row touched it first";
  if (home == "second") return "the line lies where the CPU of the column touched it first";
  return fmt::format("the line lies on node {}", home);
}

}  // namespace

std::string cores_square_csv(const RunReport& report) {
  std::vector<std::string> cpus;
  for (const WorkerRow& worker : report.workers) cpus.push_back(to_list(worker.cpus));
  const std::vector<PairCell> cells = cells_of(report);
  std::map<std::pair<std::string, std::string>, double> ns;
  bool both = false;
  for (const PairCell& cell : cells) {
    both = both || ns.contains({cell.second, cell.first});
    ns[{cell.first, cell.second}] = cell.time.value * 1e9;
  }
  std::string text;
  for (std::size_t row = 0; row < cpus.size(); ++row) {
    for (std::size_t column = 0; column < cpus.size(); ++column) {
      // The other tool has each pair once, below the diagonal.
      const auto cell = both || column > row ? ns.find({cpus[row], cpus[column]})
                                             : ns.find({cpus[column], cpus[row]});
      const bool shown = cell != ns.end() && (both || column < row);
      if (column > 0) text += ',';
      if (shown) text += fmt::format("{:.2f}", cell->second);
    }
    text += '\n';
  }
  return text;
}

std::vector<View> cores_views(const RunReport& report) {
  const std::vector<PairCell> cells = cells_of(report);
  std::vector<View> views;
  for (const std::string& method : different(cells, &PairCell::method)) {
    View view;
    view.kind = ViewKind::matrix;
    const bool both = !label_of(report.scenarios.front(), "directions").empty();
    view.symmetric = !both;
    view.title = fmt::format("Core-to-core latency in ns, {}",
                             method == "cas" ? "by compare-and-swap" : "by a load and a store");
    const std::string lines = label_of(report.scenarios.front(), "lines");
    view.notes = {fmt::format(
        "half of a round trip of {}; {}",
        lines.empty() ? "one cache line" : fmt::format("a cache line ({} in turn)", lines),
        both ? "rows: the CPU that asks; columns: the CPU that answers"
             : "rows and columns: CPUs")};
    if (both) view.notes.push_back(home_words(report.scenarios.front()));
    view.where = {{"kernel", method}};
    view.rows = "first_cpu";
    view.columns = "second_cpu";
    view.cells = {figure_column("", "core_to_core", in_ns, Part::value, 1)};
    views.push_back(std::move(view));
  }
  if (!views.empty()) views.back().verdict = summary_lines(cells);
  return views;
}

std::vector<Fact> cores_facts(const RunReport& report) {
  // Of one method: another one takes another time between the same CPUs.
  const auto latency = [&](const ScenarioResult& point) {
    return point.kernel == report.scenarios.front().kernel
               ? value_of(host_estimate_of(point, "core_to_core"))
               : std::nullopt;
  };
  const auto* const nearest = lowest_of(report.scenarios, latency);
  const auto* const farthest = highest_of(report.scenarios, latency);
  std::vector<Fact> facts;
  const auto add = [&](const char* key, const char* word, const ScenarioResult& point) {
    const std::string first = label_of(point, "first_cpu"), second = label_of(point, "second_cpu");
    const std::string nearness = label_of(point, "nearness");
    facts.push_back(
        {key,
         {{"first_cpu", first}, {"second_cpu", second}, {"nearness", nearness}},
         fmt::format("core-to-core latency between CPUs {} and {} ({})", first, second, nearness),
         "s",
         *host_estimate_of(point, "core_to_core"),
         "Core to core",
         fmt::format("{}{{}} (CPUs {} and {}, {})", word, first, second, nearness)});
  };
  if (nearest != nullptr)
    add("core_to_core_nearest", farthest == nearest ? "" : "shortest ", *nearest);
  if (farthest != nearest) add("core_to_core_farthest", "longest ", *farthest);
  return facts;
}

}  // namespace numatlas
