// JSON that anybody may have written, as a value whose texts can be shown.
#pragma once

#include <cstddef>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "base/error.h"

namespace numatlas {

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
