#include "benchmarks/cores/pairs.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace numatlas {

namespace {

/// What tells how near two CPUs are, and of which kinds.
struct Spot {
  CpuId id;
  const Cpu* cpu = nullptr;
  const Cache* cache = nullptr;  ///< its last-level one
  const CpuKind* kind = nullptr;

  NodeId node() const { return cpu == nullptr ? NodeId{} : cpu->node; }
};

Spot spot_of(const Machine& machine, CpuId id) {
  return {id, machine.find_cpu(id), machine.last_level_cache_of(id), machine.kind_of(id)};
}

std::string nearness_of(const Spot& a, const Spot& b) {
  if (a.cpu == nullptr || b.cpu == nullptr) return "unknown";
  if (a.cpu->core >= 0 && a.cpu->core == b.cpu->core) return "same core";
  if (a.cache != nullptr && a.cache == b.cache) return fmt::format("same L{}", a.cache->level);
  if (a.node().value < 0 || b.node().value < 0) return "unknown";
  return a.node() == b.node() ? "same node" : "other node";
}

std::string kinds_of(const Spot& a, const Spot& b) {
  if (a.kind == nullptr || b.kind == nullptr) return "";
  const auto [one, two] = std::minmax(a.kind->name, b.kind->name);
  return one == two ? one : one + " and " + two;
}

/// Adds CPUs until each nearness and each two kinds that there are among all of them are among the
/// chosen ones.
void add_missing(const std::vector<Spot>& all, std::vector<Spot>& chosen) {
  std::set<std::string> shown;
  const auto add = [&](const Spot& added) {
    if (std::ranges::count(chosen, added.id, &Spot::id) > 0) return;
    for (const Spot& other : chosen)
      shown.insert({nearness_of(added, other), kinds_of(added, other)});
    chosen.push_back(added);
  };
  for (const Spot& spot : std::exchange(chosen, {})) add(spot);
  for (auto one = all.begin(); one != all.end(); ++one) {
    for (auto other = one + 1; other != all.end(); ++other) {
      if (shown.contains(nearness_of(*one, *other)) && shown.contains(kinds_of(*one, *other)))
        continue;
      add(*one);
      add(*other);
    }
  }
}

}  // namespace

std::string nearness_of(const Machine& machine, CpuId first, CpuId second) {
  return nearness_of(spot_of(machine, first), spot_of(machine, second));
}

std::string kinds_of(const Machine& machine, CpuId first, CpuId second) {
  return kinds_of(spot_of(machine, first), spot_of(machine, second));
}

std::optional<CpuId> sibling_of(const Machine& machine, CpuId cpu) {
  const Cpu* const one = machine.find_cpu(cpu);
  if (one == nullptr || one->core < 0) return std::nullopt;
  for (CpuId id : machine.usable_cpus()) {
    const Cpu* const other = machine.find_cpu(id);
    if (id != cpu && other != nullptr && other->core == one->core) return id;
  }
  return std::nullopt;
}

std::vector<CpuId> spread_cores(const Machine& machine, const std::vector<CpuId>& cores,
                                std::size_t most) {
  std::vector<Spot> all;
  for (CpuId id : cores) all.push_back(spot_of(machine, id));
  const auto place = [](const Spot& spot) {
    const bool shared = spot.cache != nullptr && !spot.cache->cpus.empty();
    return std::tuple(spot.node(), shared ? spot.cache->cpus.front() : spot.id, spot.id);
  };
  const auto nearer = [&](const Spot& a, const Spot& b) { return place(a) < place(b); };
  std::sort(all.begin(), all.end(), nearer);
  std::vector<Spot> chosen = all;
  if (all.size() > most) {
    const std::size_t couples = most / 2;
    chosen.clear();
    for (std::size_t couple = 0; couple < couples; ++couple) {
      // Even positions: caches and nodes have even numbers of cores, mostly.
      const std::size_t at = couple * all.size() / couples / 2 * 2;
      chosen.insert(chosen.end(), {all[at], all[at + 1]});
    }
    add_missing(all, chosen);
    std::sort(chosen.begin(), chosen.end(), nearer);
  }
  std::vector<CpuId> ids;
  for (const Spot& spot : chosen) ids.push_back(spot.id);
  return ids;
}

}  // namespace numatlas
