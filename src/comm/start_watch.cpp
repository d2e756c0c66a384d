#include "comm/start_watch.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/error.h"
#include "base/process_stat.h"
#include "base/terminal.h"
#include "comm/host_layout.h"
#include "comm/mpi/host_watch.h"

namespace numatlas {
namespace {

using std::chrono::seconds;

/// The first look; MPI is nearly always started by then, and no look is ever taken.
constexpr seconds first_look{3};
constexpr seconds between_looks{1};
/// A task that is started late by a slow launcher is there at the next look.
constexpr int looks_to_be_sure = 3;
/// Longer than all but the largest launches take to start.
constexpr seconds patience{10};

std::string file_of(pid_t process, const char* name) {
  return fmt::format("/proc/{}/{}", process, name);
}

/// A variable of another process's environment as it was when that began.
std::optional<std::string> variable_of(pid_t process, const std::string& name) {
  std::istringstream variables(
      running_system().text(file_of(process, "environ"), whole_file).value_or(""));
  for (std::string variable; std::getline(variables, variable, '\0');) {
    if (variable.starts_with(name + "=")) return variable.substr(name.size() + 1);
  }
  return std::nullopt;
}

/// Tasks are the launcher's own children.
bool is_understood(const LauncherTask& task) {
  const bool known =
      task.launcher == "Open MPI" || task.launcher == "MPICH" || task.launcher == "Slurm";
  return known && task.local_rank && task.local_size.value_or(1) > 1;
}

[[noreturn]] void end_for(const LauncherTask& task, const EndedTask& ended) {
  // The launcher ends all when one does: the one that reports goes first.
  if (ended.reporter) {
    const std::string rank = fmt::format(
        "{} {}", task.local_size == task.size ? "rank" : "local rank", ended.local_rank);
    say(fmt::format(
        "numatlas: error: {} on {} has ended, and the other ranks would wait for it in MPI_Init\n"
        "numatlas: hint: start the same command on every rank; `topology`, `--help` and --mpi none "
        "do not connect\n",
        rank, host_name()));
  } else {
    std::this_thread::sleep_for(seconds(1));
  }
  _exit(exit_code(ErrorKind::peer));
}

}  // namespace

std::optional<pid_t> launcher_process(const LauncherTask& task) {
  const auto mine = variable_of(getpid(), task.rank_variable);
  if (!mine) return std::nullopt;
  const auto parent_of = [](pid_t process) {
    return read_process_stat(running_system(), process).value_or(ProcessStat{}).parent;
  };
  pid_t process = parent_of(getpid());
  while (process > 0 && variable_of(process, task.rank_variable) == mine)
    process = parent_of(process);
  return process > 0 ? std::optional(process) : std::nullopt;
}

std::optional<EndedTask> find_ended_task(const LauncherTask& task, pid_t launcher) {
  if (!is_understood(task)) return std::nullopt;
  auto children = children_of(launcher);
  if (children)
    std::erase_if(*children, [](pid_t child) { return !identify_process(child).has_value(); });
  if (!children || static_cast<int>(children->size()) >= *task.local_size) return std::nullopt;
  std::set<int> left;
  for (const pid_t child : *children) {
    const auto rank = variable_of(child, task.local_rank_variable);
    if (rank && !rank->empty()) left.insert(std::atoi(rank->c_str()));
  }
  // The environment of a process that is just ending, or another user's, is not to be seen.
  if (left.size() != children->size()) return std::nullopt;
  EndedTask ended;
  ended.reporter = left.empty() || *left.begin() == *task.local_rank;
  ended.local_rank = 0;
  while (left.contains(ended.local_rank)) ++ended.local_rank;
  return ended;
}

StartWatch::StartWatch(const LauncherTask& task) : task_(task) {
  if (task.size.value_or(1) > 1) thread_ = std::thread([this] { look_until_started(); });
}

StartWatch::~StartWatch() {
  {
    const std::lock_guard lock(mutex_);
    started_ = true;
  }
  changed_.notify_one();
  if (thread_.joinable()) thread_.join();
}

void StartWatch::look_until_started() {
  const auto begin = std::chrono::steady_clock::now();
  // Rank 1 in case that rank 0 is the one that is waited for.
  const int rank = task_.rank.value_or(0);
  bool speaks = rank <= 1;
  int looks = 0;
  std::optional<pid_t> launcher;
  std::optional<EndedTask> first;
  std::unique_lock lock(mutex_);
  if (changed_.wait_for(lock, first_look, [&] { return started_; })) return;
  launcher = launcher_process(task_);
  while (true) {
    const auto ended = launcher ? find_ended_task(task_, *launcher) : std::nullopt;
    looks = ended ? looks + 1 : 0;
    if (looks == 1) first = ended;
    // What was seen first: by now another task may have ended because it has seen the same.
    if (looks == looks_to_be_sure) end_for(task_, *first);
    if (speaks && std::chrono::steady_clock::now() - begin > patience * (1 + rank)) {
      say(fmt::format("numatlas: still waiting in MPI_Init: not all {} tasks have started\n",
                      *task_.size));
      speaks = false;
    }
    if (changed_.wait_for(lock, between_looks, [&] { return started_; })) return;
  }
}

}  // namespace numatlas
