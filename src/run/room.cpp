#include "run/room.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "engine/sharing.h"
#include "memory/source.h"
#include "run/flows.h"

namespace numatlas {
namespace {

/// How many regions lie on each node of a host; a part of one, where it lies on several.
using RegionsByNode = std::map<NodeId, double>;

void add_region(RegionsByNode& regions, const Region& region, NodeId toucher) {
  if (on_device(region.placement)) return;
  const MemoryPlacement placement = region.placement.in_force();
  if (placement.nodes.empty()) {
    regions[toucher] += 1;
    return;
  }
  double sum = 0;
  for (const auto& [node, weight] : placement.nodes) sum += weight;
  for (const auto& [node, weight] : placement.nodes) regions[node] += weight / sum;
}

/// Under the control group's limit; nothing where there is none.
std::optional<Bytes> room_of(const Allowance& allowance) {
  if (!allowance.memory_limit) return std::nullopt;
  const std::uint64_t used = allowance.memory_used.value_or(Bytes{}).value;
  const std::uint64_t held = used - std::min(used, allowance.memory_cache.value_or(Bytes{}).value);
  return Bytes{allowance.memory_limit->value - std::min(held, allowance.memory_limit->value)};
}

}  // namespace

Bytes room_on(const NumaNode& node) {
  if (!node.memory_free) return *node.memory_total;
  return Bytes{node.memory_free->value + node.memory_cache.value_or(Bytes{}).value};
}

Bytes room_on(const Machine& machine) {
  Bytes room;
  for (const NumaNode& node : machine.nodes) {
    if (machine.ordinary_memory_nodes().contains(node.id)) room.value += room_on(node).value;
  }
  return std::min(room, room_of(machine.allowance).value_or(room));
}

Bytes size_with_room(const PlanInput& input, Bytes size, const std::vector<Flow>& flows,
                     double part) {
  // Powers of two, so that a little more or less of free memory makes no other plan.
  std::uint64_t most = size.value;
  const auto limit = [&](double room, double regions) {
    const auto each = static_cast<std::uint64_t>(room * part / regions);
    most = std::min(most, std::bit_floor(std::max(mib, each)));
  };
  for (std::size_t host = 0; host < input.machines.size(); ++host) {
    const Machine& machine = input.machines[host];
    RegionsByNode regions;
    double all = 0;
    for (const Flow& flow : flows) {
      const Worker& toucher = worker_of(input, toucher_of(flow));
      if (toucher.host != static_cast<int>(host)) continue;
      add_region(regions, flow.region, toucher.placement.cpu_node);
      if (flow.source) add_region(regions, *flow.source, toucher.placement.cpu_node);
      if (!on_device(flow.region.placement)) all += 1;
      if (flow.source && !on_device(flow.source->placement)) all += 1;
    }
    if (all == 0) continue;
    double room = 0;
    for (const NumaNode& node : machine.nodes) {
      if (!node.has_memory()) continue;
      const auto here = static_cast<double>(room_on(node).value);
      if (machine.usable_memory_nodes().contains(node.id)) room += here;
      if (regions.contains(node.id)) limit(here, regions[node.id]);
    }
    if (room > 0) limit(room, all);
    if (const auto left = room_of(machine.allowance)) limit(static_cast<double>(left->value), all);
  }
  return Bytes{most};
}

Bytes size_with_room(const PlanInput& input, Bytes size, const std::vector<PlannedScenario>& plan) {
  for (const PlannedScenario& planned : plan)
    size = size_with_room(input, size, planned.scenario.flows);
  return size;
}

std::vector<Flow> flows_on_node(const std::vector<int>& workers, NodeId node) {
  std::vector<Flow> flows;
  for (int worker : workers) {
    Flow& flow = flows.emplace_back();
    flow.worker = worker;
    flow.region.placement = bound_to(node);
  }
  return flows;
}

}  // namespace numatlas
