// How the program is started: by itself, or as ranks by a launcher.
#pragma once

#include <string>
#include <vector>

#include "advise/candidates.h"
#include "base/error.h"

namespace numatlas {

enum class LauncherKind { none, srun, open_mpi, hydra };

struct Launch {
  LauncherKind kind = LauncherKind::none;
  std::vector<std::string> words;  ///< "mpirun", "--oversubscribe"
  int ranks = 0;
};

/// "none", or the line of srun, mpirun or mpiexec without the number of ranks. Which MPI an mpirun
/// is of, it is asked. Errors (usage, unavailable) name --launcher.
Expected<Launch> parse_launch(const std::string& text, int ranks);

/// The command line of a candidate. Without a launcher it is the program's own, whose layout
/// run_program puts in force; with one each rank becomes the program through `numatlas exec`.
std::vector<std::string> command_of(const Launch& launch, const Candidate& candidate,
                                    const std::vector<std::string>& program,
                                    const std::string& numatlas);
/// What run_program has to put in force for it.
ProgramLayout layout_of(const Launch& launch, const Candidate& candidate);

/// A line for people, ready to be copied, and what it needs.
struct ReadyLine {
  std::string tool;  ///< "numatlas exec", "numactl", "environment", "srun", "mpirun"
  std::string line;
};
std::vector<ReadyLine> ready_lines(const Launch& launch, const Candidate& candidate,
                                   const std::vector<std::string>& program);

}  // namespace numatlas
