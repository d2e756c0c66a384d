// A launcher and an MPI library that do not know each other: N tasks that each think themselves
// alone, the silent mistake, or a library that ends the process.
#pragma once

#include <string>

#include "base/error.h"
#include "comm/launcher.h"
#include "comm/mpi/plugin.h"

namespace numatlas {

/// The error, kind unavailable, with the remedy. `plugin_names` as a person reads them.
Error singleton_error(const LauncherTask& task, const std::string& plugin_names);

/// What is to be said before an MPI library is started that may end the process by itself: Open MPI
/// does so where srun offers only PMI-1 or PMI-2 and it was not built for that, with a message of
/// its own that leaves out the simple remedy. Empty where there is no such danger.
std::string warning_of_start(const LauncherTask& task, const std::string& plugin, Wiring wiring);

}  // namespace numatlas
