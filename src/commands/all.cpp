#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

#include "benchmarks/parse.h"
#include "commands/command.h"
#include "commands/external.h"
#include "report/file.h"
#include "run/declare.h"
#include "run/declared.h"
#include "run/runner.h"

namespace numatlas {
namespace {

Start declare_completion(CLI::App& app, const CommandLine&) {
  auto shell = std::make_shared<std::string>();
  add_choice(app, "SHELL", *shell, named({"bash"}), "shell to print the script for")->required();
  // The option writes to `shell`.
  return [shell, program = app.get_parent()] { return answer(completion(*program)); };
}

Command completion_command() {
  return {.name = "completion",
          .summary = "print a completion script for bash",
          .listing = {Topic::other, true},
          .examples =
              {{"In the running shell", "source <(numatlas completion bash)"},
               {"For zsh, in its ~/.zshrc",
                "autoload -U bashcompinit && bashcompinit && source <(numatlas completion bash)"}},
          .declare = declare_completion};
}

Command command_of(Benchmark benchmark) {
  Command command{benchmark.name,          benchmark.help.summary,
                  benchmark.help.listing,  benchmark.help.description,
                  benchmark.help.examples, true};
  const auto parser = std::make_shared<RunParser>(std::move(benchmark));
  command.declare = [parser](CLI::App& app, const CommandLine& line) -> Start {
    parser->add_to(app);
    return [parser, &line]() -> Expected<int> {
      const auto parsed = TRY(std::move(*parser).take(line.words));
      return run_and_exit_code(parsed.benchmark, parsed.options);
    };
  };
  return command;
}

/// A program of its own gets all its words, --help-all too.
Command command_of(const ExternalCommand& external) {
  return {.name = external.name,
          .summary = external.summary,
          .listing = {Topic::other, true},
          .has_program = true,
          .declare = [](CLI::App& app, const CommandLine&) {
            app.set_help_all_flag();
            return Start();
          }};
}

Command help_command() {
  return {.name = "help",
          .summary = "print the help of a command",
          .listing = {Topic::other, true},
          .declare = [](CLI::App& app, const CommandLine&) {
            app.add_option("COMMAND")->type_name("");
            return Start();
          }};
}

}  // namespace

std::vector<Command> all_commands() {
  std::vector<Command> commands{topology_command(), features_command(), survey_command(),
                                audit_command(),    selftest_command(), check_command(),
                                compare_command(),  export_command(),   exec_command(),
                                advise_command(),   load_command(),     completion_command()};
  for (auto& benchmark : all_benchmarks()) commands.push_back(command_of(std::move(benchmark)));
  for (const ExternalCommand& external : python_commands())
    commands.push_back(command_of(external));
  commands.push_back(help_command());
  return commands;
}

Expected<int> answer(const std::string& text) {
  return write_stdout(text).map([] { return 0; });
}

Expected<std::vector<std::string>> program_of(const CLI::App& app, const CommandLine& line) {
  std::vector<std::string> words = app.remaining();
  if (!words.empty() && words.front().size() > 1 && words.front().front() == '-')
    return fail(leftover_error(app, words));
  // A `--` after the program's name is the program's own.
  if (!words.empty() && !line.program.empty()) words.push_back("--");
  words.insert(words.end(), line.program.begin(), line.program.end());
  return words;
}

std::vector<std::string> all_words(const CommandLine& line) {
  std::vector<std::string> words = line.words;
  if (line.names_program) words.emplace_back("--");
  words.insert(words.end(), line.program.begin(), line.program.end());
  return words;
}

}  // namespace numatlas
