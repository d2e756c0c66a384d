// How every JSON file of numatlas is laid out.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

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

}  // namespace numatlas
