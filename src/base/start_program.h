// Other programs, started.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace numatlas {

/// Words as execv takes them; valid as long as `words`.
std::vector<char*> as_argv(const std::vector<std::string>& words);

struct ProgramStart {
  int output = -1;         ///< file that its standard output and error go to; -1: as here
  bool own_group = false;  ///< it is the first of a process group of its own
};

/// Starts the program that the first word names, by its path or on PATH. The signals that numatlas
/// ignores have their default action there. Returns 0, or an errno value.
int start_program(const std::vector<std::string>& words, const ProgramStart& start, pid_t& child);

}  // namespace numatlas
