#include <sys/stat.h>

#include <cerrno>
#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "benchmarks/parse.h"
#include "benchmarks/runner.h"
#include "cli/commands.h"
#include "engine/agreement.h"
#include "machine/source.h"
#include "report/file.h"
#include "report/topology_table.h"

namespace numatlas {
namespace {

namespace fs = std::filesystem;

struct SurveyOptions {
  std::string folder = "report", time, machine, mpi = "auto", engine;
  bool quiet = false, dry_run = false;
};

Expected<void> make_folder(const std::string& folder) {
  std::error_code code;
  fs::create_directories(folder, code);
  if (code) {
    return fail(ErrorKind::io, fmt::format("--output: {}: {}", folder, code.message()),
                "name a folder that can be made");
  }
  return check_writable((fs::path(folder) / "topology.txt").string(), "--output");
}

Expected<void> survey_topology(const SurveyOptions& options, const Machine& machine) {
  const std::string text = topology_table(machine, false);
  if (auto shown = write_stdout(text + "\n"); !shown) return shown;
  if (options.dry_run) return {};
  const fs::path folder = options.folder;
  if (auto wrote = write_whole((folder / "topology.txt").string(), text, "--output"); !wrote) {
    return wrote;
  }
  return write_whole((folder / "topology.json").string(), to_json(machine).dump(1) + "\n",
                     "--output");
}

Expected<void> survey_benchmark(const Benchmark& benchmark, const SurveyOptions& options,
                                const Machine& machine, Comm& comm) {
  std::vector<std::string> words = benchmark.survey_words(machine);
  const auto add = [&](const std::string& option, const std::string& value) {
    if (!value.empty()) words.insert(words.end(), {option, value});
  };
  const std::string base = (fs::path(options.folder) / benchmark.name()).string();
  add("--time", options.time.empty() ? benchmark.time_option().survey : options.time);
  add("--machine", options.machine);
  add("--engine", options.engine);
  if (options.quiet) words.push_back("--quiet");
  if (options.dry_run)
    words.push_back("--dry-run");
  else
    add("--json", base + ".json");
  auto parsed = parse_run(benchmark.name(), words);
  if (!parsed) return fail(parsed.error());
  std::string text;
  RunHooks hooks;
  hooks.table = [&](const RunReport& report) {
    text = parsed->benchmark->table(report, parsed->options);
    return text;
  };
  Expected<void> shown;
  if (comm.rank() == 0) {
    std::string line = fmt::format("$ numatlas {}", benchmark.name());
    for (const std::string& word : words) line += " " + shell_word(word);
    shown = write_stdout(line + "\n\n");
  }
  if (auto agreed = agree(comm, error_of(shown)); !agreed) return agreed;
  const auto report = run_benchmark(*parsed->benchmark, parsed->options, comm, hooks);
  std::optional<Error> problem = error_of(report);
  if (comm.rank() == 0 && !text.empty()) {
    const auto wrote = write_whole(base + ".txt", text, "--output");
    if (!problem) problem = error_of(wrote);
  }
  if (!report) return fail(*problem);
  return agree(comm, problem);
}

/// Words that are wrong are found out before anything is printed or written.
std::optional<Error> words_problem(const SurveyOptions& options) {
  if (options.time.empty()) return std::nullopt;
  const auto time = parse_duration(options.time);
  if (time) return std::nullopt;
  return Error{ErrorKind::usage, "--time: " + time.error().message, time.error().hint};
}

Expected<void> survey(const SurveyOptions& options, Comm& comm) {
  auto machine =
      options.machine.empty() ? read_live_machine() : read_recorded_machine(options.machine);
  std::optional<Error> problem = words_problem(options);
  if (!problem) problem = error_of(machine);
  if (!problem && comm.rank() == 0) {
    if (!options.dry_run) problem = error_of(make_folder(options.folder));
    if (!problem) problem = error_of(survey_topology(options, *machine));
  }
  if (auto agreed = agree(comm, problem); !agreed) return agreed;
  for (const auto& benchmark : all_benchmarks()) {
    if (!benchmark->in_survey()) continue;
    const auto done = survey_benchmark(*benchmark, options, *machine, comm);
    if (done) continue;
    const Error& error = done.error();
    // Not for this machine or its memory, or (usage: the words are our own) not for so many ranks.
    const bool not_here = error.kind == ErrorKind::unavailable ||
                          error.kind == ErrorKind::resource || error.kind == ErrorKind::usage;
    if (!not_here) return done;
    const auto said =
        comm.rank() == 0 ? write_stdout("skipped: " + error.message + "\n\n") : Expected<void>{};
    if (auto agreed = agree(comm, error_of(said)); !agreed) return agreed;
  }
  if (comm.rank() != 0 || options.dry_run) return {};
  return write_stdout(
      fmt::format("\nThe report is in {}\n", fs::weakly_canonical(options.folder).string()));
}

}  // namespace

Command add_survey_command(CLI::App& app) {
  auto options = std::make_shared<SurveyOptions>();
  refuse_empty(app.add_option("-o,--output", options->folder,
                              "folder of the report, made where it is missing"))
      ->type_name("FOLDER")
      ->capture_default_str();
  app.add_option("--time", options->time, "cap on the measuring time of each point")
      ->type_name("TIME");
  app.add_flag("-q,--quiet", options->quiet, "no progress on standard error");
  app.add_flag("--dry-run", options->dry_run, "print what would be measured, and stop");
  add_machine_option(app, options->machine);
  app.add_option("--mpi", options->mpi, "auto, none, or an MPI of `numatlas features`")
      ->envname("NUMATLAS_MPI")
      ->type_name("NAME")
      ->capture_default_str();
  app.add_option("--engine", options->engine)->envname("NUMATLAS_ENGINE")->group("");
  app.allow_extras();
  return [options]() -> Expected<int> {
    const bool alone = !options->machine.empty() && options->engine != "null";
    if (alone && !options->dry_run) {
      return fail(ErrorKind::usage, "--machine: a recorded machine cannot be measured",
                  "add --dry-run to see what would be done there");
    }
    return with_ranks(options->mpi, alone, [&](Comm& comm) { return survey(*options, comm); });
  };
}

}  // namespace numatlas
