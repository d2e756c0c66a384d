// Finding and loading the MPI plug-ins of this build.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "comm/comm.h"
#include "comm/launcher.h"
#include "comm/mpi/shim.h"

namespace numatlas {

/// A folder that may have plug-ins.
struct PluginFolder {
  std::string path;
  std::string top;  ///< from here on all must be trusted (base/own_files.h); "": the user named it
};

/// Where plug-ins are looked for, in this order: NUMATLAS_PLUGIN_DIR (alone, if set), the folder
/// that this program was built in, the prefix that it stands in now, the prefix that it was built
/// for.
std::vector<PluginFolder> plugin_folders();

/// The plug-ins that are there, by name, without loading them; the first folder that has a name,
/// and may be trusted with it, gives it. `problem` tells why another one will not be loaded.
std::vector<MpiPlugin> find_mpi_plugins(std::span<const PluginFolder> folders);

/// Loads a plug-in without a problem for good and returns its table. Errors: kind unavailable, with
/// what the dynamic linker says.
Expected<const numatlas_mpi_table*> load_mpi_plugin(const MpiPlugin& plugin);

/// How processes of this launch can find each other.
enum class Wiring {
  none,  ///< no MPI could: the launcher offers neither PMI nor PMIx
  pmi,   ///< PMI-1 or PMI-2, the language of MPICH and its family
  pmix,  ///< PMIx, the language of Open MPI
};
Wiring detect_wiring(const EnvironmentLookup& env);

/// The plug-ins in the order in which they are worth trying.
std::vector<MpiPlugin> by_preference(std::vector<MpiPlugin> plugins, Wiring wiring);

/// "Open MPI 4.1.4" from what MPI_Get_library_version says.
std::string short_library_name(const std::string& version_text);

// A launcher and an MPI library that do not know each other: N tasks that each think themselves
// alone, the silent mistake, or a library that ends the process.

/// The error, kind unavailable, with the remedy. `plugin_names` as a person reads them.
Error singleton_error(const LauncherTask& task, const std::string& plugin_names);

/// What is to be said before an MPI library is started that may end the process by itself: Open MPI
/// does so where srun offers only PMI-1 or PMI-2 and it was not built for that, with a message of
/// its own that leaves out the simple remedy. Empty where there is no such danger.
std::string warning_of_start(const LauncherTask& task, const std::string& plugin, Wiring wiring);

}  // namespace numatlas
