// How every JSON file of numatlas is laid out.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

namespace numatlas {

/// JSON for people and programs: one member per line at the top; below, short members and items
/// share lines of up to 120 columns. Ends in a newline. Bytes that are not UTF-8 are replaced.
std::string pretty(const nlohmann::json& value);

}  // namespace numatlas
