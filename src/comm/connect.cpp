// From the launcher's variables and the user's choice to a Comm.
#include <chrono>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/environment.h"
#include "base/terminal.h"
#include "comm/comm.h"
#include "comm/launcher.h"
#include "comm/mpi/mpi_comm.h"
#include "comm/mpi/plugin.h"

namespace numatlas {
namespace {

/// NUMATLAS_TEST_HOSTS; 1 where it is absent or not a number.
int pretend_hosts() {
  const char* text = environment_variable("NUMATLAS_TEST_HOSTS");
  const int hosts = text == nullptr ? 1 : std::atoi(text);
  return hosts > 1 ? hosts : 1;
}

std::string names_of(const std::vector<MpiPlugin>& plugins) {
  std::string names;
  for (const MpiPlugin& plugin : plugins) {
    if (plugin.problem.empty()) names += (names.empty() ? "" : ", ") + plugin.name;
  }
  return names.empty() ? "none" : names;
}

Wiring wiring_of_environment() { return detect_wiring(environment_variable); }

/// Starts the first of the plug-ins that can be loaded. Only the loading is tried one after the
/// other: MPI can be started once in a process.
Expected<std::unique_ptr<Comm>> start_first(const std::vector<MpiPlugin>& plugins,
                                            const LauncherTask& task) {
  std::string problems;
  for (const MpiPlugin& plugin : plugins) {
    auto table = load_mpi_plugin(plugin);
    if (!table) {
      problems += (problems.empty() ? "" : "; ") + full_text(table.error());
      continue;
    }
    const std::string warning = warning_of_start(task, plugin.name, wiring_of_environment());
    if (!warning.empty() && should_report(task)) say("numatlas: warning: " + warning + "\n");
    auto comm = MpiComm::start(*table, plugin.name, pretend_hosts());
    if (!comm) return fail(comm.error());
    if ((*comm)->size() == 1 && task.size.value_or(1) > 1) {
      return fail(singleton_error(task, names_of(find_mpi_plugins(plugin_folders()))));
    }
    return std::unique_ptr<Comm>(std::move(*comm));
  }
  return fail({ErrorKind::unavailable,
               "no MPI plug-in can be loaded" + (problems.empty() ? "" : ": " + problems),
               "load the MPI module that numatlas was built with", "",
               "; --mpi none runs each task alone"});
}

Expected<std::unique_ptr<Comm>> connect_named(const std::string& name,
                                              const std::vector<MpiPlugin>& plugins,
                                              const LauncherTask& task) {
  for (const MpiPlugin& plugin : plugins) {
    if (plugin.name == name) return start_first({plugin}, task);
  }
  return fail_about(ErrorKind::unavailable, "--mpi " + name, "this build has no such plug-in",
                    "plug-ins of this build: " + names_of(plugins) +
                        "; `auto` chooses by the launcher, `none` runs each task alone");
}

Expected<std::unique_ptr<Comm>> connect(const std::string& choice) {
  std::string wanted = choice.empty() ? "auto" : choice;
  const char* from_environment = environment_variable("NUMATLAS_MPI");
  if (wanted == "auto" && from_environment != nullptr && *from_environment != '\0') {
    wanted = from_environment;
  }
  if (wanted == "none") return make_single_comm();
  const LauncherTask task = detect_launcher();
  const bool alone = !task.launched() || task.size == 1;
  if (wanted == "auto" && alone) return make_single_comm();
  const auto plugins = find_mpi_plugins(plugin_folders());
  const Wiring wiring = wiring_of_environment();
  // Without any wiring the answer is known, and some MPI libraries end the process over it.
  if (!alone && (wiring == Wiring::none || plugins.empty())) {
    return fail(singleton_error(task, names_of(plugins)));
  }
  if (wanted != "auto") return connect_named(wanted, plugins, task);
  return start_first(by_preference(plugins, wiring), task);
}

}  // namespace

Expected<std::unique_ptr<Comm>> connect_comm(const std::string& choice) {
  auto comm = connect(choice);
  if (!comm && !should_report(detect_launcher())) {
    // A launcher ends all tasks when one leaves with an error: the one that reports it goes first.
    constexpr std::chrono::milliseconds time_to_report{300};
    std::this_thread::sleep_for(time_to_report);
  }
  return comm;
}

}  // namespace numatlas
