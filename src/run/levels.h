// Which cache a size fits.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "engine/layout.h"
#include "engine/scenario.h"
#include "machine/machine.h"

namespace numatlas {

/// "L1", "L2", "L3": the nearest data cache of the flow's first CPU that holds what all flows touch
/// that run under this cache at the same time, of a cache that nodes share what each of them has of
/// it (machine/cache_share.h); beyond the last one the memory-side cache of the
/// nodes that the memory is on, where they have one that holds what all flows of the host touch
/// there, else "memory"; "-" where the caches are unknown. `flow`: one of `scenario.flows`.
std::string level_of_flow(const Machine& machine, const Layout& layout, const Scenario& scenario,
                          const Flow& flow);

/// The caches that hold what flows of CPUs touch ("L3"); none where all of it is in memory, or the
/// caches are unknown. `machines`: one a host.
std::set<std::string> caches_of(const std::vector<Machine>& machines, const Layout& layout,
                                const Scenario& scenario);

/// Bytes to walk after the common start, before the first sample, so that the caches are in their
/// steady state: twice the size where it fits the last-level cache; beyond that as much as fills
/// that cache twice, since what then is left in it is not what comes next (of accesses at random,
/// so many lines). Source: DESIGN, "Samples".
Bytes warm_up_bytes(const Machine& machine, const CpuSet& cpus, const Flow& flow);

/// Bytes in the lines that a flow touches: all of its region, but with a stride over a line only a
/// line a node (a line is taken as 64 bytes). Nothing of memory that is another flow's.
Bytes touched_bytes(const Flow& flow);

/// Whether a chain is walked whole before it is used, besides its proof, which covers every line
/// too: up to 4 MiB, where the walk takes milliseconds. Far above that it would take seconds.
bool is_walked_whole(const Flow& flow);

/// Size of a cache line of these CPUs; 64 bytes, what nearly every CPU has, where it is unknown.
Bytes line_bytes(const Machine& machine, const CpuSet& cpus);

/// Size of the last-level cache of the first of these CPUs, whatever its node's share; 64 MiB
/// (larger than most slices) where it is unknown.
Bytes last_level_cache_bytes(const Machine& machine, const CpuSet& cpus);

/// What of these workers' CPUs (one CPU of each) and of the nodes of their memory says how much
/// memory they have to use together so that caches hold little of it: four times the last-level
/// caches, as STREAM's rules ask for, twice the memory-side caches, which are too large for more,
/// and what may be unlisted. Every default size that means memory comes from here. An unknown cache
/// counts as one of 64 MiB.
Bytes past_all_caches(const Machine& machine, const CpuSet& cpus, const NodeSet& memory);

/// The last-level caches of these CPUs, each once: as much of them as holds memory of these nodes,
/// or of the CPUs' own where none are named (machine/cache_share.h).
Bytes last_level_caches(const Machine& machine, const CpuSet& cpus, const NodeSet& memory = {});

/// How far caches may reach that no table lists, of all a host's together: 1 GiB, twice the largest
/// of any CPU (504 MiB, Xeon 6980P), where tables cannot be believed. Those of a virtual machine
/// are what the hypervisor says, Arm's system-level caches are in few of them, and some list none
/// at all. Else 0.
Bytes unlisted_caches(const Machine& machine, const CpuSet& cpus);

/// A cache level whose latency is more than this part of that of what lies beyond it cannot be told
/// from it.
inline constexpr double as_slow_as_beyond = 2.0 / 3;

}  // namespace numatlas
