// The cases of STREAM over hosts: one for each host and kernel.
#include <cstddef>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/pretty_json.h"
#include "compare/stored.h"
#include "fleet/cases.h"
#include "fleet/summary.h"

namespace numatlas {
namespace {

using nlohmann::json;

StoredFigure figure_of(const std::optional<HostTimes>& times) {
  StoredFigure stored;
  if (!times) {
    stored.problem = "finished no round";
    return stored;
  }
  // Rounds are long against the moods that a sample of 20 us sees, and too few for blocks of them.
  stored = stored_figure(bandwidth_of(*times), "", "counted rounds");
  if (stored.interval) stored.problem = width_problem(*stored.value, *stored.interval);
  return stored;
}

/// What a host was asked to do: its processes and threads, the arrays, where they lie.
json asked_of(const Fleet& fleet, const FleetHost& host, const FleetKernel& kernel) {
  const HostKind& kind = fleet.kinds[host.kind];
  return {"stream",       kernel.name,  kernel.mode,    kernel.stores,
          fleet.elements, fleet.memory, kind.processes, kind.workers};
}

}  // namespace

void add_cases_of_hosts(const RunReport& report, StoredRun& run) {
  const Fleet& fleet = *report.fleet;
  run.by_rounds = true;
  run.hosts.clear();
  run.cpu_use.clear();
  for (std::size_t i = 0; i < fleet.hosts.size(); ++i) {
    const FleetHost& host = fleet.hosts[i];
    run.hosts.push_back(host.name);
    run.kinds.push_back(fleet.kinds[host.kind]);
    run.cpu_use.push_back(host.cpu_use.value_or(CpuUse{}));
    for (std::size_t kernel = 0; kernel < fleet.kernels.size(); ++kernel) {
      StoredCase one;
      one.host = i;
      one.host_key = json_line(asked_of(fleet, host, fleet.kernels[kernel]));
      // Of one host the name is no part of the question: it may have been renamed, or be another.
      one.key = one.point_key =
          (fleet.hosts.size() > 1 ? host.name + " " : std::string()) + one.host_key;
      // Averages and medians, and other instructions, are not the same measurement of a host.
      one.host_key += "|" + run.isa + (host.summaries.empty() ? "" : "|averages");
      one.command = run.command;
      one.point = full_name(fleet.kernels[kernel]);
      one.kernel = fleet.kernels[kernel].name;
      one.part = "host " + host.name;
      one.metric = "bandwidth";
      one.unit = "B/s";
      one.figure = figure_of(times_of(fleet, host, kernel));
      one.figure.rounds = rates_of(fleet, host, kernel);
      one.figure.disturbed = disturbance_text(run.cpu_use.back());
      run.cases.push_back(std::move(one));
    }
  }
  if (!fleet.retest) return;
  for (StoredCase& one : run.cases) {
    const FleetHost& host = fleet.hosts[*one.host];
    for (const FleetHost& again : fleet.retest->hosts) {
      if (again.name != host.name || again.kind != host.kind) continue;
      const std::size_t kernel =
          static_cast<std::size_t>(&one - run.cases.data()) % fleet.kernels.size();
      if (const auto times = times_of(fleet, again, kernel)) one.figure.again = times->rate;
    }
  }
}

}  // namespace numatlas
