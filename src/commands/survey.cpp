#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "benchmarks/parse.h"
#include "commands/command.h"
#include "commands/external.h"
#include "run/declare.h"
#include "run/runner.h"
#include "survey/survey.h"

namespace numatlas {
namespace {

struct SurveyWords {
  std::string mpi = "auto", engine;
  bool quick = false, no_report = false;
};

/// Writes report.html, or says how it can be had.
std::string make_html(const std::string& survey_file, const std::string& html_file) {
  const auto found = find_external("report");
  if (!found) return "no report.html: " + full_text(found.error());
  const std::optional<std::string>& program = *found;
  if (!program) return "no report.html: `numatlas report` says how to get it";
  const auto code = run_external(*program, {survey_file, "-o", html_file, "--quiet"});
  if (code && *code == 0) return html_file;
  return fmt::format("no report.html: {}", code ? fmt::format("{} ended with {}", *program, *code)
                                                : full_text(code.error()));
}

Start declare_survey(CLI::App& app, const CommandLine& line) {
  auto options = std::make_shared<SurveyOptions>();
  auto words = std::make_shared<SurveyWords>();
  add_value(app, "-o,--output", options->folder, "FOLDER",
            "folder for the results; it is created if missing");
  const CLI::Option* time = add_parsed(app, "--time", options->time, "60s", "TIME",
                                       "time for the whole survey, in seconds or with a unit\n"
                                       "Preparation and the page are included. It is at least half "
                                       "a second for each benchmark that applies",
                                       parse_duration);
  app.add_flag("--quick", words->quick, "the same as --time 10s");
  const Choices<std::string> benchmarks = named(names_of_survey());
  add_choices(app, "--only", options->only, benchmarks, "run only these benchmarks");
  add_choices(app, "--without", options->without, benchmarks, "run all except these benchmarks");
  app.add_flag("--force", options->force, "replace a survey of more benchmarks in the folder");
  app.add_flag("--strict", options->strict,
               "end with exit code 1 where the figures are UNRELIABLE");
  rare(
      add_value(app, "--machine-type", options->machine_type, "NAME",
                "the cloud's name of this machine, where its firmware names none: the line Normal? "
                "holds its figures against machines of that cloud"));
  app.add_flag("--no-report", words->no_report, "do not write report.html");
  add_quiet(app, options->quiet);
  app.add_flag("--dry-run", options->dry_run,
               "print the topology, and command, share of the time and plan of each benchmark");
  rare(add_machine_option(app, options->machine));
  add_mpi_option(app, words->mpi);
  app.add_option("--engine", words->engine)->envname("NUMATLAS_ENGINE")->group("");
  return [options, words, time, &line]() -> Expected<int> {
    options->arguments = line.words;
    options->null_engine = words->engine == "null";
    options->html = !words->no_report;
    if (words->quick && time->count() > 0)
      return fail_usage("--quick", "means --time 10s and cannot be given with --time",
                        "leave one of them out");
    if (words->quick) options->time = *parse_duration("10s");
    const auto program = find_external("report");
    const SurveyHooks hooks{program && *program, make_html};
    const bool alone = TRY(is_alone(options->machine, options->null_engine, options->dry_run));
    return code_with_ranks({task_text("survey", *options, options->only), words->mpi, alone},
                           [&](Comm& comm) { return run_survey(*options, comm, hooks); });
  };
}

}  // namespace

Command survey_command() {
  return {.name = "survey",
          .summary = "run all applicable benchmarks within a time limit",
          .listing = {Topic::machine},
          .examples = {{"All applicable benchmarks, within a minute", "numatlas survey"},
                       {"Only the memory, in ten minutes",
                        "numatlas survey --time 10m --only matrix,latency,loaded -o memory"}},
          .measures = true,
          .declare = declare_survey};
}

}  // namespace numatlas
