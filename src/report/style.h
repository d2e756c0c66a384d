// How a result is shown as text.
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

}  // namespace numatlas
