// The cases of a run that was reduced to its hosts: one for each host and case.
#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "analysis/findings.h"
#include "analysis/passes.h"
#include "base/json.h"
#include "compare/stored.h"

namespace numatlas {
namespace {

using nlohmann::json;

StoredFigure figure_of(const HostTotals& totals) {
  StoredFigure stored;
  const Figure* const figure = find_figure(totals.figures, "bandwidth");
  if (figure == nullptr || !figure->estimate) {
    stored.problem = "finished no round";
    return stored;
  }
  // Rounds are long against the moods that a sample of 20 us sees, and too few for blocks of them.
  stored = stored_figure(*figure, "", "counted rounds");
  if (stored.problem.empty()) stored.problem = width_problem(*stored.estimate);
  return stored;
}

/// What a host was asked to do: its processes and threads, the arrays, where they lie.
json asked_of(const RunReport& report, const HostRow& host, const ScenarioResult& one) {
  json labels = json::object();
  for (const auto& [name, text] : one.labels) labels[name] = text;
  return {report.command, one.kernel, one.stores, labels, host.processes, host.workers};
}

void add_case(const RunReport& report, const ScenarioResult& point, const HostTotals& totals,
              StoredRun& run) {
  const auto index = static_cast<std::size_t>(totals.host);
  const HostRow& host = report.host_rows[index];
  StoredCase one;
  one.host = index;
  one.host_key = json_line(asked_of(report, host, point));
  // Of one host the name is no part of the question: it may have been renamed, or be another.
  one.key = one.point_key =
      (report.hosts.size() > 1 ? report.hosts[index] + " " : std::string()) + one.host_key;
  // With other instructions it is not the same measurement of a host.
  one.host_key += "|" + run.isa;
  one.command = run.command;
  one.point = point.name;
  one.kernel = point.kernel;
  one.part = "host " + report.hosts[index];
  one.metric = "bandwidth";
  one.unit = "B/s";
  one.figure = figure_of(totals);
  one.figure.rounds = rates_of(report, point, totals.host, totals.passes);
  if (index < run.cpu_use.size()) one.figure.disturbed = disturbance_text(run.cpu_use[index]);
  if (!totals.again.empty())
    one.figure.again = bandwidth_of(rates_of(report, point, totals.host, totals.again)).value();
  run.cases.push_back(std::move(one));
}

}  // namespace

void add_cases_of_hosts(const RunReport& report, StoredRun& run) {
  for (const HostRow& host : report.host_rows) {
    run.kinds.push_back(kind_of(report, host));
    run.identities.push_back(host.identity);
  }
  for (const ScenarioResult& point : report.scenarios) {
    if (is_finding(point)) continue;
    for (const HostTotals& totals : point.host_totals) add_case(report, point, totals, run);
  }
  std::ranges::stable_sort(run.cases, {}, &StoredCase::host);
}

}  // namespace numatlas
