// Internal: kinds of pages, and whether this system has them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "memory/buffer.h"

namespace numatlas {

/// The nodes of this system, whose pools are read when they are asked for.
Machine running_nodes();

/// Why a pool has no such pages for these nodes (empty: any): this machine has no pages of that
/// size (kind unavailable), too few are free, or a limit of the control group forbids them.
std::optional<Error> pool_problem(PageKind kind, const Machine& machine, const NodeSet& nodes,
                                  Bytes bytes);

/// Why madvise cannot provide transparent huge pages; nullopt if it can.
std::optional<Error> thp_problem();
/// Size of a transparent huge page here (by its base pages where the kernel does not say).
std::size_t thp_size();

/// Nodes that a placement cannot do without (bind, interleave, weighted); empty for the others.
NodeSet required_nodes(const MemoryPlacement& placement);
/// Pages of a kind that hold these bytes.
std::uint64_t pages_for(std::uint64_t bytes, std::uint64_t page_size);
/// These bytes in whole pages; as they are where that is beyond all numbers.
std::uint64_t whole_pages(std::uint64_t bytes, std::uint64_t page_size);

}  // namespace numatlas
