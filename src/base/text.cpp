#include "base/text.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/terminal.h"

namespace numatlas {
namespace {

struct Character {
  char32_t code = 0;
  std::size_t bytes = 0;  ///< 0: no UTF-8
};

/// The first character, by the table of well-formed UTF-8 (Unicode 15, 3.9): no overlong forms, no
/// surrogates, nothing over U+10FFFF.
Character first_character(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  if (byte(0) < 0x80) return {byte(0), 1};
  const std::size_t bytes = byte(0) >= 0xf0 ? 4 : byte(0) >= 0xe0 ? 3 : 2;
  if (byte(0) < 0xc2 || byte(0) > 0xf4 || text.size() < bytes) return {};
  char32_t code = byte(0) & (0x7fU >> bytes);
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xc0U) != 0x80) return {};
    code = code << 6U | (byte(i) & 0x3fU);
  }
  constexpr char32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = code >= 0xd800 && code <= 0xdfff;
  if (code < least[bytes] || surrogate || code > 0x10ffff) return {};
  return {code, bytes};
}

/// Whether a terminal takes it as an order, or shows what follows in another order or line.
bool acts_on_terminal(char32_t code) {
  const auto within = [code](char32_t first, char32_t last) {
    return code >= first && code <= last;
  };
  return code < ' ' || within(0x7f, 0x9f) || within(0x2028, 0x202e) || within(0x2066, 0x2069);
}

/// Number of single-letter edits between two words (Levenshtein).
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j < row.size(); ++j) row[j] = j;
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t changed = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({changed, row[j] + 1, diagonal + 1});
    }
  }
  return row.back();
}

}  // namespace

std::string_view trim(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

std::string nearest_name(const std::string& word, const std::vector<std::string>& names) {
  std::string best;
  // Further than a third of the word, a suggestion is no help.
  std::size_t best_distance = word.size() / 3 + 1;
  for (const std::string& name : names) {
    const std::size_t here = edit_distance(word, name);
    if (here < best_distance) {
      best = name;
      best_distance = here;
    }
  }
  return best;
}

std::string printable(std::string_view text) {
  std::string shown;
  shown.reserve(text.size());
  while (!text.empty()) {
    const Character next = first_character(text);
    const std::size_t bytes = std::max<std::size_t>(next.bytes, 1);
    if (next.bytes == 0)
      shown += fmt::format("\\x{:02x}", static_cast<unsigned char>(text.front()));
    else if (acts_on_terminal(next.code))
      shown += fmt::format(fmt::runtime(next.code < 0x100 ? "\\x{:02x}" : "\\u{:04x}"),
                           static_cast<unsigned>(next.code));
    else
      shown += text.substr(0, bytes);
    text.remove_prefix(bytes);
  }
  return shown;
}

std::string shortened(std::string text, std::size_t bytes) {
  if (text.size() <= bytes) return text;
  while (bytes > 0 && (static_cast<unsigned char>(text[bytes]) & 0xc0U) == 0x80U) --bytes;
  return text.substr(0, bytes) + "...";
}

std::string day_of(const std::string& time) { return time.substr(0, time.find('T')); }

std::string shell_word(const std::string& word) {
  const bool plain =
      !word.empty() &&
      word.find_first_not_of(
          "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=:,./@%") ==
          std::string::npos;
  if (plain) return word;
  std::string text = "'";
  for (char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

std::string aligned(const std::vector<std::vector<std::string>>& rows, std::size_t left) {
  std::vector<std::size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i)
      widths[i] = std::max(widths[i], width_of_text(row[i]));
  }
  std::string text;
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (i > 0) line += "  ";
      const std::string blanks(widths[i] - width_of_text(row[i]), ' ');
      line += i < left ? row[i] + blanks : blanks + row[i];
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + '\n';
  }
  return text;
}

std::string wrapped(const std::string& text, std::size_t width, std::size_t indent) {
  std::string lines;
  for (std::size_t start = 0; start < text.size();) {
    const std::size_t end = std::min(text.find('\n', start), text.size());
    std::string line = text.substr(start, end - start);
    start = end + 1;
    while (width > 0 && width_of_text(line) > width) {
      // The last blank that leaves something before it; a word that is too long stays whole.
      std::size_t at = 0;
      const std::size_t first = line.find_first_not_of(' ');
      for (std::size_t blank = line.find(' ', first); blank != std::string::npos;
           blank = line.find(' ', blank + 1)) {
        if (at > 0 && width_of_text(std::string_view(line).substr(0, blank)) > width) break;
        if (blank > indent) at = blank;
      }
      const std::size_t next = at == 0 ? std::string::npos : line.find_first_not_of(' ', at);
      if (next == std::string::npos) break;
      lines += line.substr(0, line.find_last_not_of(' ', at) + 1) + '\n';
      line = std::string(indent, ' ') + line.substr(next);
    }
    lines += line + '\n';
  }
  return lines;
}

std::string aligned_within(const std::vector<std::vector<std::string>>& rows, std::size_t width) {
  std::size_t column = 0;  // where the last one begins
  std::vector<std::size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i + 1 < row.size(); ++i)
      widths[i] = std::max(widths[i], width_of_text(row[i]));
  }
  for (const std::size_t one : widths) column += one > 0 ? one + 2 : 0;
  const std::size_t left = widths.size();
  return wrapped(aligned(rows, left), width, column <= width / 2 ? column : 4);
}

std::string names_text(const std::vector<std::string>& names) {
  // A list of all would bury what is said of them.
  constexpr std::size_t most_named = 3;
  const std::size_t named =
      names.size() == most_named + 1 ? names.size() : std::min(names.size(), most_named);
  std::string text = fmt::format(
      "{}", fmt::join(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(named), ", "));
  if (named < names.size()) text += fmt::format(" and {} more", names.size() - named);
  return text;
}

}  // namespace numatlas
