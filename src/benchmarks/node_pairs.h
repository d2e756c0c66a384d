// What the benchmarks of CPU nodes against memory nodes have in common (matrix, loaded).
#pragma once

#include <string>
#include <vector>

#include "run/benchmark.h"

namespace numatlas {

/// A worker on each chosen CPU, or on the first --threads of them; a launched task has its own
/// number.
Expected<Workers> worker_on_first_cpus(const RunOptions& options, const Machine& machine,
                                       const TaskContext& task);

/// What these benchmarks decide themselves. `instead_of_memory`: what to do without --memory.
std::vector<Refusal> refused_by_node_pairs(const std::string& command,
                                           const std::string& instead_of_memory);

/// Error (unavailable): the nodes of the workers are not known.
Expected<void> check_nodes_are_known(const PlanInput& input, const std::string& command);

}  // namespace numatlas
