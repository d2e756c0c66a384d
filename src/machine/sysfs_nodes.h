// What sysfs says about NUMA nodes, beyond hwloc's shape.
#pragma once

#include "machine/machine.h"
#include "machine/tree.h"

namespace numatlas {

/// Completes the nodes: those hwloc leaves out (empty, without CPUs), own CPUs, memory, distances,
/// HMAT figures, tiers and huge page pools. The kernel's word replaces hwloc's.
void read_nodes(const Tree& tree, Machine& machine);

/// "dram", "cxl", "pmem", "gpu", "hbm" where something says so. After devices have been read.
void read_node_kinds(const Tree& tree, Machine& machine);

/// GPUs by PCI class, and persistent memory by its block and DAX devices.
void read_devices(const Tree& tree, Machine& machine);

}  // namespace numatlas
