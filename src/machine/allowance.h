// What this process may use: affinity, cpuset, memory nodes, limits, CPU quota.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/tree.h"
#include "machine/machine.h"

namespace numatlas {

/// From the scheduler (a live tree only), /proc/self and the cgroup, version 1 and 2. Whatever
/// cannot be read is taken as "everything the machine has"; the machine's CPUs and nodes must have
/// been read.
Allowance read_allowance(const Tree& tree, const Machine& machine);

/// Marks the limits of memory and processes and the CPU quota as unread where no file that was seen
/// could set them.
void leave_limits_open(const Tree& tree, Machine& machine);

/// A CPU quota that this process is under: of its cgroup or of one above.
struct CpuQuota {
  double cpus = 0;     ///< CPU time a second
  std::string source;  ///< the file with the quota
  std::string stat;    ///< the file that counts how often it stopped the group
};
/// From the process's own group upwards; empty where there is none, or it cannot be read.
std::vector<CpuQuota> cpu_quotas(const Tree& tree);
/// A line of /proc/self/mountinfo.
struct Mount {
  std::string device_number;  ///< "259:0"
  std::string top;            ///< the folder of the file system that is mounted there
  std::string folder, type, options;
};
std::vector<Mount> mounts(const Tree& tree);

/// The scheduler's mask of the calling thread, whatever its size: the kernel refuses a buffer
/// smaller than its own. nullopt where it does not say.
std::optional<CpuSet> scheduler_affinity();

/// Limits of memory, of huge pages and of processes (control groups), and those of `ulimit` that
/// can stop a run, in the order of their kinds: of each the one with least left.
std::vector<Limit> read_limits(const Tree& tree);
/// pids.max: how many processes and threads the control group may have.
std::optional<Limit> process_limit(const Tree& tree);

}  // namespace numatlas
