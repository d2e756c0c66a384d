#include "benchmarks/transfer/callers.h"

#include <cstddef>
#include <limits>

#include "benchmarks/flows.h"

namespace numatlas {
namespace {

/// By the machine's table; the same node is nearest, an unknown one farthest.
int distance(const Machine& machine, NodeId from, NodeId to) {
  if (from == to) return 0;
  const NumaNode* node = machine.find_node(from);
  if (node == nullptr) return std::numeric_limits<int>::max();
  const auto found = node->distance.find(to.value);
  return found == node->distance.end() ? std::numeric_limits<int>::max() : found->second;
}

}  // namespace

std::optional<int> caller_for(const PlanInput& input, int host, const Gpu& gpu,
                              const MemoryPlacement& memory, Caller where,
                              const std::set<int>& taken) {
  const Machine& machine = input.machines[static_cast<std::size_t>(host)];
  const NodeSet nodes = memory.in_force().node_set();
  std::optional<NodeId> wanted = nodes.empty() ? std::nullopt : std::optional(nodes.front());
  if (where != Caller::memory && gpu.node) wanted = gpu.node;
  std::optional<int> best;
  int best_distance = 0;
  for (std::size_t i = 0; i < input.layout.workers.size(); ++i) {
    const Worker& worker = input.layout.workers[i];
    const auto index = static_cast<int>(i);
    if (worker.host != host || taken.contains(index)) continue;
    const int here = wanted ? distance(machine, worker.placement.cpu_node, *wanted) : 0;
    const bool better = where == Caller::far ? here > best_distance : here < best_distance;
    if (best && !better) continue;
    best = index;
    best_distance = here;
  }
  return best;
}

}  // namespace numatlas
