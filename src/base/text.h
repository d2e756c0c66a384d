// Small work on words that several parsers share.
#pragma once

#include <charconv>
#include <concepts>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace numatlas {

/// Without blanks, tabs and line ends at either end.
std::string_view trim(std::string_view text);

/// The name that was probably meant by a word; "" when none is near enough.
std::string nearest_name(const std::string& word, const std::vector<std::string>& names);

/// Text from outside as a terminal may show it: control characters (C0, DEL, C1, line ends of any
/// kind), characters that turn the direction of writing, and bytes that are no UTF-8 become "\x1b"
/// or "\u202e". The rest stays as it is. Whoever named a file, a host or a scenario can then
/// neither move the cursor nor forge a line.
std::string printable(std::string_view text);

/// Its first bytes, without a part of a character, and "..." where there are more.
std::string shortened(std::string text, std::size_t bytes);

/// Aligns columns of cells: the first `left` columns to the left, the others to the right, two
/// spaces between.
std::string aligned(const std::vector<std::vector<std::string>>& rows, std::size_t left);

/// Lines of at most `width` columns, broken between words; what follows a break begins `indent`
/// blanks in. A line of 0 columns is one of any length.
std::string wrapped(const std::string& text, std::size_t width, std::size_t indent = 2);
/// aligned(), where the last column is words: they are broken within it.
std::string aligned_within(const std::vector<std::vector<std::string>>& rows, std::size_t width);

/// "cn01, cn02, cn03 and 43 more".
std::string names_text(const std::vector<std::string>& names);

/// "2026-11-03" of "2026-11-03T04:05:06Z" (ISO 8601).
std::string day_of(const std::string& time);

/// A word as it must be typed in a shell: quoted where it has to be.
std::string shell_word(const std::string& word);

// Numbers in texts.

/// The whole number that all of a text is; nullopt where it is anything else.
template <std::integral T>
std::optional<T> whole_number(std::string_view text, int base = 10) {
  T value{};
  const char* const end = text.data() + text.size();
  const auto [stop, code] = std::from_chars(text.data(), end, value, base);
  return code == std::errc{} && stop == end ? std::optional(value) : std::nullopt;
}

/// "1 CPU", "2 CPUs"; `many` where that is not the word with an s.
template <std::integral Count>
std::string count_text(Count count, const std::string& one, const std::string& many = "") {
  return std::to_string(count) + " " + (count == 1 ? one : many.empty() ? one + "s" : many);
}

}  // namespace numatlas
