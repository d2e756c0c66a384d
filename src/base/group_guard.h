// Processes that do not outlive this one.
#pragma once

#include <sys/types.h>

#include <string>

namespace numatlas {

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
