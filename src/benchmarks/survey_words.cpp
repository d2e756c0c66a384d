#include "benchmarks/survey_words.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "run/levels.h"
#include "run/room.h"

namespace numatlas {
std::string scaling_counts(const Machine& machine) {
  const CpuSet usable = machine.usable_cpus();
  std::set<std::size_t> counts{usable.size()};
  for (std::size_t count = 1; count < usable.size(); count *= 2) counts.insert(count);
  for (const NumaNode& node : machine.nodes) counts.insert((node.cpus & usable).size());
  std::map<int, std::size_t> packages;
  for (const Cpu& cpu : machine.cpus) packages[cpu.package] += usable.contains(cpu.id) ? 1 : 0;
  for (const auto& [package, count] : packages) counts.insert(count);
  counts.erase(0);
  return fmt::format("{}", fmt::join(counts, ","));
}

FirstCpus first_cpu_of_each_node(const Machine& machine, Bytes least) {
  FirstCpus all;
  all.first = machine.representative_of(machine.usable_cpus());
  CpuSet firsts;
  for (NodeId node : machine.nodes_of(machine.usable_cpus())) {
    const CpuSet usable = machine.own_cpus(node) & machine.usable_cpus();
    if (machine.cpu_kinds.empty()) firsts.insert(usable.front());
    for (const CpuKind& kind : machine.cpu_kinds) {
      if (const CpuSet its = kind.cpus & usable; !its.empty()) firsts.insert(its.front());
    }
    all.past_caches =
        std::max(all.past_caches, chase_size_past_caches(machine, usable, {node}, least));
  }
  // On a small machine, or node of the CPU that stands for all, what leaves half of it free: as
  // `latency` has it.
  Bytes room = room_on(machine);
  const Cpu* const cpu = all.first ? machine.find_cpu(*all.first) : nullptr;
  const NumaNode* const own = cpu != nullptr ? machine.find_node(cpu->node) : nullptr;
  if (own != nullptr && own->may_have_memory()) room = std::min(room, room_on(*own));
  const auto most = static_cast<std::uint64_t>(default_room * static_cast<double>(room.value));
  if (most > 0) all.past_caches = std::min(all.past_caches, Bytes{std::bit_floor(most)});
  if (firsts.empty() && all.first) {  // no CPU's node is known
    firsts.insert(*all.first);
    all.past_caches = chase_size_past_caches(machine, firsts, {}, least);
  }
  std::vector<int> numbers;
  for (CpuId id : firsts) numbers.push_back(id.value);
  all.list = fmt::format("{}", fmt::join(numbers, ","));
  return all;
}

Bytes size_past_caches(const Machine& machine, const CpuSet& cpus, const NodeSet& memory,
                       Bytes least) {
  const auto workers = static_cast<double>(std::max<std::size_t>(1, cpus.size()));
  const auto all = static_cast<double>(past_all_caches(machine, cpus, memory).value);
  std::uint64_t size = std::max(
      least.value,
      static_cast<std::uint64_t>(std::ceil(all / workers / static_cast<double>(mib))) * mib);
  for (const NodeId id : memory) {
    const NumaNode* const node = machine.find_node(id);
    if (node == nullptr || !node->may_have_memory()) continue;
    const double most = default_room * static_cast<double>(room_on(*node).value) / workers;
    const std::uint64_t fits = std::bit_floor(static_cast<std::uint64_t>(most));
    size = std::max(least.value, std::min(size, fits));
  }
  return Bytes{size};
}

}  // namespace numatlas
