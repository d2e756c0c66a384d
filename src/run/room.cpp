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
#include "run/levels.h"

namespace numatlas {
namespace {

/// How many regions lie on each node of a host; a part of one, where it lies on several.
using RegionsByNode = std::map<NodeId, double>;

/// The nodes of a flow's regions on this host, each with the part that lies there; and how many
/// regions.
struct Regions {
  RegionsByNode by_node;
  double all = 0;
};

void add_region(Regions& regions, const Region& region, NodeId toucher) {
  if (on_device(region.placement)) return;
  regions.all += 1;
  const MemoryPlacement placement = region.placement.in_force();
  if (placement.nodes.empty()) {
    regions.by_node[toucher] += 1;
    return;
  }
  double sum = 0;
  for (const auto& [node, weight] : placement.nodes) sum += weight;
  for (const auto& [node, weight] : placement.nodes) regions.by_node[node] += weight / sum;
}

Regions regions_of(const PlanInput& input, const Flow& flow) {
  Regions regions;
  if (flow.shares) return regions;
  const NodeId toucher = worker_of(input, toucher_of(flow)).placement.cpu_node;
  add_region(regions, flow.region, toucher);
  if (flow.source) add_region(regions, *flow.source, toucher);
  return regions;
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
  constexpr Bytes any_default_fits{std::uint64_t{1} << 50};  // nobody says how much there is
  if (!node.memory_free) return node.memory_total.value_or(any_default_fits);
  return Bytes{node.memory_free->value + node.memory_cache.value_or(Bytes{}).value};
}

Bytes room_on(const Machine& machine) {
  Bytes room;
  for (const NumaNode& node : machine.nodes) {
    if (machine.ordinary_memory_nodes().contains(node.id)) room.value += room_on(node).value;
  }
  return std::min(room, room_of(machine.allowance).value_or(room));
}

std::vector<Bytes> sizes_with_room(const PlanInput& input, Bytes size,
                                   const std::vector<Flow>& flows, double part) {
  std::vector<Bytes> sizes(flows.size(), size);
  // Powers of two, so that a little more or less of free memory makes no other plan.
  const auto limit = [&](Bytes& most, double room, double regions) {
    const auto each = static_cast<std::uint64_t>(room * part / regions);
    most = std::min(most, Bytes{std::bit_floor(std::max(mib, each))});
  };
  for (std::size_t host = 0; host < input.machines.size(); ++host) {
    const Machine& machine = input.machines[host];
    std::map<std::size_t, Regions> here;  // of the flows on this host
    Regions together;
    for (std::size_t i = 0; i < flows.size(); ++i) {
      if (worker_of(input, toucher_of(flows[i])).host != static_cast<int>(host)) continue;
      here[i] = regions_of(input, flows[i]);
      together.all += here[i].all;
      for (const auto& [node, count] : here[i].by_node) together.by_node[node] += count;
    }
    double room = 0;
    for (const NumaNode& node : machine.nodes) {
      if (node.may_have_memory() && machine.usable_memory_nodes().contains(node.id))
        room += static_cast<double>(room_on(node).value);
    }
    const auto left = room_of(machine.allowance);
    for (const auto& [i, regions] : here) {
      if (together.all == 0) break;
      if (room > 0) limit(sizes[i], room, together.all);
      if (left) limit(sizes[i], static_cast<double>(left->value), together.all);
      for (const auto& [id, count] : regions.by_node) {
        const NumaNode* const node = machine.find_node(id);
        if (node == nullptr || !node->may_have_memory()) continue;
        limit(sizes[i], static_cast<double>(room_on(*node).value), together.by_node[id]);
      }
    }
  }
  return sizes;
}

Bytes size_with_room(const PlanInput& input, Bytes size, const std::vector<Flow>& flows,
                     double part) {
  for (const Bytes each : sizes_with_room(input, size, flows, part)) size = std::min(size, each);
  return size;
}

Bytes fit_to_room(const PlanInput& input, Bytes size, std::vector<Flow>& flows) {
  std::vector<Bytes> sizes = sizes_with_room(input, size, flows, default_room);
  for (std::size_t i = 0; i < flows.size() && input.options.serial; ++i)  // each alone
    sizes[i] = size_with_room(input, size, {flows[i]});
  Bytes largest;
  for (std::size_t i = 0; i < flows.size(); ++i) {
    Flow& flow = flows[i];
    largest = std::max(largest, std::min(sizes[i], flow.region.bytes));
    if (flow.region.bytes <= sizes[i]) continue;
    flow.region.bytes = sizes[i];
    if (flow.source) flow.source->bytes = sizes[i];
    const CpuSet& cpus = worker_of(input, flow.worker).placement.cpus;
    flow.warm_up = warm_up_bytes(machine_of(input, flow.worker), cpus, flow);
  }
  return largest;
}

Bytes size_with_room(const PlanInput& input, Bytes size, const std::vector<PlannedCase>& plan) {
  for (const PlannedCase& planned : plan)
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
