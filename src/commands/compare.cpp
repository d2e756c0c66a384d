// Results against each other: stored ones, or two commands that are measured in turn.
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "base/error.h"
#include "base/program.h"
#include "base/signals.h"
#include "base/terminal.h"
#include "base/text.h"
#include "base/whole.h"
#include "benchmarks/parse.h"
#include "comm/launcher.h"
#include "commands/command.h"
#include "commands/external.h"
#include "compare/compare.h"
#include "compare/results.h"
#include "report/file.h"
#include "report/reporter.h"
#include "run/benchmark.h"
#include "run/declare.h"
#include "run/options.h"
#include "run/slow_options.h"

namespace numatlas {
namespace {

/// The launches of both sides, in the order of the pairs.
using Launches = std::array<std::vector<Results>, 2>;

namespace fs = std::filesystem;

/// A folder for results; one without a name goes with its owner.
class ResultFolder {
 public:
  ResultFolder() = default;
  ResultFolder(const ResultFolder&) = delete;
  ResultFolder& operator=(const ResultFolder&) = delete;
  ~ResultFolder() {
    std::error_code code;
    if (temporary_) fs::remove_all(path_, code);
  }

  Expected<void> make(const std::string& name) {
    std::error_code code;
    if (!name.empty()) {
      path_ = name;
      fs::create_directories(path_, code);
      if (!code) return {};
      return fail_about(file_error_kind(code.value()), "--keep",
                        fmt::format("{}: {}", name, code.message()));
    }
    std::string pattern = (fs::temp_directory_path(code) / "numatlas-XXXXXX").string();
    if (code || mkdtemp(pattern.data()) == nullptr)
      return fail_about(ErrorKind::io, "--run",
                        fmt::format("{}: cannot create a folder for results: {}", pattern,
                                    code ? code.message() : errno_text(errno)),
                        "name one with --keep");
    path_ = pattern;
    temporary_ = true;
    return {};
  }

  std::string file(char side, int number) const {
    return (path_ / fmt::format("{}-{}.json", side, number)).string();
  }

