#include "commands/command_line.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include "base/terminal.h"
#include "base/version.h"
#include "benchmarks/parse.h"
#include "commands/external.h"
#include "run/declared.h"

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

}  // namespace

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

Expected<void> complete_command(const CLI::App& app, std::vector<std::string>& words) {
  if (words.empty() || words[0].empty() || words[0].front() == '-') return {};
  words[0] = TRY(whole_name(app, words[0]));
  if (words[0] == "help") words = TRY(help_words(app, {words.begin() + 1, words.end()}));
  return {};
}

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

CommandLine split(const std::vector<std::string>& all, const std::vector<Command>& commands) {
  CommandLine line;
  const auto end = std::find(all.begin(), all.end(), "--");
  line.words.assign(all.begin(), end);
  line.command = named_in(line.words, commands);
  if (end == all.end()) return line;
  const std::vector<std::string> after(end + 1, all.end());
  if (line.command != nullptr && line.command->has_program) {
    line.program = after;
    return line;
  }
  for (const std::string& word : after)
    line.words.push_back(word.starts_with("-") ? "./" + word : word);
  if (line.command == nullptr) line.command = named_in(line.words, commands);
  return line;
}

void declare_options(CLI::App& app, std::vector<Command>& commands, const CommandLine& line) {
  const bool all = line.command != nullptr && line.command->name == "completion";
  for (Command& command : commands) {
    if (!all && &command != line.command) continue;
    CLI::App& sub = *app.get_subcommand(command.name);
    command.has_program ? sub.prefix_command() : sub.allow_extras();
    sub.footer(command.description);
    add_examples(sub, command.examples);
    command.start = command.declare(sub, line);
  }
}

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

std::vector<std::string> words_to_parse(const CommandLine& line) {
  const auto help = std::ranges::find_if(line.words, [](const std::string& word) {
    return word == "-h" || word == "--help" || word == "--help-all";
  });
  const bool helps = help != line.words.end() && line.command != nullptr;
  if (!helps || line.command->has_program) return {line.words.rbegin(), line.words.rend()};
  return {*help, line.command->name};
}

}  // namespace numatlas
