// Words that the benchmarks have in common where a survey runs them.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "machine/machine.h"
#include "memory/buffer.h"
#include "run/flows.h"

namespace numatlas {

/// As --pages takes it: base pages, and what else the machine gives without a pool.
inline const char* base_and_best_pages(const Machine& machine) {
  return best_pages(machine).kind == PageKind::base ? "base" : "base,thp";
}

/// The machine as if nothing cached its memory beside the CPUs' own caches.
inline Machine without_side_caches(Machine machine) {
  for (NumaNode& node : machine.nodes) node.side_caches.clear();
  return machine;
}

/// Why nothing goes from node to node.
inline std::string only_one_node(const Machine& machine) {
  const bool of_gpus = machine.usable_memory_nodes().size() > 1;
  return std::string("only one node has memory") +
         (of_gpus ? " (besides GPUs' memory, which is used only when named)" : "");
}

/// Numbers of CPUs, as --threads takes them: powers of two, those of each node and of each socket,
/// and all.
std::string scaling_counts(const Machine& machine);

/// The first usable CPU of each kind on each node that has any, and what each of them has to use
/// alone, at least `least`, to be past the caches between it and its node's memory.
struct FirstCpus {
  std::string list;            ///< as --cpus takes it
  std::optional<CpuId> first;  ///< that stands for all; nullopt: no CPU is usable
  Bytes past_caches;
};
FirstCpus first_cpu_of_each_node(const Machine& machine, Bytes least = least_chase);

/// What each of these CPUs has to use, at least `least`, so that all together are past the caches
/// between them and memory on these nodes; less of that where one of the nodes would have less than
/// half of its free memory left.
Bytes size_past_caches(const Machine& machine, const CpuSet& cpus, const NodeSet& memory,
                       Bytes least);

}  // namespace numatlas
