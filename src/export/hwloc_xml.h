// hwloc's XML: a topology made of a Machine, and memory attributes stored in it.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "machine/machine.h"

namespace numatlas {

/// XML of hwloc 2 with the CPUs, cores, caches, packages and NUMA nodes of a machine. Nodes without
/// CPUs are placed where their nearest CPUs are, as hwloc does. Pure; checked by nobody yet.
std::string topology_xml(const Machine& machine);

/// One value of a memory attribute.
struct MemoryValue {
  std::string attribute;  ///< registered where the topology has none of that name
  bool lower_is_better = false;
  CpuSet initiator;
  NodeId target;
  std::uint64_t value = 0;
  friend bool operator==(const MemoryValue&, const MemoryValue&) = default;
};

/// Name and value of an info attribute; of the machine, or of a node.
struct HwlocInfo {
  NodeId node;  ///< -1: the machine
  std::string name, value;
};

/// `xml` with the values and infos, written by libhwloc and read back: what comes back holds them.
/// `distances`: those of this machine are added where the topology has none. Runs libhwloc in a
/// child process, because it ends the process where a topology does not fit together. Errors
/// without a subject: usage (no topology; it lacks a node), unavailable (libhwloc too old),
/// internal (values that did not come back).
Expected<std::string> with_memory_values(const std::string& xml,
                                         const std::vector<MemoryValue>& values,
                                         const std::vector<HwlocInfo>& infos,
                                         const Machine* distances);

/// The values of `names` that a topology holds, in no order that means something. For tests and for
/// the check of what was written.
std::vector<MemoryValue> memory_values_of(const std::string& xml,
                                          const std::vector<std::string>& names);

}  // namespace numatlas
