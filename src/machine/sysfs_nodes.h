// What sysfs says about NUMA nodes, beyond hwloc's shape.
#pragma once

#include <string>
#include <vector>

#include "base/tree.h"
#include "machine/machine.h"

namespace numatlas {

/// Completes the nodes: those hwloc leaves out (that share CPUs), own CPUs, memory, distances (of
/// which hwloc drops all where nodes share CPUs), tiers and huge page pools.
void read_nodes(const Tree& tree, Machine& machine);

/// The pools of a folder of sysfs: those of a node, or of the whole machine, by size.
std::vector<HugePagePool> huge_page_pools(const Tree& tree, const std::string& folder);

/// Memory of a node as it is now, by the node's own meminfo. What cannot be read stays.
void read_node_memory(const Tree& tree, NumaNode& node);
/// The same of the machine's only node, by /proc/meminfo.
void read_machine_memory(const Tree& tree, NumaNode& node);

/// Adds CPUs that the scheduler has for this process and that hwloc does not know, with their cores
/// and caches: containers may show a shorter list of CPUs than they have. Before the nodes are
/// read.
void believe_affinity(const Tree& tree, const CpuSet& affinity, Machine& machine);

/// The HBM that a processor comes with: its only memory, beside DRAM, or as it is set up.
enum class StackedMemory { none, only, beside, either };
StackedMemory stacked_memory_of(const std::string& cpu_model);

/// Kinds of cores by the PMUs of Intel's hybrid processors: hwloc reads these since 2.12.
void read_hybrid_kinds(const Tree& tree, Machine& machine);

/// "dram", "cxl", "pmem", "gpu", "hbm" where something says so. After devices have been read.
void read_node_kinds(const Tree& tree, Machine& machine);
/// The part of it that needs nothing but the machine: "hbm" or "gpu" for memory without CPUs that
/// has no kind yet. Once GPUs are known.
void name_distant_memory(Machine& machine);
/// Another such part: what the processor has beside its CPUs.
void name_memory_beside_cpus(Machine& machine);

/// GPUs by PCI class, and persistent memory by its block and DAX devices.
void read_devices(const Tree& tree, Machine& machine);

}  // namespace numatlas
