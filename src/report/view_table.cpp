#include "report/view_table.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "record/labels.h"

namespace numatlas {
namespace {

using Row = std::vector<std::string>;

const std::string none = "-";

std::string number(double value, const ViewColumn& column) {
  return fmt::format("{:.{}f}{}", value * column.scale, column.digits, column.unit);
}

std::string percent(const std::optional<double>& part) {
  return part ? fmt::format("{:.1f}%", *part * 100) : none;
}

std::string with_interval(const Estimate& estimate, const ViewColumn& column) {
  const std::string value = number(estimate.value, column);
  const auto width = half_width(estimate);
  if (!width) return value;
  // Of differences that may be none at all.
  if (*width >= 1) return value + " +-" + number(*width * std::abs(estimate.value), column);
  return value + " +-" + percent(width);
}

/// Of several visits.
std::string best_text(const ViewItem& item, const ViewColumn& column) {
  const auto& visits = item.one->visits;
  if (!visits || visits->count < 2 || item.flow != nullptr) return none;
  const auto found = std::find_if(visits->figures.begin(), visits->figures.end(),
                                  [&](const auto& one) { return one.key == column.figure; });
  return found == visits->figures.end() ? none : number(found->best, column);
}

std::string figure_text(const ViewItem& item, const ViewColumn& column) {
  const Figure* const figure = figure_of(item, column.figure);
  if (figure == nullptr || !figure->estimate) return none;
  const Estimate& estimate = *figure->estimate;
  const auto& summary = figure->summary;
  // Over workers, not over the samples of one.
  const FlowGroup* const group = item.group != nullptr ? item.group
                                 : item.flow == nullptr && !item.one->groups.empty()
                                     ? &item.one->groups.front()
                                     : nullptr;
  const bool of_workers = summary && group != nullptr && group->workers > 1;
  switch (column.part) {
    case Part::value: return number(estimate.value, column);
    case Part::half_width: return percent(half_width(estimate));
    case Part::with_interval: return with_interval(estimate, column);
    case Part::least: return of_workers ? number(summary->min, column) : none;
    case Part::most: return of_workers ? number(summary->max, column) : none;
    case Part::spread:
      if (!of_workers) return with_interval(estimate, column);
      return fmt::format("{} ({}-{})", number(estimate.value, column), number(summary->min, column),
                         number(summary->max, column));
    case Part::p95: return summary && !of_workers ? number(summary->p95, column) : none;
    case Part::best: return best_text(item, column);
    case Part::p99: return summary && !of_workers ? number(summary->p99, column) : none;
  }
  return none;
}

std::string cell_text(const RunReport& report, const ViewItem& item, const ViewColumn& column) {
  return column.label.empty() ? figure_text(item, column) : label_text(report, item, column.label);
}

/// The columns that name a row, which stand to the left, and those that tell something of it: the
/// labels that come first, and the others.
struct Columns {
  std::vector<ViewColumn> names, cells;
};

Columns columns_of(const View& view) {
  if (view.kind == ViewKind::matrix) return {{label_column("", view.rows)}, view.cells};
  const auto first = std::find_if(view.cells.begin(), view.cells.end(),
                                  [](const ViewColumn& column) { return column.label.empty(); });
  return {{view.cells.begin(), first}, {first, view.cells.end()}};
}

Row row_of(const RunReport& report, const ViewItem& item, const std::vector<ViewColumn>& columns) {
  Row row;
  for (const ViewColumn& column : columns) row.push_back(cell_text(report, item, column));
  return row;
}

Row heads_of(const std::vector<ViewColumn>& columns) {
  Row heads;
  for (const ViewColumn& column : columns) heads.push_back(column.head);
  return heads;
}

/// Whether anything was measured for it of what the view shows; true for views of labels alone.
bool has_figures(const ViewItem& item, const View& view) {
  bool asked = false;
  for (const ViewColumn& column : view.cells) {
    if (column.figure.empty()) continue;
    asked = true;
    const Figure* const figure = figure_of(item, column.figure);
    if (figure != nullptr && figure->estimate) return true;
  }
  return !asked;
}

/// In the order of the horizontal axis, where that is a figure.
void sort_by_axis(std::vector<ViewItem>& items, const View& view) {
  if (view.kind != ViewKind::curve) return;
  const auto at = [&](const ViewItem& item) {
    const Figure* const figure = figure_of(item, view.rows);
    return figure == nullptr ? 0 : figure->value().value_or(0);
  };
  std::stable_sort(items.begin(), items.end(),
                   [&](const ViewItem& a, const ViewItem& b) { return at(a) < at(b); });
}

/// Drops columns that say nothing; how many of the first `left` are left.
std::size_t drop_empty_columns(std::vector<Row>& rows, std::size_t left) {
  for (std::size_t column = rows[0].size(); column-- > 0;) {
    const bool empty = std::all_of(rows.begin() + 1, rows.end(),
                                   [&](const Row& row) { return row[column] == none; });
    if (!empty) continue;
    if (column < left) --left;
    for (Row& row : rows) row.erase(row.begin() + static_cast<std::ptrdiff_t>(column));
  }
  return left;
}

std::string table_of(const RunReport& report, const View& view) {
  std::vector<Row> rows{heads_of(view.cells)};
  const Columns columns = columns_of(view);
  std::vector<ViewItem> items = items_of(report, view);
  sort_by_axis(items, view);
  for (const ViewItem& item : items) {
    if (item.one->flows.empty() || !has_figures(item, view)) continue;
    Row row = row_of(report, item, view.cells);
    const bool again =  // of labels alone: each once
        columns.cells.empty() && std::find(rows.begin(), rows.end(), row) != rows.end();
    if (!again) rows.push_back(std::move(row));
  }
  if (rows.size() == 1) return "";
  return aligned(rows, drop_empty_columns(rows, columns.names.size()));
}

/// Texts, each once, in the order in which they came.
template <class T>
struct Index {
  std::vector<T> values;
  std::map<T, std::size_t> places;
  std::size_t of(const T& value) {
    const auto [found, is_new] = places.emplace(value, values.size());
    if (is_new) values.push_back(value);
    return found->second;
  }
};

/// What stands where a row and a column meet.
struct Grid {
  Index<Row> rows;
  Index<std::string> columns;
  std::map<std::pair<std::size_t, std::size_t>, std::string> cells;
};

Grid grid_of(const RunReport& report, const View& view, const Columns& columns) {
  Grid grid;
  for (const ViewItem& item : items_of(report, view)) {
    // A matrix has a row for what was left out; a table has none.
    if (view.kind != ViewKind::matrix && !has_figures(item, view)) continue;
    const std::string column = label_text(report, item, view.columns);
    const Row row = row_of(report, item, columns.names);
    std::string text;
    for (const std::string& part : row_of(report, item, columns.cells))
      if (part != none || text.empty()) text += (text.empty() ? "" : " ") + part;
    const auto add = [&](const Row& name, const std::string& head) {
      const std::pair at{grid.rows.of(name), grid.columns.of(head)};
      if (!item.one->flows.empty()) grid.cells[at] = text;
    };
    if (view.symmetric) grid.columns.of(row[0]);  // both in one order
    add(row, column);
    if (view.symmetric) add({column}, row[0]);
  }
  return grid;
}

std::size_t width_of(const Row& column) {
  std::size_t width = 0;
  for (const std::string& text : column) width = std::max(width, text.size());
  return width + 2;  // with the blanks between columns
}

/// As many columns from `next` on as a terminal has room for, beside the rows' names.
std::string block_of(const Grid& grid, std::vector<Row> rows, std::size_t left,
                     const std::string& head, std::size_t& next) {
  constexpr std::size_t widest = 120;
  std::size_t width = 0;
  for (std::size_t i = 0; i < left; ++i) {
    Row column;
    for (const Row& row : rows) column.push_back(row[i]);
    width += width_of(column);
  }
  for (const std::size_t first = next; next < grid.columns.values.size(); ++next) {
    const std::string& name = grid.columns.values[next];
    Row column{head.empty() ? name : head + " " + name};
    for (std::size_t row = 0; row < grid.rows.values.size(); ++row) {
      const auto found = grid.cells.find({row, next});
      column.push_back(found == grid.cells.end() ? none : found->second);
    }
    width += width_of(column);
    if (next > first && width > widest) break;
    for (std::size_t i = 0; i < rows.size(); ++i) rows[i].push_back(column[i]);
  }
  return aligned(rows, left);
}

std::string grid_text(const RunReport& report, const View& view) {
  const Columns columns = columns_of(view);
  const Grid grid = grid_of(report, view, columns);
  if (grid.cells.empty()) return "";
  // Beyond this nobody reads a matrix as text.
  constexpr std::size_t most_columns = 32;
  if (grid.columns.values.size() > most_columns)
    return fmt::format("The {} columns are in --format csv and --json.\n",
                       grid.columns.values.size());
  std::vector<Row> rows{heads_of(columns.names)};
  rows.insert(rows.end(), grid.rows.values.begin(), grid.rows.values.end());
  const std::size_t left = drop_empty_columns(rows, columns.names.size());
  std::string text;
  for (std::size_t next = 0; next < grid.columns.values.size();)
    text += (next > 0 ? "\n" : "") + block_of(grid, rows, left, columns.cells.front().head, next);
  return text;
}

}  // namespace

std::string view_text(const RunReport& report, const View& view) {
  const std::string table = view.columns.empty() ? table_of(report, view) : grid_text(report, view);
  if (table.empty()) return "";
  std::string text = view.title + "\n";
  for (const std::string& line : view.notes) text += line + "\n";
  text += table;
  for (const std::string& line : view.verdict) text += line + "\n";
  return text + "\n";
}

std::string views_text(const RunReport& report, const std::vector<View>& views) {
  std::string text;
  for (const View& view : views) text += view_text(report, view);
  return text;
}

}  // namespace numatlas
