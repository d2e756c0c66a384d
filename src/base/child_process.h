// Work on data that may end the process: libraries that check their input by assertions.
#pragma once

#include <chrono>
#include <functional>
#include <string>

#include <sys/types.h>
#include <vector>
#include "base/error.h"
#include "base/units.h"

namespace numatlas {

struct ChildLimits {
  std::chrono::seconds time{60};
  Bytes memory{2 * gib};  ///< beyond what this process has already
};

/// What `work` returns, run in a child process: there it may crash, never end or take all memory.
/// It sees this process's memory as it is now, prints nothing, and starts no threads. Errors: kind
/// usage where the child came to no good end (the message tells how: "ended by signal 6
/// (Aborted)"), resource where there is no child to be had, interrupted after a stop.
Expected<std::string> in_child(const std::function<std::string()>& work,
                               const ChildLimits& limits = {});

// Other programs, started.

/// Words as execv takes them; valid as long as `words`.
std::vector<char*> as_argv(const std::vector<std::string>& words);

struct ProgramStart {
  int output = -1;         ///< file that its standard output and error go to; -1: as here
  bool own_group = false;  ///< it is the first of a process group of its own
};

/// What to try where execvp of a program failed with this errno value; "" where nothing is known.
std::string hint_of_failed_start(const std::string& program, int code);

/// Starts the program that the first word names, by its path or on PATH. The signals that numatlas
/// ignores have their default action there. Returns 0, or an errno value.
int start_program(const std::vector<std::string>& words, const ProgramStart& start, pid_t& child);

// Processes that do not outlive this one.

/// While it is there, a process or process group is killed when this process ends, whatever ends
/// it: SIGKILL reaches nobody else. A process of its own waits for that; where none can be had,
/// what was started goes on. A folder that is named goes with them.
class GroupGuard {
 public:
  /// `target` as kill() takes it.
  explicit GroupGuard(pid_t target, const std::string& folder = "");
  GroupGuard(const GroupGuard&) = delete;
  GroupGuard& operator=(const GroupGuard&) = delete;
  /// The target goes on.
  ~GroupGuard();

 private:
  pid_t guard_ = -1;
  int alive_ = -1;  ///< end of a pipe that closes with this process
};

}  // namespace numatlas
