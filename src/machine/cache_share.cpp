#include "machine/cache_share.h"

namespace numatlas {

Bytes cache_share(const Machine& machine, const Cache& cache, NodeId memory) {
  const NodeSet sharing = machine.nodes_of(cache.cpus);
  if (sharing.size() < 2) return cache.size;
  const NumaNode* const node = machine.find_node(memory);
  const bool elsewhere = node != nullptr && !node->cpus.empty() && !sharing.contains(memory);
  return elsewhere ? cache.size : Bytes{cache.size.value / sharing.size()};
}

Bytes own_cache_share(const Machine& machine, const Cache& cache, CpuId id) {
  const Cpu* const cpu = machine.find_cpu(id);
  return cache_share(machine, cache, cpu == nullptr ? NodeId{} : cpu->node);
}

}  // namespace numatlas
