#include "record/drawn.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <set>
#include <string_view>
#include <system_error>
#include <tuple>

#include <fmt/format.h>

#include "base/add_once.h"
#include "base/ids.h"
#include "base/units.h"
#include "record/estimate.h"
#include "record/figure.h"
#include "record/labels.h"
#include "record/marks.h"
#include "record/row_names.h"
#include "record/unit.h"

namespace numatlas {
namespace {

/// Half of an interval over the value from which a figure is flagged.
constexpr double uncertain_from = 0.1;

// ---- One figure

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

/// The value, where asked for with its interval.
void tell(const Estimate& estimate, const ViewItem& item, const ViewColumn& column,
          bool with_interval, DrawnCell& cell) {
  const auto width = half_width(estimate);
  cell.text = told_text(estimate, item, column);
  cell.flagged = width && *width > uncertain_from;
  if (with_interval && width && !is_wide(estimate))
    cell.text += std::string(" ") + plus_minus() + half_text(*width);
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

/// Whether a column shows the value of a figure, and with it the interval.
bool has_interval(const ViewColumn& column) {
  return column.part == Part::value || column.part == Part::with_interval ||
         column.part == Part::spread;
}

DrawnCell figure_cell(const ViewItem& item, const ViewColumn& column) {
  DrawnCell cell{.text = unknown_text};
  const auto shown = number_of(item, column);
  if (!shown) return cell;
  const Figure& figure = *figure_of(item, column.figure);
  const Estimate& estimate = *figure.estimate;
  const double scale = column.scale != 0 ? column.scale : 1;
  if (column.part == Part::half_width) {
    if (is_wide(estimate)) return cell;
    return {.text = half_text(*shown), .value = shown, .flagged = *shown > uncertain_from};
  }
  cell.value = *shown * scale;
  const Summary* const workers = over_workers(item, figure);
  const bool of_workers = column.part == Part::spread && workers != nullptr;
  const auto number = [&](double value) { return number_text(value, item, column); };
  if (of_workers) {
    cell.text =
        fmt::format("{} ({}-{})", number(*shown), number(workers->min), number(workers->max));
    cell.low = workers->min * scale;
    cell.high = workers->max * scale;
  } else if (!has_interval(column)) {
    cell.text = number(*shown);
  } else {
    tell(estimate, item, column, column.part != Part::value, cell);
    if (estimate.low) cell.low = *estimate.low * scale;
    if (estimate.high) cell.high = *estimate.high * scale;
  }
  return cell;
}

// ---- Labels

/// A label that is a number: its value, sizes in bytes; and its unit.
struct Number {
  double value = 0;
  std::string unit;
};
std::optional<Number> number_of_label(const std::string& text) {
  double value = 0;
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, value, std::chars_format::fixed);
  if (read.ec != std::errc() || text[0] == '-') return std::nullopt;
  const std::string_view rest(read.ptr, static_cast<std::size_t>(end - read.ptr));
  if (rest.empty()) return Number{value, ""};
  if (rest == "%") return Number{value, "%"};
  if (!rest.ends_with('B')) return std::nullopt;
  const auto bytes = parse_bytes(text);
  return bytes ? std::optional(Number{static_cast<double>(bytes->value), "bytes"}) : std::nullopt;
}

DrawnCell label_cell(const std::string& text) {
  const auto number = number_of_label(text);
  return {.text = spaced(text),
          .value = number ? std::optional(number->value) : std::nullopt,
          .raw = text};
}

/// The axis of these places, which all have numbers or are unknown; nothing where none has.
std::optional<DrawnQuantity> axis_of(const ViewColumn& of, const std::vector<std::string>& places) {
  constexpr double decade = 10;
  static const std::set<std::string> ratios{"size",    "stride",     "workers",
                                            "threads", "page_count", "chains"};
  std::optional<DrawnQuantity> axis;
  double least = 0, most = 0;
  for (const std::string& place : places) {
    if (place == unknown_text) continue;
    const auto number = number_of_label(place);
    if (!number) return std::nullopt;
    if (!axis) axis = DrawnQuantity{axis_words(of.label, of.head), number->unit};
    most = std::max(most, number->value);
    if (number->value > 0) least = least > 0 ? std::min(least, number->value) : number->value;
  }
  if (axis)
    axis->by_powers =
        axis->unit == "bytes" || (ratios.contains(of.label) && least > 0 && decade * least <= most);
  return axis;
}

DrawnCell cell_of(const RunReport& report, const ViewItem& item, const ViewColumn& column) {
  return column.label.empty() ? figure_cell(item, column)
                              : label_cell(label_text(report, item, column.label));
}

// ---- What is shown

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

/// The items of a table's rows, or of a matrix' cells.
std::vector<ViewItem> shown_items(const RunReport& report, const View& view) {
  std::vector<ViewItem> items = items_of(report, view);
  // A matrix has a row for what was left out; a table has none.
  if (view.kind == ViewKind::matrix) return items;
  const bool labels_alone = columns_of(view).cells.empty();
  std::erase_if(items, [&](const ViewItem& item) {
    const bool measured = !item.one->flows.empty() || !item.one->figures.empty();
    const bool skipped = item.one->status == Status::skipped;  // the notes say why
    const bool absent = view.columns.empty() && !measured && (skipped || !labels_alone);
    return absent || !has_figures(item, view);
  });
  return items;
}

bool is_known(const std::vector<ViewItem>& items, const ViewColumn& column) {
  return std::ranges::any_of(items, [&](const ViewItem& item) {
    return !column.figure.empty() && number_of(item, column).has_value();
  });
}

/// Of a column that shows values, what any of these has.
const Figure* any_of(const std::vector<ViewItem>& items, const std::string& key) {
  for (const ViewItem& item : items)
    if (const Figure* const figure = figure_of(item, key); figure != nullptr && figure->estimate)
      return figure;
  return nullptr;
}

std::string unit_shown(Unit unit, double scale) {
  const std::string own = unit.symbol();
  if (own == "s")
    return scale == in_ns ? "ns" : scale == in_us ? "us" : scale == in_ms ? "ms" : "s";
  if (own == "B/s") return scale == in_gb_per_s ? "GB/s" : own;
  if (own == "1/s") return scale == in_millions ? "M/s" : own;
  if (own == "1") return scale == in_percent ? "%" : "";
  return own == "cost" ? "" : own;
}

/// The figure that is drawn: the first value that is known, over another figure of another kind.
std::optional<std::size_t> main_of(const std::vector<ViewItem>& items, const View& view) {
  const Figure* const over = any_of(items, view.rows);
  std::optional<std::size_t> found;
  for (std::size_t at = 0; at < view.cells.size(); ++at) {
    const ViewColumn& column = view.cells[at];
    if (!has_interval(column) || !is_known(items, column)) continue;
    if (!found) found = at;
    if (over == nullptr || any_of(items, column.figure)->unit != over->unit) return at;
  }
  return found;
}

void add_main(Drawn& drawn, const std::vector<ViewItem>& items, const ViewColumn& column) {
  const Unit unit = any_of(items, column.figure)->unit;
  drawn.figure = column.figure;
  drawn.shown = {axis_words(column.figure, column.head), unit_shown(unit, column.scale)};
  drawn.less_is_better = unit.better() == Better::lower;
  bool any = false, of_workers = false;
  for (const ViewItem& item : items) {
    const Figure* const figure = figure_of(item, column.figure);
    if (figure == nullptr || !figure->estimate) continue;
    any = any || figure->estimate->low.has_value();
    of_workers =
        of_workers || (column.part == Part::spread && over_workers(item, *figure) != nullptr);
  }
  drawn.spread = of_workers
                     ? "from the lowest to the highest worker; of one worker its 95 % interval"
                 : any ? "95 % interval"
                       : "these figures have no interval";
}

std::vector<std::string> warnings_of(const ViewItem& item) {
  std::vector<std::string> texts;
  const auto add = [&](const FlowResult& flow) {
    for (const Warning& warning : flow.warnings) add_once(texts, warning.text);
  };
  if (item.flow != nullptr)
    add(*item.flow);
  else
    std::ranges::for_each(item.one->flows, add);
  return texts;
}

std::size_t number_of_case(const RunReport& report, const ViewItem& item) {
  return static_cast<std::size_t>(item.one - report.cases.data());
}

void add_cases(Drawn& drawn, const RunReport& report, const std::vector<ViewItem>& items) {
  CpuSet numbers;
  for (const ViewItem& item : items)
    numbers.insert(CpuId{static_cast<int>(number_of_case(report, item))});
  drawn.cases = to_list(numbers);
}

// ---- Tables

std::vector<std::string> labels_in(const View& view) {
  std::vector<std::string> labels;
  for (const ViewColumn& column : view.cells)
    if (!column.label.empty()) add_once(labels, column.label);
  return labels;
}

/// Names of rows, and what they are drawn over: of a curve its axis; of another table a quantity of
/// which it has several.
void add_names(Drawn& drawn, const NamedRows& rows, const View& view) {
  constexpr std::size_t least_steps = 3;
  std::vector<std::string> telling = rows.telling({}, labels_in(view));
  const bool follows = rows.size_follows_workers();
  const auto without_size = [&](std::vector<std::string> names) {
    if (follows) std::erase(names, "size");
    return names;
  };
  std::string over = view.kind == ViewKind::curve ? view.rows : "";
  if (follows && std::ranges::find(telling, "size") != telling.end()) {
    telling = without_size(telling);
    add_once(telling, std::string("workers"));
  }
  if (over.empty() && view.level == ViewLevel::cases)
    for (const char* name : {"threads", "workers", "stride", "size"}) {
      const auto& texts = rows.texts(name);
      if (std::ranges::find(telling, name) != telling.end() &&
          std::set<std::string>(texts.begin(), texts.end()).size() >= least_steps)
        over = name;
    }
  const ViewColumn& main = view.cells[*drawn.main];
  const auto names = rows.names(telling, main.figure);
  const auto column = std::ranges::find_if(view.cells, [&](const ViewColumn& cell) {
    return !over.empty() && (cell.label == over || (cell.figure == over && has_interval(cell)));
  });
  std::vector<std::string> lines;
  if (column != view.cells.end()) {
    const Figure* const figure = any_of(rows.items(), column->figure);
    std::optional<DrawnQuantity> axis;
    if (column->figure.empty()) axis = axis_of(*column, rows.texts(over));
    if (figure != nullptr)
      axis = DrawnQuantity{axis_words(over, column->head), unit_shown(figure->unit, column->scale)};
    if (axis) {
      drawn.axis = static_cast<std::size_t>(column - view.cells.begin());
      drawn.over = *axis;
    }
    if (axis && figure == nullptr) {
      lines = rows.telling({over}, labels_in(view));
      if (over == "workers") lines = without_size(lines);
    }
  }
  for (std::size_t row = 0; row < drawn.rows.size(); ++row) {
    std::tie(drawn.rows[row].name, drawn.rows[row].group) = names[row];
    if (drawn.axis) drawn.rows[row].line = rows.words_of(row, lines);
  }
}

Drawn table_of(const RunReport& report, const View& view, const std::vector<ViewItem>& items) {
  Drawn drawn;
  drawn.left = columns_of(view).names.size();
  for (const ViewColumn& column : view.cells) {
    drawn.heads.push_back({column.head, {}});
    const Figure* const figure = column.scale != 0 ? any_of(items, column.figure) : nullptr;
    if (figure != nullptr && column.part != Part::half_width)
      drawn.heads.back().unit = unit_shown(figure->unit, column.scale);
  }
  std::vector<ViewItem> shown;
  for (const ViewItem& item : items) {
    DrawnRow row{.of_case = number_of_case(report, item), .warnings = warnings_of(item)};
    for (const ViewColumn& column : view.cells) row.cells.push_back(cell_of(report, item, column));
    const bool again =  // of labels alone: each once
        drawn.left == view.cells.size() &&
        std::ranges::find(drawn.rows, row.cells, &DrawnRow::cells) != drawn.rows.end();
    if (again) continue;
    drawn.rows.push_back(std::move(row));
    shown.push_back(item);
  }
  add_cases(drawn, report, shown);
  drawn.main = main_of(shown, view);
  if (!drawn.main) return drawn;
  add_main(drawn, shown, view.cells[*drawn.main]);
  add_names(drawn, NamedRows(report, view, std::move(shown)), view);
  return drawn;
}

// ---- Labels as columns

/// Texts, each once, in the order in which they came.
struct Index {
  std::vector<std::vector<DrawnCell>> values;
  std::map<std::string, std::size_t> places;
  std::size_t of(const std::vector<DrawnCell>& value) {
    std::string key;
    for (const DrawnCell& cell : value) key += cell.text + '\n';
    const auto [found, is_new] = places.emplace(key, values.size());
    if (is_new) values.push_back(value);
    return found->second;
  }
  std::optional<std::size_t> find(const std::string& text) const {
    const auto found = places.find(text + '\n');
    return found == places.end() ? std::nullopt : std::optional(found->second);
  }
};

/// What stands where a row and a column meet.
struct Grid {
  Index rows, columns;
  std::map<std::pair<std::size_t, std::size_t>, DrawnCell> cells;
};

/// Where both are of the same things: the first row has no cell of itself, and its column came
/// late.
void put_columns_in_order_of_rows(Grid& grid) {
  if (grid.rows.values.size() != grid.columns.values.size()) return;
  std::vector<std::size_t> places(grid.columns.values.size());
  for (std::size_t row = 0; row < places.size(); ++row) {
    const auto column = grid.columns.find(grid.rows.values[row][0].text);
    if (!column) return;
    places[*column] = row;
  }
  std::map<std::pair<std::size_t, std::size_t>, DrawnCell> cells;
  for (auto& [at, cell] : grid.cells) cells[{at.first, places[at.second]}] = std::move(cell);
  grid.columns = grid.rows;
  grid.cells = std::move(cells);
}

/// The figures and labels of an item in one cell.
DrawnCell joined_cell(const RunReport& report, const ViewItem& item,
                      const std::vector<ViewColumn>& columns) {
  DrawnCell cell = cell_of(report, item, columns.front());
  for (std::size_t at = 1; at < columns.size(); ++at) {
    const DrawnCell beside = cell_of(report, item, columns[at]);
    if (beside.text == unknown_text) continue;
    cell.note += (cell.note.empty() ? "" : " ") + beside.text;
    cell.flagged = cell.flagged || beside.flagged;
  }
  return cell;
}

Grid grid_of(const RunReport& report, const View& view, const std::vector<ViewItem>& items,
             const Columns& columns) {
  Grid grid;
  const bool symmetric = view.symmetric && !columns.names.empty();
  for (const ViewItem& item : items) {
    const DrawnCell column = label_cell(label_text(report, item, view.columns));
    std::vector<DrawnCell> row;
    for (const ViewColumn& name : columns.names) row.push_back(cell_of(report, item, name));
    const DrawnCell cell = joined_cell(report, item, columns.cells);
    const auto add = [&](const std::vector<DrawnCell>& name, const DrawnCell& head) {
      const std::pair at{grid.rows.of(name), grid.columns.of({head})};
      if (!item.one->flows.empty()) grid.cells[at] = cell;
    };
    if (symmetric) grid.columns.of({row[0]});  // both in one order
    add(row, column);
    if (symmetric) add({column}, row[0]);
  }
  if (view.kind == ViewKind::matrix) put_columns_in_order_of_rows(grid);
  return grid;
}

/// Of CPUs: socket, node, last-level cache, core and number.
using CpuPlace = std::array<int, 5>;

/// Puts the CPUs of a matrix in the order of what they share.
void add_order(Drawn& drawn, const Machine& machine) {
  std::vector<CpuPlace> places;
  for (const DrawnRow& row : drawn.rows) {
    const auto& id = row.cells[0].value;
    const bool is_cpu = id && *id >= 0 && *id < 1e6 && *id == std::floor(*id);
    const Cpu* const cpu = is_cpu ? machine.find_cpu(CpuId{static_cast<int>(*id)}) : nullptr;
    if (cpu == nullptr) return;
    const Cache* const cache = machine.last_level_cache_of(cpu->id);
    places.push_back({cpu->package.value_or(-1), cpu->node.value,
                      cache == nullptr ? -1 : cache->cpus.begin()->value, cpu->core.value_or(-1),
                      cpu->id.value});
  }
  for (std::size_t at = 0; at < places.size(); ++at) drawn.order.push_back(at);
  std::ranges::sort(drawn.order, {}, [&](std::size_t at) { return places[at]; });
  for (std::size_t at = 1; at < places.size(); ++at) {
    const CpuPlace &before = places[drawn.order[at - 1]], &here = places[drawn.order[at]];
    for (int level = 0; level < 3; ++level)
      if (before[static_cast<std::size_t>(level)] != here[static_cast<std::size_t>(level)]) {
        drawn.borders[static_cast<int>(at)] = 3 - level;
        break;
      }
  }
  if (places.size() < machine.cpus.size())
    drawn.left_out =
        fmt::format("{} of {} CPUs: the others were left out", places.size(), machine.cpus.size());
}

/// What is on the horizontal axis of a grid that is drawn as lines, and the names of these.
void add_axis(Drawn& drawn, const View& view, const Columns& columns) {
  static const std::set<std::string> quantities{"size", "stride", "workers", "threads"};
  std::vector<std::string> places;
  std::optional<DrawnQuantity> axis;
  if (view.kind == ViewKind::curve) {
    const auto name = std::ranges::find(columns.names, view.rows, &ViewColumn::label);
    if (name == columns.names.end()) return;
    const auto at = static_cast<std::size_t>(name - columns.names.begin());
    for (const DrawnRow& row : drawn.rows) places.push_back(row.cells[at].raw);
    axis = axis_of(*name, places);
    if (!axis) return;
    drawn.axis = at;
    for (std::size_t head = drawn.left; head < drawn.heads.size(); ++head)
      drawn.heads[head].line = words_of(view, {{view.columns, drawn.heads[head].raw}});
  } else if (view.kind == ViewKind::table && quantities.contains(view.columns)) {
    for (std::size_t head = drawn.left; head < drawn.heads.size(); ++head)
      places.push_back(drawn.heads[head].raw);
    axis = axis_of(label_column("", view.columns), places);
    if (!axis) return;
    drawn.axis = drawn.left;
    for (DrawnRow& row : drawn.rows) {
      LabelTexts names;
      for (std::size_t at = 0; at < drawn.left; ++at)
        names.emplace_back(columns.names[at].label, row.cells[at].raw);
      row.line = words_of(view, names);
    }
  }
  if (axis) drawn.over = *axis;
}

Drawn grid_drawn(const RunReport& report, const View& view, const std::vector<ViewItem>& items) {
  Columns columns = columns_of(view);
  // What is drawn comes first.
  const auto first = std::ranges::find_if(
      columns.cells, [&](const ViewColumn& cell) { return is_known(items, cell); });
  const bool known = first != columns.cells.end();
  if (known) std::rotate(columns.cells.begin(), first, first + 1);
  const Grid grid = grid_of(report, view, items, columns);
  Drawn drawn;
  if (grid.cells.empty()) return drawn;
  drawn.left = columns.names.size();
  for (const ViewColumn& name : columns.names) drawn.heads.push_back({name.head, {}});
  const std::string& head = columns.cells.front().head;
  for (const std::vector<DrawnCell>& column : grid.columns.values)
    drawn.heads.push_back({.text = head.empty() ? column[0].text : head + " " + column[0].text,
                           .value = column[0].value,
                           .raw = column[0].raw});
  for (std::size_t row = 0; row < grid.rows.values.size(); ++row) {
    DrawnRow made{.cells = grid.rows.values[row]};
    for (std::size_t column = 0; column < grid.columns.values.size(); ++column) {
      const auto found = grid.cells.find({row, column});
      const bool itself = view.symmetric && found == grid.cells.end() &&
                          grid.rows.values[row][0].text == grid.columns.values[column][0].text;
      DrawnCell cell{.text = unknown_text, .why = itself ? "a place with itself" : ""};
      made.cells.push_back(found != grid.cells.end() ? found->second : std::move(cell));
    }
    drawn.rows.push_back(std::move(made));
  }
  add_cases(drawn, report, items);
  if (!known) return drawn;
  drawn.main = drawn.left;
  add_main(drawn, items, columns.cells.front());
  add_axis(drawn, view, columns);
  if (!drawn.axis) {
    drawn.row_words = side_words(columns.names.empty() ? "" : columns.names.front().label);
    drawn.column_words = side_words(view.columns);
  }
  if (view.symmetric && report.machines.size() == 1) add_order(drawn, report.machines.front());
  return drawn;
}

/// A grid for each combination of other labels that its places have several values of.
std::vector<Drawn> grids_of(const RunReport& report, const View& view,
                            const std::vector<ViewItem>& items) {
  if (columns_of(view).cells.empty()) return {};  // of labels alone
  const NamedRows rows(report, view, items);
  std::vector<std::string> places{view.columns};
  for (const ViewColumn& name : columns_of(view).names) places.push_back(name.label);
  const std::vector<std::string> split = rows.telling(places, {});
  std::vector<std::pair<LabelTexts, std::vector<ViewItem>>> parts;
  for (std::size_t row = 0; row < items.size(); ++row) {
    const LabelTexts labels = rows.labels_of(row, split);
    auto part = std::ranges::find(parts, labels, [](const auto& one) { return one.first; });
    if (part == parts.end()) part = parts.insert(parts.end(), {labels, {}});
    part->second.push_back(items[row]);
  }
  std::vector<Drawn> found;
  for (const auto& [labels, mine] : parts) {
    Drawn drawn = grid_drawn(report, view, mine);
    drawn.of = labels;
    drawn.of_words = words_of(view, labels);
    if (!drawn.rows.empty()) found.push_back(std::move(drawn));
  }
  return found;
}

// ---- Curves beside each other

bool have_one_form(const View& a, const View& b) {
  const auto same = [](const ViewColumn& x, const ViewColumn& y) {
    return x.head == y.head && x.label == y.label && x.figure == y.figure && x.part == y.part &&
           x.scale == y.scale;
  };
  return a.kind == ViewKind::curve && b.kind == ViewKind::curve && a.level == b.level &&
         a.rows == b.rows && a.columns == b.columns && std::ranges::equal(a.cells, b.cells, same);
}

/// Curves of one form share a picture.
std::vector<const View*> views_alike(const RunReport& report, const View& view) {
  std::vector<const View*> alike;
  for (const View& other : report.views)
    if (have_one_form(view, other)) alike.push_back(&other);
  return alike.empty() ? std::vector{&view} : alike;
}

void add_companions(const RunReport& report, const View& view,
                    const std::vector<const View*>& alike, Drawn& drawn) {
  if (alike.size() < 2 || !drawn.main || !drawn.axis) return;
  LabelTexts common, own;
  for (const auto& label : view.where) {
    const bool all = std::ranges::all_of(alike, [&](const View* other) {
      return std::ranges::find(other->where, label) != other->where.end();
    });
    if (all)
      common.push_back(label);
    else
      own.push_back(label);
  }
  const Machine* const machine = report.machines.empty() ? nullptr : &report.machines.front();
  const auto cpus = std::ranges::find(common, "cpu_node", &LabelTexts::value_type::first);
  for (auto& [name, text] : own)
    if (name == "memory_node")
      text = cpus == common.end()
                 ? node_with_kind(machine, text)
                 : fmt::format("{} ({})", text, memory_class(machine, cpus->second, text));
  drawn.among = words_of(view, own);
  drawn.together = fmt::format("{} by {}", drawn.shown.words, drawn.over.words);
  drawn.together[0] =
      static_cast<char>(std::toupper(static_cast<unsigned char>(drawn.together[0])));
  if (const std::string words = words_of(view, common); !words.empty())
    drawn.together += ", " + words;
}

}  // namespace

std::vector<Drawn> drawn_of(const RunReport& report, const View& view) {
  const std::vector<ViewItem> items = shown_items(report, view);
  if (items.empty()) return {};
  std::vector<Drawn> found = view.columns.empty() ? std::vector{table_of(report, view, items)}
                                                  : grids_of(report, view, items);
  const std::vector<const View*> alike = views_alike(report, view);
  for (Drawn& drawn : found) {
    add_companions(report, view, alike, drawn);
    add_marks(drawn, report, view, alike);
  }
  return found;
}

bool shows_hosts_apart(const RunReport& report) {
  return report.hosts.size() > 1 &&
         std::ranges::any_of(report.views, [](const View& view) { return view.by_host; });
}

std::vector<std::vector<Drawn>> drawn_views(const RunReport& report) {
  std::vector<std::vector<Drawn>> all(report.views.size());
  const auto add = [&](const RunReport& part, const std::string& host) {
    for (std::size_t at = 0; at < all.size(); ++at)
      for (Drawn& drawn : drawn_of(part, report.views[at])) {
        if (!host.empty()) {
          drawn.of.insert(drawn.of.begin(), {"host", host});
          drawn.of_words = "host " + host + (drawn.of_words.empty() ? "" : ", " + drawn.of_words);
        }
        all[at].push_back(std::move(drawn));
      }
  };
  if (!shows_hosts_apart(report)) {
    add(report, "");
    return all;
  }
  const HostParts parts(report);
  for (std::size_t host = 0; host < report.hosts.size(); ++host)
    add(parts.of(static_cast<int>(host)), report.hosts[host]);
  return all;
}

}  // namespace numatlas
