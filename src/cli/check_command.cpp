// Stored results of STREAM over hosts, judged again without measuring.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "base/pretty_json.h"
#include "base/text.h"
#include "base/version.h"
#include "cli/commands.h"
#include "comm/launcher.h"
#include "fleet/fleet.h"
#include "fleet/history.h"
#include "fleet/merged.h"
#include "record/report_fields.h"
#include "record/report_json.h"
#include "report/file.h"
#include "report/fleet_file.h"
#include "report/fleet_table.h"
#include "report/fleet_writers.h"
#include "report/openmetrics.h"
#include "run/declare.h"
#include "run/options.h"
#include "run/slow_options.h"

namespace numatlas {
namespace {

using nlohmann::json;

struct CheckOptions {
  std::vector<std::string> files;
  std::string format = "table", openmetrics;
  SlowOptions slow;
};

/// One file.
struct CheckedRun {
  std::string file;  ///< as it may be shown
  RunReport run;     ///< without what nobody is judged by
  PastRun past;
};

/// Runs of different hosts, judged as one fleet.
struct JudgedFleet {
  std::vector<std::string> files;  ///< by their starts
  PastRun past;
  json found;                        ///< for --format json
  RunReport run;                     ///< of the newest one only: there may be a thousand
  std::vector<std::string> started;  ///< of the file of each host of `run`
};

/// All files.
struct Checked {
  std::vector<CheckedRun> runs;     ///< by their starts, until they are judged
  std::vector<JudgedFleet> fleets;  ///< the newest one last
  std::vector<std::string> notes;

