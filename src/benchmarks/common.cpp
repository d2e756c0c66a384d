#include "benchmarks/common.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include "record/labels.h"
#include "run/declare.h"
#include "run/flows.h"
#include "run/levels.h"
#include "run/room.h"

namespace numatlas {
namespace {

/// Of these figures of cases, which are all of one host or of all hosts together.
void add_shares_of(const std::vector<std::vector<Figure>*>& cases) {
  const auto sum_of = [](const std::vector<Figure>& figures) -> std::optional<Estimate> {
    const Figure* const sum = find_figure(figures, "bandwidth_sum");
    return sum != nullptr ? sum->estimate : std::nullopt;
  };
  const std::vector<Figure>* best = nullptr;
  for (const auto* figures : cases) {
    const auto sum = sum_of(*figures);
    if (sum && sum->value > 0 && (best == nullptr || sum->value > sum_of(*best)->value))
      best = figures;
  }
  if (best == nullptr) return;
  const Estimate most = *sum_of(*best);
  for (auto* figures : cases) {
    const auto sum = sum_of(*figures);
    if (!sum) continue;
    const Estimate share = figures == best ? Estimate(1) : ratio_of(*sum, most);
    figures->push_back({"best_share", "1", share, std::nullopt});
  }
}

}  // namespace

void add_best_shares(RunReport& report) {
  std::vector<std::vector<Figure>*> all;
  std::vector<std::vector<std::vector<Figure>*>> of_hosts(report.hosts.size());
  for (Case& one : report.cases) {
    if (!cache_text(one).empty()) continue;
    all.push_back(&one.figures);
    for (HostTotals& totals : one.host_totals)
      of_hosts[static_cast<std::size_t>(totals.host)].push_back(&totals.figures);
  }
  add_shares_of(all);
  for (const auto& cases : of_hosts) add_shares_of(cases);
}

std::string scaling_counts(const Machine& machine) {
  const CpuSet usable = machine.usable_cpus();
  std::set<std::size_t> counts{usable.size()};
  for (std::size_t count = 1; count < usable.size(); count *= 2) counts.insert(count);
  for (const NumaNode& node : machine.nodes) counts.insert((node.cpus & usable).size());
  std::map<std::optional<int>, std::size_t> packages;
  for (const Cpu& cpu : machine.cpus) packages[cpu.package] += usable.contains(cpu.id) ? 1 : 0;
  for (const auto& [package, count] : packages) counts.insert(count);
  counts.erase(0);
  return fmt::format("{}", fmt::join(counts, ","));
}

FirstCpus first_cpu_of_each_node(const Machine& machine, Bytes least) {
  FirstCpus all;
  all.first = machine.representative_of(machine.usable_cpus());
  CpuSet firsts;
  for (NodeId node : machine.nodes_of(machine.usable_cpus())) {
    const CpuSet usable = machine.own_cpus(node) & machine.usable_cpus();
    if (machine.cpu_kinds.empty()) firsts.insert(usable.front());
    for (const CpuKind& kind : machine.cpu_kinds) {
      if (const CpuSet its = kind.cpus & usable; !its.empty()) firsts.insert(its.front());
    }
    all.past_caches =
        std::max(all.past_caches, chase_size_past_caches(machine, usable, {node}, least));
  }
  // On a small machine, or node of the CPU that stands for all, what leaves half of it free: as
  // `latency` has it.
  Region region;
  const Cpu* const cpu = all.first ? machine.find_cpu(*all.first) : nullptr;
  if (cpu != nullptr && machine.usable_memory_nodes().contains(cpu->node))
    region.placement = bound_to(cpu->node);
  all.past_caches = sizes_with_room({{{region}}}, machine, all.past_caches, default_room).front();
  if (firsts.empty() && all.first) {  // no CPU's node is known
    firsts.insert(*all.first);
    all.past_caches = chase_size_past_caches(machine, firsts, {}, least);
  }
  std::vector<int> numbers;
  for (CpuId id : firsts) numbers.push_back(id.value);
  all.list = fmt::format("{}", fmt::join(numbers, ","));
  return all;
}

Bytes size_past_caches(const Machine& machine, const CpuSet& cpus, const NodeSet& memory,
                       Bytes least) {
  const auto workers = static_cast<double>(std::max<std::size_t>(1, cpus.size()));
  const auto all = static_cast<double>(past_all_caches(machine, cpus, memory).value);
  std::uint64_t size = std::max(
      least.value,
      static_cast<std::uint64_t>(std::ceil(all / workers / static_cast<double>(mib))) * mib);
  for (const NodeId id : memory) {
    Region region;
    region.placement = bound_to(id);
    const std::vector<Region> regions(std::max<std::size_t>(1, cpus.size()), region);
    const Bytes fits = sizes_with_room({{regions}}, machine, Bytes{size}, default_room).front();
    size = std::max(least.value, fits.value);
  }
  return Bytes{size};
}

Expected<Workers> worker_on_first_cpus(const RunOptions& options, const Machine& machine,
                                       const TaskContext& task) {
  if (task.launched || !options.placement.threads)
    return worker_on_every_cpu(options, machine, task);
  PlacementSpec spec = options.placement;
  spec.cpus.is_default = false;  // pinned one by one, whatever OpenMP was told
  return resolve_placement(spec, machine, task, 0);
}

std::vector<Refusal> refused_by_node_pairs(const std::string& command,
                                           const std::string& instead_of_memory) {
  const std::string together = command + " measures all workers of a node together";
  return {{"--serial", together, "numatlas bandwidth and latency have it"},
          {"--threads", together,
           "one number selects that many CPUs, the first ones; numatlas bandwidth compares several",
           true},
          {"--memory", command + " places the memory itself, node by node", instead_of_memory}};
}

Expected<void> check_nodes_are_known(const PlanInput& input, const std::string& command) {
  if (worker_nodes(input).empty()) {
    return fail_about(
        ErrorKind::unavailable, command, "the nodes of the workers' CPUs are not known",
        "leave OMP_PLACES and OMP_PROC_BIND unset", ", and name the CPUs with --cpus");
  }
  return {};
}

}  // namespace numatlas
