// The way of passes to rank 0: within each host from its workers' times to one PassTimes, then
// from the first rank of each host to rank 0. So rank 0 receives O(hosts) a round, and a run that
// breaks off has every round before.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "analysis/rows.h"
#include "comm/comm.h"
#include "engine/scenario.h"
#include "record/report.h"

namespace numatlas {

/// One pass on one host: a sample for each worker, and the global rank that each belongs to
/// (workers of one rank stand together); samples start from the time that all hosts agreed on.
/// Pure.
PassTimes reduce_pass(std::span<const Sample> workers, std::span<const int> rank_of);

/// When each process began in that pass, after the first of them, and how long it took: seconds, by
/// rank, as reduce_pass sees them. Pure.
struct ProcessPass {
  double start = 0, seconds = 0;
  friend bool operator==(const ProcessPass&, const ProcessPass&) = default;
};
std::vector<ProcessPass> process_passes(std::span<const Sample> workers,
                                        std::span<const int> rank_of);

/// Called by the first rank of each host, in step. `leaders`: those ranks, by host.
class HostGathering {
 public:
  /// The hosts, kinds, passes and machines of `report`, which has its cases, are filled on rank 0
  /// of `leaders`; it must outlive this.
  HostGathering(Group& leaders, RunReport& report) : leaders_(leaders), report_(report) {}

  /// Names this host to rank 0: its kind, place and warnings; of each kind the first host's machine
  /// goes along.
  Expected<void> meet(const std::string& name, const HostRow& host, const HostKind& kind,
                      const std::vector<Warning>& warnings, const Machine& machine);
  /// From now on rounds are those of a second run.
  void run_again() { again_ = true; }
  /// One round of this host: a PassTimes for each of the cases [first, first + count).
  Expected<void> add_round(std::size_t first, std::span<const PassTimes> passes);
  /// Passes of each process of this host by case, at the end.
  Expected<void> add_processes(const std::vector<std::vector<ProcessPasses>>& mine);
  /// What else ran on this host, at the end.
  Expected<void> add_cpu_use(const CpuUse& mine);
  /// What is to be said of this host now, at the end.
  Expected<void> add_warnings(const std::vector<Warning>& mine);
  /// What hosts said, each once with the hosts that said it; without these where all did.
  std::vector<Warning> warnings() const;

 private:
  /// `put` gets the index of each host with its value, on rank 0.
  template <class T, class Put>
  Expected<void> add_of_hosts(const T& mine, Put put);

  Group& leaders_;
  RunReport& report_;
  bool again_ = false;
  std::vector<HostKind> kinds_;                        ///< of the report's machines
  std::vector<std::pair<std::size_t, Warning>> said_;  ///< by which host
};

}  // namespace numatlas
