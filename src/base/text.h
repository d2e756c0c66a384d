// Small work on words that several parsers share.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace numatlas {

/// Without blanks, tabs and line ends at either end.
std::string_view trim(std::string_view text);

/// Number of single-letter edits between two words (Levenshtein), for "did you mean".
std::size_t edit_distance(std::string_view a, std::string_view b);

/// The name that was probably meant by a word; "" when none is near enough.
std::string nearest_name(const std::string& word, const std::vector<std::string>& names);

/// A word as it must be typed in a shell: quoted where it has to be.
std::string shell_word(const std::string& word);

}  // namespace numatlas
