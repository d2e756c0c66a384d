// What hwloc does not know of CPUs: those that the scheduler gives this process and that
// /sys/devices/system/cpu/online leaves out, and Intel's kinds of cores.
#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "machine/sysfs_nodes.h"

namespace numatlas {
namespace {

std::string folder_of(CpuId cpu) { return fmt::format("/sys/devices/system/cpu/cpu{}", cpu.value); }

/// "32K", "1024K", "2M".
std::optional<Bytes> cache_size(const std::optional<std::string>& text) {
  if (!text) return std::nullopt;
  const auto bytes = parse_bytes(*text, 1);
  return bytes ? std::optional(*bytes) : std::nullopt;
}

std::optional<Cache> read_cache(const Tree& tree, const std::string& folder) {
  const auto level = tree.number(folder + "/level");
  const auto type = tree.text(folder + "/type");
  const auto cpus = tree.list<CpuId>(folder + "/shared_cpu_list");
  if (!level || !type || !cpus) return std::nullopt;
  Cache cache;
  cache.level = static_cast<int>(*level);
  cache.type = *type == "Data" ? "data" : *type == "Instruction" ? "instruction" : "unified";
  cache.size = cache_size(tree.text(folder + "/size")).value_or(Bytes{0});
  if (const auto line = tree.number(folder + "/coherency_line_size"); line && *line > 0)
    cache.line_size = Bytes{static_cast<std::uint64_t>(*line)};
  cache.cpus = *cpus;
  return cache;
}

/// All caches anew: of those that are known, CPUs were left out.
void read_caches(const Tree& tree, Machine& machine) {
  const CpuSet all = machine.all_cpus();
  std::map<std::tuple<int, int, std::string>, Cache> found;  // level, first CPU, type
  for (const Cpu& cpu : machine.cpus) {
    const std::string folder = folder_of(cpu.id) + "/cache";
    for (const std::string& name : tree.names(folder)) {
      if (!number_after(name, "index")) continue;
      auto cache = read_cache(tree, folder + "/" + name);
      if (!cache) continue;
      cache->cpus = cache->cpus & all;
      cache->cpus.insert(cpu.id);
      found.emplace(std::tuple(cache->level, cache->cpus.front().value, cache->type), *cache);
    }
  }
  if (found.empty()) return;
  machine.caches.clear();
  for (auto& [key, cache] : found) machine.caches.push_back(std::move(cache));
}

void read_place(const Tree& tree, Cpu& cpu, std::map<CpuId, int>& cores) {
  const std::string folder = folder_of(cpu.id) + "/topology";
  auto siblings = tree.list<CpuId>(folder + "/core_cpus_list");
  if (!siblings) siblings = tree.list<CpuId>(folder + "/thread_siblings_list");
  CpuSet core = siblings ? *siblings : CpuSet{};
  core.insert(cpu.id);
  cpu.core = cores.emplace(core.front(), static_cast<int>(cores.size())).first->second;
  const auto package = tree.number(folder + "/physical_package_id");
  if (package && *package >= 0) cpu.package = static_cast<int>(*package);
}

}  // namespace

void believe_affinity(const Tree& tree, const CpuSet& affinity, Machine& machine) {
  const CpuSet known = machine.all_cpus();
  const CpuSet hidden = affinity - known;
  if (hidden.empty()) return;
  for (CpuId id : hidden) machine.cpus.emplace_back().id = id;
  std::sort(machine.cpus.begin(), machine.cpus.end(),
            [](const Cpu& a, const Cpu& b) { return a.id < b.id; });
  std::map<CpuId, int> cores;  // by the first CPU
  std::map<std::optional<int>, int> threads;
  for (Cpu& cpu : machine.cpus) {
    read_place(tree, cpu, cores);
    cpu.smt_index = threads[cpu.core]++;
  }
  read_caches(tree, machine);
  machine.notes.push_back(fmt::format(
      "/sys/devices/system/cpu/online has only CPUs {}, but the scheduler lets this process run on "
      "{}, which is believed: does a container (lxcfs) show its own file?",
      to_list(known), to_list(affinity)));
}

void read_hybrid_kinds(const Tree& tree, Machine& machine) {
  constexpr std::array<std::pair<const char*, const char*>, 3> pmus{
      {{"cpu_core", "performance"}, {"cpu_atom", "efficiency"}, {"cpu_lowpower", "low-power"}}};
  constexpr int most_capacity = 1 << 20;  // the kernel's is 1024
  std::vector<CpuKind> kinds;
  for (const auto& [pmu, name] : pmus) {
    CpuKind kind{name, "", {}, {}};
    kind.cpus = tree.list<CpuId>(fmt::format("/sys/devices/{}/cpus", pmu)).value_or(CpuSet{}) &
                machine.all_cpus();
    for (CpuId cpu : kind.cpus) {
      const auto capacity = tree.number(folder_of(cpu) + "/cpu_capacity");
      if (capacity && *capacity > kind.capacity.value_or(0) && *capacity <= most_capacity)
        kind.capacity = static_cast<int>(*capacity);
    }
    if (!kind.cpus.empty()) kinds.push_back(std::move(kind));
  }
  if (kinds.size() > 1) machine.cpu_kinds = std::move(kinds);
}

}  // namespace numatlas
