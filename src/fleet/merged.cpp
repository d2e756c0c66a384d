#include "fleet/merged.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "base/add_once.h"
#include "fleet/cases.h"
#include "fleet/fleet.h"

namespace numatlas {
namespace {

/// What all runs have in common; `none` where they differ.
template <class T, class Of>
T common(std::span<const RunReport* const> runs, T none, Of of) {
  const auto same = [&](const RunReport* run) { return of(*run) == of(*runs.front()); };
  return std::ranges::all_of(runs, same) ? of(*runs.front()) : none;
}

/// A host of `run`, with the kinds and kernels of `all`.
FleetHost moved_host(FleetHost host, const Fleet& run, Fleet& all,
                     const std::vector<std::size_t>& kernels) {
  host.kind = kind_index(all, run.kinds[host.kind]);
  std::vector<std::vector<PassTimes>> rounds(all.kernels.size());
  std::vector<std::optional<HostSummary>> summaries(host.summaries.empty() ? 0
                                                                           : all.kernels.size());
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    if (i < host.rounds.size()) rounds[kernels[i]] = std::move(host.rounds[i]);
    if (i < host.summaries.size()) summaries[kernels[i]] = host.summaries[i];
  }
  // Each run counts from a start of its own.
  for (auto& passes : rounds)
    for (PassTimes& pass : passes) pass.start = -1;
  host.rounds = std::move(rounds);
  host.summaries = std::move(summaries);
  host.processes.clear();
  return host;
}

void add_run(RunReport& merged, const RunReport& report) {
  Fleet& all = *merged.fleet;
  const Fleet& run = *report.fleet;
  std::vector<std::size_t> kernels;
  for (std::size_t i = 0; i < run.kernels.size(); ++i)
    kernels.push_back(add_once(all.kernels, asked_kernel(report, i)));
  for (const FleetHost& host : run.hosts) all.hosts.push_back(moved_host(host, run, all, kernels));
  if (run.retest) {
    if (!all.retest) all.retest.emplace();
    for (const FleetHost& host : run.retest->hosts)
      all.retest->hosts.push_back(moved_host(host, run, all, kernels));
  }
  merged.ranks += report.ranks;
  all.repeats = std::max(all.repeats, run.repeats);
  for (const Warning& warning : report.warnings) add_once(merged.warnings, warning);
  if (report.complete) return;
  merged.complete = false;
  merged.incomplete_reason = report.incomplete_reason;
}

}  // namespace

FleetKernel asked_kernel(const RunReport& run, std::size_t kernel) {
  FleetKernel asked = run.fleet->kernels[kernel];
  if (asked.memory.empty()) asked.memory = run.fleet->memory;
  if (asked.isa.empty()) asked.isa = run.isa;
  return asked;
}

std::vector<std::size_t> ages_of(std::span<const RunReport* const> runs) {
  std::vector<std::size_t> ages(runs.size(), 0);
  std::map<std::string, std::size_t> seen;  // of each host, runs up to its oldest one so far
  for (std::size_t i = runs.size(); i-- > 0;) {
    for (const FleetHost& host : runs[i]->fleet->hosts) {
      const auto newer = seen.find(host.name);
      if (newer != seen.end()) ages[i] = std::max(ages[i], newer->second);
    }
    for (const FleetHost& host : runs[i]->fleet->hosts) seen[host.name] = ages[i] + 1;
  }
  return ages;
}

RunReport merged(std::span<const RunReport* const> runs) {
  if (runs.size() == 1) return *runs.front();
  RunReport all;
  Fleet& fleet = all.fleet.emplace();
  if (runs.empty()) return all;
  const RunReport& newest = *runs.back();
  all.command = newest.command;
  all.version = newest.version;
  all.started = newest.started;
  all.seconds = newest.seconds;
  all.complete = true;
  all.ranks = 0;
  all.isa = common(runs, std::string(), [](const RunReport& run) { return run.isa; });
  fleet.at_once = false;
  fleet.memory =
      common(runs, std::string(), [](const RunReport& run) { return run.fleet->memory; });
  fleet.elements =
      common(runs, std::uint64_t{0}, [](const RunReport& run) { return run.fleet->elements; });
  // All kernels first: a host has a place for each.
  for (const RunReport* run : runs)
    for (std::size_t i = 0; i < run->fleet->kernels.size(); ++i)
      add_once(fleet.kernels, asked_kernel(*run, i));
  for (const RunReport* run : runs) add_run(all, *run);
  add_cases(all);
  return all;
}

}  // namespace numatlas
