// The placement that is fastest for a program, found by running it.
#include <unistd.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "advise/advise.h"
#include "advise/race_progress.h"
#include "base/say.h"
#include "base/signals.h"
#include "base/text.h"
#include "benchmarks/declare.h"
#include "benchmarks/options.h"
#include "benchmarks/parse.h"
#include "benchmarks/runner.h"
#include "cli/advise_words.h"
#include "cli/commands.h"
#include "machine/source.h"
#include "record/report_json.h"
#include "report/file.h"

namespace numatlas {
namespace {

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

Expected<void> write_exports(const std::vector<std::string>& files, const Advice& advice) {
  for (const std::string& file : files) {
    const std::string text = file.ends_with(".json") ? json_text(report_of(advice))
                             : file.ends_with(".md") ? advice_markdown(advice)
                                                     : advice_script(advice);
    if (auto written = write_whole(file, text, "--export"); !written) return written;
  }
  return {};
}

Expected<int> run_advise(const AdviseWords& words, const std::vector<std::string>& program) {
  if (auto checked = check_words(words, program); !checked) return fail(checked.error());
  auto options = options_of(words, program);
  if (!options) return fail(options.error());
  const auto machine =
      words.machine.empty() ? read_live_machine() : read_recorded_machine(words.machine);
  if (!machine) return fail(machine.error());
  if (options->atlas && !options->atlas->host.empty() && options->atlas->host != machine->host)
    say(fmt::format("numatlas: warning: {} is from another host ({})\n", printable(words.atlas),
                    printable(options->atlas->host)));
  if (words.dry_run) {
    const auto traits = traits_from(words.assume, options->launch.ranks);
    if (!traits) return fail(traits.error());
    const auto shown = write_stdout(candidates_text(candidates_for(*options, *machine, *traits)));
    return shown ? Expected<int>(0) : fail(shown.error());
  }
  install_signal_handlers();
  RaceLine line(isatty(STDERR_FILENO) != 0);
  if (!words.quiet) {
    options->told = [&](const std::string& text) {
      line.clear();
      say(text + "\n");
    };
    options->progress = [&](const auto&... what) { line.show(what...); };
  }
  const auto advice = advise(*options, *machine);
  line.clear();
  if (!advice) {
    const Error& error = advice.error();
    if (error.kind != ErrorKind::usage || !is_about(error, program.front())) return fail(error);
    print_error(error);
    return exit_code_of_bad_program;
  }
  // The answer first: an export that fails takes nothing of it.
  const auto shown =
      write_stdout(words.format == "json" ? json_text(report_of(*advice)) : advice_text(*advice));
  if (auto written = write_exports(words.exports, *advice); !written) return fail(written.error());
  if (!shown) return fail(shown.error());
  if (stop_requested()) return fail(ErrorKind::interrupted, "interrupted");
  return exit_code_of(outcome_of(*advice));
}

void add_measurement(CLI::App& app, AdviseWords& words) {
  add_value(app, "--atlas", words.atlas, "FILE",
            "survey.json or another result of this machine, whose figures support the candidates");
  add_value(app, "--time", words.time, "TIME", "time for all runs together");
  add_value(app, "--runs", words.runs, "N",
            "instead of --time: rounds of the screening at most, and of the final (at least 5)")
      ->excludes("--time");
  add_value(app, "--metric", words.metric, "time|REGEX",
            "metric to compare: the run time, or a number that the program prints, selected by a "
            "regular expression with one group, such as 'Triad: *([0-9.]+)'");
  app.add_flag("--higher", words.higher, "a higher metric is better");
  Choices<Axis> axes;
  for (const Axis axis : words.axes) axes.emplace_back(name_of(axis), axis);
  add_choices<Axis>(app, "--try", words.axes, axes,
                    "what candidates may change, separated by commas");
  add_value(app, "--prepare", words.prepare, "COMMAND", "shell command to run before each run");
  add_value(app, "--warmup", words.warmup, "N", "warm-up runs, which are not counted");
  add_value(app, "--timeout", words.timeout, "TIME",
            "end a run after this time (default: ten times the first run and 10 s)");
  add_value(app, "--seed", words.seed, "N", "of the order of the runs");
}

void add_program(CLI::App& app, AdviseWords& words) {
  add_value(app, "--input", words.input, "FILE",
            "standard input of each run; otherwise the file that is standard input here, else "
            "nothing");
  app.add_flag("--show-output", words.show_output,
               "show what the program prints, on standard error; not with --metric REGEX");
  add_value(app, "--launcher", words.launcher, "none|LINE",
            "start the program as ranks: srun, mpirun or mpiexec, with options");
  add_value(app, "--ranks", words.ranks, "N", "number of ranks on this host, with --launcher");
}

void add_output(CLI::App& app, AdviseWords& words) {
  refuse_empty(app.add_option("--export", words.exports,
                              "write FILE.json (for compare, report, plot and Python), FILE.md or "
                              "FILE.sh (a script that runs the program as advised)"))
      ->type_name("FILE")
      ->allow_extra_args(false);
  add_choice(app, "--format", words.format, named({"table", "json"}), "format of standard output");
  app.add_flag("-q,--quiet", words.quiet, "no progress on standard error");
  app.add_flag("--dry-run", words.dry_run, "print what would be tried, run nothing, and stop");
  add_value(app, "--assume", words.assume, "TRAITS",
            "with --dry-run: properties of the program, such as threads=8,memory=40GiB,openmp,gpu");
  add_machine_option(app, words.machine);
}

}  // namespace

Command add_advise_command(CLI::App& app, const std::vector<std::string>& program) {
  auto words = std::make_shared<AdviseWords>();
  add_measurement(app, *words);
  add_program(app, *words);
  add_output(app, *words);
  app.footer("The program follows: numatlas advise --time 10m -- PROGRAM [ARGUMENTS...]");
  app.prefix_command();
  return [words, &app, &program]() -> Expected<int> {
    std::vector<std::string> line = app.remaining();
    if (!line.empty() && line.front().size() > 1 && line.front().front() == '-')
      return fail(leftover_error(app, line));
    // A `--` after the program's name is the program's own.
    if (!line.empty() && !program.empty()) line.push_back("--");
    line.insert(line.end(), program.begin(), program.end());
    return run_advise(*words, line);
  };
}

}  // namespace numatlas
