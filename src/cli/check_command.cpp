// Stored results of STREAM over hosts, judged again without measuring.
#include <algorithm>
#include <filesystem>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "base/version.h"
#include "benchmarks/options.h"
#include "benchmarks/slow_options.h"
#include "cli/commands.h"
#include "comm/launcher.h"
#include "fleet/fleet_json.h"
#include "fleet/history.h"
#include "report/file.h"
#include "report/fleet_file.h"
#include "report/fleet_table.h"
#include "report/fleet_writers.h"

namespace numatlas {
namespace {

using nlohmann::json;

struct CheckOptions {
  std::vector<std::string> files;
  std::string format = "table", openmetrics;
  SlowOptions slow;
};

/// One file, as far as it is kept.
struct CheckedRun {
  std::string file;
  PastRun past;
  json found;  ///< for --format json
};

/// All files; of the newest run everything.
struct Checked {
  std::vector<CheckedRun> runs;  ///< by their starts
  std::vector<std::string> notes;
  Fleet newest;
  SlowReport slow;
};

json run_json(const std::string& file, const Fleet& fleet, const SlowReport& slow) {
  return {{"file", file},
          {"started", fleet.started.empty() ? json(nullptr) : json(fleet.started)},
          {"complete", fleet.complete},
          {"hosts", fleet.hosts.size()},
          {"judged", slow.judged},
          {"slow", slow_json(fleet, slow)},
          {"not_judged", slow.not_judged}};
}

/// A .dat beside the JSON of the same run tells nothing new, and a copy of a file neither.
void leave_out_doubles(Checked& checked) {
  std::vector<CheckedRun> kept;
  for (std::size_t i = 0; i < checked.runs.size(); ++i) {
    const CheckedRun& run = checked.runs[i];
    const auto tells_more = [&](const CheckedRun& other) {
      const bool before = &other < &run;
      return &other != &run && same_run(run.past, other.past) &&
             (run.past.by_rounds == other.past.by_rounds ? before : other.past.by_rounds);
    };
    const auto same = std::find_if(checked.runs.begin(), checked.runs.end(), tells_more);
    if (same == checked.runs.end()) {
      kept.push_back(run);
      continue;
    }
    checked.notes.push_back(fmt::format("{} is the same run as {}{}: left out", run.file,
                                        same->file, run.past.by_rounds ? "" : ", without rounds"));
  }
  checked.runs = std::move(kept);
}

Expected<Checked> read_runs(const std::vector<std::string>& files, const SlowRule& rule) {
  Checked checked;
  for (const std::string& file : files) {
    auto fleet = read_fleet(file);
    if (!fleet) return fail(fleet.error());
    if (fleet->started.empty() && files.size() > 1)
      return fail(ErrorKind::usage, fmt::format("{}: does not say when it ran", file),
                  "runs of a history are told apart by their start: a .dat has it in its name, "
                  "memory_results-PxT-hhmmDDMMYYYY.dat");
    SlowReport slow = find_slow(*fleet, rule);
    checked.runs.push_back({file, past_run(*fleet, slow), run_json(file, *fleet, slow)});
    // Of two files of one run that with rounds counts: a .dat tells only the minute of its start.
    const bool by_rounds = checked.runs.back().past.by_rounds;
    const bool older = fleet->started < checked.newest.started ||
                       (fleet->started == checked.newest.started && !by_rounds);
    if (checked.runs.size() > 1 && older) continue;
    checked.newest = *std::move(fleet);
    checked.slow = std::move(slow);
  }
  std::stable_sort(
      checked.runs.begin(), checked.runs.end(),
      [](const CheckedRun& a, const CheckedRun& b) { return a.past.started < b.past.started; });
  leave_out_doubles(checked);
  return checked;
}

std::optional<History> history_of(const Checked& checked, const SlowRule& rule) {
  if (checked.runs.size() < 2) return std::nullopt;
  std::vector<PastRun> earlier;
  for (std::size_t i = 0; i + 1 < checked.runs.size(); ++i) earlier.push_back(checked.runs[i].past);
  return history_of(earlier, checked.newest, checked.slow, rule);
}

std::string history_text(const Checked& checked, const History& history, const SlowRule& rule) {
  std::string text =
      fmt::format("\nHistory of {} runs, {} to {}\n", checked.runs.size(),
                  checked.runs.front().past.started, checked.runs.back().past.started);
  std::vector<std::pair<std::string, History::Count>> often;
  for (const auto& [name, count] : history.hosts)
    if (count.slow > 0) often.emplace_back(name, count);
  std::stable_sort(often.begin(), often.end(),
                   [](const auto& a, const auto& b) { return a.second.slow > b.second.slow; });
  for (const auto& [name, count] : often)
    text += fmt::format("  {}: slow in {} of {} runs, last {}\n", name, count.slow, count.runs,
                        count.last_slow);
  if (often.empty()) text += "  no node was slow in any of them\n";
  if (!history.falls.empty()) {
    text += fmt::format("Nodes that fell against their own earlier runs ({:g} % and {:g} MAD):\n",
                        rule.drop * 100, rule.mads);
    for (const Fall& fall : history.falls) text += "  " + to_text(checked.newest, fall) + "\n";
  } else if (history.judged > 0) {
    text += fmt::format("no node of {} fell against its own earlier runs\n", history.judged);
  }
  if (history.not_judged > 0)
    text += fmt::format(
        "not compared with themselves: {} nodes with fewer than {} earlier runs "
        "that did the same\n",
        history.not_judged, rule.least_hosts);
  return text;
}

json history_json(const Checked& checked, const History& history) {
  json hosts = json::array(), fell = json::array();
  for (const auto& [name, count] : history.hosts)
    hosts.push_back(
        {{"host", name},
         {"runs", count.runs},
         {"slow_runs", count.slow},
         {"last_slow", count.last_slow.empty() ? json(nullptr) : json(count.last_slow)}});
  for (const Fall& fall : history.falls) {
    json kernels = json::array();
    for (const SlowKernel& kernel : fall.kernels)
      kernels.push_back({{"name", full_name(checked.newest.kernels[kernel.kernel])},
                         {"rate", kernel.rate},
                         {"median", kernel.median},
                         {"drop", kernel.drop},
                         {"mads", kernel.mads}});
    fell.push_back({{"host", checked.newest.hosts[fall.host].name},
                    {"earlier_runs", fall.runs},
                    {"text", to_text(checked.newest, fall)},
                    {"kernels", std::move(kernels)}});
  }
  return {{"hosts", std::move(hosts)},
          {"fell", std::move(fell)},
          {"judged", history.judged},
          {"not_judged", history.not_judged}};
}

std::string check_json(const Checked& checked, const std::optional<History>& history,
                       const SlowRule& rule) {
  json runs = json::array();
  for (const CheckedRun& run : checked.runs) runs.push_back(run.found);
  const json value = {{"schema_version", fleet_schema_version},
                      {"program", "numatlas"},
                      {"version", version},
                      {"command", "check"},
                      {"slow", rule.drop},
                      {"mads", rule.mads},
                      {"runs", std::move(runs)},
                      {"notes", checked.notes},
                      {"history", history ? history_json(checked, *history) : json(nullptr)}};
  return value.dump(1, ' ', false, json::error_handler_t::replace) + "\n";
}

std::string check_text(const Checked& checked, const std::optional<History>& history,
                       const SlowRule& rule) {
  std::string text;
  if (history) text = fmt::format("The newest run: {}\n", checked.runs.back().file);
  text += fleet_table(checked.newest, checked.slow, rule);
  if (history) text += history_text(checked, *history, rule);
  for (const std::string& note : checked.notes) text += "note: " + note + "\n";
  return text;
}

Expected<int> run_check(const CheckOptions& options) {
  if (options.format != "table" && options.format != "json")
    return fail(ErrorKind::usage, "--format: '" + options.format + "' is not one of table, json");
  const auto rule = options.slow.parse();
  if (!rule) return fail(rule.error());
  if (!should_report(detect_launcher())) return 0;  // of many tasks the first one does it
  if (!options.openmetrics.empty()) {
    for (const std::string& file : options.files) {
      std::error_code none;
      if (std::filesystem::equivalent(file, options.openmetrics, none))
        return fail(ErrorKind::usage,
                    fmt::format("--openmetrics: {} is one of the files to read", file),
                    "name another file");
    }
    if (auto can = check_writable(options.openmetrics, "--openmetrics"); !can)
      return fail(can.error());
  }
  const auto checked = read_runs(options.files, *rule);
  if (!checked) return fail(checked.error());
  const auto history = history_of(*checked, *rule);
  const std::string text = options.format == "json" ? check_json(*checked, history, *rule)
                                                    : check_text(*checked, history, *rule);
  if (auto shown = write_stdout(text); !shown) return fail(shown.error());
  if (!options.openmetrics.empty()) {
    const auto wrote = write_whole(
        options.openmetrics, fleet_openmetrics(checked->newest, checked->slow), "--openmetrics");
    if (!wrote) return fail(wrote.error());
  }
  const bool fell = history && !history->falls.empty();
  return checked->slow.slow() > 0 || fell ? exit_code_of_slow_nodes : 0;
}

}  // namespace

Command add_check_command(CLI::App& app) {
  auto options = std::make_shared<CheckOptions>();
  app.add_option("FILE", options->files,
                 "results of `numatlas stream` (JSON or .dat) or of distributed_streams (.dat); "
                 "several runs are a history")
      ->type_name("")
      ->required();
  options->slow.add_to(app);
  app.add_option("--format", options->format, "table, or json")
      ->type_name("FORMAT")
      ->capture_default_str();
  refuse_empty(app.add_option("--openmetrics", options->openmetrics,
                              "also write the newest run for Prometheus' textfile collector"))
      ->type_name("FILE");
  app.footer(
      "\nEnds with 1 when a node of the newest run is slow, or fell against its own "
      "earlier runs.");
  app.allow_extras();
  return [options] { return run_check(*options); };
}

}  // namespace numatlas
