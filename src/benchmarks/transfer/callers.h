// The workers that queue the work of GPUs: which of the machine's CPUs. Pure.
#pragma once

#include <optional>
#include <set>

#include "benchmarks/transfer/options.h"
#include "run/benchmark.h"

namespace numatlas {

/// A worker of `host` that is not in `taken`, on a CPU near the GPU (far from it; near the memory):
/// of that node, else of the nearest to it that has one left. Where the GPU's node is not known,
/// the memory's counts. nullopt: no worker is left.
std::optional<int> caller_for(const PlanInput& input, int host, const Gpu& gpu,
                              const MemoryPlacement& memory, Caller where,
                              const std::set<int>& taken);

}  // namespace numatlas
