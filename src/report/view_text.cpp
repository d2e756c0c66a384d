#include "report/view_text.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/terminal.h"
#include "base/text.h"
#include "record/drawn.h"
#include "record/estimate.h"
#include "record/labels.h"
#include "record/unit.h"
#include "report/csv.h"
#include "report/text_table.h"

namespace numatlas {
namespace {

/// Of the first `among` columns drops those that say nothing; how many of the first `left` are
/// left.
std::size_t drop_empty_columns(std::vector<TextRow>& rows, std::size_t left, std::size_t among) {
  for (std::size_t column = among; column-- > 0;) {
    const bool empty = std::all_of(rows.begin() + 1, rows.end(), [&](const TextRow& row) {
      return row[column].text == unknown_text;
    });
    if (!empty) continue;
    if (column < left) --left;
    for (TextRow& row : rows) row.erase(row.begin() + static_cast<std::ptrdiff_t>(column));
  }
  return left;
}

TextRow heads_of(const Drawn& drawn) {
  TextRow heads;
  for (const DrawnHead& head : drawn.heads) heads.emplace_back(head.text);
  return heads;
}

/// A cell as text: in brackets what cannot be trusted.
TextCell text_cell(const DrawnCell& cell, bool in_brackets) {
  TextCell made(cell.text, cell.flagged ? Accent::uncertain : Accent::none);
  if (in_brackets && cell.text != unknown_text) made.text = "(" + cell.text + ")";
  if (!cell.note.empty()) made.text += " " + cell.note;
  return made;
}

std::string table_of(const View& view, const Drawn& drawn, const TextStyle& style) {
  std::vector<TextRow> rows{heads_of(drawn)};
  for (const DrawnRow& one : drawn.rows) {
    TextRow row;
    for (std::size_t at = 0; at < one.cells.size(); ++at) {
      const ViewColumn& column = view.cells[at];
      const bool of_value = column.label.empty() && column.part != Part::half_width;
      row.push_back(text_cell(one.cells[at], style.in_brackets && of_value));
    }
    rows.push_back(std::move(row));
  }
  if (rows.size() == 1) return "";
  const std::size_t left = drop_empty_columns(rows, drawn.left, rows[0].size());
  return fitted_lines(std::move(rows), left, style);
}

// ---- Labels as columns

std::size_t width_of(const TextRow& column) {
  std::size_t width = 0;
  for (const TextCell& cell : column) width = std::max(width, width_of_text(cell.text));
  return width + 2;  // with the blanks between columns
}

TextRow column_of(const std::vector<TextRow>& rows, std::size_t at) {
  TextRow column;
  for (const TextRow& row : rows) column.push_back(row[at]);
  return column;
}

/// The first `left` columns, and as many others from `next` on as a terminal has room for.
std::string block_of(const std::vector<TextRow>& rows, std::size_t left, std::size_t& next,
                     const TextStyle& style) {
  constexpr std::size_t usual = 120;
  const std::size_t widest = style.width > 0 ? style.width + 2 : usual;
  std::size_t width = 0;
  for (std::size_t at = 0; at < left; ++at) width += width_of(column_of(rows, at));
  const std::size_t first = next;
  for (; next < rows[0].size(); ++next) {
    width += width_of(column_of(rows, next));
    if (next > first && width > widest) break;
  }
  std::vector<TextRow> block;
  for (const TextRow& row : rows) {
    block.emplace_back(row.begin(), row.begin() + static_cast<std::ptrdiff_t>(left));
    block.back().insert(block.back().end(), row.begin() + static_cast<std::ptrdiff_t>(first),
                        row.begin() + static_cast<std::ptrdiff_t>(next));
  }
  return table_lines(block, left, style);
}

/// Between a node and another.
bool is_remote(const View& view, const Drawn& drawn, const DrawnRow& row, std::size_t column) {
  return view.rows == "cpu_node" && view.columns == "memory_node" &&
         row.cells[column].text != unknown_text && row.cells[0].raw != drawn.heads[column].raw;
}

std::string grid_text(const View& view, const Drawn& drawn, const TextStyle& style) {
  // Beyond this nobody reads a matrix as text.
  constexpr std::size_t most_columns = 32;
  if (drawn.heads.size() - drawn.left > most_columns)
    return fmt::format("The {} columns are in --format csv and --json.\n",
                       drawn.heads.size() - drawn.left);
  std::vector<TextRow> rows{heads_of(drawn)};
  for (const DrawnRow& one : drawn.rows) {
    TextRow row;
    for (std::size_t at = 0; at < one.cells.size(); ++at) {
      row.push_back(text_cell(one.cells[at], style.in_brackets && at >= drawn.left));
      if (at >= drawn.left && is_remote(view, drawn, one, at))
        row.back().accent = std::max(row.back().accent, Accent::remote);
    }
    rows.push_back(std::move(row));
  }
  const std::size_t left = drop_empty_columns(rows, drawn.left, drawn.left);  // names alone
  std::string text;
  for (std::size_t next = left; next < rows[0].size();) {
    if (next > left || !style.markdown) text += "\n";
    text += block_of(rows, left, next, style);
  }
  return text;
}

std::string csv_line(const std::vector<std::string>& row) {
  std::string line;
  for (const std::string& cell : row) line += (&cell == &row.front() ? "" : ",") + csv_field(cell);
  return line + '\n';
}

std::string csv_label(const DrawnCell& cell) { return cell.raw == unknown_text ? "" : cell.raw; }
std::string csv_number(const DrawnCell& cell) {
  return cell.value ? fmt::format("{:.6g}", *cell.value) : "";
}

/// A matrix as a square; of a pair that was measured once the cell below the diagonal.
std::string csv_of_grid(const View& view, const Drawn& drawn) {
  const bool square = view.kind == ViewKind::matrix;
  std::string text;
  std::vector<std::string> heads;
  for (std::size_t at = 0; at < drawn.heads.size(); ++at)
    heads.push_back(at < drawn.left ? drawn.heads[at].text : drawn.heads[at].raw);
  if (!square) text += csv_line(heads);
  for (std::size_t row = 0; row < drawn.rows.size(); ++row) {
    const std::vector<DrawnCell>& cells = drawn.rows[row].cells;
    std::vector<std::string> line;
    for (std::size_t at = 0; at < cells.size(); ++at) {
      if (at < drawn.left && !square) line.push_back(csv_label(cells[at]));
      if (at < drawn.left) continue;
      const bool shown = !view.symmetric || at - drawn.left < row;
      line.push_back(shown ? csv_number(cells[at]) : "");
    }
    text += csv_line(line);
  }
  return text;
}

/// Without intervals.
std::string csv_of_table(const View& view, const Drawn& drawn) {
  const auto line_of = [&](const auto& text_of) {
    std::vector<std::string> line;
    for (std::size_t at = 0; at < view.cells.size(); ++at)
      if (view.cells[at].part != Part::half_width) line.push_back(text_of(at));
    return csv_line(line);
  };
  std::string text = line_of([&](std::size_t at) { return drawn.heads[at].text; });
  for (const DrawnRow& row : drawn.rows)
    text += line_of([&](std::size_t at) {
      return view.cells[at].label.empty() ? csv_number(row.cells[at]) : csv_label(row.cells[at]);
    });
  return text;
}

}  // namespace

std::string view_csv(const RunReport& report, const View& view) {
  std::string text;
  for (const Drawn& drawn : drawn_of(report, view)) {
    if (!drawn.of_words.empty()) text += csv_line({drawn.of_words});
    text += view.columns.empty() ? csv_of_table(view, drawn) : csv_of_grid(view, drawn);
  }
  return text;
}

std::string view_text(const RunReport& report, const View& view, const TextStyle& style) {
  std::string notes, verdict, text;
  for (const std::string& line : view.notes) notes += line + "\n";
  for (const std::string& line : view.verdict) verdict += line + "\n";
  const std::vector<Drawn> all = drawn_of(report, view);
  for (const Drawn& drawn : all) {
    const std::string table =
        view.columns.empty() ? table_of(view, drawn, style) : grid_text(view, drawn, style);
    if (table.empty()) continue;
    const std::string title = view.title + (drawn.of_words.empty() ? "" : ", " + drawn.of_words);
    const std::string above = text.empty() ? notes : "";
    const std::string below = &drawn == &all.back() ? verdict : "";
    if (!style.markdown) {
      text +=
          wrapped(title + "\n" + above, style.width) + table + wrapped(below, style.width) + "\n";
      continue;
    }
    const std::string lists = above.empty() ? "" : markdown_lines(above) + "\n";
    text += "### " + title + "\n\n" + lists + table + "\n" +
            (below.empty() ? "" : markdown_lines(below) + "\n");
  }
  return text;
}

std::string views_text(const RunReport& report, const std::vector<View>& views,
                       const TextStyle& style) {
  std::string text;
  for (const View& view : views) text += view_text(report, view, style);
  return text;
}

}  // namespace numatlas
