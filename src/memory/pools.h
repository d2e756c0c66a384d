// Internal: huge page pools, THP settings, and what a node or a control group has left.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "memory/buffer.h"

namespace numatlas {

/// Pages of one size on one node.
struct PoolState {
  NodeId node;
  std::uint64_t total = 0, free = 0;
};
/// What sysfs says now about the pools of a kind on every online node; nullopt
/// when the kernel does not offer this page size.
std::optional<std::vector<PoolState>> live_pools(PageKind kind);
/// The same from a Machine value (read anew when it is live).
std::optional<std::vector<PoolState>> pools_of(PageKind kind, const Machine& machine);

/// Why `pages` pages of a kind cannot come from the pools of these nodes (empty: any); nullopt when
/// they can. Kind resource, or unavailable where the kernel has no pages of this size.
std::optional<Error> pool_problem(PageKind kind, const std::optional<std::vector<PoolState>>& pools,
                                  const NodeSet& nodes, std::uint64_t pages);

/// Why madvise cannot provide transparent huge pages; nullopt if it can.
std::optional<Error> thp_problem();
/// Size of a transparent huge page here (by its base pages where the kernel does not say).
std::size_t thp_size();

/// Nodes that a placement cannot do without (bind, interleave, weighted); empty for the others.
NodeSet required_nodes(const MemoryPlacement& placement);
/// Pages of a kind that hold these bytes.
std::uint64_t pages_for(std::uint64_t bytes, std::uint64_t page_size);

}  // namespace numatlas
