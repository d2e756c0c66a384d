#include <string>

#include "comm/mpi/plugin.h"

#include <gtest/gtest.h>

namespace numatlas {
namespace {

LauncherTask task_of(const std::string& launcher) {
  LauncherTask task;
  task.launcher = launcher;
  task.rank = 0;
  task.size = 4;
  return task;
}

TEST(Singletons, RemedyNamesTheWiringOfEachMpi) {
  const Error slurm = singleton_error(task_of("Slurm"), "mpich, openmpi");
  EXPECT_EQ(slurm.kind, ErrorKind::unavailable);
  EXPECT_EQ(full_text(slurm),
            "4 tasks were launched by Slurm, but each runs as a single MPI process");
  EXPECT_NE(full_hint(slurm).find("srun --mpi=pmix for Open MPI, srun --mpi=pmi2 for MPICH"),
            std::string::npos);
  EXPECT_NE(full_hint(slurm).find("plug-ins: mpich, openmpi"), std::string::npos);
  EXPECT_EQ(full_hint(singleton_error(task_of("MPICH"), "openmpi")).find("srun"),
            std::string::npos);
}

TEST(Singletons, OpenMpiIsWarnedOfUnderPmi2Only) {
  EXPECT_NE(warning_of_start(task_of("Slurm"), "openmpi", Wiring::pmi).find("srun --mpi=pmix"),
            std::string::npos);
  EXPECT_EQ(warning_of_start(task_of("Slurm"), "openmpi", Wiring::pmix), "");
  EXPECT_EQ(warning_of_start(task_of("Slurm"), "mpich", Wiring::pmi), "");
  EXPECT_EQ(warning_of_start(task_of("MPICH"), "openmpi", Wiring::pmi), "");
}

}  // namespace
}  // namespace numatlas
