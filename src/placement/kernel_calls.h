// Internal: the system calls of NUMA policy, in a table that tests replace to force EPERM, EINVAL
// or ENOSYS; node masks of any size; and the few kernel files that go with them.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "placement/placement.h"

namespace numatlas::kernel {

/// Mode numbers of the kernel's interface; installed headers may be older than the kernel.
inline constexpr int mpol_default = 0;
inline constexpr int mpol_preferred = 1;
inline constexpr int mpol_bind = 2;
inline constexpr int mpol_interleave = 3;
inline constexpr int mpol_local = 4;
inline constexpr int mpol_preferred_many = 5;       ///< 5.15
inline constexpr int mpol_weighted_interleave = 6;  ///< 6.9
inline constexpr int mpol_mode_flags = 7 << 13;     ///< MPOL_F_STATIC_NODES and its kin
inline constexpr unsigned long mpol_f_mems_allowed = 1UL << 2;

inline constexpr int madv_populate_write = 23;  ///< MADV_POPULATE_WRITE, 5.14

/// Bit N of the mask stands for node N.
using NodeMask = std::vector<unsigned long>;
NodeMask to_mask(const NodeSet& nodes);
NodeSet from_mask(const NodeMask& mask);

/// As the system calls: -1 and errno on failure.
struct Calls {
  long (*mbind)(void* start, unsigned long length, int mode, const unsigned long* mask,
                unsigned long max_node, unsigned flags);
  long (*set_mempolicy)(int mode, const unsigned long* mask, unsigned long max_node);
  long (*get_mempolicy)(int* mode, unsigned long* mask, unsigned long max_node, void* address,
                        unsigned long flags);
  long (*move_pages)(int pid, unsigned long count, void** pages, const int* nodes, int* status,
                     int flags);
  int (*madvise)(void* start, std::size_t length, int advice);
};
/// The table in use: the kernel's own calls, until a test changes it.
Calls& calls();
/// The kernel's own.
Calls real_calls();

/// Mode (flags included) and nodes of the calling thread's policy; nullopt when the call is
/// refused.
struct TaskPolicy {
  int mode = mpol_default;
  NodeMask mask;
};
std::optional<TaskPolicy> task_policy();
/// Nodes this task may allocate on; nullopt when the call is refused.
std::optional<NodeSet> allowed_nodes();
/// The node that all memory of this task comes from; nullopt where there are several, or it is not
/// known. Needs none of the system calls above, which containers refuse together.
std::optional<NodeId> only_memory_node();

/// mbind and set_mempolicy with a node set; 0, or the errno.
int bind_range(void* start, std::size_t bytes, int mode, const NodeSet& nodes);
int set_task_policy(int mode, const NodeMask& mask);

/// The base page size.
std::size_t page_size();

/// Weight of a node in the kernel's weighted interleave; nullopt where the kernel has none.
std::optional<int> system_weight(NodeId node);

}  // namespace numatlas::kernel
