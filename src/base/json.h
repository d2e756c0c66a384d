// How every JSON file of numatlas is laid out.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include <memory>
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

// JSON that anybody may have written, as a value whose texts can be shown.

/// The library's own destructor asks for memory, which ends the program where there is none left:
/// this one does not.
struct DropJson {
  void operator()(nlohmann::json* value) const noexcept;
};
using JsonDocument = std::unique_ptr<nlohmann::json, DropJson>;

/// Files of numatlas have fewer than twenty levels. What works on a value calls itself for each.
inline constexpr std::size_t most_json_levels = 64;

/// Parses a whole text. All strings and names in the value are printable (base/text.h). Errors
/// (kind usage) are a predicate without the file's name: "is truncated after 20 bytes, in line 1".
Expected<JsonDocument> parse_json(const std::string& text);

}  // namespace numatlas
