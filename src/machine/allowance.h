// What this process may use: affinity, cpuset, memory nodes, memory limit.
#pragma once

#include <optional>
#include <string>

#include "machine/machine.h"
#include "machine/tree.h"

namespace numatlas {

/// From the scheduler (a live tree only), /proc/self and the cgroup, version 1 and 2. Whatever
/// cannot be read is taken as "everything the machine has"; the machine's CPUs and nodes must have
/// been read.
Allowance read_allowance(const Tree& tree, const Machine& machine);

/// The scheduler's mask of this process, whatever its size: the kernel refuses a buffer smaller
/// than its own. nullopt where it does not say.
std::optional<CpuSet> scheduler_affinity();

/// File cache charged to the cgroup of a folder, which can be dropped: "active_file" and
/// "inactive_file" in version 2 (`unified`); version 1 counts the groups below under "total_...".
std::optional<Bytes> group_cache(const Tree& tree, const std::string& folder, bool unified);

}  // namespace numatlas