 private:
  fs::path path_;
  bool temporary_ = false;
};

/// For the shell; one of ours takes its place, and so ends with this process.
std::string line_of(const std::string& command, const std::string& file) {
  const std::string first = command.substr(0, command.find_first_of(" \t"));
  const auto benchmarks = all_benchmarks();
  const bool ours = std::any_of(benchmarks.begin(), benchmarks.end(),
                                [&](const auto& one) { return one.name == first; });
  return fmt::format("{}{}{} --json {} >/dev/null", ours ? "exec \"$NUMATLAS\" " : "", command,
                     ours ? " --quiet" : "", shell_word(file));
}

Expected<Results> launch(const std::string& command, const std::string& file) {
  std::error_code ignored;
  fs::remove(file, ignored);  // one of an earlier comparison
  install_signal_handlers();
  ProgramRequest request{{"/bin/sh", "-c", line_of(command, file)}};
  // From a terminal, Ctrl-C reaches all that the line started.
  request.own_group = isatty(STDIN_FILENO) == 0;
  request.grace = std::chrono::seconds(10);
  const auto run = run_program(request);
  const auto ended = [&](ErrorKind kind, const std::string& how) {
    return fail_about(kind, "--run", fmt::format("'{}' {}", command, how),
                      kind == ErrorKind::interrupted ? "" : "run it alone, with --json FILE");
  };
  if (!run) return ended(ErrorKind::resource, "did not start: " + run.error().message);
  const int code = run->exit_code();
  if (stop_requested() || code == 128 + SIGINT || code == 128 + SIGTERM)
    return ended(ErrorKind::interrupted, "was interrupted");
  constexpr int found_wanting = 1;  // complete, and something in it is not as it should be
  if (code != 0 && code != found_wanting)
    return ended(ErrorKind::usage, fmt::format("ended with exit code {}", code));
  if (!fs::exists(file, ignored))
    return ended(ErrorKind::usage,
                 "wrote no result: it must be a command of numatlas, at whose end "
                 "--json FILE can stand");
  auto stored = read_stored(file);
  if (!stored) return fail(about("--run", stored.error()));
  return stored;
}

/// Runs both commands `pairs` times each, in the order A B B A A B B A ..., by the shell, with
/// `--json FILE` at their ends, and tells on standard error how far it is, unless `quiet`. A
/// command that begins with a benchmark's name is one of this program. The files lie in `folder`,
/// which is made, as a-1.json, b-1.json and so on; "" for a temporary folder that is gone
/// afterwards. Errors name
/// --run: what a command ended with, or why its result cannot be read.
Expected<Launches> measure_in_turn(const std::array<std::string, 2>& commands, int pairs,
                                   const std::string& name, bool quiet) {
  ResultFolder folder;
  TRY(folder.make(name));
  name_this_program();
  Launches launches;
  for (int i = 0; i < 2 * pairs; ++i) {
    const int pair = i / 2;
    const int side = (i + pair) % 2;  // A B, B A, A B, ...
    const std::string& command = commands[static_cast<std::size_t>(side)];
    if (!quiet)
      say(fmt::format("[{}/{}] {}: {}\n", i + 1, 2 * pairs, side == 0 ? "BASE" : "NEW", command));
    auto stored = TRY(launch(command, folder.file(side == 0 ? 'a' : 'b', pair + 1)));
    launches[static_cast<std::size_t>(side)].push_back(std::move(stored));
    if (i != 1) continue;
    // Before the time of all others is spent.
    CompareRule rule;
    rule.in_pairs = true;
    const auto comparison = compare_files(launches[0][0], launches[1][0], rule);
    if (!comparison) return fail(about("--run", comparison.error()));
  }
  return launches;
}

namespace fs = std::filesystem;

/// Exit code where a case or a host is slower (docs/exit-codes.md).
constexpr int exit_code_of_slower = 1;

struct CompareOptions {
  std::vector<std::string> files, base, now, runs;
  std::string format = "table", keep, metric, history;
  std::optional<double> launch_spread;
  double min_effect = 0;
  std::optional<int> pairs;
  std::vector<CaseVerdict> only;
  std::vector<std::pair<std::string, std::string>> labels;
  bool all = false, no_fail = false, quiet = false;
};

bool is_folder(const std::string& name) {
  std::error_code code;
  return fs::is_directory(name, code);
}

CompareView view_of(const CompareOptions& options) {
  CompareView view;
  view.rule.min_effect = options.min_effect;
  view.rule.launch_spread = options.launch_spread;
  view.rule.in_pairs = !options.runs.empty();
  view.rule.every_flow = options.all;
  view.rule.metric = options.metric;
  view.only = {options.only.begin(), options.only.end()};
  return view;
}

/// Which of the ways to name both sides is used, and that it is used as it is meant.
Expected<void> check_sides(const CompareOptions& options) {
  if (!options.history.empty())
    return fail_usage("--history", "is now a command of its own",
                      "`numatlas check " + shell_word(options.history) + "`");
  const bool sides = !options.base.empty() || !options.now.empty();
  const auto alone = [](const char* option, const char* others) {
    return fail_usage(option, fmt::format("excludes {}", others), "name both sides in one way");
  };
  if (!options.runs.empty()) {
    if (!options.files.empty() || sides) return alone("--run", "files");
    if (options.runs.size() != 2)
      return fail_usage("--run",
                        fmt::format("two commands are required, not {}", options.runs.size()),
                        "--run 'COMMAND' --run 'COMMAND'; give the same command twice to check how "
                        "often equal runs are called different");
    return {};
  }
  if (options.pairs) return fail_usage("--pairs", "needs --run", "");
  if (!options.keep.empty()) return fail_usage("--keep", "needs --run", "");
  if (sides) {
    if (!options.files.empty()) return alone("--base", "files without an option");
    if (options.base.empty()) return fail_usage("--base", "is required with --new", "");
    if (options.now.empty()) return fail_usage("--new", "is required with --base", "");
    return {};
  }
  if (options.files.size() > 2)
    return fail_usage("compare",
                      "compares two results, not " + std::to_string(options.files.size()),
                      "`numatlas check FILE...` judges many: hosts against each other, and each "
                      "against its own past; several launches per side: --base and --new");
  if (options.files.size() < 2)
    return fail_usage(
        "compare",
        fmt::format("BASE and NEW are required, not {} file{}", options.files.size(),
                    options.files.size() == 1 ? "" : "s"),
        "compare several files per side with --base and --new; `numatlas check` judges many");
  return {};
}

/// The files below a folder that is none of a survey.
Expected<void> read_below(const std::string& folder, std::vector<Results>& files) {
  Results results = TRY(results_below(printable(folder), folder));
  if (results.runs.empty())
    return fail_usage(printable(folder), "no usable results below it",
                      "name files that --json wrote, or a folder of these");
  for (const Error& error : results.broken)
    results.notes.push_back("cannot be used: " + printable(full_text(error)));
  const std::size_t first = files.size();
  for (Rows& run : results.runs) {
    if (files.size() == first || files.back().file != run.file)
      files.push_back({run.file, run.command, {}, std::exchange(results.notes, {})});
    files.back().runs.push_back(std::move(run));
  }
  return {};
}

Expected<std::vector<Results>> read_files(const std::vector<std::string>& paths) {
  std::vector<Results> files;
  for (const std::string& path : paths) {
    std::error_code code;
    if (is_folder(path) && !fs::exists(fs::path(path) / "survey.json", code)) {
      TRY(read_below(path, files));
      continue;
    }
    auto stored = TRY(read_stored(path));
    files.push_back(std::move(stored));
  }
  return files;
}

Expected<Launches> launches_of(const CompareOptions& options) {
  constexpr int usual_pairs = 5;
  if (!options.runs.empty())
    return measure_in_turn({options.runs[0], options.runs[1]}, options.pairs.value_or(usual_pairs),
                           options.keep, options.quiet);
  Launches launches;
  const bool named = !options.base.empty();
  const std::vector<std::string> sides[] = {named ? options.base : std::vector{options.files[0]},
                                            named ? options.now : std::vector{options.files[1]}};
  for (std::size_t side = 0; side < 2; ++side) {
    auto files = read_files(sides[side]);
    if (named) files = of_option(side == 0 ? "--base" : "--new", std::move(files));
    TRY(fill(launches[side], std::move(files)));
  }
  return launches;
}

Expected<int> compare_sides(const CompareOptions& options, const CompareView& view) {
  auto launches = TRY(launches_of(options));
  ComparedFiles compared;
  std::vector<std::string> copies[2];
  if (options.runs.empty())
    for (std::size_t side = 0; side < 2; ++side)
      launches[side] = without_copies(std::move(launches[side]), copies[side]);
  const bool by_host = options.runs.empty() && are_paired_by_host(launches[0], launches[1]);
  compared.base = merged(launches[0], by_host);
  compared.now = merged(launches[1], by_host);
  compared.base.notes.insert(compared.base.notes.end(), copies[0].begin(), copies[0].end());
  compared.now.notes.insert(compared.now.notes.end(), copies[1].begin(), copies[1].end());
  compared.base_launches = launches[0].size();
  compared.now_launches = launches[1].size();
  if (!options.runs.empty()) {
    compared.base.file = printable(options.runs[0]);
    compared.now.file = printable(options.runs[1]);
  }
  compared.comparison = TRY(compare_files(compared.base, compared.now, view.rule));
  compared.differences = differences_of(compared.base, compared.now);
  const RunReport report = report_of(compared, view);
  TextStyle style;
  style.labels = options.labels;
  style.color = wants_color("auto");
  style.width = terminal_columns(STDOUT_FILENO).value_or(0);
  TRY(write_stdout(text_in(options.format, report, style)));
  if (options.no_fail) return 0;
  if (compared.comparison.count(CaseVerdict::slower) > 0) return exit_code_of_slower;
  const bool open = leaves_open(compared.comparison) || !reserve_of(compared).empty();
  return open ? exit_code_of_unjudged_nodes : 0;
}

Expected<int> run_compare(const CompareOptions& options) {
  TRY(check_sides(options));
  if (!should_report(detect_launcher())) return 0;  // of many tasks the first one does it
  return compare_sides(options, view_of(options));
}

void add_files(CLI::App& app, const std::string& name, std::vector<std::string>& files,
               const std::string& text) {
  app.add_option(name, files, text)->type_name("FILE...");
}

Start declare_compare(CLI::App& app, const CommandLine&) {
  auto options = std::make_shared<CompareOptions>();
  app.add_option("FILE", options->files,
                 "BASE and NEW: JSON of any measuring command, folders of `numatlas survey`, or "
                 "folders of results; `numatlas check` judges more than two")
      ->type_name("");
  add_min_effect(app, options->min_effect);
  add_files(app, "--base", options->base,
            "results of several launches of one side, or of several hosts, each of which is "
            "compared with itself; also folders; --new has the other side's");
  add_files(app, "--new", options->now, "results of the other side");
  refuse_empty(
      app.add_option("--run", options->runs,
                     "measure this command and another one in turn (A B B A A B ...), and compare "
                     "them: a benchmark with its options, or any command line of numatlas; given "
                     "twice"))
      ->type_name("COMMAND")
      ->allow_extra_args(false);
  add_parsed(app, "--pairs", options->pairs, "", "N",
             "number of times --run measures each side (default 5, at least 3)", whole(3, 1000));
  rare(add_value(app, "--keep", options->keep, "FOLDER", "keep the results of --run here"));
  rare(add_parsed(
      app, "--launch-spread", options->launch_spread, "", "FRACTION",
      "standard deviation of a figure from one start of the program to the next, assumed "
      "for a single file (default: 2%, for virtual machines unknown)",
      part_or_none));
  app.add_flag("--all", options->all,
               "compare each flow instead of the median over the flows of a case");
  add_value(
      app, "--metric", options->metric, "NAME",
      "compare only this metric, such as latency or bandwidth_sum; also one that follows from "
      "others, such as traffic");
  rare(
      add_choices<CaseVerdict>(app, "--only", options->only,
                               {{"faster", CaseVerdict::faster},
                                {"slower", CaseVerdict::slower},
                                {"same", CaseVerdict::same},
                                {"not-distinguishable", CaseVerdict::not_distinguishable},
                                {"not-comparable", CaseVerdict::not_comparable}},
                               "show only cases with these verdicts; the counts are of all cases"));
  add_value(app, "--history", options->history, "FOLDER", "")->group("");
  add_choice(app, "--format", options->format, named(reporter_names()),
             "format of standard output; line is the first line alone\n"
             "The table leaves out cases without a difference if there are more than 40");
  rare(add_label_option(app, options->labels));
  rare(add_quiet(app, options->quiet));
  app.add_flag("--no-fail", options->no_fail,
               "end with exit code 0 even if a case is slower, or nothing is known");
  return [options] { return run_compare(*options); };
}

}  // namespace

Command compare_command() {
  return {
      .name = "compare",
      .summary = "compare results and report significant changes",
      .listing = {Topic::judge},
      .description =
          "Exit code 1: a case is slower. Exit code 9: none is, but nothing is known of "
          "any case, or of one of several hosts.",
      .examples = {{"Did anything change?", "numatlas compare before.json after.json"},
                   {"Did an update slow any host down?",
                    "numatlas compare --base before/ --new after/"},
                   {"Are huge pages faster? Both are measured in turn",
                    "numatlas compare --run 'latency --pages base' --run 'latency --pages thp'"}},
      .declare = declare_compare,
      .exit_codes = ""};
}

}  // namespace numatlas
