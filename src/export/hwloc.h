// Memory attributes stored in hwloc's XML.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "machine/machine.h"

namespace numatlas {

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
/// Runs libhwloc in a child process, because it ends the process where a topology does not fit
/// together. Errors
/// without a subject: usage (no topology; it lacks a node), unavailable (libhwloc too old),
/// internal (values that did not come back).
Expected<std::string> with_memory_values(const std::string& xml,
                                         const std::vector<MemoryValue>& values,
                                         const std::vector<HwlocInfo>& infos);

/// The values of `names` that a topology holds, in no order that means something. For tests and for
/// the check of what was written.
std::vector<MemoryValue> memory_values_of(const std::string& xml,
                                          const std::vector<std::string>& names);

}  // namespace numatlas
