// Stored results against each other, without measuring.
#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "base/text.h"
#include "benchmarks/declare.h"
#include "benchmarks/options.h"
#include "cli/commands.h"
#include "comm/launcher.h"
#include "compare/compare_output.h"
#include "report/file.h"

namespace numatlas {
namespace {

namespace fs = std::filesystem;

/// Exit code where a case is slower (docs/exit-codes.md).
constexpr int exit_code_of_slower = 1;

struct CompareOptions {
  std::vector<std::string> files;
  std::string format = "table", min_effect = "2%", metric, history;
  std::vector<CaseVerdict> only;
  bool all = false, no_fail = false;
};

Expected<CompareView> view_of(const CompareOptions& options) {
  CompareView view;
  // No effect at all is what a test of the measurement itself wants.
  if (options.min_effect == "0" || options.min_effect == "0%") {
    view.rule.min_effect = 0;
  } else {
    const auto part = parse_part(options.min_effect);
    if (!part) return fail(about("--min-effect", part.error()));
    view.rule.min_effect = *part;
  }
  view.rule.every_flow = options.all;
  view.rule.metric = options.metric;
  view.only = {options.only.begin(), options.only.end()};
  return view;
}

Expected<int> compare_two(const CompareOptions& options, const CompareView& view) {
  if (options.files.size() != 2)
    return fail_usage("compare",
                      fmt::format("BASE and NEW are required, not {} file{}", options.files.size(),
                                  options.files.size() == 1 ? "" : "s"),
                      "compare many files with --history FOLDER");
  ComparedFiles compared;
  for (const auto& [path, file] :
       {std::pair(options.files[0], &compared.base), std::pair(options.files[1], &compared.now)}) {
    auto stored = read_stored(path);
    if (!stored) return fail(stored.error());
    *file = *std::move(stored);
  }
  auto comparison = compare_files(compared.base, compared.now, view.rule);
  if (!comparison) return fail(comparison.error());
  compared.comparison = *std::move(comparison);
  compared.differences = differences_of(compared.base, compared.now);
  const std::string text = options.format == "json"  ? compare_json(compared, view)
                           : options.format == "csv" ? compare_csv(compared, view)
                                                     : compare_table(compared, view);
  if (auto shown = write_stdout(text); !shown) return fail(shown.error());
  const bool slower = compared.comparison.count(CaseVerdict::slower) > 0;
  return slower && !options.no_fail ? exit_code_of_slower : 0;
}

/// All *.json below a folder, sorted: what is found does not depend on the file system.
Expected<std::vector<std::string>> files_below(const std::string& folder) {
  std::error_code code;
  // Here and not below, where a folder of somebody else is passed over.
  fs::directory_iterator(folder, code);
  if (file_error_kind(code.value()) == ErrorKind::permission)
    return fail_about(ErrorKind::permission, "--history",
                      fmt::format("{}: {}", folder, code.message()));
  if (!fs::is_directory(folder, code))
    return fail_about(ErrorKind::io, "--history", fmt::format("{}: is no folder", folder),
                      "name the folder that has the results");
  std::vector<std::string> files;
  const auto skip = fs::directory_options::skip_permission_denied;
  fs::recursive_directory_iterator entry(folder, skip, code);
  for (; !code && entry != fs::recursive_directory_iterator(); entry.increment(code)) {
    std::error_code of_file;
    if (entry->path().extension() == ".json" && entry->is_regular_file(of_file))
      files.push_back(entry->path().string());
  }
  if (code)
    return fail_about(file_error_kind(code.value()), "--history",
                      fmt::format("{}: {}", folder, code.message()));
  std::sort(files.begin(), files.end());
  return files;
}

std::string passed_over_text(const std::vector<Error>& errors) {
  constexpr std::size_t most_named = 3;
  std::string text =
      fmt::format("passed over, as they are no results that can be compared: {} file{}",
                  errors.size(), errors.size() == 1 ? "" : "s");
  for (std::size_t i = 0; i < std::min(most_named, errors.size()); ++i)
    text += fmt::format("{}{}", i == 0 ? ": " : "; ", printable(full_text(errors[i])));
  return errors.size() > most_named ? text + "; ..." : text;
}

Expected<ComparedRuns> read_runs(const CompareOptions& options, const CompareView& view) {
  ComparedRuns compared;
  compared.folder = printable(options.history);
  std::vector<StoredRun> runs;
  std::vector<Error> passed_over;
  const auto add = [&](StoredFile file) {
    for (StoredRun& run : file.runs) runs.push_back(std::move(run));
    for (std::string& note : file.notes) compared.notes.push_back(std::move(note));
  };
  const auto files = files_below(options.history);
  if (!files) return fail(files.error());
  for (const std::string& file : *files) {
    auto stored = read_stored(file);
    if (stored)
      add(*std::move(stored));
    else
      passed_over.push_back(stored.error());
  }
  for (const std::string& file : options.files) {  // named one by one: these must be readable
    auto stored = read_stored(file);
    if (!stored) return fail(stored.error());
    add(*std::move(stored));
  }
  if (runs.empty())
    return fail_usage("--history",
                      fmt::format("{}: no results of numatlas below it{}", options.history,
                                  passed_over.empty() ? "" : "; " + passed_over_text(passed_over)),
                      "name the folder of files that --json wrote");
  compared.groups = series_of(std::move(runs), view.rule, compared.notes);
  if (!passed_over.empty()) compared.notes.push_back(passed_over_text(passed_over));
  return compared;
}

Expected<int> compare_many(const CompareOptions& options, const CompareView& view) {
  const auto compared = read_runs(options, view);
  if (!compared) return fail(compared.error());
  const std::string text = options.format == "json"  ? runs_json(*compared, view)
                           : options.format == "csv" ? runs_csv(*compared, view)
                                                     : runs_table(*compared, view);
  if (auto shown = write_stdout(text); !shown) return fail(shown.error());
  for (const RunSeries& group : compared->groups)
    for (const CaseSeries& one : group.cases)
      if (one.change.verdict == CaseVerdict::slower && !options.no_fail) return exit_code_of_slower;
  return 0;
}

Expected<int> run_compare(const CompareOptions& options) {
  const auto view = view_of(options);
  if (!view) return fail(view.error());
  if (!should_report(detect_launcher())) return 0;  // of many tasks the first one does it
  return options.history.empty() ? compare_two(options, *view) : compare_many(options, *view);
}

}  // namespace

Command add_compare_command(CLI::App& app) {
  auto options = std::make_shared<CompareOptions>();
  app.add_option("FILE", options->files,
                 "BASE and NEW: JSON of any measuring command, or folders of `numatlas survey`")
      ->type_name("");
  add_value(app, "--min-effect", options->min_effect, "PERCENT",
            "smallest change of a median that is not the same; 0 leaves it to the intervals");
  app.add_flag("--all", options->all,
               "compare each flow instead of the median over the flows of a point");
  add_value(
      app, "--metric", options->metric, "NAME",
      "compare only this metric, such as latency or bandwidth_sum; also one that follows from "
      "others, such as traffic");
  add_choices<CaseVerdict>(app, "--only", options->only,
                           {{"faster", CaseVerdict::faster},
                            {"slower", CaseVerdict::slower},
                            {"same", CaseVerdict::same},
                            {"not-comparable", CaseVerdict::not_comparable}},
                           "show only cases with these verdicts; the counts are of all cases");
  add_value(app, "--history", options->history, "FOLDER",
            "compare all results (*.json) below this folder, and the files named: the newest runs "
            "against the earlier ones, and where each case changed in a step");
  add_choice(app, "--format", options->format, named({"table", "json", "csv"}),
             "format of standard output; the table leaves out cases that are the same if they are "
             "more than 40");
  app.add_flag("--no-fail", options->no_fail, "end with exit code 0 even if a case is slower");
  app.footer("Ends with exit code 1 when a case is slower.");
  app.allow_extras();
  return [options] { return run_compare(*options); };
}

}  // namespace numatlas
