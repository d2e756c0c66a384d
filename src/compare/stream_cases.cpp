// The cases of STREAM over hosts: one for each host and kernel.
#include <cstddef>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/pretty_json.h"
#include "compare/stored.h"

namespace numatlas {
namespace {

using nlohmann::json;

StoredFigure figure_of(const Figure* figure) {
  StoredFigure stored;
  if (figure == nullptr) {
    stored.problem = "finished no round";
    return stored;
  }
  // Rounds are long against the moods that a sample of 20 us sees, and too few for blocks of them.
  stored = stored_figure(*figure, "", "counted rounds");
  if (stored.interval) stored.problem = width_problem(*stored.value, *stored.interval);
  return stored;
}

/// What a host was asked to do: its processes and threads, the arrays, where they lie.
json asked_of(const Fleet& fleet, const FleetHost& host, const FleetKernel& kernel) {
  const HostKind& kind = fleet.kinds[host.kind];
  // Of one host the name is no part of the question: it may have been renamed, or be another one.
  return {"stream",      fleet.hosts.size() > 1 ? host.name : "",
          kernel.name,   kernel.mode,
          kernel.stores, fleet.elements,
          fleet.memory,  kind.processes,
          kind.workers};
}

const Figure* bandwidth_of(const ScenarioResult& one, std::size_t host) {
  for (const HostTotals& totals : one.host_totals)
    if (totals.host == static_cast<int>(host)) return find_figure(totals.figures, "bandwidth");
  return nullptr;
}

}  // namespace

void add_cases_of_hosts(const RunReport& report, StoredRun& run) {
  const Fleet& fleet = *report.fleet;
  run.cpu_use.clear();
  for (std::size_t i = 0; i < fleet.hosts.size(); ++i) {
    const FleetHost& host = fleet.hosts[i];
    run.cpu_use.push_back(host.cpu_use.value_or(CpuUse{}));
    for (std::size_t kernel = 0; kernel < fleet.kernels.size(); ++kernel) {
      const ScenarioResult& of_kernel = report.scenarios[kernel];
      StoredCase one;
      one.key = one.point_key = json_line(asked_of(fleet, host, fleet.kernels[kernel]));
      one.command = run.command;
      one.point = of_kernel.name;
      one.part = "host " + host.name;
      one.metric = "bandwidth";
      one.unit = "B/s";
      one.figure = figure_of(bandwidth_of(of_kernel, i));
      one.figure.disturbed = disturbance_text(run.cpu_use.back());
      run.cases.push_back(std::move(one));
    }
  }
}

}  // namespace numatlas
