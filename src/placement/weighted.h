// Internal: weighted interleave where the kernel's own cannot be used.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "placement/policy.h"

namespace numatlas {

using WeightedNodes = std::vector<std::pair<NodeId, int>>;

/// Pages of each node (in the order of `nodes`) among the first `pages` of the pattern: in
/// ascending order of nodes, as many pages in a row as the node's weight, then the next node, then
/// again from the first, as the kernel's weighted interleave has it.
std::vector<std::size_t> weighted_counts(std::size_t pages, const WeightedNodes& nodes);

/// Whether the kernel's weights are exactly these: nullopt when they are, otherwise why not.
std::optional<std::string> weights_differ(const WeightedNodes& nodes);

/// Touches the range so that its pages lie in this pattern, counted from `first_page`,
/// then sets interleave on it: NUMA balancing leaves a range alone that has a policy of its own,
/// and no page is moved. The range stays one mapping, whatever its size (binding page by page would
/// need one mapping a run, and the kernel allows 65,530 of them). Changes the calling thread's
/// policy while it works and restores it. Error kinds: permission, resource (a node is full).
Expected<void> populate_weighted(void* address, std::size_t bytes, std::size_t page_size,
                                 const WeightedNodes& nodes, std::size_t first_page = 0);

/// What a refused mbind or set_mempolicy means. `system_call` is the name for the message.
Error policy_error(int error, const char* system_call, const MemoryPlacement& placement);

}  // namespace numatlas
