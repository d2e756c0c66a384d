// words -> command -> exit code. The data flow of a measurement is run/runner.cpp. Started by the
// name of an earlier program, it is that one.
#include <algorithm>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>

#include "base/terminal.h"
#include "benchmarks/parse.h"
#include "comm/launcher.h"
#include "commands/command_line.h"
#include "legacy/programs.h"
#include "report/file.h"
#include "run/declared.h"
#include "run/program.h"
#include "run/runner.h"

namespace numatlas {
namespace {

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
