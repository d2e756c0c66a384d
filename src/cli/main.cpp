// arguments -> command -> exit code. The data flow of a measurement is run/runner.cpp. Started by
// the name of an earlier program, it is that one.
#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include "base/say.h"
#include "base/terminal.h"
#include "base/version.h"
#include "benchmarks/all.h"
#include "benchmarks/parse.h"
#include "cli/commands.h"
#include "cli/external.h"
#include "comm/launcher.h"
#include "legacy/programs.h"
#include "report/file.h"
#include "run/declare.h"
#include "run/declared.h"
#include "run/program.h"
#include "run/runner.h"

namespace numatlas {
namespace {

struct CommandLine {
  std::vector<std::string> words;    ///< of numatlas itself
  std::vector<std::string> program;  ///< after `--`: for exec and advise
};

/// What follows `--` is the program of exec or advise. Elsewhere it is files: one that begins with
/// a dash is written as no option is.
CommandLine split(const std::vector<std::string>& all) {
  CommandLine line;
  const auto end = std::find(all.begin(), all.end(), "--");
  line.words.assign(all.begin(), end);
  if (end == all.end()) return line;
  const auto runs_program = [](const std::string& word) {
    return word == "exec" || word == "advise";
  };
  if (std::any_of(all.begin(), end, runs_program)) {
    line.program.assign(end + 1, all.end());
    return line;
  }
  for (auto word = end + 1; word != all.end(); ++word)
    line.words.push_back(word->starts_with("-") ? "./" + *word : *word);
  return line;
}

/// A command as main starts it.
struct Entry {
  std::function<Command(CLI::App&)> add_options;
  bool measures = false;     ///< it has ranks, which end together
  bool has_program = false;  ///< words after `--`, and its own words left over, are its own
};
using Entries = std::map<CLI::App*, Entry>;

/// Of several tasks under a launcher the first tells what is wrong with the words of all.
int report_error(const Error& error, bool measures) {
  if (measures) return end_with_error(error);
  if (error.kind != ErrorKind::usage || should_report(detect_launcher())) print_error(error);
  return end_code(error);
}

/// The command that the words name, before they are parsed.
bool names_a_measuring_command(const Entries& entries, const CommandLine& line) {
  for (const auto& [app, entry] : entries) {
    const auto word = std::find(line.words.begin(), line.words.end(), app->get_name());
    if (entry.measures && word != line.words.end()) return true;
  }
  return false;
}

/// Of the commands that are no benchmarks.
const std::map<std::string, std::vector<Example>>& examples() {
  static const std::map<std::string, std::vector<Example>> all{
      {"topology",
       {{"This machine", "numatlas topology"},
        {"A machine recorded elsewhere by topology --format json",
         "numatlas topology --machine node.json"}}},
      {"features",
       {{"What can be measured here, and why not the rest", "numatlas features"},
        {"The same for scripts", "numatlas features --format json"}}},
      {"survey",
       {{"All applicable benchmarks, within a minute", "numatlas survey"},
        {"Only the memory, in ten minutes",
         "numatlas survey --time 10m --only matrix,latency,loaded"}}},
      {"audit",
       {{"Before a job: is this host what it says it is?",
         "numatlas audit --time 15s --format nhc"},
        {"Against its own past, with settings for low latency",
         "numatlas audit --baseline survey.json --for latency"}}},
      {"selftest",
       {{"Can measurements on this machine be trusted right now?", "numatlas selftest"},
        {"Do all ranks agree on version and clock?",
         "mpirun -n 4 numatlas selftest --only ranks,overlap"}}},
      {"check",
       {{"Each host measured itself every night: which is slow, which became slower?",
         "numatlas check results"},
        {"Is this host what was bought?",
         "numatlas check --expect triad=350GB/s,latency=120ns survey.json"}}},
      {"compare",
       {{"Did anything change?", "numatlas compare before.json after.json"},
        {"Are huge pages faster? Both are measured in turn",
         "numatlas compare --run 'latency --pages base' --run 'latency --pages thp'"}}},
      {"export",
       {{"Measured memory attributes for programs that use hwloc",
         "numatlas export hwloc survey.json -o machine.xml"},
        {"Figures for a node exporter's textfile collector",
         "numatlas export openmetrics survey.json -o /var/lib/node_exporter/numa.prom"}}},
      {"exec",
       {{"All threads and all memory on node 1",
         "numatlas exec --cpus node:1 --memory bind:1 -- ./program"},
        {"Four ranks, two on the memory of each node",
         "mpirun -n 4 numatlas exec --memory each:0,0,1,1 -- ./program"}}},
      {"advise",
       {{"What the survey of this machine suggests, within ten minutes",
         "numatlas advise --atlas report/survey.json --time 10m -- ./program input.dat"},
        {"By a rate that the program prints",
         "numatlas advise --metric 'Triad: *([0-9.]+)' --higher -- ./stream"}}},
      {"completion",
       {{"In the running shell", "source <(numatlas completion bash)"},
        {"For zsh", "source <(numatlas completion zsh)"}}}};
  return all;
}

/// Adds the options of the command that the words name (`--help latency` too), and returns what
/// starts it; where all options are asked for, those of all.
Command add_options(const Entries& entries, const std::vector<std::string>& words) {
  const auto named = std::ranges::find_if(words, [&](const std::string& word) {
    return std::ranges::any_of(entries,
                               [&](const auto& entry) { return entry.first->get_name() == word; });
  });
  const std::string word = named == words.end() ? "" : *named;
  const bool all = word == "completion" || (!words.empty() && words.front() == declared_word);
  Command start;
  for (const auto& [sub, entry] : entries) {
    if (!all && sub->get_name() != word) continue;
    Command command = entry.add_options(*sub);
    if (const auto some = examples().find(sub->get_name()); some != examples().end())
      add_examples(*sub, some->second);
    if (sub->get_name() == word) start = std::move(command);
  }
  return start;
}

void declare_benchmarks(CLI::App& app, const CommandLine& line,
                        std::vector<std::unique_ptr<RunParser>>& parsers, Entries& entries) {
  for (auto& benchmark : all_benchmarks()) {
    CLI::App* sub = add_command(app, benchmark.name, benchmark.summary, benchmark.listing);
    sub->footer(benchmark.description);
    add_examples(*sub, benchmark.examples);
    auto& parser = parsers.emplace_back(std::make_unique<RunParser>(std::move(benchmark)));
    const auto start = [&parser = *parser, &line]() -> Expected<int> {
      auto parsed = TRY(std::move(parser).take(line.words));
      return run_and_exit_code(parsed.benchmark, parsed.options);
    };
    const auto add_options = [&parser = *parser, start](CLI::App& of) -> Command {
      parser.add_to(of);
      return start;
    };
    entries[sub] = {add_options, true};
  }
}

Entries declare(CLI::App& app, const CommandLine& line,
                std::vector<std::unique_ptr<RunParser>>& parsers) {
  app.name("numatlas");
  use_help_format(app);
  app.set_help_flag("-h,--help", "print the help");
  app.set_help_all_flag("--help-all", "print the help with all options in full");
  app.set_version_flag("--version", fmt::format("numatlas {}", version), "print the version");
  app.allow_extras();
  app.require_subcommand(0, 1);
  Entries entries;
  const auto add = [&](const std::string& name, const std::string& summary, const Listing& listing,
                       const auto& add_options, bool measures = false, bool has_program = false) {
    entries[add_command(app, name, summary, listing)] = {add_options, measures, has_program};
  };
  // The words of the command line, which are known when the command runs.
  const auto of_words = [&](auto add_options, const std::vector<std::string>& words) {
    return [add_options, &words](CLI::App& sub) { return add_options(sub, words); };
  };
  add("topology", "show nodes, CPUs, caches, memory, kernel settings", {Topic::machine},
      add_topology_command);
  add("features", "list available features, and why others are missing", {Topic::machine, true},
      add_features_command);
  add("survey", "run all applicable benchmarks within a time limit", {Topic::machine},
      of_words(add_survey_command, line.words), true);
  add("audit", "check claims of firmware and kernel by measurements", {Topic::machine},
      of_words(add_audit_command, line.words), true);
  add("selftest", "check that this build measures correctly on this machine",
      {Topic::machine, true}, add_selftest_command, true);
  add("check", "find slow hosts in stored results of any command", {Topic::judge},
      add_check_command);
  add("compare", "compare results and report significant changes", {Topic::judge},
      add_compare_command);
  add("export", "write stored figures for hwloc, Prometheus, spreadsheets, issues",
      {Topic::other, true}, add_export_command);
  add("exec", "run a program with a given CPU and memory placement", {Topic::place},
      of_words(add_exec_command, line.program), false, true);
  add("advise", "find a program's fastest placement by running it", {Topic::place},
      of_words(add_advise_command, line.program), false, true);
  add("completion", "print a completion script for a shell", {Topic::other, true},
      add_completion_command);
  declare_benchmarks(app, line, parsers, entries);
  for (const ExternalCommand& external : python_commands())
    add_command(app, external.name, external.summary, {Topic::other, true})
        ->prefix_command()
        ->set_help_all_flag();
  add_command(app, "help", "print the help of a command", {Topic::other, true})
      ->add_option("COMMAND")
      ->type_name("");
  app.footer("numatlas COMMAND --help describes a command, numatlas --help-all lists all.");
  return entries;
}

/// Writes the beginning of a command's name out, where only one begins like that, and `help
/// COMMAND` as `COMMAND --help`. Error (usage): several commands begin with the word.
Expected<void> complete_command(const CLI::App& app, std::vector<std::string>& words) {
  if (words.empty() || words[0].empty() || words[0].front() == '-') return {};
  std::string& word = words[0];
  std::vector<std::string> names;
  for (const CLI::App* command : commands_of(app))
    if (command->get_name().starts_with(word)) names.push_back(command->get_name());
  const bool whole = std::find(names.begin(), names.end(), word) != names.end();
  if (!whole && names.size() > 1)
    return fail_usage(word,
                      fmt::format("several commands begin with it: {}", fmt::join(names, ", ")));
  if (!whole && names.size() == 1) word = names.front();
  if (word != "help") return {};
  words.erase(words.begin());
  if (words.empty() || words[0].starts_with("-")) {
    words = {"--help"};
    return {};
  }
  if (words.size() > 1)
    return fail_usage("help", fmt::format("takes one command, not {}", words.size()));
  if (words[0] == "help") {
    words = {"--help"};
    return {};
  }
  TRY(complete_command(app, words));
  const auto commands = commands_of(app);
  bool known = std::any_of(commands.begin(), commands.end(), [&](const CLI::App* command) {
    return command->get_name() == words[0];
  });
  if (!known && words[0].find('/') == std::string::npos) {
    const auto external = find_external(words[0]);
    known = external && *external;
  }
  if (!known) return fail(leftover_error(app, words));
  words.resize(1);
  words.emplace_back("--help");
  return {};
}

/// The command that the first word names, where it is a program of its own (all words after it are
/// that program's): comes back with an error, or not at all. nullopt: it is one of ours, or none.
std::optional<Error> become_external_command(const CLI::App& app,
                                             const std::vector<std::string>& words) {
  const std::string name = words.empty() ? "" : words.front();
  if (name.empty() || name.front() == '-' || name.find('/') != std::string::npos) {
    return std::nullopt;
  }
  const bool of_python = is_python_command(name);
  const auto has_name = [&](const CLI::App* command) { return command->get_name() == name; };
  if (!of_python && !app.get_subcommands(has_name).empty()) return std::nullopt;
  const auto program = find_external(name);
  if (!program) return program.error();
  if (*program) return become_external(**program, {words.begin() + 1, words.end()});
  if (!of_python) return std::nullopt;
  return Error{ErrorKind::unavailable, "the Python part is not installed", how_to_get(name), name};
}

/// Runs the command that was parsed. Whatever was left over is an error.
Expected<int> start(const CLI::App& app, const Entries& entries, const Command& command) {
  if (!app.remaining().empty()) return fail(leftover_error(app, app.remaining()));
  for (const auto& [sub, entry] : entries) {
    if (!sub->parsed()) continue;
    if (!entry.has_program && !sub->remaining().empty()) {
      return fail(leftover_error(*sub, sub->remaining()));
    }
    return command();
  }
  say(app.help());
  return exit_code(ErrorKind::usage);
}

int run(std::vector<std::string> words) {
  CommandLine line;
  CLI::App app("Measure memory latency and bandwidth: NUMA nodes, CXL, persistent memory, GPUs.");
  std::vector<std::unique_ptr<RunParser>> parsers;
  const Entries entries = declare(app, line, parsers);
  if (auto completed = complete_command(app, words); !completed)
    return report_error(completed.error(), false);
  line = split(words);
  if (const auto error = become_external_command(app, words)) {
    return report_error(*error, false);
  }
  const Command command = add_options(entries, line.words);
  if (const auto text = declared_text(app, line.words)) {
    const auto shown = write_stdout(*text);
    return shown ? 0 : report_error(shown.error(), false);
  }
  const bool measures = names_a_measuring_command(entries, line);
  try {
    app.parse(std::vector<std::string>(line.words.rbegin(), line.words.rend()));
  } catch (const CLI::Success& success) {
    std::ostringstream text;  // --help, --version
    app.exit(success, text, text);
    const auto shown = write_stdout(text.str());
    return shown ? 0 : report_error(shown.error(), false);
  } catch (const CLI::ParseError& error) {
    const auto parsed = app.get_subcommands();
    return report_error(parse_error(parsed.empty() ? app : *parsed.front(), error), measures);
  }
  const auto code = start(app, entries, command);
  return code ? *code : report_error(code.error(), measures);
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
