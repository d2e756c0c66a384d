// How large a region may be when nobody said: as large as is wanted, and less where nodes are
// small. Pure.
#pragma once

#include <map>
#include <vector>

#include "memory/buffer.h"
#include "run/benchmark.h"

namespace numatlas {

/// Part of the free memory that a default size may take: the rest is for page tables, the kernel's
/// reserve and whoever else is there. What leaves half free fits (check_fits).
constexpr double default_room = 0.5;

/// What a worker has by default at least where others take turns with its caches.
constexpr Bytes usual_size{256 * mib};

/// What each process of a host has, by rank, with the threads that it has still to start.
std::vector<ProcessDemand> with_threads(std::map<int, ProcessDemand> ranks, const Layout& layout);

/// `size`; or, where regions of it at the places that these flows have would take more than `part`
/// of what is free (or file cache) on a node, on all nodes of a host together, or under the limit
/// of its control group, or of any other supply (memory/supplies.cpp), the largest power of two
/// that does not. At least 1 MiB, or a page of a pool. The bytes of the flows themselves do not
/// count.
Bytes size_with_room(const PlanInput& input, Bytes size, const std::vector<Flow>& flows,
                     double part = default_room);

/// The same of each flow by itself: by the nodes of its own memory.
std::vector<Bytes> sizes_with_room(const PlanInput& input, Bytes size,
                                   const std::vector<Flow>& flows, double part = default_room);

/// Gives each of these flows what has room where its memory lies, at most `size` and what it has
/// (of --serial: as if it were alone). The largest of these sizes.
Bytes fit_to_room(const PlanInput& input, Bytes size, std::vector<Flow>& flows);

/// `size_with_room` of all scenarios of a plan.
Bytes size_with_room(const PlanInput& input, Bytes size, const std::vector<PlannedCase>& plan);

/// A flow for each of these workers that says no more than where its memory is: on this node.
std::vector<Flow> flows_on_node(const std::vector<int>& workers, NodeId node,
                                PageKind pages = PageKind::base);

}  // namespace numatlas
