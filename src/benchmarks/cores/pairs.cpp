#include "benchmarks/cores/pairs.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

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

namespace {

/// What tells the relation of two CPUs and their kinds.
struct Spot {
  CpuId id;
  int core = -1;
  NodeId node;
  CpuId cache;  ///< the first CPU of its last-level cache
  std::string kind;
};

std::vector<Spot> spots_of(const Machine& machine, const std::vector<CpuId>& cores) {
  std::vector<Spot> spots;
  for (CpuId id : cores) {
    const Cpu* const cpu = machine.find_cpu(id);
    const Cache* const cache = machine.last_level_cache_of(id);
    const CpuKind* const kind = machine.kind_of(id);
    spots.push_back({id, cpu == nullptr ? -1 : cpu->core, cpu == nullptr ? NodeId{} : cpu->node,
                     cache == nullptr || cache->cpus.empty() ? id : cache->cpus.front(),
                     kind == nullptr ? "" : kind->name});
  }
  return spots;
}

/// What a pair shows: how near its CPUs are, and of which kinds.
std::array<std::string, 2> shown_by(const Spot& a, const Spot& b) {
  const char* const relation = a.core >= 0 && a.core == b.core ? "core"
                               : a.cache == b.cache            ? "cache"
                               : a.node == b.node              ? "node"
                                                               : "other";
  const auto [first, second] = std::minmax(a.kind, b.kind);
  return {relation, first + "/" + second};
}

/// Adds CPUs until each relation and each pair of kinds that there are among all of them is among
/// the chosen ones.
void add_missing(const std::vector<Spot>& all, std::vector<Spot>& chosen) {
  std::set<std::string> shown;
  const auto note = [&](const Spot& added) {
    for (const Spot& other : chosen) {
      for (const std::string& what : shown_by(added, other)) shown.insert(what);
    }
    chosen.push_back(added);
  };
  for (const Spot& spot : std::exchange(chosen, {})) note(spot);
  const auto has = [&](CpuId id) {
    return std::ranges::find(chosen, id, &Spot::id) != chosen.end();
  };
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (std::size_t j = i + 1; j < all.size(); ++j) {
      const auto pair = shown_by(all[i], all[j]);
      if (shown.contains(pair[0]) && shown.contains(pair[1])) continue;
      if (!has(all[i].id)) note(all[i]);
      if (!has(all[j].id)) note(all[j]);
    }
  }
}

}  // namespace

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
  std::vector<Spot> all = spots_of(machine, cores);
  const auto place = [](const Spot& spot) { return std::tuple(spot.node, spot.cache, spot.id); };
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
