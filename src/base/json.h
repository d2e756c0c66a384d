// How every JSON file of numatlas is laid out.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>
#include "base/error.h"

namespace numatlas {

/// JSON for people and programs: one member per line at the top; below, short members and items
/// share lines of up to 120 columns. Ends in a newline. Bytes that are not UTF-8 are replaced.
std::string pretty(const nlohmann::json& value);

/// All in one line. Bytes that are not UTF-8 are replaced.
std::string json_line(const nlohmann::json& value);

/// A member of an object that is too long to stand in memory as JSON: it writes its own text.
struct LongMember {
  std::string name;  ///< the object has it with any value
  std::function<void(std::string& text)> write;
};

/// As `pretty`, of a value that stands `depth` levels deep in a document, without the newline.
std::string pretty_part(const nlohmann::json& value, std::size_t depth,
                        const std::vector<LongMember>& long_members = {});

/// Adds an array to a text, whose items stand `depth` levels deep.
template <class Items, class TextOf>
void add_list(std::string& text, const Items& items, std::size_t depth, const TextOf& text_of) {
  text += '[';
  for (const auto& item : items) {
    const bool is_first = &item == &items.front();
    text += is_first ? "\n" : ",\n";
    text.append(depth, ' ');
    const std::string its = text_of(item);
    // Others are about as long: a text that grows would be there twice.
    if (is_first) text.reserve(text.size() + (its.size() + depth + 8) * items.size());
    text += its;
  }
  text += items.empty() ? "]" : "\n" + std::string(depth - 1, ' ') + ']';
}

// JSON that anybody may have written, as a value whose texts can be shown.

/// Files of numatlas have fewer than twenty levels. What works on a value calls itself for each.
inline constexpr int most_json_levels = 64;

/// Parses a whole text. All strings and names in the value are printable (base/text.h). Errors
/// (kind usage; resource where the limits of this process leave too little memory for it) are a
/// predicate without the file's name: "is truncated after 20 bytes, in line 1".
Expected<nlohmann::json> parse_json(const std::string& text);

}  // namespace numatlas
