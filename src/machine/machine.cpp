#include "machine/machine.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

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

int Machine::core_or_own(CpuId id) const {
  Cpu unknown;
  unknown.id = id;
  const Cpu* const cpu = find_cpu(id);
  return (cpu != nullptr ? *cpu : unknown).core_or_own();
}

const Cpu* Machine::find_cpu(CpuId id) const { return find_by_id(cpus, id); }

CpuSet Machine::all_cpus() const {
  CpuSet all;
  for (const Cpu& cpu : cpus) all.insert(cpu.id);
  return all;
}

std::set<int> Machine::packages() const {
  std::set<int> all;
  for (const Cpu& cpu : cpus)
    if (cpu.package) all.insert(*cpu.package);
  return all;
}

std::optional<Bytes> NumaNode::room() const {
  if (!memory_free) return std::nullopt;
  const std::uint64_t most = std::numeric_limits<std::uint64_t>::max() - memory_free->value;
  return Bytes{memory_free->value + std::min(most, memory_cache.value_or(Bytes{}).value)};
}

std::uint64_t Limit::held() const {
  const std::uint64_t all = used.value_or(0);
  return all - std::min(all, cache.value_or(0));
}

std::uint64_t Limit::left() const { return most - std::min(most, held()); }

std::string Limit::text(std::uint64_t amount) const {
  if (of == Of::processes) return std::to_string(amount);
  if (of == Of::cpu_time) return std::to_string(amount) + " s";
  return to_rounded_text(Bytes{amount});
}

std::string name_of(const Limit& limit) {
  switch (limit.of) {
    case Limit::Of::memory: return "limit of the cgroup";
    case Limit::Of::huge_pages:
      return "limit of pages of " + to_text(limit.page_size.value_or(Bytes{}));
    case Limit::Of::address_space: return "limit of address space";
    case Limit::Of::data: return "limit of data";
    case Limit::Of::processes: return "limit of processes";
    case Limit::Of::cpu_time: return "limit of CPU time";
    case Limit::Of::file_size: return "limit of the size of files";
  }
  return "";
}

std::vector<Limit> Allowance::limits() const {
  std::vector<Limit> all;
  const auto number = [](const std::optional<Bytes>& bytes) {
    return bytes ? std::optional(bytes->value) : std::nullopt;
  };
  if (memory_limit)
    all.push_back({Limit::Of::memory, memory_limit->value, number(memory_used),
                   number(memory_cache), std::nullopt, memory_limit_source});
  all.insert(all.end(), other_limits.begin(), other_limits.end());
  return all;
}

NodeSet Machine::usable_memory_nodes() const {
  NodeSet usable;
  for (const NumaNode& node : nodes) {
    if (node.may_have_memory() && allowance.memory_nodes.contains(node.id)) usable.insert(node.id);
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

const CpuKind* Machine::kind_of(CpuId cpu) const {
  for (const CpuKind& kind : cpu_kinds) {
    if (kind.cpus.contains(cpu)) return &kind;
  }
  return nullptr;
}

std::optional<CpuId> Machine::representative_of(const CpuSet& wanted) const {
  CpuSet left = wanted;
  std::size_t most = 0;
  for (const CpuKind& kind : cpu_kinds) {
    const CpuSet its = wanted & kind.cpus;
    if (its.size() <= most) continue;
    most = its.size();
    left = its;
  }
  CpuSet best;
  for (NodeId node : main_nodes(nodes_of(left))) {
    const CpuSet its = left & own_cpus(node);
    if (its.size() > best.size()) best = its;
  }
  if (best.empty()) best = left;
  return best.empty() ? std::nullopt : std::optional(best.front());
}

NodeSet Machine::main_nodes(const NodeSet& wanted) const {
  constexpr std::uint64_t far_less = 8;
  const auto memory_of = [](const NumaNode& node) {
    return node.memory_total.value_or(Bytes{}).value;
  };
  std::map<NodeId, std::uint64_t> cpus_on;
  for (const Cpu& cpu : cpus) ++cpus_on[cpu.node];
  // Memory beside CPUs is compared with its like: a tier behind it may be far larger.
  std::uint64_t most_cpus = 0, most_memory = 0, most_beside_cpus = 0;
  for (const NumaNode& node : nodes) {
    if (!wanted.contains(node.id)) continue;
    most_cpus = std::max(most_cpus, cpus_on[node.id]);
    most_memory = std::max(most_memory, memory_of(node));
    if (!node.cpus.empty()) most_beside_cpus = std::max(most_beside_cpus, memory_of(node));
  }
  NodeSet main;
  for (const NumaNode& node : nodes) {
    const std::uint64_t own = cpus_on[node.id];
    const bool of_its_own = node.cpus.empty() && !node.kind.empty();  // HBM beside much DRAM
    if (!wanted.contains(node.id)) continue;
    const std::uint64_t most = node.cpus.empty() ? most_memory : most_beside_cpus;
    if (node.memory_total && memory_of(node) < most / far_less && !of_its_own) continue;
    if (own == 0 || own * far_less >= most_cpus) main.insert(node.id);
  }
  return main.empty() ? wanted : main;
}

CpuSet Machine::own_cpus(NodeId node) const {
  CpuSet own;
  for (const Cpu& cpu : cpus) {
    if (cpu.node == node) own.insert(cpu.id);
  }
  return own;
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

std::string shared_cpus_text(const Machine& machine) {
  std::map<NodeId, std::pair<NodeSet, CpuSet>> shared;  // own node -> all nodes, and the CPUs
  for (const Cpu& cpu : machine.cpus) {
    NodeSet all;
    for (const NumaNode& node : machine.nodes) {
      if (node.cpus.contains(cpu.id)) all.insert(node.id);
    }
    if (all.size() < 2) continue;
    auto& [nodes, cpus] = shared[cpu.node];
    nodes = nodes | all;
    cpus.insert(cpu.id);
  }
  std::string text;
  for (const auto& [own, both] : shared) {
    text += fmt::format("{} CPUs {} of nodes {} count as node {}'s", text.empty() ? ":" : ",",
                        to_list(both.second), to_list(both.first), own.value);
  }
  return text.empty() ? "" : "nodes share CPUs (emulated?)" + text;
}

}  // namespace numatlas
