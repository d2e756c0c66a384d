#include "run/levels.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "machine/identity.h"

namespace numatlas {

Bytes line_bytes(const Machine& machine, const CpuSet& cpus) {
  const Cache* cache = cpus.empty() ? nullptr : machine.cache_of(cpus.front(), 1);
  return cache != nullptr && cache->line_size ? *cache->line_size : Bytes{64};
}

Bytes last_level_cache_bytes(const Machine& machine, const CpuSet& cpus) {
  const Cache* cache = cpus.empty() ? nullptr : machine.last_level_cache_of(cpus.front());
  return cache != nullptr ? cache->size : Bytes{64 * mib};
}

Bytes unlisted_caches(const Machine& machine, const CpuSet& cpus) {
  const bool listed = !cpus.empty() && machine.last_level_cache_of(cpus.front()) != nullptr;
  const bool complete = machine.arch.empty() || machine.arch == "x86_64";  // CPUID tells all
  return listed && complete && !is_virtual(machine) ? Bytes{} : Bytes{gib};
}

std::string level_of_flow(const Machine& machine, const Layout& layout, const Scenario& scenario,
                          const Flow& flow) {
  const auto worker_of = [&](const Flow& f) -> const Worker& {
    return layout.workers[static_cast<std::size_t>(f.worker)];
  };
  const Worker& mine = worker_of(flow);
  const CpuSet& cpus = mine.placement.cpus;
  if (cpus.empty() || machine.last_level_cache_of(cpus.front()) == nullptr) return "-";
  // No machine has more than four levels of data cache.
  for (int level = 1; level <= 4; ++level) {
    const Cache* cache = machine.cache_of(cpus.front(), level);
    if (cache == nullptr) continue;
    std::uint64_t together = touched_bytes(flow).value;
    for (const Flow& other : scenario.flows) {
      if (Bytes{together} > cache->size) break;
      if (&other == &flow) continue;
      const Worker& worker = worker_of(other);
      if (worker.host != mine.host || worker.placement.cpus.empty()) continue;
      if (cache->cpus.contains(worker.placement.cpus.front()))
        together += touched_bytes(other).value;
    }
    if (Bytes{together} <= cache->size) return "L" + std::to_string(level);
  }
  return "memory";
}

Bytes touched_bytes(const Flow& flow) {
  constexpr std::uint64_t line = 64;
  const std::uint64_t stride = std::max(line, flow.kernel.chain.stride.value);
  if (flow.shares) return Bytes{0};
  const std::uint64_t source = flow.source ? flow.source->bytes.value : 0;
  return Bytes{flow.region.bytes.value / stride * line + source};
}

Bytes warm_up_bytes(const Machine& machine, const CpuSet& cpus, const Flow& flow) {
  const std::uint64_t cache = last_level_cache_bytes(machine, cpus).value;
  const std::uint64_t touched = touched_bytes(flow).value;
  if (flow.shares) return Bytes{0};
  if (touched <= cache) return Bytes{2 * flow.region.bytes.value};
  // The part of the region whose lines fill the cache twice.
  const double part =
      std::min(1.0, 2.0 * static_cast<double>(cache) / static_cast<double>(touched));
  return Bytes{static_cast<std::uint64_t>(part * static_cast<double>(flow.region.bytes.value))};
}

bool is_walked_whole(const Flow& flow) { return touched_bytes(flow).value <= 4 * mib; }

}  // namespace numatlas
