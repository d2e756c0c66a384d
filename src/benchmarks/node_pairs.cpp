#include "benchmarks/node_pairs.h"

#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "run/declare.h"
#include "run/flows.h"

namespace numatlas {

Expected<Workers> worker_on_first_cpus(const RunOptions& options, const Machine& machine,
                                       const TaskContext& task) {
  if (task.launched || !options.placement.threads)
    return worker_on_every_cpu(options, machine, task);
  PlacementSpec spec = options.placement;
  spec.cpus.is_default = false;  // pinned one by one, whatever OpenMP was told
  return resolve_placement(spec, machine, task, 0);
}

std::vector<Refusal> refused_by_node_pairs(const std::string& command,
                                           const std::string& instead_of_memory) {
  const std::string together = command + " measures all workers of a node together";
  return {{"--serial", together, "numatlas bandwidth and latency have it"},
          {"--threads", together,
           "one number selects that many CPUs, the first ones; numatlas bandwidth compares several",
           true},
          {"--memory", command + " places the memory itself, node by node", instead_of_memory}};
}

Expected<void> check_nodes_are_known(const PlanInput& input, const std::string& command) {
  if (worker_nodes(input).empty()) {
    return fail_about(
        ErrorKind::unavailable, command, "the nodes of the workers' CPUs are not known",
        "leave OMP_PLACES and OMP_PROC_BIND unset", ", and name the CPUs with --cpus");
  }
  return {};
}

}  // namespace numatlas
