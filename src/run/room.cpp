#include "run/room.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <utility>
#include <vector>

#include "engine/sharing.h"
#include "memory/buffer.h"
#include "run/flows.h"
#include "run/levels.h"

namespace numatlas {
namespace {

/// The region where its pages are to lie, each node's part there: where nobody says, on the node of
/// who touches it first. What cannot lie there lies anywhere.
Region at_nodes(const Machine& machine, Region region, NodeId toucher) {
  MemoryPlacement& placement = region.placement;
  placement = placement.in_force();
  if (placement.nodes.empty()) placement.nodes = {{toucher, 1}};
  const bool usable = (placement.node_set() - machine.usable_memory_nodes()).empty();
  placement.mode = usable ? MemoryMode::weighted : MemoryMode::local;
  return region;
}

}  // namespace

std::vector<ProcessDemand> with_threads(std::map<int, ProcessDemand> ranks, const Layout& layout) {
  for (const Worker& worker : layout.workers) {
    const auto rank = ranks.find(worker.rank);  // the first of its threads is there
    if (rank != ranks.end() && worker.placement.thread > 0) ++rank->second.new_threads;
  }
  std::vector<ProcessDemand> processes;
  for (auto& [rank, demand] : ranks) processes.push_back(std::move(demand));
  return processes;
}

std::vector<Bytes> sizes_with_room(const PlanInput& input, Bytes size,
                                   const std::vector<Flow>& flows, double part) {
  std::vector<Bytes> sizes(flows.size(), size);
  for (std::size_t host = 0; host < input.machines.size(); ++host) {
    std::map<int, ProcessDemand> ranks;
    std::map<int, std::vector<std::size_t>> flows_of_ranks;  // of each region
    for (std::size_t i = 0; i < flows.size(); ++i) {
      const Flow& flow = flows[i];
      const Worker& toucher = worker_of(input, toucher_of(flow));
      if (toucher.host != static_cast<int>(host) || flow.shares) continue;
      for (const Region* region : {&flow.region, flow.source ? &*flow.source : nullptr}) {
        if (region == nullptr) continue;
        ranks[toucher.rank].regions.push_back(
            at_nodes(input.machines[host], *region, toucher.placement.cpu_node));
        flows_of_ranks[toucher.rank].push_back(i);
      }
    }
    std::vector<std::size_t> its_flows;
    for (const auto& [rank, its] : flows_of_ranks)
      its_flows.insert(its_flows.end(), its.begin(), its.end());
    const auto rooms = sizes_with_room(with_threads(std::move(ranks), input.layout),
                                       input.machines[host], size, part);
    for (std::size_t i = 0; i < rooms.size(); ++i)
      sizes[its_flows[i]] = std::min(sizes[its_flows[i]], rooms[i]);
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

std::vector<Flow> flows_on_node(const std::vector<int>& workers, NodeId node, PageKind pages) {
  std::vector<Flow> flows;
  for (int worker : workers) {
    Flow& flow = flows.emplace_back();
    flow.worker = worker;
    flow.region.placement = bound_to(node);
    flow.region.pages = pages;
  }
  return flows;
}

}  // namespace numatlas
