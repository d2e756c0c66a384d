#include "machine/cpu_kinds.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "machine/identity.h"

namespace numatlas {
namespace {

constexpr const char* cpu_folder = "/sys/devices/system/cpu/cpu";

/// PMUs of Intel's hybrid processors, from fast to slow, and the names of their cores.
constexpr std::array<std::pair<const char*, const char*>, 3> hybrid_pmus{{
    {"cpu_core", "performance"},
    {"cpu_atom", "efficiency"},
    {"cpu_lowpower", "low-power"},
}};

/// What tells a CPU's design: CPUs that agree in all of it are of one kind, but for capacities far
/// apart.
struct Design {
  std::size_t pmu = hybrid_pmus.size();          ///< index of its PMU; the size for none
  std::pair<unsigned long, unsigned long> part;  ///< Arm's implementer and part number; 0 unknown
  std::vector<int> levels;                       ///< of its caches for data
  friend auto operator<=>(const Design&, const Design&) = default;
};

struct Candidate {
  Design design;
  CpuKind kind;
  std::int64_t frequency = 0;   ///< Hz / 1000, 0 unknown
  std::uint64_t own_cache = 0;  ///< bytes of the caches up to level 2 that its CPUs see
};

using Parts = std::map<CpuId, std::pair<unsigned long, unsigned long>>;

/// Main ID Registers: each CPU's own file, else the blocks of /proc/cpuinfo.
Parts read_parts(const Tree& tree, const Machine& machine) {
  Parts parts;
  for (const Cpu& cpu : machine.cpus) {
    const auto midr =
        tree.number(fmt::format("{}{}/regs/identification/midr_el1", cpu_folder, cpu.id.value));
    if (!midr) break;
    const auto value = static_cast<unsigned long>(*midr);
    parts[cpu.id] = {value >> 24 & 0xff, value >> 4 & 0xfff};
  }
  if (parts.size() == machine.cpus.size()) return parts;
  // The whole file takes long on a thousand CPUs: only where the first blocks have parts.
  constexpr std::size_t first_blocks = 8192;
  if (!value_of(tree.text("/proc/cpuinfo", first_blocks).value_or(""), "CPU part")) return parts;
  constexpr std::size_t most = 16U << 20;  // 4096 CPUs of 1 to 4 KiB each
  const std::string cpuinfo = tree.text("/proc/cpuinfo", most).value_or("");
  std::optional<CpuId> at;
  for (const std::string& line : split_lines(cpuinfo)) {
    const auto number = [&](const char* key) -> std::optional<unsigned long> {
      const auto value = value_of(line, key);
      return value ? std::optional(std::strtoul(value->c_str(), nullptr, 0)) : std::nullopt;
    };
    if (const auto id = number("processor")) at = CpuId{static_cast<int>(*id)};
    if (!at) continue;
    if (const auto implementer = number("CPU implementer")) parts[*at].first = *implementer;
    if (const auto part = number("CPU part")) parts[*at].second = *part;
  }
  return parts;
}

std::map<CpuId, Design> designs_of(const Tree& tree, const Machine& machine) {
  std::map<CpuId, Design> designs;
  const Parts parts = read_parts(tree, machine);
  for (const Cpu& cpu : machine.cpus) {
    Design& design = designs[cpu.id];
    if (const auto part = parts.find(cpu.id); part != parts.end()) design.part = part->second;
  }
  for (std::size_t i = hybrid_pmus.size(); i-- > 0;) {
    const auto list = tree.list<CpuId>(fmt::format("/sys/devices/{}/cpus", hybrid_pmus[i].first));
    for (CpuId id : list.value_or(CpuSet{})) {
      if (const auto found = designs.find(id); found != designs.end()) found->second.pmu = i;
    }
  }
  for (const Cache& cache : machine.caches) {  // by level
    if (cache.type == "instruction") continue;
    for (CpuId id : cache.cpus) {
      const auto found = designs.find(id);
      if (found == designs.end()) continue;
      std::vector<int>& levels = found->second.levels;
      if (levels.empty() || levels.back() != cache.level) levels.push_back(cache.level);
    }
  }
  return designs;
}

std::uint64_t own_cache_of(const Machine& machine, CpuId cpu) {
  std::uint64_t bytes = 0;
  for (int level = 1; level <= 2; ++level) {
    const Cache* const cache = machine.cache_of(cpu, level);
    if (cache != nullptr) bytes += cache->size.value / std::max<std::size_t>(1, cache->cpus.size());
  }
  return bytes;
}

/// CPUs of one design, apart where the kernel gives them capacities more than an eighth apart:
/// cores of one design that clock a little higher than others are no other kind.
std::vector<Candidate> candidates_of(const Tree& tree, const Machine& machine, const Design& design,
                                     const CpuSet& cpus) {
  std::vector<std::pair<int, CpuId>> by_capacity;
  for (CpuId id : cpus) {
    const auto capacity = tree.number(fmt::format("{}{}/cpu_capacity", cpu_folder, id.value));
    by_capacity.emplace_back(-static_cast<int>(capacity.value_or(0)), id);
  }
  std::sort(by_capacity.begin(), by_capacity.end());
  std::vector<Candidate> found;
  int last = 0;
  for (const auto& [negative, id] : by_capacity) {
    const int capacity = -negative;
    if (found.empty() || capacity < last - last / 8) {
      Candidate& next = found.emplace_back();
      next.design = design;
      if (capacity > 0) next.kind.capacity = capacity;
      if (design.part != decltype(design.part){})
        next.kind.model = arm_core_name(design.part.first, design.part.second);
      next.frequency =
          tree.number(fmt::format("{}{}/cpufreq/cpuinfo_max_freq", cpu_folder, id.value))
              .value_or(0);
      next.own_cache = own_cache_of(machine, id);
    }
    last = capacity;
    found.back().kind.cpus.insert(id);
  }
  return found;
}

/// How fast a kind is, by what the system says of it: the greater the faster.
auto speed_of(const Candidate& one) {
  const std::size_t pmu = hybrid_pmus.size() - one.design.pmu;
  return std::tuple(one.kind.capacity.value_or(0), pmu, one.design.levels.size(), one.frequency,
                    one.own_cache);
}

/// "performance" and "efficiency" where there are two; those of Intel's three by their PMUs and the
/// last-level cache that low-power cores lack; else numbers, from the fastest.
void name_kinds(std::vector<Candidate>& kinds) {
  std::size_t most_levels = 0;
  for (const Candidate& one : kinds) most_levels = std::max(most_levels, one.design.levels.size());
  CpuSet taken;  // indices of names
  const bool two = kinds.size() == 2 && speed_of(kinds[0]) != speed_of(kinds[1]);
  bool known = true;
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    std::size_t name = two ? i : kinds[i].design.pmu;
    if (!two && name == 1 && kinds[i].design.levels.size() < most_levels) name = 2;
    if (name < hybrid_pmus.size()) kinds[i].kind.name = hybrid_pmus[name].second;
    known = known && name < hybrid_pmus.size() && !taken.contains(CpuId{static_cast<int>(name)});
    taken.insert(CpuId{static_cast<int>(name)});
  }
  for (std::size_t i = 0; i < kinds.size() && !known; ++i)
    kinds[i].kind.name = fmt::format("kind{}", i + 1);
}

}  // namespace

void read_cpu_kinds(const Tree& tree, Machine& machine) {
  std::map<Design, CpuSet> groups;
  for (const auto& [id, design] : designs_of(tree, machine)) groups[design].insert(id);
  std::vector<Candidate> kinds;
  for (const auto& [design, cpus] : groups) {
    for (Candidate& one : candidates_of(tree, machine, design, cpus))
      kinds.push_back(std::move(one));
  }
  machine.cpu_kinds.clear();
  if (kinds.size() < 2) return;
  std::stable_sort(kinds.begin(), kinds.end(), [](const Candidate& a, const Candidate& b) {
    return speed_of(a) > speed_of(b);
  });
  name_kinds(kinds);
  std::vector<std::string> models;
  for (Candidate& one : kinds) {
    const std::string& model = one.kind.model;
    if (!model.empty() && std::find(models.begin(), models.end(), model) == models.end())
      models.push_back(model);
    machine.cpu_kinds.push_back(std::move(one.kind));
  }
  if (models.size() < 2) return;
  machine.cpu_model = models.front();
  for (std::size_t i = 1; i < models.size(); ++i) machine.cpu_model += " + " + models[i];
}

}  // namespace numatlas
