// The nodes of a machine as a program can use them: near ones with CPUs, tiers without.
#pragma once

#include <string>
#include <vector>

#include "advise/candidates.h"
#include "machine/machine.h"
#include "placement/placement.h"

namespace numatlas {

using NodeList = std::vector<const NumaNode*>;

/// Nodes with memory that the program may use.
NodeList memory_nodes(const Machine& machine);
/// Those of them with CPUs that it may use.
NodeList near_nodes(const Machine& machine);
/// Those without, by what they are: HBM, CXL, slower tiers.
std::vector<NodeList> far_tiers(const Machine& machine);

/// Weights are 1.
MemoryPlacement placement_on(MemoryMode mode, const NodeList& nodes);

/// Why the program's memory does not fit; "" where it does, or nothing is known of it.
std::string room_problem(const ProgramTraits& program, const NodeList& nodes);

/// A near node, and what is against having all of the program there; "" for nothing.
struct NodeFit {
  const NumaNode* node = nullptr;
  CpuSet cpus;
  std::string too_many_threads, no_room;
};
/// The best one first: those that the program fits on, then by the latency of their own memory as
/// measured, then by the memory that is free.
std::vector<NodeFit> node_fits(const ProposalInput& input);

}  // namespace numatlas
