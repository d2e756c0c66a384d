// Who works where, over all ranks: the same value on every rank, so that every rank computes the
// same plan.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "comm/comm.h"
#include "machine/machine.h"
#include "placement/placement.h"

namespace numatlas {

/// One worker thread of one rank.
struct Worker {
  int rank = 0;
  int host = 0;  ///< index into Layout::hosts
  WorkerPlacement placement;
};

struct Layout {
  /// Only the workers of this host are here, and their ranks are local ranks.
  bool of_this_host = false;
  std::vector<std::string> hosts;
  std::vector<Worker> workers;  ///< by rank, then thread

  /// This process and its host, as the workers name them.
  int own_rank(const Comm& comm) const { return of_this_host ? comm.local_rank() : comm.rank(); }
  int own_host(const Comm& comm) const {
    return of_this_host ? 0 : comm.layout().host_of[static_cast<std::size_t>(comm.rank())];
  }
  /// Workers of a rank, as indices.
  std::vector<int> workers_of(int rank) const;
  /// Workers for each distinct CPU, on the host where they are most: over 1 they share CPUs.
  double workers_per_cpu() const;
};

/// Gathers every rank's workers. Collective; an error of one is everyone's.
Expected<Layout> gather_layout(Comm& comm, const Expected<std::vector<WorkerPlacement>>& mine);

/// The task's place and its peers: fills rank, local rank and `peers_before` of a context. `cpus`:
/// by rank, the list of those that it may use.
TaskContext task_context(const Comm& comm, const std::vector<std::string>& cpus);
/// The same, with what the ranks may use gathered. Collective.
Expected<TaskContext> gather_task_context(Comm& comm, const Machine& machine);

}  // namespace numatlas
