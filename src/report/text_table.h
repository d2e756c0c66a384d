// Rows of cells as lines.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "report/style.h"

namespace numatlas {

struct TextCell {
  // Most cells are only a text.
  TextCell(std::string what = "", Accent how = Accent::none)  // NOLINT(google-explicit-constructor)
      : text(std::move(what)), accent(how) {}
  TextCell(const char* what) : text(what) {}  // NOLINT(google-explicit-constructor)
  std::string text;
  Accent accent = Accent::none;
  friend auto operator<=>(const TextCell&, const TextCell&) = default;
};
using TextRow = std::vector<TextCell>;

/// Columns aligned, two spaces between, the first `left` of them to the left and the others to the
/// right. In Markdown the first row is the head.
std::string table_lines(const std::vector<TextRow>& rows, std::size_t left, const TextStyle& style);

/// The same within the columns of `style`: heads of rows that are the same in all of them, and what
/// is left out to the right, are named below.
std::string fitted_lines(std::vector<TextRow> rows, std::size_t left, const TextStyle& style);

/// Lines of text as a list of Markdown.
std::string markdown_lines(const std::string& lines);

}  // namespace numatlas
