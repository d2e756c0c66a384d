#include "machine/machine.h"

#include <algorithm>

namespace numatlas {
namespace {

/// Both vectors are ascending by id, so a lookup costs little even with thousands of CPUs.
template <class T, class I>
const T* find_by_id(const std::vector<T>& items, I id) {
  const auto it = std::lower_bound(items.begin(), items.end(), id,
                                   [](const T& item, I wanted) { return item.id < wanted; });
  return it != items.end() && it->id == id ? &*it : nullptr;
}

bool holds_data(const Cache& cache) { return cache.type != "instruction"; }

}  // namespace

Bytes NumaNode::side_cache() const {
  Bytes largest;
  for (const MemorySideCache& cache : side_caches) largest = std::max(largest, cache.size);
  return largest;
}

std::string Machine::none_or_unknown(const std::string& part, const std::string& none) const {
  const auto why = unread.find(part);
  return why == unread.end() ? none : "unknown (" + why->second + ")";
}

const NumaNode* Machine::find_node(NodeId id) const { return find_by_id(nodes, id); }

const Cpu* Machine::find_cpu(CpuId id) const { return find_by_id(cpus, id); }

CpuSet Machine::all_cpus() const {
  CpuSet all;
  for (const Cpu& cpu : cpus) all.insert(cpu.id);
  return all;
}

NodeSet Machine::usable_memory_nodes() const {
  NodeSet usable;
  for (const NumaNode& node : nodes) {
    if (node.has_memory() && allowance.memory_nodes.contains(node.id)) usable.insert(node.id);
  }
  return usable;
}

NodeSet Machine::ordinary_memory_nodes() const {
  NodeSet ordinary = usable_memory_nodes();
  for (const NumaNode& node : nodes) {
    if (node.kind == "gpu") ordinary = ordinary - NodeSet{node.id};
  }
  return ordinary;
}

NodeSet Machine::nodes_of(const CpuSet& wanted) const {
  NodeSet found;
  for (CpuId id : wanted) {
    const Cpu* cpu = find_cpu(id);
    if (cpu != nullptr && cpu->node.value >= 0) found.insert(cpu->node);
  }
  return found;
}

const Cache* Machine::cache_of(CpuId cpu, int level) const {
  for (const Cache& cache : caches) {
    if (cache.level == level && cache.cpus.contains(cpu) && holds_data(cache)) return &cache;
  }
  return nullptr;
}

const Cache* Machine::last_level_cache_of(CpuId cpu) const {
  const Cache* last = nullptr;
  for (const Cache& cache : caches) {
    if (last != nullptr && cache.level <= last->level) continue;
    if (cache.cpus.contains(cpu) && holds_data(cache)) last = &cache;
  }
  return last;
}

}  // namespace numatlas
