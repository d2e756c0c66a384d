// While MPI starts: it waits for all tasks of the launcher, however long one of them takes to come,
// and one that has ended never comes.
#pragma once

#include <sys/types.h>

#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>

#include "comm/launcher.h"

namespace numatlas {

/// The process that started this task: the nearest ancestor that has not the task's own rank in its
/// environment. Wrappers (a shell, a debugger) have it too. nullopt outside its PID namespace.
std::optional<pid_t> launcher_process(const LauncherTask& task);

/// A task of this host that has ended.
struct EndedTask {
  int local_rank = 0;     ///< of the first that is gone
  bool reporter = false;  ///< this task is the first of those that are left
};
/// Whether the launcher has fewer tasks here than it started. nullopt where all are there, and
/// where it cannot be known: only of some launchers the tasks are known to be their own children.
std::optional<EndedTask> find_ended_task(const LauncherTask& task, pid_t launcher);

/// From its making to its end this rank waits for the others. When a task of this host has ended,
/// the process ends with the code of ErrorKind::peer and one message; after some seconds a line
/// says that there is a wait. Uses a thread of its own, since MPI's start cannot be interrupted.
class StartWatch {
 public:
  explicit StartWatch(const LauncherTask& task);
  ~StartWatch();
  StartWatch(const StartWatch&) = delete;
  StartWatch& operator=(const StartWatch&) = delete;

 private:
  void look_until_started();

  LauncherTask task_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool started_ = false;
  std::thread thread_;
};

}  // namespace numatlas
