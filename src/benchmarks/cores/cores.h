// Which CPUs the core-to-core matrix has, and how near two of them are.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "machine/machine.h"

namespace numatlas::benchmark_cores {

/// What two CPUs have in common: "same core" (two hardware threads), "same L3" (or whichever their
/// last-level cache is), "same node", "other node", or "unknown".
std::string nearness_of(const Machine& machine, CpuId first, CpuId second);

/// "performance", "efficiency and performance"; "" where the machine does not tell kinds apart.
std::string kinds_of(const Machine& machine, CpuId first, CpuId second);

/// Another hardware thread of the same core that this process may use.
std::optional<CpuId> sibling_of(const Machine& machine, CpuId cpu);

/// About `most` of `cores` (a CPU a core): neighbours, two and two, spread evenly over nodes and
/// last-level caches, and as many more as it takes to have a pair of each nearness and of each two
/// kinds of cores. In order of node and cache.
std::vector<CpuId> spread_cores(const Machine& machine, const std::vector<CpuId>& cores,
                                std::size_t most);

}  // namespace numatlas::benchmark_cores
