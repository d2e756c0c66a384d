// The hosts that are expected to have results.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace numatlas {

/// Names of a text, sorted, each once: one a line, or Slurm's lists, "n[01-04,07],login1"; what
/// follows a # is a comment. Errors are about the line.
Expected<std::vector<std::string>> parse_hosts(std::string_view text);

}  // namespace numatlas
