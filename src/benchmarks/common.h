// What several benchmarks have in common: the highest and the lowest of a range, shares of the
// highest bandwidth, words where a survey runs them, nodes of CPUs against nodes of memory.
#pragma once

#include <cstddef>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include "machine/machine.h"
#include "memory/buffer.h"
#include "record/estimate.h"
#include "record/report.h"
#include "run/benchmark.h"
#include "run/flows.h"

namespace numatlas {

inline std::optional<double> value_of(const std::optional<Estimate>& estimate) {
  return estimate ? std::optional(estimate->value) : std::nullopt;
}

/// The first element with the highest `value(element)`, an optional; nullptr where no element has
/// one.
template <class Range, class Value>
auto highest_of(Range& range, const Value& value) {
  decltype(&*std::begin(range)) best = nullptr;
  decltype(value(*best)) most;
  for (auto& element : range) {
    const auto its = value(element);
    if (!its || (most && !(*its > *most))) continue;
    best = &element;
    most = its;
  }
  return best;
}

/// The same of the lowest.
template <class Range, class Value>
auto lowest_of(Range& range, const Value& value) {
  return highest_of(range, [&](const auto& element) {
    const auto its = value(element);
    return its ? std::optional(-*its) : std::nullopt;
  });
}

/// Adds "best_share" beside each "bandwidth_sum" of memory: over all hosts, and of each host where
/// there are several. Nothing of what a cache held.
void add_best_shares(RunReport& report);

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
