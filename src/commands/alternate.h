// Two commands measured in turn, so that what changes with time changes both alike.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "base/error.h"
#include "compare/results.h"

namespace numatlas {

/// The launches of both sides, in the order of the pairs.
using Launches = std::array<std::vector<Results>, 2>;

/// Runs both commands `pairs` times each, in the order A B B A A B B A ..., by the shell, with
/// `--json FILE` at their ends, and tells on standard error how far it is, unless `quiet`. A
/// command that begins with a benchmark's name is one of this program. The files lie in `folder`,
/// which is made, as a-1.json, b-1.json and so on; "" for a temporary folder that is gone
/// afterwards. Errors name
/// --run: what a command ended with, or why its result cannot be read.
Expected<Launches> measure_in_turn(const std::array<std::string, 2>& commands, int pairs,
                                   const std::string& folder, bool quiet);

}  // namespace numatlas
