// Rows of cells as lines, and how results are shown as text.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace numatlas {

struct TextStyle {
  bool stats = false;      ///< every flow below the tables
  bool all_notes = false;  ///< also without `stats`, as in files
  std::size_t width = 0;   ///< columns that lines have at most; 0: as many as they take
  bool markdown = false;
  bool color = false;
  /// Of every sample for Prometheus, beside its own: names and values.
  std::vector<std::pair<std::string, std::string>> labels = {};
  bool in_brackets = false;  ///< values: those of a run that cannot be trusted
};

/// What a cell is drawn attention to for. On a terminal with colors: remote is blue, uncertain
/// yellow, bad red.
enum class Accent { none, remote, uncertain, bad };
/// The text with the terminal's codes of its accent.
std::string accented(const std::string& text, Accent accent);

/// "auto": whether standard output is a terminal and NO_COLOR is not set
/// (https://no-color.org); "always", "never".
bool wants_color(std::string_view choice);

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
