// Another program's words, for a program that measures beside it.
#pragma once

#include <string>
#include <vector>

#include "base/error.h"

namespace numatlas::legacy {

struct CommandOutput {
  std::string text;    ///< standard output and standard error
  std::string ending;  ///< "ended with exit code 3", "was ended by signal 9"; "" for exit code 0
};

/// Runs a program of the PATH to its end. Errors: unavailable (it cannot be started, by its name);
/// interrupted (this process was told to stop: the program is told as well, and waited for).
Expected<CommandOutput> output_of(const std::vector<std::string>& words);

}  // namespace numatlas::legacy
