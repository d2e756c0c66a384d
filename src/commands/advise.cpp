// The placement that is fastest for a program, found by running it.
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "advise/advice.h"
#include "advise/advise.h"
#include "base/error.h"
#include "base/signals.h"
#include "base/terminal.h"
#include "base/text.h"
#include "base/units.h"
#include "commands/command.h"
#include "record/report_json.h"
#include "report/file.h"
#include "run/declare.h"
#include "run/place_words.h"
#include "run/runner.h"

namespace numatlas {
namespace {

/// What of the words is not yet in the options.
struct AdviseWords {
  AdviseOptions options;
  std::string metric = "time", input, machine, atlas, json, format = "table";
  std::vector<Aspect> axes{Aspect::memory, Aspect::pages, Aspect::cpus, Aspect::threads,
                           Aspect::weights};
  bool higher = false, dry_run = false, quiet = false;
};

Expected<double> seconds_in(const std::string& text) {
  return std::chrono::duration<double>(TRY(parse_duration(text))).count();
}

/// A file on standard input is read anew by each run; what can be read only once, by none.
std::string input_of(const AdviseWords& words) {
  if (!words.input.empty()) return words.input;
  struct stat status {};
  const bool is_file = fstat(STDIN_FILENO, &status) == 0 && S_ISREG(status.st_mode);
  return is_file ? "/proc/self/fd/0" : "";
}

/// Errors name the option.
Expected<AdviseOptions> options_of(const AdviseWords& words,
                                   const std::vector<std::string>& program) {
  AdviseOptions options = words.options;
  options.program = program;
  options.metric = TRY(Metric::parse(words.metric, words.higher));
  options.input = input_of(words);
  options.axes = {words.axes.begin(), words.axes.end()};
  if (!words.atlas.empty()) options.atlas = TRY(read_atlas(words.atlas));
  return options;
}

/// What can be told wrong before anything is read or run.
Expected<void> check_words(const AdviseWords& words, const std::vector<std::string>& program) {
  if (program.empty())
    return fail_usage("advise", "no program is named", "numatlas advise -- PROGRAM ARGUMENTS");
  if (!words.machine.empty() && !words.dry_run)
    return fail_usage("--machine", "a program cannot run on a recorded machine",
                      "add --dry-run to see what would be tried there");
  if (words.options.show_output && words.metric != "time")
    return fail_usage("--show-output", "a metric is searched in what the program prints",
                      "leave one of them out");
  if (!words.input.empty() && access(words.input.c_str(), R_OK) != 0) {
    const int code = errno;
    return fail_about(file_error_kind(code), "--input",
                      fmt::format("{}: {}", words.input, errno_text(code)));
  }
  return check_writable({{"--json", words.json}});
}

constexpr int exit_code_of_bad_program = 1, exit_code_of_no_answer = 9;  // docs/exit-codes.md

int exit_code_of(Outcome outcome) {
  switch (outcome) {
    case Outcome::better:
    case Outcome::none_better:
    case Outcome::others_failed:
    case Outcome::nothing_to_try: return 0;
    case Outcome::reference_failed: return exit_code_of_bad_program;
    case Outcome::no_time:
    case Outcome::too_few_runs:
    case Outcome::finalists_failed:
    case Outcome::interrupted: break;
  }
  return exit_code_of_no_answer;
}

Expected<int> run_advise(const AdviseWords& words, const std::vector<std::string>& program) {
  TRY(check_words(words, program));
  auto options = TRY(options_of(words, program));
  const auto machine = TRY(machine_of_option(words.machine));
  if (options.atlas && !options.atlas->host.empty() && options.atlas->host != machine.host)
    say(fmt::format("numatlas: warning: {} is from another host ({})\n", printable(words.atlas),
                    printable(options.atlas->host)));
  if (words.dry_run && options.curve) return answer(candidates_text(TRY(curve_for(machine))));
  if (words.dry_run) return answer(candidates_text(candidates_for(options, machine, {})));
  install_signal_handlers();
  RaceLine line(isatty(STDERR_FILENO) != 0);
  if (!words.quiet) {
    options.told = [&](const std::string& text) {
      line.clear();
      say(text + "\n");
    };
    options.progress = [&](const auto&... what) { line.show(what...); };
  }
  const auto advice = advise(options, machine);
  line.clear();
  if (!advice) {
    const Error& error = advice.error();
    if (error.kind != ErrorKind::usage || !is_about(error, program.front())) return fail(error);
    print_error(error);
    return exit_code_of_bad_program;
  }
  const std::string json = json_text(report_of(*advice));
  // The answer first: a file that fails takes nothing of it.
  const auto shown = write_stdout(words.format == "json" ? json : advice_text(*advice));
  if (!words.json.empty()) TRY(write_whole(words.json, json, "--json"));
  if (!shown) return fail(shown.error());
  if (stop_requested()) return fail(ErrorKind::interrupted, "interrupted");
  return exit_code_of(outcome_of(*advice));
}

void add_measurement(CLI::App& app, AdviseWords& words) {
  auto* const atlas =
      add_value(app, "--atlas", words.atlas, "FILE",
                "survey.json or another result of this machine, for better candidates");
  constexpr std::size_t least_runs = 5, most_runs = 10000, most_warmup = 1000;
  add_parsed(app, "--time", words.options.seconds, "5m", "TIME", "time for all runs together",
             seconds_in);
  add_parsed(
      app, "--runs", words.options.runs, "", "N",
      "instead of --time: at most N rounds of the screening, and N of the final (at least 5)",
      whole(least_runs, most_runs))
      ->excludes("--time");
  auto* const min_effect = add_min_effect(app, words.options.min_effect);
  add_value(app, "--metric", words.metric, "time|REGEX",
            "metric to compare: the run time, or a number that the program prints, by a regular "
            "expression with one group: 'Triad: *([0-9.]+)'");
  app.add_flag("--higher", words.higher, "a higher metric is better");
  Choices<Aspect> axes;
  for (const Aspect axis : words.axes) axes.emplace_back(name_of(axis), axis);
  auto* const curve =
      app.add_flag("--curve", words.options.curve,
                   "instead: how it takes loads on its memory, and pages on a second one");
  curve->excludes(atlas)->excludes(min_effect);
  add_choices<Aspect>(app, "--try", words.axes, axes,
                      "what candidates may change, separated by commas")
      ->excludes(curve);
  add_value(app, "--prepare", words.options.prepare, "COMMAND",
            "shell command to run before each run");
  add_parsed(app, "--warmup", words.options.warmup, "0", "N", "warm-up runs, which are not counted",
             whole(std::size_t{0}, most_warmup));
  add_parsed(app, "--timeout", words.options.timeout, "", "TIME",
             "end a run after this time (default: ten times the first run plus 10 s)", seconds_in);
  rare(add_parsed(app, "--seed", words.options.seed, "1", "N", "seed of the order of the runs",
                  whole<std::uint64_t>(0, UINT64_MAX)));
}

void add_program(CLI::App& app, AdviseWords& words) {
  add_value(app, "--input", words.input, "FILE",
            "standard input of each run\n"
            "Without it, the file that is standard input here, else nothing");
  rare(app.add_flag("--show-output", words.options.show_output,
                    "show what the program prints, on standard error; not with --metric REGEX"));
}

void add_output(CLI::App& app, AdviseWords& words) {
  add_value(app, "--json", words.json, "FILE", "also write the result as JSON");
  add_choice(app, "--format", words.format, named({"table", "json"}), "format of standard output");
  add_quiet(app, words.quiet);
  app.add_flag("--dry-run", words.dry_run, "print what would be tried, run nothing, and stop");
  rare(add_machine_option(app, words.machine));
}

Start declare_advise(CLI::App& app, const CommandLine& line) {
  auto words = std::make_shared<AdviseWords>();
  words->options.arguments = all_words(line);
  add_measurement(app, *words);
  add_program(app, *words);
  add_output(app, *words);
  return [words, &app, &line]() -> Expected<int> {
    const auto program = TRY(program_of(app, line));
    return run_advise(*words, program);
  };
}

}  // namespace

Command advise_command() {
  return {
      .name = "advise",
      .summary = "find a program's fastest placement by running it",
      .listing = {Topic::place},
      .description = "The program follows: numatlas advise --time 10m -- PROGRAM [ARGUMENTS...].",
      .examples = {{"What the survey of this machine suggests, within ten minutes",
                    "numatlas advise --atlas report/survey.json --time 10m -- ./program input.dat"},
                   {"How it takes a load on its memory, and its pages on a second one",
                    "numatlas advise --curve --time 10m -- ./program input.dat"},
                   {"By a rate that the program prints",
                    "numatlas advise --metric 'Triad: *([0-9.]+)' --higher -- ./stream"}},
      .has_program = true,
      .declare = declare_advise,
      .exit_codes = "0 an answer, 1 it fails, 9 no answer"};
}

}  // namespace numatlas
