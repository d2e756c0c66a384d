#include "benchmarks/cores/pairs.h"

#include <algorithm>
#include <cstddef>
#include <tuple>

#include <fmt/format.h>

namespace numatlas {

std::string nearness_of(const Machine& machine, CpuId first, CpuId second) {
  const Cpu* const a = machine.find_cpu(first);
  const Cpu* const b = machine.find_cpu(second);
  if (a == nullptr || b == nullptr) return "unknown";
  if (a->core >= 0 && a->core == b->core) return "same core";
  const Cache* const cache = machine.last_level_cache_of(first);
  if (cache != nullptr && cache->cpus.contains(second))
    return fmt::format("same L{}", cache->level);
  if (a->node.value < 0 || b->node.value < 0) return "unknown";
  return a->node == b->node ? "same node" : "other node";
}

std::vector<CpuId> spread_cores(const Machine& machine, std::vector<CpuId> cores,
                                std::size_t most) {
  const auto place = [&](CpuId id) {
    const Cpu* const cpu = machine.find_cpu(id);
    const Cache* const cache = machine.last_level_cache_of(id);
    return std::tuple(cpu == nullptr ? NodeId{} : cpu->node,
                      cache == nullptr || cache->cpus.empty() ? id : cache->cpus.front(), id);
  };
  std::sort(cores.begin(), cores.end(), [&](CpuId a, CpuId b) { return place(a) < place(b); });
  if (cores.size() <= most) return cores;
  const std::size_t couples = most / 2;
  std::vector<CpuId> chosen;
  for (std::size_t couple = 0; couple < couples; ++couple) {
    // Even positions: caches and nodes have even numbers of cores, mostly.
    const std::size_t at = couple * cores.size() / couples / 2 * 2;
    chosen.insert(chosen.end(), {cores[at], cores[at + 1]});
  }
  return chosen;
}

}  // namespace numatlas
