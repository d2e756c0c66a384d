#include "benchmarks/transfer/callers.h"

#include <cstddef>

#include "run/flows.h"

namespace numatlas {

std::optional<int> caller_for(const PlanInput& input, int host, const Gpu& gpu,
                              const MemoryPlacement& memory, Caller where,
                              const std::set<int>& taken) {
  const Machine& machine = input.machines[static_cast<std::size_t>(host)];
  const NodeSet nodes = memory.in_force().node_set();
  std::optional<NodeId> wanted = nodes.empty() ? std::nullopt : std::optional(nodes.front());
  if (where != Caller::memory && gpu.node) wanted = gpu.node;
  std::optional<int> best;
  int best_distance = 0;
  for (int index : all_workers(input.layout)) {
    const Worker& worker = worker_of(input, index);
    if (worker.host != host || taken.contains(index)) continue;
    const int here = wanted ? distance_between(machine, worker.placement.cpu_node, *wanted) : 0;
    const bool better = where == Caller::far ? here > best_distance : here < best_distance;
    if (best && !better) continue;
    best = index;
    best_distance = here;
  }
  return best;
}

}  // namespace numatlas
