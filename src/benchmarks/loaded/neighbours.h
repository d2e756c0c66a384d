// What a load on one memory does to the latency and bandwidth of another (--load-memory).
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "run/benchmark.h"

namespace numatlas::loaded_neighbours {

struct Options {
  std::string memory;               ///< --load-memory: "each", or nodes; "": not asked for
  std::optional<CpuSet> cpus = {};  ///< --load-cpus
  std::string on = "cpus";          ///< --load-on
  std::optional<int> gpu = {};      ///< of --load-on, once it is read
};

void add_options(Options& own, CLI::App& app);

/// Nodes of CPUs and of memory that are measured: the victims.
using NodePairs = std::vector<std::pair<NodeId, NodeId>>;

/// Makes it the benchmark of each of these pairs while each memory is loaded: idle, at 50 and 80 %
/// of what the load reaches by itself, and by all it can. Half of the cores of a node are
/// measured; its other half, or the nearest node with CPUs, loads. Error (usage).
Expected<void> use(Options own, Hook<Expected<NodePairs>(const PlanInput&)> pairs,
                   Benchmark& benchmark);

}  // namespace numatlas::loaded_neighbours
