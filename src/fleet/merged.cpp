#include "fleet/merged.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <utility>

namespace numatlas {
namespace {

/// What all runs have in common; `none` where they differ.
template <class T, class Of>
T common(std::span<const Fleet* const> runs, T none, Of of) {
  const auto same = [&](const Fleet* run) { return of(*run) == of(*runs.front()); };
  return std::all_of(runs.begin(), runs.end(), same) ? of(*runs.front()) : none;
}

std::size_t kind_index(Fleet& all, const HostKind& kind) {
  const auto found = std::find_if(all.kinds.begin(), all.kinds.end(),
                                  [&](const HostKind& other) { return alike(other, kind); });
  const auto index = static_cast<std::size_t>(found - all.kinds.begin());
  if (found == all.kinds.end()) all.kinds.push_back(kind);
  return index;
}

std::size_t kernel_index(Fleet& all, const FleetKernel& kernel) {
  const auto found = std::find(all.kernels.begin(), all.kernels.end(), kernel);
  const auto index = static_cast<std::size_t>(found - all.kernels.begin());
  if (found == all.kernels.end()) all.kernels.push_back(kernel);
  return index;
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

void add_run(Fleet& all, const Fleet& run) {
  std::vector<std::size_t> kernels;
  for (std::size_t i = 0; i < run.kernels.size(); ++i)
    kernels.push_back(kernel_index(all, asked_kernel(run, i)));
  for (const FleetHost& host : run.hosts) all.hosts.push_back(moved_host(host, run, all, kernels));
  if (run.retest) {
    if (!all.retest) all.retest.emplace();
    for (const FleetHost& host : run.retest->hosts)
      all.retest->hosts.push_back(moved_host(host, run, all, kernels));
  }
  all.ranks += run.ranks;
  all.repeats = std::max(all.repeats, run.repeats);
  for (const Warning& warning : run.warnings)
    if (std::find(all.warnings.begin(), all.warnings.end(), warning) == all.warnings.end())
      all.warnings.push_back(warning);
  if (run.complete) return;
  all.complete = false;
  all.incomplete_reason = run.incomplete_reason;
}

}  // namespace

FleetKernel asked_kernel(const Fleet& fleet, std::size_t kernel) {
  FleetKernel asked = fleet.kernels[kernel];
  if (asked.memory.empty()) asked.memory = fleet.memory;
  if (asked.isa.empty()) asked.isa = fleet.isa;
  return asked;
}

std::vector<std::size_t> ages_of(std::span<const Fleet* const> runs) {
  std::vector<std::size_t> ages(runs.size(), 0);
  std::map<std::string, std::size_t> seen;  // of each host, runs up to its oldest one so far
  for (std::size_t i = runs.size(); i-- > 0;) {
    for (const FleetHost& host : runs[i]->hosts) {
      const auto newer = seen.find(host.name);
      if (newer != seen.end()) ages[i] = std::max(ages[i], newer->second);
    }
    for (const FleetHost& host : runs[i]->hosts) seen[host.name] = ages[i] + 1;
  }
  return ages;
}

Fleet merged(std::span<const Fleet* const> runs) {
  if (runs.size() == 1) return *runs.front();
  Fleet all;
  if (runs.empty()) return all;
  const Fleet& newest = *runs.back();
  all.at_once = false;
  all.command = newest.command;
  all.version = newest.version;
  all.started = newest.started;
  all.seconds = newest.seconds;
  all.complete = true;
  all.ranks = 0;
  all.memory = common(runs, std::string(), [](const Fleet& run) { return run.memory; });
  all.isa = common(runs, std::string(), [](const Fleet& run) { return run.isa; });
  all.elements = common(runs, std::uint64_t{0}, [](const Fleet& run) { return run.elements; });
  // All kernels first: a host has a place for each.
  for (const Fleet* run : runs)
    for (std::size_t i = 0; i < run->kernels.size(); ++i) kernel_index(all, asked_kernel(*run, i));
  for (const Fleet* run : runs) add_run(all, *run);
  return all;
}

}  // namespace numatlas
