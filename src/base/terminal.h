// What the terminal can show.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace numatlas {

/// Columns of the terminal that a descriptor is; absent for a file or pipe.
std::optional<std::size_t> terminal_columns(int descriptor);

/// Columns that a text takes, a character each.
std::size_t width_of_text(std::string_view text);

/// Cut to so many columns, the last of them "…" or ".".
std::string cut_to(const std::string& text, std::size_t columns);

/// A line that a terminal shows without breaking it, one column short of its width; as it is on
/// anything else.
std::string cut_to_terminal(const std::string& line, int descriptor);

/// Whether texts may have characters beyond ASCII. True until set_ascii().
bool has_unicode();
/// Texts are ASCII from here on.
void set_ascii();
/// Whether LC_ALL, LC_CTYPE or LANG, the first of them that is set, names UTF-8. The names count,
/// not the locales that are installed: a minimal system has none and its terminal UTF-8.
bool locale_is_utf8();

// Words for people on standard error.

/// Writes to standard error as it is; a closed or full one is nobody's error to hear of.
void say(const std::string& text);

}  // namespace numatlas
