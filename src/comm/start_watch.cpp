#include "comm/start_watch.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>
#include <string>
#include <system_error>
#include <vector>

#include <fmt/format.h>

#include "base/error.h"
#include "base/say.h"
#include "comm/host_name.h"
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

std::string content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string file_of(pid_t process, const char* name) {
  return fmt::format("/proc/{}/{}", process, name);
}

/// A variable of another process's environment as it was when that began.
std::optional<std::string> variable_of(pid_t process, const std::string& name) {
  std::istringstream variables(content_of(file_of(process, "environ")));
  for (std::string variable; std::getline(variables, variable, '\0');) {
    if (variable.starts_with(name + "=")) return variable.substr(name.size() + 1);
  }
  return std::nullopt;
}

/// 0 where there is none in this PID namespace.
pid_t parent_of(pid_t process) {
  const std::string text = content_of(file_of(process, "stat"));
  // The name in brackets may hold spaces and brackets.
  const std::size_t name_end = text.rfind(')');
  if (name_end == std::string::npos) return 0;
  std::istringstream fields(text.substr(name_end + 1));
  std::string state;
  pid_t parent = 0;
  fields >> state >> parent;
  return parent;
}

/// Children that have not ended; nullopt where the kernel does not list them.
std::optional<std::vector<pid_t>> children_of(pid_t process) {
  const std::string threads = file_of(process, "task");
  std::vector<pid_t> children;
  std::error_code code;
  for (std::filesystem::directory_iterator thread(threads, code), end; !code && thread != end;
       thread.increment(code)) {
    std::ifstream file(thread->path() / "children");
    if (!file) return std::nullopt;
    for (pid_t child = 0; file >> child;) {
      if (identify_process(child)) children.push_back(child);
    }
  }
  if (code) return std::nullopt;
  return children;
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
  pid_t process = parent_of(getpid());
  while (process > 0 && variable_of(process, task.rank_variable) == mine)
    process = parent_of(process);
  return process > 0 ? std::optional(process) : std::nullopt;
}

std::optional<EndedTask> find_ended_task(const LauncherTask& task, pid_t launcher) {
  if (!is_understood(task)) return std::nullopt;
  const auto children = children_of(launcher);
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
