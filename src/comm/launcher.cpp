#include "comm/launcher.h"

#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <system_error>

#include "base/environment.h"

namespace numatlas {
namespace {

/// Whole number of at least `least`, the whole text; anything else counts as absent.
template <class Number>
std::optional<Number> to_number(std::string_view text, Number least) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < least) {
    return std::nullopt;
  }
  return value;
}

std::optional<int> number_of(const EnvironmentLookup& env, const char* name, int least) {
  const char* text = name == nullptr ? nullptr : env(name);
  return text == nullptr ? std::nullopt : to_number<int>(text, least);
}

/// The names under which one launcher gives its numbers; nullptr where it does not.
struct Names {
  const char* launcher;
  const char* rank;
  const char* local_rank;
  const char* size;
  const char* local_size;
  const char* needs = nullptr;  ///< a second variable without which it is another launcher
};

/// In the order of precedence: the MPI library's own launcher first, then system launchers that
/// also set PMI's variables, then bare PMI. Slurm and PMIx need more care and come after these.
constexpr std::array known{
    Names{"Open MPI", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_SIZE",
          "OMPI_COMM_WORLD_LOCAL_SIZE"},
    Names{"MVAPICH2", "MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_LOCAL_RANK", "MV2_COMM_WORLD_SIZE",
          "MV2_COMM_WORLD_LOCAL_SIZE"},
    Names{"MPICH", "PMI_RANK", "MPI_LOCALRANKID", "PMI_SIZE", "MPI_LOCALNRANKS", "MPI_LOCALRANKID"},
    Names{"jsrun", "JSM_NAMESPACE_RANK", "JSM_NAMESPACE_LOCAL_RANK", "JSM_NAMESPACE_SIZE",
          "JSM_NAMESPACE_LOCAL_SIZE"},
    Names{"PALS", "PALS_RANKID", "PALS_LOCAL_RANKID", "PMI_SIZE", "PALS_LOCAL_SIZE"},
    Names{"Flux", "FLUX_TASK_RANK", "FLUX_TASK_LOCAL_ID", "FLUX_JOB_SIZE", nullptr},
    Names{"Cray", "PMI_RANK", "PMI_LOCAL_RANK", "PMI_SIZE", "PMI_LOCAL_SIZE", "PMI_LOCAL_RANK"},
};

std::optional<LauncherTask> task_of(const EnvironmentLookup& env, const Names& names) {
  LauncherTask task;
  task.rank = number_of(env, names.rank, 0);
  if (!task.rank) return std::nullopt;
  if (names.needs != nullptr && !number_of(env, names.needs, 0)) return std::nullopt;
  task.launcher = names.launcher;
  task.rank_variable = names.rank;
  task.local_rank = number_of(env, names.local_rank, 0);
  task.size = number_of(env, names.size, 1);
  task.local_size = number_of(env, names.local_size, 1);
  return task;
}

/// A step that srun started. Slurm numbers its own steps from the top of 32 bits down (batch
/// script, interactive shell of salloc, extern, pending: 0xfffffffd .. 0xfffffffa), and a batch
/// script of older versions has no step number at all.
bool in_slurm_step(const EnvironmentLookup& env) {
  constexpr std::uint32_t first_reserved = 0xfffffff0;
  for (const char* name : {"SLURM_STEP_ID", "SLURM_STEPID"}) {
    if (const char* text = env(name)) {
      const auto step = to_number<std::uint32_t>(text, 0);
      return step && *step < first_reserved;
    }
  }
  return false;
}

std::optional<LauncherTask> slurm_task(const EnvironmentLookup& env) {
  if (!in_slurm_step(env)) return std::nullopt;
  auto task = task_of(env, {"Slurm", "SLURM_PROCID", "SLURM_LOCALID", nullptr, nullptr});
  if (!task) return std::nullopt;
  for (const char* name : {"SLURM_STEP_NUM_TASKS", "SLURM_NTASKS", "SLURM_NPROCS"}) {
    if (!task->size) task->size = number_of(env, name, 1);
  }
  const char* per_node = env("SLURM_STEP_TASKS_PER_NODE");
  const auto node = number_of(env, "SLURM_NODEID", 0);
  if (per_node != nullptr && node) task->local_size = parse_tasks_per_node(per_node, *node);
  return task;
}

/// PMIx under srun is Slurm's (its namespaces say so); elsewhere PMIx alone must do, which gives a
/// rank and no sizes.
std::optional<LauncherTask> pmix_task(const EnvironmentLookup& env) {
  const char* name_space = env("PMIX_NAMESPACE");
  if (name_space != nullptr && std::string_view(name_space).starts_with("slurm.")) {
    return std::nullopt;
  }
  return task_of(env, {"PMIx", "PMIX_RANK", "PMIX_LOCAL_RANK", "PMIX_SIZE", "PMIX_LOCAL_SIZE"});
}

}  // namespace

std::optional<int> parse_tasks_per_node(std::string_view text, int node_index) {
  int first_node = 0;
  std::optional<int> found;
  while (!text.empty()) {
    const std::size_t comma = text.find(',');
    std::string_view entry = text.substr(0, comma);
    text = comma == std::string_view::npos ? std::string_view() : text.substr(comma + 1);
    if (comma != std::string_view::npos && text.empty()) return std::nullopt;
    int repeats = 1;
    if (const std::size_t open = entry.find("(x"); open != std::string_view::npos) {
      if (!entry.ends_with(')')) return std::nullopt;
      const auto times = to_number<int>(entry.substr(open + 2, entry.size() - open - 3), 1);
      if (!times) return std::nullopt;
      repeats = *times;
      entry = entry.substr(0, open);
    }
    const auto tasks = to_number<int>(entry, 1);
    if (!tasks) return std::nullopt;
    if (!found && node_index >= first_node && node_index - first_node < repeats) found = tasks;
    first_node += repeats;
  }
  return found;
}

LauncherTask detect_launcher(const EnvironmentLookup& env) {
  for (const Names& names : known) {
    if (auto task = task_of(env, names)) return *task;
  }
  if (auto task = pmix_task(env)) return *task;
  // Slurm before bare PMI: srun --mpi=pmi2 sets PMI_RANK too, and Slurm says more.
  if (auto task = slurm_task(env)) return *task;
  if (auto task = task_of(env, {"MPICH", "PMI_RANK", nullptr, "PMI_SIZE", nullptr})) return *task;
  return {};
}

LauncherTask detect_launcher() { return detect_launcher(environment_variable); }

bool should_report(const LauncherTask& task) { return task.rank.value_or(0) == 0; }

}  // namespace numatlas
