#include "machine/cpu_kinds.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdlib>
#include <functional>
#include <map>
#include <optional>
#include <string>
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

/// What the kernel says of a CPU's design: CPUs that agree in it are of one kind.
struct Design {
  std::size_t pmu = hybrid_pmus.size();          ///< index of its PMU; the size for none
  std::pair<unsigned long, unsigned long> part;  ///< Arm's implementer and part number; 0 unknown
  friend auto operator<=>(const Design&, const Design&) = default;
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
  return designs;
}

struct DesignedKind {
  Design design;
  CpuKind kind;
};

/// Those of Intel by their PMUs; "performance" and "efficiency" by two capacities; else numbers,
/// from the fastest as far as the kernel tells.
void name_kinds(std::vector<DesignedKind>& kinds) {
  const bool by_pmu = std::ranges::all_of(
      kinds, [](const DesignedKind& one) { return one.design.pmu < hybrid_pmus.size(); });
  const bool two = kinds.size() == 2 && kinds[0].kind.capacity != kinds[1].kind.capacity;
  for (std::size_t i = 0; i < kinds.size(); ++i)
    kinds[i].kind.name = by_pmu ? hybrid_pmus[kinds[i].design.pmu].second
                         : two  ? hybrid_pmus[i].second
                                : fmt::format("kind{}", i + 1);
}

}  // namespace

void read_cpu_kinds(const Tree& tree, Machine& machine) {
  std::map<Design, CpuKind> groups;
  for (const auto& [id, design] : designs_of(tree, machine)) {
    CpuKind& kind = groups[design];
    kind.cpus.insert(id);
    const auto capacity = tree.number(fmt::format("{}{}/cpu_capacity", cpu_folder, id.value));
    if (capacity && *capacity > kind.capacity.value_or(0))
      kind.capacity = static_cast<int>(*capacity);
  }
  machine.cpu_kinds.clear();
  if (groups.size() < 2) return;
  std::vector<DesignedKind> kinds;
  for (auto& [design, kind] : groups) {
    if (design.part != decltype(design.part){})
      kind.model = arm_core_name(design.part.first, design.part.second);
    kinds.push_back({design, std::move(kind)});
  }
  std::ranges::stable_sort(kinds, std::greater<>{}, [](const DesignedKind& one) {
    return std::pair(one.kind.capacity.value_or(0), hybrid_pmus.size() - one.design.pmu);
  });
  name_kinds(kinds);
  std::vector<std::string> models;
  for (DesignedKind& one : kinds) {
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
