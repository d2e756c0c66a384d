#include "report/view_text.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/terminal.h"
#include "base/text.h"
#include "record/estimate.h"
#include "record/labels.h"
#include "record/unit.h"
#include "report/csv.h"
#include "report/text_table.h"

namespace numatlas {
namespace {

const std::string none = "-";

/// Half of an interval over the value from which a figure is called uncertain on a terminal.
constexpr double uncertain_from = 0.1;

/// The figure whose own unit a column shows; nullptr where the column has a unit.
const Figure* figure_of_unit(const ViewItem& item, const ViewColumn& column) {
  return column.scale == 0 ? figure_of(item, column.figure) : nullptr;
}

std::string number_text(double value, const ViewItem& item, const ViewColumn& column) {
  const Figure* const figure = figure_of_unit(item, column);
  return figure != nullptr ? quantity_text(value, figure->unit)
                           : short_number(value * column.scale, column.digits) + column.unit;
}

/// The value as `told` has it.
std::string told_text(const Estimate& estimate, const ViewItem& item, const ViewColumn& column) {
  const Figure* const figure = figure_of_unit(item, column);
  if (figure != nullptr && figure->unit.is_time_or_rate() && is_wide(estimate))
    return estimate_text(estimate, figure->unit);
  const auto with = [&](double value) {
    return figure != nullptr ? quantity_text(value, figure->unit)
                             : short_number(value * column.scale, column.digits);
  };
  return told(estimate, with, figure != nullptr ? "" : column.unit);
}

TextCell percent(const std::optional<double>& part) {
  if (!part) return none;
  return {half_text(*part), *part > uncertain_from ? Accent::uncertain : Accent::none};
}

TextCell value_cell(const Estimate& estimate, const ViewItem& item, const ViewColumn& column) {
  return {told_text(estimate, item, column), is_wide(estimate) ? Accent::uncertain : Accent::none};
}

TextCell with_interval(const Estimate& estimate, const ViewItem& item, const ViewColumn& column) {
  const auto width = half_width(estimate);
  TextCell cell = value_cell(estimate, item, column);
  if (!width || is_wide(estimate)) return cell;
  const TextCell part = percent(width);
  return {cell.text + " " + plus_minus() + part.text, part.accent};
}

/// Of several visits.
std::optional<double> best_of(const ViewItem& item, const ViewColumn& column) {
  const auto& visits = item.one->visits;
  if (!visits || visits->count < 2 || item.flow != nullptr) return std::nullopt;
  const auto found = std::ranges::find(visits->figures, column.figure, &VisitValues::key);
  return found == visits->figures.end() ? std::nullopt : std::optional(found->best);
}

/// The summary of a figure over workers; nullptr where it is over the samples of one.
const Summary* over_workers(const ViewItem& item, const Figure& figure) {
  const FlowGroup* const group = item.group != nullptr ? item.group
                                 : item.flow == nullptr && !item.one->groups.empty()
                                     ? &item.one->groups.front()
                                     : nullptr;
  return figure.summary && group != nullptr && group->workers > 1 ? &*figure.summary : nullptr;
}

/// What a column shows of a figure that is known, without its interval, in the figure's own unit.
std::optional<double> number_of(const ViewItem& item, const ViewColumn& column) {
  const Figure* const figure = figure_of(item, column.figure);
  if (figure == nullptr || !figure->estimate) return std::nullopt;
  const Summary* const workers = over_workers(item, *figure);
  const Summary* const samples =
      workers == nullptr && figure->summary ? &*figure->summary : nullptr;
  const auto part = [](const Summary* summary, double Summary::*value) {
    return summary == nullptr ? std::nullopt : std::optional(summary->*value);
  };
  switch (column.part) {
    case Part::value:
    case Part::with_interval:
    case Part::spread: return figure->estimate->value;
    case Part::half_width: return half_width(*figure->estimate);
    case Part::least: return part(workers, &Summary::min);
    case Part::most: return part(workers, &Summary::max);
    case Part::p95: return part(samples, &Summary::p95);
    case Part::p99: return part(samples, &Summary::p99);
    case Part::best: return best_of(item, column);
  }
  return std::nullopt;
}

TextCell figure_cell(const ViewItem& item, const ViewColumn& column) {
  const auto shown = number_of(item, column);
  if (!shown) return none;
  const Figure& figure = *figure_of(item, column.figure);
  const Estimate& estimate = *figure.estimate;
  const auto number = [&](double value) { return number_text(value, item, column); };
  if (column.part == Part::value) return value_cell(estimate, item, column);
  if (column.part == Part::half_width) return is_wide(estimate) ? TextCell{none} : percent(shown);
  const Summary* const workers = over_workers(item, figure);
  if (column.part == Part::spread && workers != nullptr)
    return fmt::format("{} ({}-{})", number(*shown), number(workers->min), number(workers->max));
  if (column.part == Part::spread || column.part == Part::with_interval)
    return with_interval(estimate, item, column);
  return number(*shown);
}

/// Labels are written as the options take them, "64MiB" and "50%"; people read "64 MiB" and "50 %".
std::string spaced(std::string label) {
  const std::size_t digits = label.find_first_not_of("0123456789.");
  if (digits == 0 || digits == std::string::npos) return label;
  static const std::set<std::string, std::less<>> units{"B", "KiB", "MiB", "GiB", "TiB", "%"};
  if (units.contains(std::string_view(label).substr(digits))) label.insert(digits, " ");
  return label;
}

TextCell cell_text(const RunReport& report, const ViewItem& item, const ViewColumn& column,
                   const TextStyle& style) {
  if (!column.label.empty()) return TextCell(spaced(label_text(report, item, column.label)));
  TextCell cell = figure_cell(item, column);
  if (style.in_brackets && cell.text != none && column.part != Part::half_width)
    cell.text = "(" + cell.text + ")";
  return cell;
}

/// The columns that name a row, which stand to the left, and those that tell something of it: the
/// labels that come first, and the others.
struct Columns {
  std::vector<ViewColumn> names, cells;
};

Columns columns_of(const View& view) {
  if (view.kind == ViewKind::matrix) return {{label_column("", view.rows)}, view.cells};
  const auto first = std::ranges::find_if(
      view.cells, [](const ViewColumn& column) { return column.label.empty(); });
  return {{view.cells.begin(), first}, {first, view.cells.end()}};
}

/// How a column of an item is written.
using CellOf = std::function<TextCell(const ViewItem&, const ViewColumn&)>;

TextRow row_of(const ViewItem& item, const std::vector<ViewColumn>& columns,
               const CellOf& cell_of) {
  TextRow row;
  for (const ViewColumn& column : columns) row.push_back(cell_of(item, column));
  return row;
}

TextRow heads_of(const std::vector<ViewColumn>& columns) {
  TextRow heads;
  for (const ViewColumn& column : columns) heads.emplace_back(column.head);
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

/// Drops columns that say nothing; how many of the first `left` are left.
std::size_t drop_empty_columns(std::vector<TextRow>& rows, std::size_t left) {
  for (std::size_t column = rows[0].size(); column-- > 0;) {
    const bool empty = std::all_of(rows.begin() + 1, rows.end(),
                                   [&](const TextRow& row) { return row[column].text == none; });
    if (!empty) continue;
    if (column < left) --left;
    for (TextRow& row : rows) row.erase(row.begin() + static_cast<std::ptrdiff_t>(column));
  }
  return left;
}

/// The rows of a table, below its heads.
std::vector<TextRow> rows_of(const View& view, const std::vector<ViewItem>& items,
                             const CellOf& cell_of) {
  std::vector<TextRow> rows{heads_of(view.cells)};
  const Columns columns = columns_of(view);
  for (const ViewItem& item : items) {
    const bool measured = !item.one->flows.empty() || !item.one->figures.empty();
    const bool skipped = item.one->status == Status::skipped;  // the notes say why
    if ((!measured && (skipped || !columns.cells.empty())) || !has_figures(item, view)) continue;
    TextRow row = row_of(item, view.cells, cell_of);
    const bool again =  // of labels alone: each once
        columns.cells.empty() && std::ranges::find(rows, row) != rows.end();
    if (!again) rows.push_back(std::move(row));
  }
  return rows;
}

std::string table_of(const View& view, const std::vector<ViewItem>& items, const CellOf& cell_of,
                     const TextStyle& style) {
  std::vector<TextRow> rows = rows_of(view, items, cell_of);
  if (rows.size() == 1) return "";
  const std::size_t left = drop_empty_columns(rows, columns_of(view).names.size());
  return fitted_lines(std::move(rows), left, style);
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
  Index<TextRow> rows;
  Index<std::string> columns;
  std::map<std::pair<std::size_t, std::size_t>, TextCell> cells;
};

/// Between a node and itself, or the only kind of cell that a matrix of other labels has.
bool is_remote(const RunReport& report, const ViewItem& item, const View& view) {
  return view.rows == "cpu_node" && view.columns == "memory_node" &&
         label_text(report, item, view.rows) != label_text(report, item, view.columns);
}

/// Where both are of the same things: the first row has no cell of itself, and its column came
/// late.
void put_columns_in_order_of_rows(Grid& grid) {
  const Index<std::string> before = grid.columns;
  if (grid.rows.values.size() != before.values.size()) return;
  Index<std::string> columns;
  for (const TextRow& row : grid.rows.values) {
    if (!before.places.contains(row[0].text)) return;
    columns.of(row[0].text);
  }
  if (columns.values.size() != before.values.size()) return;
  std::map<std::pair<std::size_t, std::size_t>, TextCell> cells;
  for (auto& [at, cell] : grid.cells)
    cells[{at.first, columns.of(before.values[at.second])}] = std::move(cell);
  grid.columns = std::move(columns);
  grid.cells = std::move(cells);
}

Grid grid_of(const RunReport& report, const View& view, const std::vector<ViewItem>& items,
             const Columns& columns, const CellOf& cell_of) {
  Grid grid;
  for (const ViewItem& item : items) {
    // A matrix has a row for what was left out; a table has none.
    if (view.kind != ViewKind::matrix && !has_figures(item, view)) continue;
    const std::string column = label_text(report, item, view.columns);
    const TextRow row = row_of(item, columns.names, cell_of);
    TextCell cell;
    if (is_remote(report, item, view)) cell.accent = Accent::remote;
    for (const TextCell& part : row_of(item, columns.cells, cell_of)) {
      if (part.text != none || cell.text.empty())
        cell.text += (cell.text.empty() ? "" : " ") + part.text;
      cell.accent = std::max(cell.accent, part.accent);
    }
    const auto add = [&](const TextRow& name, const std::string& head) {
      const std::pair at{grid.rows.of(name), grid.columns.of(head)};
      if (!item.one->flows.empty()) grid.cells[at] = cell;
    };
    if (view.symmetric) grid.columns.of(row[0].text);  // both in one order
    add(row, column);
    if (view.symmetric) add({column}, row[0].text);
  }
  if (view.kind == ViewKind::matrix) put_columns_in_order_of_rows(grid);
  return grid;
}

std::size_t width_of(const TextRow& column) {
  std::size_t width = 0;
  for (const TextCell& cell : column) width = std::max(width, width_of_text(cell.text));
  return width + 2;  // with the blanks between columns
}

/// As many columns from `next` on as a terminal has room for, beside the rows' names.
std::string block_of(const Grid& grid, std::vector<TextRow> rows, std::size_t left,
                     const std::string& head, std::size_t& next, const TextStyle& style) {
  constexpr std::size_t usual = 120;
  const std::size_t widest = style.width > 0 ? style.width + 2 : usual;
  std::size_t width = 0;
  for (std::size_t i = 0; i < left; ++i) {
    TextRow column;
    for (const TextRow& row : rows) column.push_back(row[i]);
    width += width_of(column);
  }
  for (const std::size_t first = next; next < grid.columns.values.size(); ++next) {
    const std::string& name = grid.columns.values[next];
    TextRow column{TextCell(head.empty() ? name : head + " " + name)};
    for (std::size_t row = 0; row < grid.rows.values.size(); ++row) {
      const auto found = grid.cells.find({row, next});
      column.push_back(found == grid.cells.end() ? TextCell(none) : found->second);
    }
    width += width_of(column);
    if (next > first && width > widest) break;
    for (std::size_t i = 0; i < rows.size(); ++i) rows[i].push_back(column[i]);
  }
  return table_lines(rows, left, style);
}

std::string grid_text(const RunReport& report, const View& view, const std::vector<ViewItem>& items,
                      const CellOf& cell_of, const TextStyle& style) {
  const Columns columns = columns_of(view);
  const Grid grid = grid_of(report, view, items, columns, cell_of);
  if (grid.cells.empty()) return "";
  // Beyond this nobody reads a matrix as text.
  constexpr std::size_t most_columns = 32;
  if (grid.columns.values.size() > most_columns)
    return fmt::format("The {} columns are in --format csv and --json.\n",
                       grid.columns.values.size());
  std::vector<TextRow> rows{heads_of(columns.names)};
  rows.insert(rows.end(), grid.rows.values.begin(), grid.rows.values.end());
  const std::size_t left = drop_empty_columns(rows, columns.names.size());
  const std::string head = columns.cells.front().head;
  std::string text;
  for (std::size_t next = 0; next < grid.columns.values.size();) {
    if (next > 0 || !style.markdown) text += "\n";
    text += block_of(grid, rows, left, head, next, style);
  }
  return text;
}

std::string csv_line(const TextRow& row) {
  std::string line;
  for (const TextCell& cell : row)
    line += (&cell == &row.front() ? "" : ",") + csv_field(cell.text);
  return line + '\n';
}

}  // namespace

std::string view_csv(const RunReport& report, const View& shown_view) {
  View view = shown_view;  // without intervals
  std::erase_if(view.cells, [](const ViewColumn& cell) { return cell.part == Part::half_width; });
  const CellOf cell_of = [&](const ViewItem& item, const ViewColumn& column) -> TextCell {
    if (!column.label.empty()) {
      const std::string label = label_text(report, item, column.label);
      return label == none ? "" : label;
    }
    const auto number = number_of(item, column);
    return number ? fmt::format("{:.6g}", *number * (column.scale != 0 ? column.scale : 1)) : "";
  };
  const std::vector<ViewItem> items = items_of(report, view);
  std::string text;
  if (view.columns.empty()) {
    for (const TextRow& row : rows_of(view, items, cell_of)) text += csv_line(row);
    return text;
  }
  Columns columns = columns_of(view);
  columns.cells.resize(std::min<std::size_t>(1, columns.cells.size()));
  const Grid grid = grid_of(report, view, items, columns, cell_of);
  const bool square = view.kind == ViewKind::matrix;
  TextRow heads = heads_of(columns.names);
  for (const std::string& name : grid.columns.values) heads.emplace_back(name);
  if (!square) text += csv_line(heads);
  for (std::size_t row = 0; row < grid.rows.values.size(); ++row) {
    TextRow cells = square ? TextRow() : grid.rows.values[row];
    for (std::size_t column = 0; column < grid.columns.values.size(); ++column) {
      const auto found = grid.cells.find({row, column});
      // Of a pair that was measured once the cell below the diagonal.
      const bool shown = found != grid.cells.end() && (!view.symmetric || column < row);
      cells.push_back(shown ? TextCell(found->second.text) : TextCell());
    }
    text += csv_line(cells);
  }
  return text;
}

std::string view_text(const RunReport& report, const View& view, const TextStyle& style) {
  const std::vector<ViewItem> items = items_of(report, view);
  const CellOf cell_of = [&](const ViewItem& item, const ViewColumn& column) {
    return cell_text(report, item, column, style);
  };
  const std::string table = view.columns.empty() ? table_of(view, items, cell_of, style)
                                                 : grid_text(report, view, items, cell_of, style);
  if (table.empty()) return "";
  std::string notes, verdict;
  for (const std::string& line : view.notes) notes += line + "\n";
  for (const std::string& line : view.verdict) verdict += line + "\n";
  if (!style.markdown)
    return wrapped(view.title + "\n" + notes, style.width) + table + wrapped(verdict, style.width) +
           "\n";
  const std::string lists = notes.empty() ? "" : markdown_lines(notes) + "\n";
  return "### " + view.title + "\n\n" + lists + table + "\n" +
         (verdict.empty() ? "" : markdown_lines(verdict) + "\n");
}

std::string views_text(const RunReport& report, const std::vector<View>& views,
                       const TextStyle& style) {
  std::string text;
  for (const View& view : views) text += view_text(report, view, style);
  return text;
}

bool has_star(const Fact& fact) {
  return fact.unit.is_time_or_rate() && is_of_few_visits(fact.estimate);
}

std::string star_words() { return fmt::format("* fewer than {} visits", least_visits); }

std::string star_note() {
  return star_words() + ": the interval does not cover changes between visits";
}

std::string figure_text(const Fact& fact) {
  const bool star = has_star(fact) && !is_unknown(fact.estimate) && half_width(fact.estimate);
  return estimate_text(fact.estimate, fact.unit) + (star ? "*" : "");
}

}  // namespace numatlas
