#include "benchmarks/cores/table.h"

#include <algorithm>
#include <map>
#include <optional>

#include <fmt/format.h>

#include "benchmarks/metrics.h"
#include "report/worker_table.h"

namespace numatlas {
namespace {

// Beyond this nobody reads a matrix as text.
constexpr std::size_t most_cpus_shown = 32;
// Columns that fit a terminal of 120 characters.
constexpr std::size_t columns_a_block = 16;

/// One measured pair.
struct PairCell {
  std::string first, second, method, nearness;
  double seconds = 0;
  std::optional<double> half_width;
};

std::vector<PairCell> cells_of(const RunReport& report) {
  std::vector<PairCell> cells;
  for (const ScenarioResult& point : report.scenarios) {
    for (const FlowResult& flow : point.flows) {
      const Metric* const found = find_metric(flow, "hand_over");
      if (found == nullptr || !found->value) continue;
      cells.push_back({label_of(point, "first_cpu"), label_of(point, "second_cpu"), point.kernel,
                       label_of(point, "nearness"), *found->value, flow.half_width});
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

std::string cell_ns(double seconds) { return fmt::format("{:.1f}", seconds * 1e9); }

/// Rows and columns are the CPUs in the order of the workers.
std::string matrix_text(const std::vector<PairCell>& cells, const std::string& method,
                        const std::vector<std::string>& cpus) {
  std::map<std::pair<std::string, std::string>, std::string> by_pair;
  for (const PairCell& cell : cells) {
    if (cell.method != method) continue;
    by_pair[{cell.first, cell.second}] = by_pair[{cell.second, cell.first}] = cell_ns(cell.seconds);
  }
  std::string text;
  for (std::size_t from = 0; from < cpus.size(); from += columns_a_block) {
    const std::size_t to = std::min(cpus.size(), from + columns_a_block);
    std::vector<std::vector<std::string>> rows{{"CPU"}};
    for (std::size_t i = from; i < to; ++i) rows[0].push_back(cpus[i]);
    for (const std::string& row : cpus) {
      rows.push_back({row});
      for (std::size_t i = from; i < to; ++i) {
        const auto found = by_pair.find({row, cpus[i]});
        rows.back().push_back(found == by_pair.end() ? "-" : found->second);
      }
    }
    text += aligned(rows, 0) + "\n";
  }
  return text;
}

std::vector<std::string> summary_row(const std::vector<const PairCell*>& cells) {
  std::vector<double> values;
  std::optional<double> widest;
  for (const PairCell* cell : cells) {
    values.push_back(cell->seconds);
    if (cell->half_width) widest = std::max(widest.value_or(0), *cell->half_width);
  }
  const auto [low, high] = std::minmax_element(
      cells.begin(), cells.end(),
      [](const PairCell* a, const PairCell* b) { return a->seconds < b->seconds; });
  const auto named = [](const PairCell* cell) {
    return fmt::format("{} ({}-{})", cell_ns(cell->seconds), cell->first, cell->second);
  };
  return {cells.front()->method,
          cells.front()->nearness,
          std::to_string(cells.size()),
          cell_ns(summarize(values)->median),
          named(*low),
          named(*high),
          widest ? fmt::format("{:.1f}%", *widest * 100) : "-"};
}

std::string summary_text(const std::vector<PairCell>& cells) {
  std::vector<std::vector<std::string>> rows{
      {"method", "pairs", "number", "median", "lowest (CPUs)", "highest (CPUs)", "widest +-"}};
  for (const std::string& method : different(cells, &PairCell::method)) {
    // Nearest first.
    for (const char* start : {"same core", "same L", "same node", "other node", "unknown"}) {
      std::vector<const PairCell*> here;
      for (const PairCell& cell : cells) {
        if (cell.method == method && cell.nearness.starts_with(start)) here.push_back(&cell);
      }
      if (!here.empty()) rows.push_back(summary_row(here));
    }
  }
  return aligned(rows, 2);
}

}  // namespace

std::string cores_table(const RunReport& report, bool stats) {
  const std::vector<PairCell> cells = cells_of(report);
  std::vector<std::string> cpus;
  for (const WorkerRow& worker : report.workers) cpus.push_back(to_list(worker.cpus));
  std::string text =
      "A cache line handed from one CPU to another, in ns: half of a round trip, median.\n"
      "Each pair is measured once, so the matrix is symmetrical.\n\n";
  for (const std::string& method : different(cells, &PairCell::method)) {
    if (cpus.size() > most_cpus_shown) {
      text += fmt::format("The matrix of {} CPUs is in --format csv and --json.\n\n", cpus.size());
      break;
    }
    text += fmt::format(
        "{}\n", method == "cas" ? "cas: by compare-and-swap" : "store: by a load and a store");
    text += matrix_text(cells, method, cpus);
  }
  if (!cells.empty()) text += summary_text(cells) + "\n";
  if (stats) text += "All cells (ns)\n" + stats_table(report, "hand_over") + "\n";
  return text + notes_text(report);
}

}  // namespace numatlas
