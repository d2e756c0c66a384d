// Memory policies by system call (libnuma 2.0.16 and hwloc < 2.11 know no weighted interleave).
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "placement/placement.h"

namespace numatlas {

/// How a placement was put in force.
struct PolicyOutcome {
  /// "inherited", "mbind", "set_mempolicy", "kernel weighted interleave", "first touch", "default
  /// policy" (local where mbind is refused and the task has no policy of its own), "one node" (the
  /// system call is refused, and no other node than the one asked for gives this process memory)
  std::string mechanism;
  std::string note;  ///< why this mechanism and not the better one; "" when it is the best
};

/// Applies a placement to an untouched range (page aligned, `page_size` the pages it will get).
/// Errors name --memory: permission (mbind refused, node outside Mems_allowed), unavailable (no
/// such node, node without memory, kernel too old or without NUMA), resource. Weighted: the
/// kernel's policy when the system-wide weights are exactly the asked ones. Otherwise the calling
/// thread touches the range, each page on its node in the same pattern (page by page of
/// `page_size`): the range then comes back touched and zero-filled, with plain interleave as its
/// policy so that NUMA balancing leaves it alone. This keeps one mapping, where binding page by
/// page would need more mappings than the kernel allows. `first_page` is the number of the range's
/// first page in the pattern. The kernel counts the pages of anonymous memory from address 0 (the
/// default), those of a pool or a file from its start; so both ways give the same pages.
Expected<PolicyOutcome> apply_to_range(void* address, std::size_t bytes, std::size_t page_size,
                                       const MemoryPlacement& placement,
                                       std::optional<std::size_t> first_page = std::nullopt);

/// set_mempolicy for this process and what it execs. Weighted needs the kernel's policy and the
/// right system-wide weights; the error says how to get them.
Expected<PolicyOutcome> apply_to_process(const MemoryPlacement& placement);

/// The task's policy when it is not the default.
std::optional<MemoryPlacement> inherited_policy();

/// Binds the calling thread to CPUs. Error: unavailable / permission, naming --cpus.
Expected<void> bind_thread(const CpuSet& cpus);
/// Affinity of the calling thread (masks of any size).
CpuSet thread_affinity();
/// CPU the calling thread runs on now.
CpuId current_cpu();

/// Whether the kernel knows weighted interleave (6.9+): probed by system call.
bool kernel_has_weighted_interleave();

}  // namespace numatlas
