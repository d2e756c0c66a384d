#include "report/view_table.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "record/labels.h"
#include "report/worker_table.h"

namespace numatlas {
namespace {

using Row = std::vector<std::string>;

const std::string none = "-";

std::string number(double value, const ViewColumn& column) {
  return fmt::format("{:.{}f}", value * column.scale, column.digits);
}

std::string percent(const std::optional<double>& part) {
  return part ? fmt::format("{:.1f}%", *part * 100) : none;
}

std::string estimate_text(const std::optional<Estimate>& estimate, const ViewColumn& column) {
  if (!estimate) return none;
  const auto width = half_width(*estimate);
  if (column.part == Part::half_width) return percent(width);
  const std::string value = number(estimate->value, column);
  return column.part == Part::with_interval && width ? value + " +-" + percent(width) : value;
}

std::string summary_text(const Figure* figure, const ViewColumn& column) {
  if (figure == nullptr || !figure->summary) return none;
  return number(column.part == Part::p95 ? figure->summary->p95 : figure->summary->p99, column);
}

bool is_of_summary(const ViewColumn& column) {
  return column.part == Part::p95 || column.part == Part::p99;
}

/// Over the workers: the least or the most.
std::string extreme_text(const ScenarioResult& one, const ViewColumn& column) {
  std::optional<double> found;
  for (const FlowResult& flow : one.flows) {
    const Figure* const figure = flow.load ? nullptr : find_figure(flow, column.figure);
    if (figure == nullptr || !figure->estimate) continue;
    const double value = figure->estimate->value;
    const bool further = !found || (column.part == Part::least ? value < *found : value > *found);
    if (further) found = value;
  }
  return found ? number(*found, column) : none;
}

std::string case_text(const RunReport& report, const ScenarioResult& one,
                      const ViewColumn& column) {
  if (!column.label.empty()) return label_text(report, one, column.label);
  if (column.part == Part::least || column.part == Part::most) return extreme_text(one, column);
  if (!is_of_summary(column)) return estimate_text(estimate_of(one, column.figure), column);
  const Figure* figure = find_figure(one.figures, column.figure);
  if (figure == nullptr && one.flows.size() == 1)
    figure = find_figure(one.flows.front(), column.figure);
  return summary_text(figure, column);
}

std::string flow_text(const RunReport& report, const ScenarioResult& one, const FlowResult& flow,
                      const ViewColumn& column) {
  if (!column.label.empty()) return label_text(report, one, flow, column.label);
  const Figure* const figure = find_figure(flow, column.figure);
  if (is_of_summary(column)) return summary_text(figure, column);
  return estimate_text(figure != nullptr ? figure->estimate : std::nullopt, column);
}

std::vector<const ScenarioResult*> cases_of(const RunReport& report, const View& view) {
  std::vector<const ScenarioResult*> cases;
  for (const ScenarioResult& one : report.scenarios) {
    const bool shown = std::all_of(view.where.begin(), view.where.end(), [&](const auto& label) {
      return label_text(report, one, label.first) == label.second;
    });
    if (shown) cases.push_back(&one);
  }
  return cases;
}

/// Columns that say nothing in any row go. Returns how many of the first `left` stay.
std::size_t drop_empty_columns(std::vector<Row>& rows, std::size_t left) {
  for (std::size_t column = rows.front().size(); column-- > 0;) {
    const bool empty = std::all_of(rows.begin() + 1, rows.end(),
                                   [&](const Row& row) { return row[column] == none; });
    if (!empty) continue;
    if (column < left) --left;
    for (Row& row : rows) row.erase(row.begin() + static_cast<std::ptrdiff_t>(column));
  }
  return left;
}

/// Words to the left, numbers to the right: the labels that come first.
std::size_t leading_labels(const View& view) {
  return static_cast<std::size_t>(
      std::find_if(view.cells.begin(), view.cells.end(),
                   [](const ViewColumn& column) { return column.label.empty(); }) -
      view.cells.begin());
}

std::string table_of(const RunReport& report, const View& view) {
  std::vector<Row> rows(1);
  bool several_workers = false;
  const auto cases = cases_of(report, view);
  for (const ScenarioResult* one : cases)
    several_workers = several_workers || one->flows.size() > 1;
  for (const ViewColumn& column : view.cells) rows[0].push_back(column.head);
  const auto cell = [&](const ViewColumn& column, const ScenarioResult& one,
                        const FlowResult* flow) {
    const bool extreme = column.part == Part::least || column.part == Part::most;
    if (extreme && !several_workers) return none;
    return flow != nullptr ? flow_text(report, one, *flow, column) : case_text(report, one, column);
  };
  for (const ScenarioResult* one : cases) {
    if (one->flows.empty()) continue;
    const bool by_flow = view.level == ViewLevel::flows;
    for (std::size_t i = 0; i < (by_flow ? one->flows.size() : 1); ++i) {
      Row& row = rows.emplace_back();
      for (const ViewColumn& column : view.cells)
        row.push_back(cell(column, *one, by_flow ? &one->flows[i] : nullptr));
    }
  }
  if (rows.size() == 1) return "";
  const std::size_t left = drop_empty_columns(rows, leading_labels(view));
  return aligned(rows, left);
}

// Beyond this nobody reads a matrix as text.
constexpr std::size_t most_columns = 32;
/// Terminals of 120 characters have room for this many; wider matrices are cut into blocks.
constexpr std::size_t columns_a_block = 16;

std::string cell_of(const RunReport& report, const ScenarioResult& one, const View& view) {
  std::string text;
  for (const ViewColumn& cell : view.cells) {
    const std::string part = case_text(report, one, cell);
    if (part != none || text.empty()) text += (text.empty() ? "" : " ") + part;
  }
  return text;
}

std::string matrix_of(const RunReport& report, const View& view) {
  Row columns, names;
  const auto note = [](Row& texts, const std::string& text) {
    if (std::find(texts.begin(), texts.end(), text) == texts.end()) texts.push_back(text);
  };
  std::map<std::pair<std::string, std::string>, std::string> cells;
  for (const ScenarioResult* one : cases_of(report, view)) {
    const std::string row = label_text(report, *one, view.rows);
    const std::string column = label_text(report, *one, view.columns);
    note(names, row);
    note(columns, column);
    if (view.symmetric) {
      note(names, column);
      note(columns, row);
    }
    if (one->flows.empty()) continue;
    const std::string text = cell_of(report, *one, view);
    cells[{row, column}] = text;
    if (view.symmetric) cells[{column, row}] = text;
  }
  if (cells.empty()) return "";
  if (view.symmetric) columns = names;  // in one order
  if (columns.size() > most_columns)
    return fmt::format("The matrix of {} columns is in --format csv and --json.\n", columns.size());
  std::string text;
  for (std::size_t from = 0; from < columns.size(); from += columns_a_block) {
    const std::size_t to = std::min(columns.size(), from + columns_a_block);
    std::vector<Row> rows{{""}};
    rows[0].insert(rows[0].end(), columns.begin() + static_cast<std::ptrdiff_t>(from),
                   columns.begin() + static_cast<std::ptrdiff_t>(to));
    for (const std::string& name : names) {
      Row& row = rows.emplace_back(Row{name});
      for (std::size_t i = from; i < to; ++i) {
        const auto found = cells.find({name, columns[i]});
        row.push_back(found == cells.end() ? none : found->second);
      }
    }
    text += (from > 0 ? "\n" : "") + aligned(rows, 1);
  }
  return text;
}

}  // namespace

std::string view_text(const RunReport& report, const View& view) {
  const std::string table =
      view.kind == ViewKind::matrix ? matrix_of(report, view) : table_of(report, view);
  if (table.empty()) return "";
  std::string text = view.title + "\n";
  for (const std::string& note : view.notes) text += note + "\n";
  text += table;
  for (const std::string& line : view.verdict) text += line + "\n";
  return text + "\n";
}

std::string views_text(const RunReport& report, const std::vector<View>& views, bool by_host) {
  std::string text;
  if (by_host && report.hosts.size() > 1) {
    for (std::size_t host = 0; host < report.hosts.size(); ++host) {
      const RunReport part = of_host(report, static_cast<int>(host));
      text += fmt::format("Host {}\n\n", report.hosts[host]);
      for (const View& view : views) text += view_text(part, view);
    }
    return text;
  }
  for (const View& view : views) text += view_text(report, view);
  return text;
}

}  // namespace numatlas
