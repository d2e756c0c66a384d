// What the benchmarks of CPU nodes against memory nodes have in common (matrix, loaded).
#pragma once

#include <string>

#include "run/benchmark.h"

namespace numatlas {

/// A worker on each chosen CPU, or on the first --threads of them; a launched task has its own
/// number.
Expected<Workers> worker_on_first_cpus(const RunOptions& options, const Machine& machine,
                                       const TaskContext& task);

/// Refuses what these benchmarks decide themselves, and workers whose nodes are not known.
/// `instead_of_memory`: what to do without --memory.
Expected<void> check_node_pairs(const PlanInput& input, const std::string& command,
                                const char* instead_of_memory);

}  // namespace numatlas
