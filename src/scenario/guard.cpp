#include "scenario/guard.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace numatlas {
namespace {

constexpr std::string_view blanks = " \t";
constexpr std::string_view starts_key =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-\"']";  // "[]" is told well

using Found = std::optional<std::pair<std::size_t, const char*>>;

Found bad_head(std::string_view line) {
  std::size_t at = std::min(line.find_first_not_of(blanks), line.size());
  if (!line.substr(at).starts_with('[')) return std::nullopt;
  at += line.substr(at).starts_with("[[") ? 2 : 1;
  at = std::min(line.find_first_not_of(blanks, at), line.size());
  if (at < line.size() && starts_key.find(line[at]) != std::string_view::npos) return std::nullopt;
  return std::pair{at, "expected a name after '['"};
}

bool is_ascii(char c) { return static_cast<unsigned char>(c) <= 0x7f; }

/// Behind the text in quotes that starts at `at`, or the end of the line.
std::size_t after_text(std::string_view line, std::size_t at) {
  const char quote = line[at];
  for (++at; at < line.size() && line[at] != quote; ++at) {
    if (quote == '"' && line[at] == '\\') ++at;
  }
  return std::min(at + 1, line.size());
}

/// Where the line's comment starts, or its end.
std::size_t comment_start(std::string_view line) {
  std::size_t at = 0;
  while (at < line.size() && line[at] != '#') {
    const bool quote = line[at] == '"' || line[at] == '\'';
    at = quote ? after_text(line, at) : at + 1;
  }
  return at;
}

Found bad_character(std::string_view line) {
  for (std::size_t at = 0; at < line.size(); ++at) {
    if (!is_ascii(line[at]))
      return std::pair{at, "non-ASCII letter outside a comment; in quotes, write it as \\u00e9"};
  }
  return std::nullopt;
}

/// What earlier lines left open.
struct Open {
  std::string brackets;
  char text = 0;  ///< the quote of a text over several lines
};

/// A '}' in an array, where a value or the array's end is due.
Found stray_brace(std::string_view line, Open& open) {
  for (std::size_t at = 0; at < line.size(); ++at) {
    if (open.text != 0) {
      at = line.find(std::string(3, open.text), at);
      if (at == line.npos) return std::nullopt;
      at += 2;
      open.text = 0;
      continue;
    }
    const char c = line[at];
    const bool quote = c == '"' || c == '\'';
    if (quote && line.substr(at, 3) == std::string(3, c)) {
      open.text = c;
      at += 2;
    } else if (quote) {
      at = after_text(line, at) - 1;
    } else if (c == '[' || c == '{') {
      open.brackets += c;
    } else if (c == '}' && !open.brackets.empty() && open.brackets.back() == '[') {
      return std::pair{at, "'}' closes no '{'"};
    } else if ((c == ']' || c == '}') && !open.brackets.empty()) {
      open.brackets.pop_back();
    }
  }
  return std::nullopt;
}

}  // namespace

tl::expected<std::string, UnsafePlace> safe_text(std::string_view text) {
  constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";  // some editors put it first
  if (text.starts_with(byte_order_mark)) text.remove_prefix(byte_order_mark.size());
  std::string safe;
  Open open;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    const std::size_t comment = comment_start(line);
    Found found = bad_head(line);
    if (!found) found = bad_character(line.substr(0, comment));
    if (!found) found = stray_brace(line.substr(0, comment), open);
    if (found) return tl::unexpected(UnsafePlace{number, found->first + 1, found->second});
    safe += line.substr(0, comment);
    for (char c : line.substr(comment)) safe += is_ascii(c) ? c : '?';
    if (end < text.size()) safe += '\n';
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return safe;
}

}  // namespace numatlas
