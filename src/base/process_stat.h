// What /proc says of a process.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/tree.h"
#include "base/units.h"

namespace numatlas {

/// Of /proc/PID/stat (man 5 proc_pid_stat).
struct ProcessStat {
  char state = '?';              ///< 'Z' and 'X': it has ended
  pid_t parent = 0;              ///< 0: there is none in this PID namespace
  double ticks = 0;              ///< of CPU time, in user and system mode
  std::uint64_t start_time = 0;  ///< ticks since boot; 0: not known
  bool has_ended() const { return state == 'Z' || state == 'X'; }
};
std::optional<ProcessStat> parse_process_stat(std::string_view text);
std::optional<ProcessStat> read_process_stat(const Tree& tree, pid_t process);

/// Its children, those of all of its threads; nullopt where nothing lists them: the kernel has no
/// such files, hides this process (hidepid), or it has ended.
std::optional<std::vector<pid_t>> children_of(pid_t process);

/// All that this process has mapped.
Bytes mapped_memory();

}  // namespace numatlas
