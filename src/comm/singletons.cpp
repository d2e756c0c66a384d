#include "comm/singletons.h"

namespace numatlas {

Error singleton_error(const LauncherTask& task, const std::string& plugin_names) {
  const std::string who =
      task.size ? std::to_string(*task.size) + " tasks were" : "several tasks were";
  const std::string launch =
      task.launcher == "Slurm"
          ? "use srun --mpi=pmix for Open MPI, srun --mpi=pmi2 for MPICH and its family, or mpirun "
            "of the MPI that numatlas uses"
          : "use the launcher of the MPI that numatlas uses";
  return {ErrorKind::unavailable,
          who + " launched by " + task.launcher + ", but each runs as a single MPI process",
          launch + "; this build has plug-ins: " + plugin_names, "",
          " (--mpi NAME chooses); --mpi none runs each task alone"};
}

std::string warning_of_start(const LauncherTask& task, const std::string& plugin, Wiring wiring) {
  if (plugin != "openmpi" || task.launcher != "Slurm" || wiring != Wiring::pmi) return "";
  return "srun --mpi=pmi2 is for MPICH and its family; should Open MPI end here, use srun "
         "--mpi=pmix";
}

}  // namespace numatlas
