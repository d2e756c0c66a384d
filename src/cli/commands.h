// The commands that are not benchmarks. Each declares its options on a subcommand and gives what to
// run once they are parsed.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/cli_forward.h"
#include "base/error.h"

namespace numatlas {

/// Writes to standard output what a command found out. Exit code 0.
Expected<int> answer(const std::string& text);

/// The program of `numatlas COMMAND [OPTIONS] [--] PROGRAM ...`, and its arguments: what the parser
/// of the command's options left over, then `after_dashes`.
Expected<std::vector<std::string>> program_of(const CLI::App& app,
                                              const std::vector<std::string>& after_dashes);

/// A command ready to run: returns its exit code (0, or what it promises), or an error.
using Command = std::function<Expected<int>()>;

Command add_topology_command(CLI::App& app);
Command add_features_command(CLI::App& app);
/// `words`: the whole command line, as the results tell it.
Command add_survey_command(CLI::App& app, const std::vector<std::string>& words);
/// `words`: as of the survey.
Command add_audit_command(CLI::App& app, const std::vector<std::string>& words);
Command add_selftest_command(CLI::App& app);
Command add_check_command(CLI::App& app);
Command add_compare_command(CLI::App& app);
/// Writes stored figures in forms of other software.
Command add_export_command(CLI::App& app);
/// Prints a completion script of the whole program, whose command `app` is.
Command add_completion_command(CLI::App& app);
/// `program`: the words after `--` (or after the first word that is no option).
Command add_exec_command(CLI::App& app, const std::vector<std::string>& program);
Command add_advise_command(CLI::App& app, const std::vector<std::string>& program);

}  // namespace numatlas
