// Stored results of hosts, judged: against each other, against their own past, against what is
// expected.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <ctime>
#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "base/read_file.h"
#include "base/terminal.h"
#include "base/text.h"
#include "base/units.h"
#include "comm/launcher.h"
#include "commands/command.h"
#include "compare/check.h"
#include "compare/hosts.h"
#include "compare/results.h"
#include "published/expected.h"
#include "published/normal.h"
#include "record/report_json.h"
#include "report/file.h"
#include "report/openmetrics.h"
#include "report/reporter.h"
#include "run/declare.h"
#include "run/options.h"
#include "run/runner.h"
#include "run/slow_options.h"

namespace numatlas {
namespace {

struct CheckOptions {
  std::vector<std::string> paths;
  std::string format = "table", openmetrics, json, metric, expect, max_age, since = "newest", hosts;
  std::string machine_type, published;
  SlowOptions slow;
  bool stats = false, no_fail = false, quiet = false;
  TextStyle style;
  std::vector<std::string> words;  ///< of the command line

  /// The words that say how it judges, which stay the same from day to day.
  std::vector<std::string> rule_words() const {
    std::vector<std::string> kept;
    for (const std::string& word : words)
      if (std::ranges::find(paths, word) == paths.end()) kept.push_back(word);
    return kept;
  }
};

std::string text_of(const RunReport& report, const CheckOptions& options) {
  RunReport shown = report;
  // A list of all hosts would bury the slow ones.
  const bool for_people = options.format == "table" || options.format == "markdown";
  if (for_people && !options.stats && !shown.views.empty()) shown.views.pop_back();
  constexpr std::ptrdiff_t most_hosts = 4;
  const auto hosts = std::ranges::count_if(
      shown.cases, [](const Case& one) { return label_of(one, "finding") == finding::none; });
  if (for_people && !options.stats && hosts > most_hosts)
    std::erase_if(shown.views, [](const View& view) {
      return !view.where.empty() && view.where.front().second == finding::normal;
    });
  TextStyle style = options.style;
  style.color = wants_color("auto");
  style.width = terminal_columns(STDOUT_FILENO).value_or(0);
  std::string text = text_in(options.format, shown, style);
  if (!for_people) return text;
  // In Markdown a line below a list is of its last item.
  const bool is_glued = options.format == "markdown" && !text.ends_with("\n\n");
  return text + (is_glued ? "\n" : "") + judged_against_text(report);
}

/// What was read, also below a folder, is not written over.
Expected<void> check_is_no_input(const char* option, const std::string& file,
                                 const Results& results) {
  std::error_code code;
  if (file.empty() || !std::filesystem::exists(file, code)) return {};
  for (const Rows& run : results.runs)
    if (std::filesystem::equivalent(file, run.file, code))
      return fail_usage(option, fmt::format("{} is one of the files to read", printable(file)),
                        "name another file");
  return {};
}

/// Whoever is told of one of them is told of all: an output that fails keeps none of the others.
Expected<void> write_outputs(const RunReport& report, const CheckOptions& options) {
  Expected<void> first = write_stdout(text_of(report, options));
  const auto also = [&](const std::string& file, const char* option, const auto& text) {
    if (file.empty()) return;
    const auto wrote = write_whole(file, text(), option);
    if (first) first = wrote;
  };
  also(options.openmetrics, "--openmetrics",
       [&] { return report_openmetrics(report, options.style.labels); });
  also(options.json, "--json", [&] { return json_text(report); });
  return first;
}

int exit_code_of(const RunReport& report) {
  bool unsure =
      report.trust == "unreliable" || report.cases.empty() ||
      std::ranges::find(report.warnings, "not-read", &Warning::code) != report.warnings.end();
  for (const Case& one : report.cases) {
    const std::string found = label_of(one, "finding");
    if (found == finding::normal) continue;
    if (found != finding::none) return exit_code_of_slow_nodes;
    const auto is = [&](const char* key) { return find_total(one, key)->value() == 1; };
    unsure = unsure || !is("host_judged") || is("host_incomplete");
  }
  return unsure ? exit_code_of_unjudged_nodes : 0;
}

/// Hosts of --hosts that no file is of.
Expected<std::vector<OpenHost>> absent_hosts(const std::string& file, const Results& results) {
  std::vector<OpenHost> absent;
  if (file.empty()) return absent;
  const auto text = TRY(read_file(file, "--hosts: " + printable(file), ""));
  const auto names = parse_hosts(text);
  if (!names) return fail(about("--hosts: " + printable(file), names.error()));
  std::set<std::string> known;
  for (const Rows& run : results.runs) known.insert(run.hosts.begin(), run.hosts.end());
  for (const OpenHost& host : results.open) known.insert(host.name);
  for (const std::string& name : *names)
    if (std::ranges::none_of(known, [&](const auto& one) { return is_same_name(one, name); }))
      absent.push_back({name, "no result", "no result (--hosts)"});
  return absent;
}

Expected<int> run_check(const CheckOptions& options) {
  CheckRule rule{TRY(options.slow.parse()), options.metric, {}};
  if (!options.expect.empty()) rule.expected = TRY(parse_expectations(options.expect));
  if (!should_report(detect_launcher())) return 0;  // of many tasks the first one does it
  // That a file cannot be written is told below the answer, and not instead of it.
  const auto writable =
      check_writable({{"--json", options.json}, {"--openmetrics", options.openmetrics}});
  if (!writable && writable.error().kind == ErrorKind::usage) return fail(writable.error());
  if (!options.max_age.empty()) {
    const Nanoseconds age = TRY(of_option("--max-age", parse_duration(options.max_age)));
    rule.max_age = std::chrono::duration_cast<std::chrono::seconds>(age).count();
  }
  if (options.since == "now") rule.now = std::time(nullptr);
  const Published published = TRY(published_with(options.published));
  Results results = TRY(read_results(options.paths, [&](Rows& run) {
    const std::string& type =
        options.machine_type.empty() ? run.machine_type : options.machine_type;
    run.normal = judge_figures(run, all_reads_of(run), type, published);
    std::erase_if(run.rows, [&](const Row& row) {
      return row.level == RowLevel::flow ||
             (row.level == RowLevel::derived && options.metric.empty());
    });
    run.rows.shrink_to_fit();
    if (options.expect.empty()) run.facts = {};
    run.machines = {};  // its kind says enough
    run.worker_cpus = {};
  }));
  for (const auto& [option, file] :
       {std::pair("--json", options.json), std::pair("--openmetrics", options.openmetrics)})
    TRY(check_is_no_input(option, file, results));
  const NamedHosts named = name_hosts(results.runs);
  const auto add_open = [&](const std::vector<OpenHost>& open) {
    results.open.insert(results.open.end(), open.begin(), open.end());
  };
  add_open(named.open);
  add_open(TRY(absent_hosts(options.hosts, results)));
  results.notes.insert(results.notes.begin(), named.notes.begin(), named.notes.end());
  RunReport report = TRY(check(results, rule));
  report.arguments = options.rule_words();
  const int code = options.no_fail ? 0 : exit_code_of(report);
  const auto wrote = write_outputs(report, options);
  if (wrote) return code;
  if (code != exit_code_of_slow_nodes) return fail(wrote.error());
  print_error(wrote.error());  // slow hosts matter more
  return code;
}

Start declare_check(CLI::App& app, const CommandLine& line) {
  auto options = std::make_shared<CheckOptions>();
  options->words = line.words;
  app.add_option("FILE", options->paths,
                 "results of any command (JSON), or folders: the newest run of each host is judged "
                 "against others of its kind, its earlier runs and published figures")
      ->type_name("")
      ->required();
  add_value(
      app, "--expect", options->expect, "LIST",
      "limits that each host has to meet: triad=350GB/s,latency=120ns\n"
      "Each names a kernel, a figure, or a fact of a survey. Rates have to be at least that, times "
      "at most; a host misses a limit if its whole interval does");
  add_value(app, "--hosts", options->hosts, "FILE",
            "hosts that must have a result: one name a line, or Slurm's lists, n[01-04,07]");
  add_value(
      app, "--max-age", options->max_age, "AGE",
      "do not judge a host whose newest result is this much older than the newest of all (default: "
      "7d), or that lacks the last night of the others\n"
      "If this is more than 2d, only the age counts, as hosts are not measured each night. With "
      "--since now, ages count from now");
  rare(add_choice(app, "--since", options->since, named({"newest", "now"}),
                  "ages count back from the newest result of all hosts, or from now"));
  rare(add_value(app, "--machine-type", options->machine_type, "NAME",
                 "the cloud's name of the machine, where its firmware names no cloud: its figures "
                 "are held against those of other machines there"));
  rare(add_value(app, "--published", options->published, "FILE",
                 "also hold figures against this table of your own (`numatlas export published` "
                 "prints one)"));
  options->slow.add_to(app);
  add_value(app, "--metric", options->metric, "NAME",
            "judge only this figure, such as latency or bandwidth_sum");
  add_choice(app, "--format", options->format, named(reporter_names()),
             "format of standard output; line is the first line alone");
  app.add_flag("--stats", options->stats, "also list all hosts");
  add_value(app, "--json", options->json, "FILE", "also write the verdicts as JSON");
  add_value(app, "--openmetrics", options->openmetrics, "FILE",
            "also write which hosts were judged, are slow or fell, for the textfile collector of "
            "Prometheus' node exporter (.prom)");
  rare(add_label_option(app, options->style.labels));
  rare(add_quiet(app, options->quiet));  // it shows none in any case
  app.add_flag("--no-fail", options->no_fail, "end with exit code 0 whatever was found");
  return [options] { return run_check(*options); };
}

}  // namespace

Command check_command() {
  return {
      .name = "check",
      .summary = "find slow hosts in stored results of any command",
      .listing = {Topic::judge},
      .description =
          "Exit code 1: the newest run of a host is slow, slower than its earlier ones, LOW, or "
          "misses what is expected of it. Exit code 9: none is, but a host could not be "
          "judged, or its newest run is unreliable or incomplete. LOW (\"Is it normal?\"): "
          "below 85 % of the lowest that others published of such machines and GPUs.",
      .examples = {{"Each host measured itself every night: which is slow, which became slower?",
                    "numatlas check results"},
                   {"Is this host what was bought?",
                    "numatlas check --expect triad=350GB/s,latency=120ns survey.json"}},
      .declare = declare_check,
      .exit_codes = ""};
}

}  // namespace numatlas
