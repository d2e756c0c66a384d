// What /proc says of a program and of the processes that it started.
#pragma once

#include <sys/types.h>

#include <istream>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/units.h"

namespace numatlas {

/// `root` and its descendants, each after its parent. Those that have ended meanwhile are left out.
std::vector<pid_t> processes_below(pid_t root);

/// One process, from /proc/PID/status and smaps_rollup.
struct ProcessState {
  int threads = 0;
  Bytes resident;
  Bytes huge;  ///< transparent huge pages, and those of the pool
};
std::optional<ProcessState> read_state(pid_t process);
/// The part of smaps_rollup.
void read_rollup(std::istream& file, ProcessState& state);

/// CPUs that each thread of a process may run on.
std::vector<CpuSet> thread_cpus(pid_t process);

/// Whether a file with one of these in its name is mapped.
bool has_mapped(pid_t process, const std::vector<std::string>& names);

}  // namespace numatlas