  const JudgedFleet& newest() const { return fleets.back(); }
};

/// A .dat beside the JSON of the same run tells nothing new, and a copy of a file neither.
void leave_out_doubles(Checked& checked) {
  std::vector<bool> doubled;
  for (const CheckedRun& run : checked.runs) {
    const auto tells_more = [&](const CheckedRun& other) {
      const bool before = &other < &run;
      return &other != &run && same_run(run.past, other.past) &&
             (run.past.by_rounds == other.past.by_rounds ? before : other.past.by_rounds);
    };
    const auto same = std::find_if(checked.runs.begin(), checked.runs.end(), tells_more);
    doubled.push_back(same != checked.runs.end());
    if (!doubled.back()) continue;
    checked.notes.push_back(fmt::format("{} is the same run as {}{}: skipped", run.file, same->file,
                                        run.past.by_rounds ? "" : ", without rounds"));
  }
  std::size_t at = 0;
  std::erase_if(checked.runs, [&](const CheckedRun&) { return doubled[at++]; });
}

/// A JSON file says more of a run than a .dat, which tells only the minute of its start.
bool is_older(const CheckedRun& a, const CheckedRun& b) {
  return std::pair(a.run.started, a.past.by_rounds) < std::pair(b.run.started, b.past.by_rounds);
}

Expected<CheckedRun> read_run(const std::string& file, bool alone) {
  auto read = TRY(read_fleet(file));
  if (read.started.empty() && !alone)
    return fail_usage(
        file, "does not record when it ran",
        "runs of a history are distinguished by their start time: a .dat has it in its name, "
        "memory_results-PxT-hhmmDDMMYYYY.dat");
  read.machines.clear();
  read.fleet->slow.reset();
  for (FleetHost& host : read.fleet->hosts) host.processes.clear();
  CheckedRun run{printable(file), std::move(read), {}};
  run.past = past_run(run.run);
  return run;
}

json slow_json(const Fleet& fleet) {
  json hosts = json::array();
  for (const SlowHost& host : fleet.slow->hosts) {
    json kernels = json::array();
    for (const SlowKernel& kernel : host.kernels) {
      kernels.push_back({{"kernel", kernel.kernel},
                         {"name", full_name(fleet.kernels[kernel.kernel])},
                         {"rate", kernel.rate},
                         {"median", kernel.median},
                         {"drop", kernel.drop},
                         {"mads", kernel.mads},
                         {"rounds", kernel.rounds},
                         {"slow_rounds", kernel.slow_rounds},
                         {"evidence", record::name_in_record(kernel.evidence)}});
    }
    json together = nullptr;
    if (host.together)
      together = {{"drop", host.together->drop},
                  {"mads", host.together->mads},
                  {"rounds", host.together->rounds},
                  {"slow_rounds", host.together->slow_rounds}};
    hosts.push_back({{"host", fleet.hosts[host.host].name},
                     {"peers", host.peers},
                     {"verdict", record::name_in_record(host.verdict)},
                     {"text", to_text(fleet, host)},
                     {"together", std::move(together)},
                     {"kernels", std::move(kernels)}});
  }
  return hosts;
}

json fleet_json(const JudgedFleet& judged) {
  const RunReport& run = judged.run;
  return {{"file", judged.files.back()},
          {"files", judged.files},
          {"started", run.started.empty() ? json(nullptr) : json(run.started)},
          {"complete", run.complete},
          {"hosts", run.fleet->hosts.size()},
          {"judged", run.fleet->slow->judged},
          {"slow", slow_json(*run.fleet)},
          {"not_judged", run.fleet->slow->not_judged}};
}

/// Puts the runs of each age together, and judges them.
void judge(Checked& checked, const SlowRule& rule) {
  std::vector<const RunReport*> all;
  for (const CheckedRun& run : checked.runs) all.push_back(&run.run);
  const std::vector<std::size_t> ages = ages_of(all);
  const std::size_t oldest = *std::max_element(ages.begin(), ages.end());
  for (std::size_t age = oldest + 1; age-- > 0;) {
    JudgedFleet& judged = checked.fleets.emplace_back();
    std::vector<const RunReport*> of_age;
    for (std::size_t i = 0; i < ages.size(); ++i) {
      if (ages[i] != age) continue;
      judged.files.push_back(checked.runs[i].file);
      of_age.push_back(all[i]);
      judged.started.insert(judged.started.end(), all[i]->fleet->hosts.size(), all[i]->started);
    }
    judged.run = merged(of_age);
    judged.run.fleet->slow = find_slow(*judged.run.fleet, rule);
    judged.past = past_run(judged.run);
    judged.found = fleet_json(judged);
    if (age > 0) judged.run = {};
  }
  checked.runs.clear();
}

/// Hosts whose file is more than a day older than the newest one: something may keep them from
/// measuring.
void note_old(Checked& checked) {
  constexpr std::int64_t day = 24 * 60 * 60;
  const JudgedFleet& newest = checked.newest();
  std::optional<std::int64_t> last;
  for (const std::string& started : newest.started) last = std::max(last, unix_seconds(started));
  std::vector<std::string> old;
  for (std::size_t i = 0; i < newest.started.size(); ++i) {
    const auto started = unix_seconds(newest.started[i]);
    if (started && *last - *started > day)
      old.push_back(fmt::format("{} ({})", newest.run.fleet->hosts[i].name, newest.started[i]));
  }
  if (!old.empty())
    checked.notes.push_back(
        fmt::format("no run of the last day before the newest one: {}", names_text(old)));
}

Expected<Checked> read_runs(const std::vector<std::string>& files, const SlowRule& rule) {
  Checked checked;
  for (const std::string& file : files) {
    auto run = TRY(read_run(file, files.size() == 1));
    checked.runs.push_back(std::move(run));
  }
  std::stable_sort(checked.runs.begin(), checked.runs.end(), is_older);
  leave_out_doubles(checked);
  judge(checked, rule);
  note_old(checked);
  return checked;
}

std::optional<History> history_of(const Checked& checked) {
  if (checked.fleets.size() < 2) return std::nullopt;
  std::vector<PastRun> earlier;
  for (std::size_t i = 0; i + 1 < checked.fleets.size(); ++i)
    earlier.push_back(checked.fleets[i].past);
  return history_of(earlier, checked.newest().run);
}

std::string history_text(const Checked& checked, const History& history) {
  const RunReport& run = checked.newest().run;
  const Fleet& newest = *run.fleet;
  const SlowRule& rule = newest.slow->rule;
  std::string text = fmt::format("\nHistory of {} runs, {} to {}\n", checked.fleets.size(),
                                 checked.fleets.front().past.started, run.started);
  std::size_t unjudged = 0;
  for (const auto& [name, count] : history.hosts) unjudged += count.unjudged > 0 ? 1 : 0;
  std::vector<std::pair<std::string, History::Count>> often;
  for (const auto& [name, count] : history.hosts)
    if (count.slow > 0) often.emplace_back(name, count);
  std::stable_sort(often.begin(), often.end(),
                   [](const auto& a, const auto& b) { return a.second.slow > b.second.slow; });
  for (const auto& [name, count] : often)
    text += fmt::format("  {}: slow in {} of {} runs, last {}\n", name, count.slow, count.runs,
                        count.last_slow);
  if (often.empty() && unjudged < history.hosts.size())
    text += unjudged == 0 ? "  no node was slow in any of them\n"
                          : "  no node that was judged was slow in any of them\n";
  if (unjudged > 0)
    text += fmt::format("  not compared with other nodes in every run: {} of {} nodes\n", unjudged,
                        history.hosts.size());
  if (!history.falls.empty()) {
    text +=
        fmt::format("Nodes that became slower than their own earlier runs ({:g} % and {:g} MAD):\n",
                    rule.drop * 100, rule.mads);
    for (const Fall& fall : history.falls) text += "  " + to_text(newest, fall) + "\n";
  } else if (history.judged > 0) {
    text += fmt::format("no node of {} became slower than its own earlier runs\n", history.judged);
  }
  if (!history.unjudged.empty())
    text += fmt::format(
        "not compared with their own past: {} nodes with fewer than {} comparable earlier runs\n",
        history.unjudged.size(), rule.least_hosts);
  return text;
}

json history_json(const Fleet& newest, const History& history) {
  json hosts = json::array(), fell = json::array();
  for (const auto& [name, count] : history.hosts)
    hosts.push_back(
        {{"host", name},
         {"runs", count.runs},
         {"slow_runs", count.slow},
         {"unjudged_runs", count.unjudged},
         {"last_slow", count.last_slow.empty() ? json(nullptr) : json(count.last_slow)}});
  for (const Fall& fall : history.falls) {
    json kernels = json::array();
    for (const SlowKernel& kernel : fall.kernels)
      kernels.push_back({{"name", full_name(newest.kernels[kernel.kernel])},
                         {"rate", kernel.rate},
                         {"median", kernel.median},
                         {"drop", kernel.drop},
                         {"mads", kernel.mads}});
    fell.push_back({{"host", newest.hosts[fall.host].name},
                    {"earlier_runs", fall.runs},
                    {"text", to_text(newest, fall)},
                    {"kernels", std::move(kernels)}});
  }
  return {{"hosts", std::move(hosts)},
          {"fell", std::move(fell)},
          {"judged", history.judged},
          {"not_judged", history.unjudged.size()}};
}

std::string check_json(const Checked& checked, const std::optional<History>& history) {
  const SlowRule& rule = checked.newest().run.fleet->slow->rule;
  json runs = json::array();
  for (const JudgedFleet& judged : checked.fleets) runs.push_back(judged.found);
  const json value = {
      {"schema_version", schema_version},
      {"program", "numatlas"},
      {"version", version},
      {"command", "check"},
      {"slow", rule.drop},
      {"slow_together", rule.drop_together},
      {"mads", rule.mads},
      {"runs", std::move(runs)},
      {"notes", checked.notes},
      {"history", history ? history_json(*checked.newest().run.fleet, *history) : json(nullptr)}};
  return pretty(value);
}

std::string check_text(const Checked& checked, const std::optional<History>& history) {
  const JudgedFleet& newest = checked.newest();
  std::string text;
  if (newest.files.size() > 1)
    text = fmt::format("{} files of different hosts, judged as one fleet: {}\n",
                       newest.files.size(), names_text(newest.files));
  else if (history)
    text = fmt::format("The newest run: {}\n", names_text(newest.files));
  text += fleet_table(newest.run);
  if (history) text += history_text(checked, *history);
  for (const std::string& note : checked.notes) text += "note: " + note + "\n";
  return text;
}

/// A host that was not compared with others may have been compared with itself.
int verdict_of(const SlowReport& slow, const std::optional<History>& history) {
  SlowReport left = slow;
  if (history) {
    if (!history->falls.empty()) return exit_code_of_slow_nodes;
    left.unjudged.clear();
    std::set_intersection(slow.unjudged.begin(), slow.unjudged.end(), history->unjudged.begin(),
                          history->unjudged.end(), std::back_inserter(left.unjudged));
  }
  return exit_code_of(left);
}

Expected<int> run_check(const CheckOptions& options) {
  const auto rule = TRY(options.slow.parse());
  if (!should_report(detect_launcher())) return 0;  // of many tasks the first one does it
  TRY(check_metrics_file(options.openmetrics, options.files));
  const auto checked = TRY(read_runs(options.files, rule));
  const auto history = history_of(checked);
  const std::string text =
      options.format == "json" ? check_json(checked, history) : check_text(checked, history);
  TRY(write_stdout(text));
  if (!options.openmetrics.empty()) {
    const HostsInTime in_time{history ? &*history : nullptr, checked.newest().started};
    TRY(write_whole(options.openmetrics, fleet_openmetrics(checked.newest().run, in_time),
                    "--openmetrics"));
  }
  return verdict_of(*checked.newest().run.fleet->slow, history);
}

}  // namespace

Command add_check_command(CLI::App& app) {
  auto options = std::make_shared<CheckOptions>();
  app.add_option("FILE", options->files,
                 "results of `numatlas stream` (JSON or .dat) or of distributed_streams (.dat); "
                 "files of different hosts are judged as one fleet, those of the same hosts are a "
                 "history")
      ->type_name("")
      ->required();
  options->slow.add_to(app);
  add_choice(app, "--format", options->format, named({"table", "json"}),
             "format of standard output");
  add_value(app, "--openmetrics", options->openmetrics, "FILE",
            "also write the newest run for the textfile collector of Prometheus' node exporter "
            "(.prom)");
  app.footer(
      "Exit code 1: a node of the newest run is slow, or slower than in its own earlier runs. Exit "
      "code 9: no node is slow, but a node could not be judged.");
  app.allow_extras();
  return [options] { return run_check(*options); };
}

}  // namespace numatlas
