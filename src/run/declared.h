// What follows from declared options (run/declare.h): help and completions.
#pragma once

#include <string>
#include <vector>

#include "base/cli_forward.h"

namespace numatlas {

/// "-q", "--quiet"
std::vector<std::string> names_of(const CLI::Option& option);
/// What an option takes, read from its type name (run/declare.h), or from the name of an
/// argument without one.
struct ValueType {
  std::string text;                 ///< "first|second|NODE"; "" of a flag
  std::vector<std::string> words;   ///< "first", "second"
  std::vector<std::string> others;  ///< "NODE"
  bool several = false;             ///< separated by commas
};
ValueType value_type(const CLI::Option& option);

/// Subcommands, in the order of their declaration.
std::vector<const CLI::App*> commands_of(const CLI::App& app);

/// Help for this app and its subcommands; before these are added. Without a --help-all, --help has
/// all options in full.
void use_help_format(CLI::App& app);

/// A script for bash that completes the program's options and their values.
std::string completion(const CLI::App& app);

}  // namespace numatlas
