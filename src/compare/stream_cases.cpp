// The cases of STREAM over hosts: a host and a kernel each.
#include <cstddef>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "compare/stored.h"
#include "fleet/summary.h"

namespace numatlas {
namespace {

using nlohmann::json;

StoredFigure figure_of(const std::optional<HostTimes>& times) {
  StoredFigure figure;
  if (!times) {
    figure.problem = "finished no round";
    return figure;
  }
  figure.value = times->rate;
  // Rounds are long against the moods that a sample of 20 us sees, and too few for blocks of them.
  if (times->rates) figure.interval = interval_of(times->rate, *times->rates, std::nullopt);
  if (!figure.interval)
    figure.problem = fmt::format("fewer than 6 counted rounds ({})",
                                 times->rates ? times->rates->n : std::size_t{0});
  else
    figure.problem = width_problem(times->rate, *figure.interval);
  return figure;
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

}  // namespace

StoredRun run_from_fleet(const Fleet& fleet) {
  StoredRun run;
  run.command = "stream";
  run.version = fleet.version;
  run.started = fleet.started;
  run.engine = fleet.engine;
  run.comm = fleet.comm;
  run.isa = fleet.isa;
  run.arguments = fleet.arguments;
  run.complete = fleet.complete;
  run.incomplete_reason = fleet.incomplete_reason;
  run.machines = fleet.machines;
  for (const FleetHost& host : fleet.hosts) {
    run.hosts.push_back(host.name);
    run.cpu_use.push_back(host.cpu_use.value_or(CpuUse{}));
    for (std::size_t kernel = 0; kernel < fleet.kernels.size(); ++kernel) {
      StoredCase one;
      one.key = one.point_key = asked_of(fleet, host, fleet.kernels[kernel])
                                    .dump(-1, ' ', false, json::error_handler_t::replace);
      one.command = run.command;
      one.point = full_name(fleet.kernels[kernel]);
      if (!fleet.kernels[kernel].stores.empty()) one.point += " " + fleet.kernels[kernel].stores;
      one.part = "host " + host.name;
      one.metric = "bandwidth";
      one.unit = "B/s";
      one.figure = figure_of(times_of(fleet, host, kernel));
      one.figure.disturbed = disturbance_text(run.cpu_use.back());
      run.cases.push_back(std::move(one));
    }
  }
  number_doubles(run.cases);
  return run;
}

}  // namespace numatlas
