// What this process may use: affinity, cpuset, memory nodes, memory limit.
#pragma once

#include "machine/machine.h"
#include "machine/tree.h"

namespace numatlas {

/// From the scheduler (a live tree only), /proc/self and the cgroup, version 1 and 2. Whatever
/// cannot be read is taken as "everything the machine has"; the machine's CPUs and nodes must have
/// been read.
Allowance read_allowance(const Tree& tree, const Machine& machine);

}  // namespace numatlas
