#include "run/levels.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>

#include "engine/sharing.h"
#include "machine/identity.h"
#include "memory/source.h"
#include "record/cache_level.h"

namespace numatlas {

Bytes line_bytes(const Machine& machine, const CpuSet& cpus) {
  const Cache* cache = cpus.empty() ? nullptr : machine.cache_of(cpus.front(), 1);
  return cache != nullptr && cache->line_size ? *cache->line_size : Bytes{64};
}

Bytes last_level_cache_bytes(const Machine& machine, const CpuSet& cpus) {
  const Cache* cache = cpus.empty() ? nullptr : machine.last_level_cache_of(cpus.front());
  return cache != nullptr && cache->size.value > 0 ? cache->size : Bytes{64 * mib};
}

Bytes last_level_caches(const Machine& machine, const CpuSet& cpus) {
  std::set<const Cache*> seen;
  Bytes caches;
  for (const CpuId cpu : cpus) {
    if (seen.insert(machine.last_level_cache_of(cpu)).second)
      caches.value += last_level_cache_bytes(machine, {cpu}).value;
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
  return std::max(
      {Bytes{4 * last_level_caches(machine, cpus).value}, Bytes{2 * beside_memory}, unlisted});
}

Bytes unlisted_caches(const Machine& machine, const CpuSet& cpus) {
  const Cache* const last = cpus.empty() ? nullptr : machine.last_level_cache_of(cpus.front());
  const bool listed = last != nullptr && last->size.value > 0;
  const bool complete = machine.arch.empty() || machine.arch == "x86_64";  // CPUID tells all
  return listed && complete && !is_virtual(machine) ? Bytes{} : Bytes{gib};
}

namespace {

/// The nodes that a region lies on, with the part of its bytes that each has.
std::map<NodeId, double> bytes_by_node(const Region& region, NodeId toucher) {
  if (on_device(region.placement)) return {};
  const auto bytes = static_cast<double>(region.bytes.value);
  const MemoryPlacement placement = region.placement.in_force();
  if (placement.nodes.empty()) return {{toucher, bytes}};
  double sum = 0;
  for (const auto& [node, weight] : placement.nodes) sum += weight;
  std::map<NodeId, double> parts;
  for (const auto& [node, weight] : placement.nodes) parts[node] = bytes * weight / sum;
  return parts;
}

/// Whether the caches in front of the nodes of a flow's memory hold what all flows have there.
bool fits_side_caches(const Machine& machine, const Layout& layout, const Scenario& scenario,
                      const Flow& flow) {
  const bool any = std::ranges::any_of(
      machine.nodes, [](const NumaNode& node) { return !node.side_caches.empty(); });
  if (!any) return false;
  const auto worker_of = [&](int worker) -> const Worker& {
    return layout.workers[static_cast<std::size_t>(worker)];
  };
  const auto parts_of = [&](const Flow& one) {
    const NodeId toucher = worker_of(toucher_of(one)).placement.cpu_node;
    std::map<NodeId, double> parts = bytes_by_node(one.region, toucher);
    if (!one.source) return parts;
    for (const auto& [node, bytes] : bytes_by_node(*one.source, toucher)) parts[node] += bytes;
    return parts;
  };
  std::map<NodeId, double> all;
  for (const Flow& other : scenario.flows) {
    if (worker_of(other.worker).host != worker_of(flow.worker).host || other.shares) continue;
    for (const auto& [node, bytes] : parts_of(other)) all[node] += bytes;
  }
  const std::map<NodeId, double> mine = parts_of(memory_owner(scenario, flow));
  return !mine.empty() && std::ranges::all_of(mine, [&](const auto& part) {
    const NumaNode* const node = machine.find_node(part.first);
    return node != nullptr && all[part.first] <= static_cast<double>(node->side_cache().value);
  });
}

}  // namespace

std::string level_of_flow(const Machine& machine, const Layout& layout, const Scenario& scenario,
                          const Flow& flow) {
  const auto worker_of = [&](const Flow& f) -> const Worker& {
    return layout.workers[static_cast<std::size_t>(f.worker)];
  };
  const Worker& mine = worker_of(flow);
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
      const Worker& worker = worker_of(other);
      if (worker.host != mine.host || worker.placement.cpus.empty()) continue;
      if (cache->cpus.contains(worker.placement.cpus.front()))
        together += touched_bytes(other).value;
    }
    if (Bytes{together} <= cache->size) return "L" + std::to_string(level);
  }
  return fits_side_caches(machine, layout, scenario, flow) ? side_cache_level : "memory";
}

Bytes touched_bytes(const Flow& flow) {
  constexpr std::uint64_t line = 64;
  const std::uint64_t stride = std::max(line, stride_of(flow.kernel).value);
  if (flow.shares) return Bytes{0};
  const std::uint64_t source = flow.source ? flow.source->bytes.value : 0;
  return Bytes{flow.region.bytes.value / stride * line + source};
}

Bytes warm_up_bytes(const Machine& machine, const CpuSet& cpus, const Flow& flow) {
  const std::uint64_t cache = last_level_cache_bytes(machine, cpus).value;
  const std::uint64_t touched = touched_bytes(flow).value;
  if (flow.shares) return Bytes{0};
  if (touched <= cache) return Bytes{2 * flow.region.bytes.value};
  // The part of the region whose lines fill the cache twice.
  const double part =
      std::min(1.0, 2.0 * static_cast<double>(cache) / static_cast<double>(touched));
  return Bytes{static_cast<std::uint64_t>(part * static_cast<double>(flow.region.bytes.value))};
}

bool is_walked_whole(const Flow& flow) { return touched_bytes(flow).value <= 4 * mib; }

}  // namespace numatlas
