// Caches that CPUs of several nodes have: how much of them there is for memory of one node.
#pragma once

#include "machine/machine.h"

namespace numatlas {

/// How much of a cache holds memory of a node. Of a cache that CPUs of several nodes have (sub-NUMA
/// clusters) each of these nodes has an equal share; memory of other nodes with CPUs may fill all
/// of it. Source: Intel, "Xeon Scalable Memory Family Uncore Performance Monitoring", SNC: an
/// address is cached by the slices of its own cluster, those of other sockets by all.
Bytes cache_share(const Machine& machine, const Cache& cache, NodeId memory);
/// The same for memory of the CPU's own node.
Bytes own_cache_share(const Machine& machine, const Cache& cache, CpuId cpu);

}  // namespace numatlas
