// Stored results of hosts, judged: against each other, against their own past, against what is
// expected.
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "base/terminal.h"
#include "base/text.h"
#include "comm/launcher.h"
#include "commands/command.h"
#include "compare/check.h"
#include "compare/results.h"
#include "published/expected.h"
#include "record/report_json.h"
#include "report/file.h"
#include "report/openmetrics.h"
#include "report/reporter.h"
#include "run/declare.h"
#include "run/options.h"
#include "run/slow_options.h"

namespace numatlas {
namespace {

struct CheckOptions {
  std::vector<std::string> paths;
  std::string format = "table", openmetrics, json, metric, expect;
  SlowOptions slow;
  bool stats = false, no_fail = false, quiet = false;
};

std::string text_of(const RunReport& report, const CheckOptions& options) {
  if (options.format == "line") return report.answer + "\n";
  RunReport shown = report;
  // A list of all hosts would bury the slow ones.
  const bool for_people = options.format == "table" || options.format == "markdown";
  if (for_people && !options.stats && !shown.views.empty()) shown.views.pop_back();
  TextStyle style;
  style.color = wants_color("auto");
  style.width = terminal_columns(STDOUT_FILENO).value_or(0);
  return text_in(options.format, shown, style);
}

/// What was read, also below a folder, is not written over.
Expected<void> check_is_no_input(const char* option, const std::string& file,
                                 const Results& results) {
  std::error_code code;
  if (file.empty() || !std::filesystem::exists(file, code)) return {};
  for (const StoredRun& run : results.runs)
    if (std::filesystem::equivalent(file, run.file, code))
      return fail_usage(option, fmt::format("{} is one of the files to read", printable(file)),
                        "name another file");
  return {};
}

Expected<int> run_check(const CheckOptions& options) {
  CheckRule rule{TRY(options.slow.parse()), options.metric, {}};
  const bool by_table = options.expect == "published";
  if (!options.expect.empty() && !by_table) rule.expected = TRY(parse_expectations(options.expect));
  if (!should_report(detect_launcher())) return 0;  // of many tasks the first one does it
  TRY(check_writable({{"--json", options.json}, {"--openmetrics", options.openmetrics}}));
  const Results results = TRY(read_results(options.paths));
  for (const auto& [option, file] :
       {std::pair("--json", options.json), std::pair("--openmetrics", options.openmetrics)})
    TRY(check_is_no_input(option, file, results));
  if (by_table) rule.expected = TRY(published_expectations(results.runs));
  Checked checked = TRY(check_runs(results.runs, rule));
  checked.notes.insert(checked.notes.end(), results.notes.begin(), results.notes.end());
  checked.broken = results.broken.size();
  const RunReport report = report_of(checked);
  TRY(write_stdout(text_of(report, options)));
  if (!options.openmetrics.empty())
    TRY(write_whole(options.openmetrics, report_openmetrics(report), "--openmetrics"));
  if (!options.json.empty()) TRY(write_whole(options.json, json_text(report), "--json"));
  if (options.no_fail) return 0;
  for (const CheckedHost& host : checked.hosts)
    if (!host.findings.empty()) return exit_code_of_slow_nodes;
  const bool all = checked.not_judged() == 0 && checked.broken == 0 && !checked.hosts.empty();
  return !all ? exit_code_of_unjudged_nodes : 0;
}

Start declare_check(CLI::App& app, const CommandLine&) {
  auto options = std::make_shared<CheckOptions>();
  app.add_option("FILE", options->paths,
                 "results of any command (JSON), and folders of these: the newest run of each host "
                 "is judged against others of its kind and its own earlier runs\n"
                 "Also .dat of STREAM over hosts")
      ->type_name("")
      ->required();
  add_value(
      app, "--expect", options->expect, "LIST|FILE|published",
      "limits that each host has to meet: triad=350GB/s,latency=120ns, or a file of such lines\n"
      "Each names a kernel, a figure, or a fact of a survey; rates are at least that, times at "
      "most, with the whole interval\n"
      "published: 85 % of the least that others measured on the processor, for reads of all CPUs");
  options->slow.add_to(app);
  add_value(app, "--metric", options->metric, "NAME",
            "judge only this figure, such as latency or bandwidth_sum");
  std::vector<std::string> formats = reporter_names();
  formats.emplace_back("line");
  add_choice(app, "--format", options->format, named(formats),
             "format of standard output; line is the first line alone");
  app.add_flag("--stats", options->stats, "also list all hosts");
  add_value(app, "--json", options->json, "FILE", "also write the verdicts as JSON");
  add_value(app, "--openmetrics", options->openmetrics, "FILE",
            "also write which hosts were judged, are slow or fell, for the textfile collector of "
            "Prometheus' node exporter (.prom)");
  rare(add_quiet(app, options->quiet));  // it shows none in any case
  app.add_flag("--no-fail", options->no_fail,
               "end with exit code 0 even if a host is slow, or not judged");
  return [options] { return run_check(*options); };
}

}  // namespace

Command check_command() {
  return {
      .name = "check",
      .summary = "find slow hosts in stored results of any command",
      .listing = {Topic::judge},
      .description =
          "Exit code 1: the newest run of a host is slow, slower than its earlier ones, or misses "
          "what is expected. Exit code 9: none is, but a host could not be judged.",
      .examples = {{"Each host measured itself every night: which is slow, which became slower?",
                    "numatlas check results"},
                   {"Is this host what was bought?",
                    "numatlas check --expect triad=350GB/s,latency=120ns survey.json"}},
      .declare = declare_check};
}

}  // namespace numatlas
