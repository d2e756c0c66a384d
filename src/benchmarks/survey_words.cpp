#include "benchmarks/survey_words.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "run/flows.h"
#include "run/room.h"

namespace numatlas {
namespace {

using Counts = std::set<std::size_t>;

Counts counts_of_parts(const Machine& machine) {
  const CpuSet usable = machine.usable_cpus();
  Counts counts{1, usable.size()};
  for (const NumaNode& node : machine.nodes) counts.insert((node.cpus & usable).size());
  std::map<int, std::size_t> packages;
  for (const Cpu& cpu : machine.cpus) packages[cpu.package] += usable.contains(cpu.id) ? 1 : 0;
  for (const auto& [package, count] : packages) counts.insert(count);
  counts.erase(0);
  return counts;
}

}  // namespace

std::string few_counts(const Machine& machine) {
  return fmt::format("{}", fmt::join(counts_of_parts(machine), ","));
}

std::string scaling_counts(const Machine& machine) {
  Counts counts = counts_of_parts(machine);
  const std::size_t most = machine.usable_cpus().size();
  for (std::size_t count = 1; count < most; count *= 2) counts.insert(count);
  return fmt::format("{}", fmt::join(counts, ","));
}

FirstCpus first_cpu_of_each_node(const Machine& machine) {
  FirstCpus all;
  for (const NumaNode& node : machine.nodes) {
    const CpuSet usable = node.cpus & machine.usable_cpus();
    if (usable.empty()) continue;
    if (!all.first) all.first = usable.front();
    all.past_caches = std::max(all.past_caches, chase_size_past_caches(machine, usable));
    // On a small machine what leaves half of it free.
    const auto most =
        static_cast<std::uint64_t>(default_room * static_cast<double>(room_on(machine).value));
    if (most > 0) all.past_caches = std::min(all.past_caches, Bytes{std::bit_floor(most)});
    all.list += fmt::format("{}{}", all.list.empty() ? "" : ",", usable.front().value);
  }
  return all;
}

}  // namespace numatlas
