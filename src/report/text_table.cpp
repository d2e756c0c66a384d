#include "report/text_table.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <sstream>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/terminal.h"
#include "base/text.h"

namespace numatlas {
namespace {

std::vector<std::size_t> widths_of(const std::vector<TextRow>& rows) {
  std::vector<std::size_t> widths;
  for (const TextRow& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i)
      widths[i] = std::max(widths[i], width_of_text(row[i].text));
  }
  return widths;
}

std::string padded(const TextCell& cell, std::size_t width, bool left, const TextStyle& style) {
  const std::string blanks(width - width_of_text(cell.text), ' ');
  const std::string text = style.color ? accented(cell.text, cell.accent) : cell.text;
  return left ? text + blanks : blanks + text;
}

/// As cells of Markdown hold it.
std::string markdown_cell(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '|' || c == '\\' || c == '<' || c == '*' || c == '_' || c == '`') escaped += '\\';
    escaped += c;
  }
  return escaped;
}

std::string markdown_table(const std::vector<TextRow>& rows, std::size_t left) {
  std::string text;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (const TextCell& cell : rows[i]) text += "| " + markdown_cell(cell.text) + " ";
    text += "|\n";
    if (i > 0) continue;
    for (std::size_t column = 0; column < rows[0].size(); ++column)
      text += column < left ? "| --- " : "| ---: ";
    text += "|\n";
  }
  return text;
}

}  // namespace

std::string accented(const std::string& text, Accent accent) {
  // Select Graphic Rendition (ECMA-48).
  switch (accent) {
    case Accent::none: break;
    case Accent::remote: return "\x1b[34m" + text + "\x1b[0m";
    case Accent::uncertain: return "\x1b[33m" + text + "\x1b[0m";
    case Accent::bad: return "\x1b[1;31m" + text + "\x1b[0m";
  }
  return text;
}

bool wants_color(std::string_view choice) {
  if (choice != "auto") return choice == "always";
  const char* const none = std::getenv("NO_COLOR");
  const char* const terminal = std::getenv("TERM");
  const bool dumb = terminal == nullptr || std::string_view(terminal) == "dumb";
  return (none == nullptr || *none == '\0') && !dumb && isatty(STDOUT_FILENO) == 1;
}

std::string table_lines(const std::vector<TextRow>& rows, std::size_t left,
                        const TextStyle& style) {
  if (style.markdown) return markdown_table(rows, left);
  const std::vector<std::size_t> widths = widths_of(rows);
  std::string text;
  for (const TextRow& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i)
      line += (i > 0 ? "  " : "") + padded(row[i], widths[i], i < left, style);
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + '\n';
  }
  return text;
}

std::string fitted_lines(std::vector<TextRow> rows, std::size_t left, const TextStyle& style) {
  if (style.markdown || style.width == 0 || rows.empty()) return table_lines(rows, left, style);
  const auto width = [&] {
    std::size_t sum = 0;
    for (const std::size_t one : widths_of(rows)) sum += one + 2;
    return sum - 2;
  };
  const auto drop = [&](std::size_t column) {
    for (TextRow& row : rows)
      if (column < row.size()) row.erase(row.begin() + static_cast<std::ptrdiff_t>(column));
  };
  if (left == rows.front().size()) {  // the last column is words, which are broken within it
    const std::vector<std::size_t> widths = widths_of(rows);
    std::size_t column = 0;
    for (std::size_t i = 0; i + 1 < widths.size(); ++i) column += widths[i] + 2;
    return wrapped(table_lines(rows, left, style), style.width,
                   column <= style.width / 2 ? column : 4);
  }
  // What all rows have in common is said once, below.
  std::vector<std::string> common, dropped;
  for (std::size_t column = left; column-- > 1 && rows.size() > 1 && width() > style.width;) {
    const std::string& value = rows[1][column].text;
    if (!std::all_of(rows.begin() + 1, rows.end(),
                     [&](const TextRow& row) { return row[column].text == value; }))
      continue;
    common.insert(common.begin(), rows[0][column].text + " " + value);
    drop(column);
    --left;
  }
  while (width() > style.width && rows.front().size() > left + 1) {
    dropped.insert(dropped.begin(), rows.front().back().text);
    drop(rows.front().size() - 1);
  }
  std::string text = table_lines(rows, left, style);
  if (!common.empty()) text += fmt::format("in all rows: {}\n", fmt::join(common, ", "));
  if (!dropped.empty())
    text += fmt::format("not shown on {} columns: {}\n", style.width, fmt::join(dropped, ", "));
  return common.empty() && dropped.empty() ? text : wrapped(text, style.width);
}

std::string markdown_lines(const std::string& lines) {
  std::string text;
  std::istringstream stream(lines);
  for (std::string line; std::getline(stream, line);)
    text += line.empty() ? "\n" : fmt::format("- {}\n", line);
  return text;
}

}  // namespace numatlas
