// From the words of a command line to the command that they name, with its options declared.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "commands/command.h"

namespace numatlas {

/// Lists the commands in an app whose help shows them.
void declare_commands(CLI::App& app, const std::vector<Command>& commands);

/// Writes the beginning of a command's name out, where only one begins like that, and `help
/// COMMAND` as `COMMAND --help`. Error (usage): several commands begin with the word.
Expected<void> complete_command(const CLI::App& app, std::vector<std::string>& words);

/// The command that the first word names, where it is a program of its own (all words after it are
/// that program's): comes back with an error, or not at all. nullopt: it is one of ours, or none.
std::optional<Error> become_external_command(const CLI::App& app,
                                             const std::vector<std::string>& words);

/// What follows `--` is the program of a command that runs one. Elsewhere it is files: one that
/// begins with a dash is written as no option is.
CommandLine split(const std::vector<std::string>& all, const std::vector<Command>& commands);

/// Declares the options of the line's command; where the options of all are asked for, of all.
void declare_options(CLI::App& app, std::vector<Command>& commands, const CommandLine& line);

/// Runs the command once the app has parsed its words. Whatever was left over is an error.
Expected<int> start_command(const CLI::App& app, const CommandLine& line);

/// What the parser gets, the last word first; help comes before errors in other words.
std::vector<std::string> words_to_parse(const CommandLine& line);

}  // namespace numatlas
