#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "benchmarks/parse.h"
#include "benchmarks/runner.h"
#include "cli/commands.h"
#include "cli/external.h"
#include "survey/survey.h"

namespace numatlas {
namespace {

/// As typed.
struct SurveyWords {
  std::string time = "60s", only, without, mpi = "auto", engine;
  bool quick = false, no_report = false;
  const CLI::Option* time_option = nullptr;  ///< the app's
};

Expected<void> read_words(const SurveyWords& words, SurveyOptions& options) {
  if (words.quick && words.time_option->count() > 0)
    return fail(ErrorKind::usage, "--quick: is --time 10s", "leave one of them out");
  const auto time = parse_duration(words.quick ? "10s" : words.time);
  if (!time) return fail(ErrorKind::usage, "--time: " + time.error().message, time.error().hint);
  options.time = *time;
  if (!words.only.empty()) options.only = words_of(words.only);
  if (!words.without.empty()) options.without = words_of(words.without);
  options.null_engine = words.engine == "null";
  options.html = !words.no_report;
  return {};
}

/// Writes report.html, or says how it can be had.
std::string make_html(const std::string& survey_file, const std::string& html_file) {
  const auto found = find_external("report");
  if (!found) return "no report.html: " + found.error().message;
  const std::optional<std::string>& program = *found;
  if (!program) return "no report.html: " + how_to_get("report");
  const auto code = run_external(*program, {survey_file, "-o", html_file, "--quiet"});
  if (code && *code == 0) return html_file;
  return fmt::format("no report.html: {}", code ? fmt::format("{} ended with {}", *program, *code)
                                                : code.error().message);
}

void add_choices(CLI::App& app, SurveyWords& words) {
  words.time_option =
      app.add_option("--time", words.time,
                     "for the whole survey, shared out among the benchmarks; seconds unless a unit "
                     "is given")
          ->type_name("TIME")
          ->capture_default_str();
  app.add_flag("--quick", words.quick, "the same as --time 10s");
  refuse_empty(app.add_option("--only", words.only, "these benchmarks: matrix,latency"))
      ->type_name("NAMES");
  refuse_empty(app.add_option("--without", words.without, "all but these benchmarks"))
      ->type_name("NAMES");
  app.add_flag("--no-report", words.no_report, "no report.html");
}

}  // namespace

Command add_survey_command(CLI::App& app, const std::vector<std::string>& line) {
  auto options = std::make_shared<SurveyOptions>();
  auto words = std::make_shared<SurveyWords>();
  refuse_empty(app.add_option("-o,--output", options->folder,
                              "folder of the results, made where it is missing"))
      ->type_name("FOLDER")
      ->capture_default_str();
  add_choices(app, *words);
  app.add_flag("-q,--quiet", options->quiet, "no progress on standard error");
  app.add_flag("--dry-run", options->dry_run, "print what would be measured, and stop");
  add_machine_option(app, options->machine);
  app.add_option("--mpi", words->mpi, "auto, none, or an MPI of `numatlas features`")
      ->envname("NUMATLAS_MPI")
      ->type_name("NAME")
      ->capture_default_str();
  app.add_option("--engine", words->engine)->envname("NUMATLAS_ENGINE")->group("");
  app.allow_extras();
  return [options, words, &line]() -> Expected<int> {
    options->arguments = line;
    if (auto read = read_words(*words, *options); !read) return fail(read.error());
    const bool alone = !options->machine.empty() && !options->null_engine;
    if (alone && !options->dry_run) {
      return fail(ErrorKind::usage, "--machine: a recorded machine cannot be measured",
                  "add --dry-run to see what would be done there");
    }
    return with_ranks({options->dry_run ? "survey --dry-run" : "survey", words->mpi, alone},
                      [&](Comm& comm) { return run_survey(*options, comm, {make_html}); });
  };
}

}  // namespace numatlas
