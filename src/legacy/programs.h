// The earlier programs by their names.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace numatlas::legacy {

/// Runs the earlier program of this name; the process's exit code. nullopt: none has it.
std::optional<int> run_program_named(std::string_view name, const std::vector<std::string>& words);

}  // namespace numatlas::legacy
