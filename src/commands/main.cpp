// words -> command -> exit code. The data flow of a measurement is run/runner.cpp. Started by the
// name of an earlier program, it is that one.
#include <algorithm>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include "base/terminal.h"
#include "base/version.h"
#include "benchmarks/parse.h"
#include "comm/launcher.h"
#include "commands/command.h"
#include "commands/external.h"
#include "legacy/programs.h"
#include "report/file.h"
#include "run/declared.h"
#include "run/program.h"
#include "run/runner.h"

namespace numatlas {
namespace {

bool has_command(const CLI::App& app, const std::string& name) {
  return std::ranges::any_of(commands_of(app),
                             [&](const CLI::App* command) { return command->get_name() == name; });
}

/// The only command that begins with the word, or the word.
Expected<std::string> whole_name(const CLI::App& app, const std::string& word) {
  if (has_command(app, word)) return word;
  std::vector<std::string> names;
  for (const CLI::App* command : commands_of(app))
    if (command->get_name().starts_with(word)) names.push_back(command->get_name());
  if (names.size() > 1)
    return fail_usage(word,
                      fmt::format("several commands begin with it: {}", fmt::join(names, ", ")));
  return names.empty() ? word : names.front();
}

/// `help WORDS...` as words of the command that it asks about.
Expected<std::vector<std::string>> help_words(const CLI::App& app,
                                              const std::vector<std::string>& words) {
  if (words.empty() || words[0].starts_with("-")) return std::vector<std::string>{"--help"};
  if (words.size() > 1)
    return fail_usage("help", fmt::format("takes one command, not {}", words.size()));
  const std::string name = words[0].empty() ? "" : TRY(whole_name(app, words[0]));
  if (name == "help") return std::vector<std::string>{"--help"};
  bool known = has_command(app, name);
  if (!known && name.find('/') == std::string::npos) {
    const auto external = find_external(name);
    known = external && *external;
  }
  if (!known) return fail(leftover_error(app, {name}));
  return std::vector<std::string>{name, "--help"};
}

const Command* named_in(const std::vector<std::string>& words,
                        const std::vector<Command>& commands) {
  for (const std::string& word : words)
    for (const Command& command : commands)
      if (command.name == word) return &command;
  return nullptr;
}

/// Lists the commands in an app whose help shows them.
void declare_commands(CLI::App& app, const std::vector<Command>& commands) {
  app.name("numatlas");
  use_help_format(app);
  app.set_help_flag("-h,--help", "print the help");
  app.set_help_all_flag("--help-all", "print the help with all options in full");
  app.set_version_flag("--version", fmt::format("numatlas {}", version), "print the version");
  app.allow_extras();
  app.require_subcommand(0, 1);
  for (const Command& command : commands)
    add_command(app, command.name, command.summary, command.listing);
  app.footer("numatlas COMMAND --help describes a command, numatlas --help-all lists all.");
}

/// Writes the beginning of a command's name out, where only one begins like that, and `help
/// COMMAND` as `COMMAND --help`. Error (usage): several commands begin with the word.
Expected<void> complete_command(const CLI::App& app, std::vector<std::string>& words) {
  if (words.empty() || words[0].empty() || words[0].front() == '-') return {};
  words[0] = TRY(whole_name(app, words[0]));
  if (words[0] == "help") words = TRY(help_words(app, {words.begin() + 1, words.end()}));
  return {};
}

/// The command that the first word names, where it is a program of its own (all words after it are
/// that program's): comes back with an error, or not at all. nullopt: it is one of ours, or none.
std::optional<Error> become_external_command(const CLI::App& app,
                                             const std::vector<std::string>& words) {
  const std::string name = words.empty() ? "" : words.front();
  if (name.empty() || name.front() == '-' || name.find('/') != std::string::npos)
    return std::nullopt;
  const bool of_python = is_python_command(name);
  if (!of_python && has_command(app, name)) return std::nullopt;
  const auto program = find_external(name);
  if (!program) return program.error();
  if (*program) return become_external(**program, {words.begin() + 1, words.end()});
  if (!of_python) return std::nullopt;
  return Error{ErrorKind::unavailable, "the Python part is not installed", how_to_get(name), name};
}

/// What follows `--` is the program of a command that runs one. Elsewhere it is files: one that
/// begins with a dash is written as no option is.
CommandLine split(const std::vector<std::string>& all, const std::vector<Command>& commands) {
  CommandLine line;
  const auto end = std::find(all.begin(), all.end(), "--");
  line.words.assign(all.begin(), end);
  line.command = named_in(line.words, commands);
  if (end == all.end()) return line;
  const std::vector<std::string> after(end + 1, all.end());
  if (line.command != nullptr && line.command->has_program) {
    line.program = after;
    line.names_program = true;
    return line;
  }
  for (const std::string& word : after)
    line.words.push_back(word.starts_with("-") ? "./" + word : word);
  if (line.command == nullptr) line.command = named_in(line.words, commands);
  return line;
}

/// Declares the options of the line's command; where the options of all are asked for, of all.
void declare_options(CLI::App& app, std::vector<Command>& commands, const CommandLine& line) {
  const bool all = line.command != nullptr && line.command->name == "completion";
  for (Command& command : commands) {
    if (!all && &command != line.command) continue;
    CLI::App& sub = *app.get_subcommand(command.name);
    command.has_program ? sub.prefix_command() : sub.allow_extras();
    const std::string codes =
        command.exit_codes.empty()
            ? ""
            : fmt::format("{}Exit codes: {}; others: docs/exit-codes.md.",
                          command.description.empty() ? "" : " ", command.exit_codes);
    sub.footer(command.description + codes);
    add_examples(sub, command.examples);
    command.start = command.declare(sub, line);
  }
}

/// Runs the command once the app has parsed its words. Whatever was left over is an error.
Expected<int> start_command(const CLI::App& app, const CommandLine& line) {
  if (!app.remaining().empty()) return fail(leftover_error(app, app.remaining()));
  if (line.command == nullptr || !line.command->start) {
    say(app.help());
    return exit_code(ErrorKind::usage);
  }
  const CLI::App& sub = *app.get_subcommand(line.command->name);
  if (!line.command->has_program && !sub.remaining().empty())
    return fail(leftover_error(sub, sub.remaining()));
  return line.command->start();
}

/// What the parser gets, the last word first; help comes before errors in other words.
std::vector<std::string> words_to_parse(const CommandLine& line) {
  const auto help = std::ranges::find_if(line.words, [](const std::string& word) {
    return word == "-h" || word == "--help" || word == "--help-all";
  });
  const bool helps = help != line.words.end() && line.command != nullptr;
  if (!helps || line.command->has_program) return {line.words.rbegin(), line.words.rend()};
  return {*help, line.command->name};
}

/// Of several tasks under a launcher the first tells what is wrong with the words of all.
int end_with(const Error& error, const Command* command = nullptr) {
  if (command != nullptr && command->measures) return end_with_error(error);
  if (error.kind != ErrorKind::usage || should_report(detect_launcher())) print_error(error);
  return end_code(error);
}

int run(std::vector<std::string> words) {
  std::vector<Command> commands = all_commands();
  CLI::App app("Measure memory latency and bandwidth: NUMA nodes, CXL, persistent memory, GPUs.");
  declare_commands(app, commands);
  if (const auto completed = complete_command(app, words); !completed)
    return end_with(completed.error());
  if (const auto error = become_external_command(app, words)) return end_with(*error);
  const CommandLine line = split(words, commands);
  declare_options(app, commands, line);
  check_flags(app);
  try {
    app.parse(words_to_parse(line));
  } catch (const CLI::Success& success) {
    std::ostringstream text;  // --help, --version
    app.exit(success, text, text);
    const auto shown = write_stdout(text.str());
    return shown ? 0 : end_with(shown.error());
  } catch (const CLI::ParseError& error) {
    const auto parsed = app.get_subcommands();
    return end_with(parse_error(parsed.empty() ? app : *parsed.front(), error), line.command);
  }
  const auto code = start_command(app, line);
  return code ? *code : end_with(code.error(), line.command);
}

}  // namespace

}  // namespace numatlas

int main(int argc, char** argv) {
  return numatlas::run_program([&] {
    if (!numatlas::locale_is_utf8()) numatlas::set_ascii();
    std::string_view name = argc > 0 ? argv[0] : "";
    name.remove_prefix(name.rfind('/') + 1);  // npos + 1 is 0
    const std::vector<std::string> words(argv + std::min(argc, 1), argv + argc);
    const auto code = numatlas::legacy::run_program_named(name, words);
    return code ? *code : numatlas::run(words);
  });
}
