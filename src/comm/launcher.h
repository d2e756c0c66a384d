// What the launcher's environment says, without MPI: used by `exec`, by the choice of the MPI
// plug-in, and to detect N singletons.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace numatlas {

/// One task as its launcher describes it. Absent where the launcher does not say.
struct LauncherTask {
  std::string launcher;           ///< "Open MPI", "MPICH", "Slurm", ... ; "" for none
  std::optional<int> rank;        ///< global
  std::optional<int> local_rank;  ///< on this host
  std::optional<int> size;        ///< tasks in all
  std::optional<int> local_size;  ///< tasks on this host
  std::string rank_variable;      ///< e.g. "SLURM_PROCID"

  bool launched() const { return !launcher.empty(); }
};

using EnvironmentLookup = std::function<const char*(const char*)>;

/// Reads the variables of Slurm, Open MPI, MPICH Hydra, Cray, PALS, PMIx, Flux, MVAPICH2 and jsrun.
/// The MPI library's own variables win over Slurm's, since mpirun inside an allocation sees both.
/// Slurm counts only within a step that srun started: a batch script and the shell of salloc have
/// SLURM_PROCID too, but nobody launched several tasks there. A value that is not a whole number
/// of at least 0 (sizes: 1) counts as absent.
LauncherTask detect_launcher(const EnvironmentLookup& env);
LauncherTask detect_launcher();

/// True for the one task that should print an error before (or without) MPI: the launcher's rank 0,
/// or a process whose launcher gives no rank.
bool should_report(const LauncherTask& task);

/// Number of tasks on node `node_index` of Slurm's list "4(x2),3" (4 on nodes 0 and 1, 3 on node
/// 2). nullopt if the text is not such a list or the node is outside it.
std::optional<int> parse_tasks_per_node(std::string_view text, int node_index);

}  // namespace numatlas
