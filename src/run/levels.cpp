#include "run/levels.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>

#include "engine/sharing.h"
#include "machine/cache_share.h"
#include "machine/identity.h"
#include "memory/source.h"
#include "record/labels.h"
#include "run/device_flows.h"

namespace numatlas {

Bytes line_bytes(const Machine& machine, const CpuSet& cpus) {
  const Cache* cache = cpus.empty() ? nullptr : machine.cache_of(cpus.front(), 1);
  return cache != nullptr && cache->line_size ? *cache->line_size : Bytes{64};
}

Bytes last_level_cache_bytes(const Machine& machine, const CpuSet& cpus) {
  const Cache* cache = cpus.empty() ? nullptr : machine.last_level_cache_of(cpus.front());
  return cache != nullptr && cache->size.value > 0 ? cache->size : Bytes{64 * mib};
}

Bytes last_level_caches(const Machine& machine, const CpuSet& cpus, const NodeSet& memory) {
  std::set<const Cache*> seen;
  Bytes caches;
  for (const CpuId cpu : cpus) {
    const Cache* const cache = machine.last_level_cache_of(cpu);
    if (!seen.insert(cache).second) continue;
    const Bytes all = last_level_cache_bytes(machine, {cpu});
    std::uint64_t held = 0;
    if (cache != nullptr) {
      for (const NodeId node : memory.empty() ? machine.nodes_of(cpus & cache->cpus) : memory)
        held += cache_share(machine, *cache, node).value;
    }
    caches.value += held > 0 ? std::min(all.value, held) : all.value;
  }
  return caches;
}

Bytes past_all_caches(const Machine& machine, const CpuSet& cpus, const NodeSet& memory) {
  std::uint64_t beside_memory = 0;
  for (const NodeId id : memory) {
    const NumaNode* const node = machine.find_node(id);
    if (node != nullptr) beside_memory += node->side_cache().value;
  }
  Bytes unlisted = cpus.empty() ? unlisted_caches(machine, cpus) : Bytes{};
  for (const CpuId cpu : cpus) unlisted = std::max(unlisted, unlisted_caches(machine, {cpu}));
  return std::max({Bytes{4 * last_level_caches(machine, cpus, memory).value},
                   Bytes{2 * beside_memory}, unlisted});
}

Bytes unlisted_caches(const Machine& machine, const CpuSet& cpus) {
  const Cache* const last = cpus.empty() ? nullptr : machine.last_level_cache_of(cpus.front());
  const bool listed = last != nullptr && last->size.value > 0;
  const bool complete = machine.arch.empty() || machine.arch == "x86_64";  // CPUID tells all
  return listed && complete && !is_virtual(machine) ? Bytes{} : Bytes{gib};
}

namespace {

using BytesByNode = std::map<NodeId, double>;

/// The nodes that a region lies on, with the part of its bytes that each has.
BytesByNode bytes_by_node(const Region& region, NodeId toucher) {
  if (on_device(region.placement)) return {};
  const auto bytes = static_cast<double>(region.bytes.value);
  const MemoryPlacement placement = region.placement.in_force();
  if (placement.nodes.empty()) return {{toucher, bytes}};
  double sum = 0;
  for (const auto& [node, weight] : placement.nodes) sum += weight;
  BytesByNode parts;
  for (const auto& [node, weight] : placement.nodes) parts[node] = bytes * weight / sum;
  return parts;
}

const Worker& worker_of(const Layout& layout, int worker) {
  return layout.workers[static_cast<std::size_t>(worker)];
}

/// What a flow touches, by the nodes that it lies on.
BytesByNode touched_by_node(const Layout& layout, const Flow& flow) {
  const NodeId toucher = worker_of(layout, toucher_of(flow)).placement.cpu_node;
  BytesByNode parts = bytes_by_node(flow.region, toucher);
  std::uint64_t all = flow.region.bytes.value;
  if (flow.source) {
    all += flow.source->bytes.value;
    for (const auto& [node, bytes] : bytes_by_node(*flow.source, toucher)) parts[node] += bytes;
  }
  const double touched = static_cast<double>(touched_bytes(flow).value) / static_cast<double>(all);
  for (auto& [node, bytes] : parts) bytes *= touched;
  return parts;
}

/// What the flows touch that `counts` names, by node.
template <class Counts>
BytesByNode touched_together(const Layout& layout, const Scenario& scenario, const Counts& counts) {
  BytesByNode all;
  for (const Flow& flow : scenario.flows) {
    if (flow.shares || !counts(worker_of(layout, flow.worker))) continue;
    for (const auto& [node, bytes] : touched_by_node(layout, flow)) all[node] += bytes;
  }
  return all;
}

/// Whether the caches in front of the nodes of a flow's memory hold what all flows have there.
bool fits_side_caches(const Machine& machine, const Layout& layout, const Scenario& scenario,
                      const Flow& flow) {
  const bool any = std::ranges::any_of(
      machine.nodes, [](const NumaNode& node) { return !node.side_caches.empty(); });
  if (!any) return false;
  const int host = worker_of(layout, flow.worker).host;
  BytesByNode all =
      touched_together(layout, scenario, [&](const Worker& other) { return other.host == host; });
  const BytesByNode mine = touched_by_node(layout, memory_owner(scenario, flow));
  return !mine.empty() && std::ranges::all_of(mine, [&](const auto& part) {
    const NumaNode* const node = machine.find_node(part.first);
    return node != nullptr && all[part.first] <= static_cast<double>(node->side_cache().value);
  });
}

/// Whether a cache that several nodes share holds what the flows under it have on each node of this
/// one's memory.
bool fits_shares(const Machine& machine, const Layout& layout, const Scenario& scenario,
                 const Flow& flow, const Cache& cache) {
  const int host = worker_of(layout, flow.worker).host;
  BytesByNode all = touched_together(layout, scenario, [&](const Worker& other) {
    const CpuSet& cpus = other.placement.cpus;
    return other.host == host && !cpus.empty() && cache.cpus.contains(cpus.front());
  });
  return std::ranges::all_of(
      touched_by_node(layout, memory_owner(scenario, flow)), [&](const auto& part) {
        const auto share = static_cast<double>(cache_share(machine, cache, part.first).value);
        return all[part.first] <= share;
      });
}

}  // namespace

std::string level_of_flow(const Machine& machine, const Layout& layout, const Scenario& scenario,
                          const Flow& flow) {
  const Worker& mine = worker_of(layout, flow.worker);
  const Flow& owner = memory_owner(scenario, flow);
  const CpuSet& cpus = mine.placement.cpus;
  if (cpus.empty() || machine.last_level_cache_of(cpus.front()) == nullptr) return "-";
  // No machine has more than four levels of data cache.
  for (int level = 1; level <= 4; ++level) {
    const Cache* cache = machine.cache_of(cpus.front(), level);
    if (cache == nullptr) continue;
    std::uint64_t together = touched_bytes(owner).value;
    for (const Flow& other : scenario.flows) {
      if (Bytes{together} > cache->size) break;
      if (&other == &owner) continue;
      const Worker& worker = worker_of(layout, other.worker);
      if (worker.host != mine.host || worker.placement.cpus.empty()) continue;
      if (cache->cpus.contains(worker.placement.cpus.front()))
        together += touched_bytes(other).value;
    }
    if (Bytes{together} > cache->size) continue;
    const bool is_shared = machine.nodes_of(cache->cpus).size() > 1;
    if (!is_shared || fits_shares(machine, layout, scenario, flow, *cache))
      return "L" + std::to_string(level);
  }
  return fits_side_caches(machine, layout, scenario, flow) ? side_cache_level : "memory";
}

std::set<std::string> caches_of(const std::vector<Machine>& machines, const Layout& layout,
                                const Scenario& scenario) {
  std::set<std::string> caches;
  for (const Flow& flow : scenario.flows) {
    if (on_gpu(flow.kernel)) continue;
    const Worker& worker = layout.workers[static_cast<std::size_t>(flow.worker)];
    const Machine& machine = machines[static_cast<std::size_t>(worker.host)];
    const std::string level = level_of_flow(machine, layout, scenario, flow);
    if (level != "memory" && level != "-") caches.insert(level);
  }
  return caches;
}

Bytes touched_bytes(const Flow& flow) {
  constexpr std::uint64_t line = 64;
  const std::uint64_t stride = std::max(line, stride_of(flow.kernel).value);
  if (flow.shares) return Bytes{0};
  const std::uint64_t source = flow.source ? flow.source->bytes.value : 0;
  return Bytes{flow.region.bytes.value / stride * line + source};
}

Bytes warm_up_bytes(const Machine& machine, const CpuSet& cpus, const Flow& flow) {
  if (traits_of(flow.kernel).on_gpu) return device_warm_up(flow);
  const StepKind step = traits_of(flow.kernel).step;
  if (step != StepKind::chase && step != StepKind::lines) return Bytes{0};
  // Each small access at random brings a whole line; workers share what they update atomically.
  const auto* const random = flow.kernel.find<RandomParameters>();
  if (flow.shares && random == nullptr) return Bytes{0};
  const std::uint64_t workers = random == nullptr ? 1 : std::max<std::uint64_t>(1, random->workers);
  const double of_line = random == nullptr ? 1 : used_share(*random);
  const std::uint64_t cache = last_level_cache_bytes(machine, cpus).value;
  Flow own = flow;
  own.shares.reset();
  own.region.bytes.value /= workers;
  const std::uint64_t touched = touched_bytes(own).value;
  // Beyond the cache the part of the region whose lines fill it twice.
  const double passes =
      touched <= cache
          ? 2
          : std::min(1.0, 2.0 * static_cast<double>(cache) / static_cast<double>(touched));
  return Bytes{
      static_cast<std::uint64_t>(passes * of_line * static_cast<double>(own.region.bytes.value))};
}

bool is_walked_whole(const Flow& flow) { return touched_bytes(flow).value <= 4 * mib; }

}  // namespace numatlas
