// What stands at the end of a command's help.
#pragma once

#include <string>

namespace numatlas {

/// What a command line does, and the command line.
struct Example {
  std::string what, command;
};

}  // namespace numatlas
