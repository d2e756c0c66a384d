#include "comm/mpi/plugin.h"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <regex>
#include <string>
#include <system_error>

#include <fmt/format.h>

#include "base/environment.h"
#include "base/own_files.h"
#include "base/signals.h"

#ifdef NUMATLAS_ADDRESS_SANITIZER
#include <sanitizer/lsan_interface.h>
#endif

namespace numatlas {
namespace {

namespace fs = std::filesystem;

/// The names that a plug-in may have, sorted: those of the MPIs that the build knows, and those
/// that it found.
constexpr std::array known_names{NUMATLAS_MPI_NAMES};

using Entry = const numatlas_mpi_table* (*)();

/// The table behind an open library; its problem in words otherwise.
Expected<const numatlas_mpi_table*> table_of(void* library, const MpiPlugin& plugin) {
  const auto entry = reinterpret_cast<Entry>(dlsym(library, NUMATLAS_MPI_ENTRY));
  const numatlas_mpi_table* table = entry == nullptr ? nullptr : entry();
  if (table == nullptr || table->abi != NUMATLAS_MPI_ABI) {
    return fail(ErrorKind::unavailable,
                "MPI plug-in " + plugin.path + " belongs to another version of numatlas",
                "build and install plug-ins and program together");
  }
  return table;
}

tl::unexpected<Error> loading_error(const MpiPlugin& plugin) {
  const char* reason = dlerror();
  return fail(ErrorKind::unavailable,
              "MPI plug-in " + plugin.name + ": " + (reason ? reason : "dlopen failed"),
              "load the MPI module that numatlas was built with, or set LD_LIBRARY_PATH");
}

}  // namespace

std::vector<PluginFolder> plugin_folders() {
  if (const char* forced = environment_variable("NUMATLAS_PLUGIN_DIR")) return {{forced, ""}};
  std::vector<PluginFolder> folders;
  const auto add = [&](const fs::path& top, const char* below) {
    const fs::path normal = top.lexically_normal();
    folders.push_back({(normal / below).lexically_normal().string(), normal.string()});
  };
  // A program of the build folder that is not in its bin: a test.
  if (const std::string build = build_folder(); !build.empty()) add(build, "lib/numatlas/mpi");
  if (const fs::path program = program_folder(); !program.empty()) {
    for (const char* below : {NUMATLAS_LIBDIR "/numatlas/mpi", "lib/numatlas/mpi"})
      add(program.parent_path(), below);
  }
  add(NUMATLAS_INSTALL_LIBDIR, "numatlas/mpi");
  return folders;
}

std::vector<MpiPlugin> find_mpi_plugins(std::span<const PluginFolder> folders) {
  std::vector<MpiPlugin> plugins;
  for (const std::string name : known_names) {
    std::optional<MpiPlugin> found;
    for (const PluginFolder& folder : folders) {
      const fs::path path = fs::path(folder.path) / fmt::format("numatlas_mpi_{}.so", name);
      std::error_code error;
      if (!fs::exists(path, error)) continue;
      const std::string problem =
          folder.top.empty() ? "" : why_not_trusted(folder.top, path.string());
      if (!found || (!found->problem.empty() && problem.empty()))
        found = {name, path.string(),
                 problem.empty() ? "" : path.string() + " is not loaded: " + problem};
    }
    if (found) plugins.push_back(*found);
  }
  return plugins;
}

std::vector<MpiPlugin> list_mpi_plugins() {
  auto plugins = find_mpi_plugins(plugin_folders());
  for (MpiPlugin& plugin : plugins) {
    if (!plugin.problem.empty()) continue;
#ifdef NUMATLAS_ADDRESS_SANITIZER
    // What Open MPI 5 loads along leaves 54 bytes behind when it is unloaded (Debian 13).
    const __lsan::ScopedDisabler libraries_memory;
#endif
    // Local and for a moment only: two MPI libraries must not see each other's symbols.
    void* library = dlopen(plugin.path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
      plugin.problem = loading_error(plugin).value().message;
      continue;
    }
    if (auto table = table_of(library, plugin); !table) plugin.problem = full_text(table.error());
    dlclose(library);
  }
  return plugins;
}

Expected<const numatlas_mpi_table*> load_mpi_plugin(const MpiPlugin& plugin) {
  if (!plugin.problem.empty()) return fail(ErrorKind::unavailable, plugin.problem);
  const KeptSignals kept;
  // Global, because Open MPI opens its own components, which look for its symbols there.
  void* library = dlopen(plugin.path.c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (library == nullptr) return loading_error(plugin);
  return table_of(library, plugin);
}

Wiring detect_wiring(const EnvironmentLookup& env) {
  const auto any = [&](std::initializer_list<const char*> names) {
    return std::any_of(names.begin(), names.end(),
                       [&](const char* name) { return env(name) != nullptr; });
  };
  if (any({"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMIX_NAMESPACE"})) return Wiring::pmix;
  if (any({"PMI_RANK", "PMI_FD", "PMI_PORT", "PMI_SIZE", "HYDI_CONTROL_FD", "MPI_LOCALRANKID",
           "PALS_RANKID", "MV2_COMM_WORLD_RANK"})) {
    return Wiring::pmi;
  }
  return Wiring::none;
}

std::vector<MpiPlugin> by_preference(std::vector<MpiPlugin> plugins, Wiring wiring) {
  // Without PMIx everything that is not Open MPI is of MPICH's family (MPICH, Cray, Intel,
  // MVAPICH2) and comes first.
  const auto fits = [&](const MpiPlugin& plugin) {
    return (plugin.name == "openmpi") == (wiring == Wiring::pmix);
  };
  std::stable_partition(plugins.begin(), plugins.end(), fits);
  return plugins;
}

std::string short_library_name(const std::string& version_text) {
  const std::string text = version_text.substr(0, 400);  // the names stand at the beginning
  const struct {
    const char* pattern;
    const char* name;
  } known[] = {
      {"Open MPI v([0-9][^ ,\n]*)", "Open MPI"},
      {"CRAY MPICH version ([0-9][^ ,\n]*)", "Cray MPICH"},
      {"MVAPICH2? [Vv]ersion\\s*:\\s*([0-9][^ ,\n]*)", "MVAPICH"},
      {"MPICH Version:\\s*([0-9][^ ,\n]*)", "MPICH"},
      {"Intel\\(R\\) MPI Library ([0-9][^ ,\n]*)", "Intel MPI"},
  };
  for (const auto& entry : known) {
    std::smatch match;
    if (std::regex_search(text, match, std::regex(entry.pattern))) {
      return std::string(entry.name) + " " + match[1].str();
    }
  }
  return text.substr(0, text.find('\n'));
}

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
