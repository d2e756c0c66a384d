#include "report/text_table.h"

#include <algorithm>
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
  const std::vector<std::size_t> widths = widths_of(rows);
  std::size_t columns = 0, width = 0;
  while (columns < widths.size()) {
    width += widths[columns] + (columns > 0 ? 2 : 0);
    if (width > style.width && columns > left) break;
    ++columns;
  }
  std::vector<std::string> dropped;
  for (std::size_t i = columns; i < rows.front().size(); ++i)
    dropped.push_back(rows.front()[i].text);
  for (TextRow& row : rows) row.resize(std::min(row.size(), columns));
  const std::string text = table_lines(rows, left, style);
  if (dropped.empty()) return text;
  return text + wrapped(fmt::format("not shown on {} columns: {}\n", style.width,
                                    fmt::join(dropped, ", ")),
                        style.width);
}

std::string markdown_lines(const std::string& lines) {
  std::string text;
  std::istringstream stream(lines);
  for (std::string line; std::getline(stream, line);)
    text += line.empty() ? "\n" : fmt::format("- {}\n", line);
  return text;
}

}  // namespace numatlas
