// What the benchmarks of CPU nodes against memory nodes have in common (matrix, loaded).
#pragma once

#include <string>
#include <vector>

#include "run/benchmark.h"
#include "run/choices.h"
#include "run/sizes_option.h"

namespace numatlas {

/// --size, --order and the kernels.
struct NodePairOptions {
  KernelOptions kernels;
  OneSizeOption size = {};  ///< not given: beyond the caches
  ChainOrder order = ChainOrder::random;
  std::vector<Choice> choices = {};

  /// `size_help`: whose memory --size is, and its default.
  void add_to(CLI::App& app, const char* size_help, const char* kernels_help);
  /// Errors name the option; `command` is named.
  Expected<void> parse(const std::string& command);
};

/// A worker on each chosen CPU, or on the first --threads of them; a launched task has its own
/// number.
Expected<Workers> worker_on_first_cpus(const RunOptions& options, const Machine& machine,
                                       const TaskContext& task);

/// Refuses what these benchmarks decide themselves, and workers whose nodes are not known.
/// `instead_of_memory`: what to do without --memory.
Expected<void> check_node_pairs(const PlanInput& input, const std::string& command,
                                const char* instead_of_memory);

}  // namespace numatlas
