// What follows from declared options (run/declare.h): help and completions.
#pragma once

#include <string>
#include <vector>

#include "base/cli_forward.h"

namespace numatlas {

/// Options of a program or command under one heading.
struct OptionGroup {
  std::string name;
  std::vector<const CLI::Option*> options;
};
/// Arguments, options of its own, then the common groups; hidden options are left out.
std::vector<OptionGroup> groups_of(const CLI::App& app);

/// "-q", "--quiet"
std::vector<std::string> names_of(const CLI::Option& option);
/// Whether --help only names it (run/declare.h).
bool is_rare(const CLI::Option& option);
/// With what stands only in --help-all.
std::string full_text(const CLI::Option& option);
/// What stands beside an option's text: "default: 1%", "only with --apply".
std::vector<std::string> notes_of(const CLI::Option& option);

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

/// --help in our layout, for this app and its subcommands; before these are added. Without a
/// --help-all, --help has all options in full.
void use_help_format(CLI::App& app);

/// A script for bash that completes the program's options and their values.
std::string completion(const CLI::App& app);

}  // namespace numatlas
