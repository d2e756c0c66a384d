// What a command is: its file here says all of it in one place.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/cli_forward.h"
#include "base/error.h"
#include "run/declare.h"

namespace numatlas {

struct Command;

struct CommandLine {
  std::vector<std::string> words;    ///< of numatlas itself
  std::vector<std::string> program;  ///< after `--`, where the command runs one
  bool names_program = false;        ///< there is a `--` for it
  const Command* command = nullptr;  ///< that the words name
};

/// Runs a command whose options are parsed: its exit code, or an error.
using Start = std::function<Expected<int>()>;

struct Command {
  std::string name;
  std::string summary;
  Listing listing = {};
  std::string description = {};  ///< below the options in its help
  std::vector<Example> examples = {};
  bool measures = false;     ///< it has ranks, which end together
  bool has_program = false;  ///< words after `--`, and its own words left over, are its own
  /// Declares its options, whose words are in the line. Gives nothing where it is started
  /// otherwise.
  std::function<Start(CLI::App&, const CommandLine&)> declare = {};
  Start start = {};  ///< what it gave; has what its options fill
  /// In its help, below the description; "" where that tells them.
  std::string exit_codes = "0 done";
};

// A file each.
Command topology_command();
Command features_command();
Command survey_command();
Command audit_command();
Command selftest_command();
Command check_command();
Command compare_command();
Command export_command();
Command exec_command();
Command advise_command();
Command load_command();

/// All commands, in the order in which help lists them: those above, a command for each benchmark,
/// those of the Python part, and help.
std::vector<Command> all_commands();

/// Writes to standard output what a command found out. Exit code 0.
Expected<int> answer(const std::string& text);

/// The program of `numatlas COMMAND [OPTIONS] [--] PROGRAM ...`, and its arguments: what the parser
/// of the command's options left over, then the words after `--`.
Expected<std::vector<std::string>> program_of(const CLI::App& app, const CommandLine& line);

/// The line as it was given, for the record: with `--` and the program's words, where there are
/// any.
std::vector<std::string> all_words(const CommandLine& line);

}  // namespace numatlas
