// A run that is reduced to the rounds of its hosts: each host sets up by itself, all hosts take the
// passes together, and rank 0 gets a few numbers for each host and pass, whatever the number of
// ranks.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "comm/comm.h"
#include "engine/engine.h"
#include "record/report.h"
#include "run/host_gathering.h"
#include "run/progress.h"
#include "run/setup.h"

namespace numatlas {

class HostRounds {
 public:
  /// Told on rank 0 after every round.
  using AfterRound = std::function<void()>;

  /// `report` loses its hosts, which are met. All of these must outlive it.
  HostRounds(Comm& comm, const Setup& setup, RunReport& report, Progress& progress,
             AfterRound after_round);

  /// For EngineOptions: what is told when memory stands, and after each pass.
  void meet(const std::vector<const Trace*>& traces);
  Expected<void> take_pass(int pass, std::span<const Sample> of_host);
  /// Puts the cases into the report where they are not there yet; the first one of a scenario of
  /// the plan.
  std::size_t first_case_of(std::size_t scenario);
  /// Before a scenario of the plan. What is run of it may have no flows.
  void begin(std::size_t index, const Scenario& scenario);
  /// What each host still has to say, once all scenarios have run. Collective.
  Expected<void> gather_rest(const std::optional<CpuWatch>& watch);
  /// The hosts that rank 0 chose, indices into the report's, run all scenarios again with `run`
  /// while the others wait; its argument is whether this host takes part. Collective.
  Expected<void> retest(const std::vector<std::size_t>& chosen,
                        const std::function<Expected<void>(bool takes_part)>& run);
  /// Whether that was asked for, if only for no host.
  bool retested() const { return retested_; }
  /// What the hosts said of themselves, on rank 0.
  std::vector<Warning> warnings() const;

 private:
  bool leads() const { return comm_.local_rank() == 0; }

  Comm& comm_;
  const Setup& setup_;
  RunReport& report_;
  Progress& progress_;
  AfterRound after_round_;
  bool keeps_processes_;
  std::unique_ptr<HostGathering> gathering_;             ///< on the first ranks of hosts
  std::vector<int> rank_of_;                             ///< by flow of this host
  const Scenario* scenario_ = nullptr;                   ///< the one at hand
  std::size_t first_case_ = 0;                           ///< of it
  std::vector<PassTimes> round_;                         ///< passes of the round at hand
  std::vector<std::vector<ProcessPasses>> processes_;    ///< of this host by case, where kept
  std::vector<Warning> said_warnings_, later_warnings_;  ///< of this host
  std::string placement_;                                ///< of this host, in the first scenario
  bool met_ = false, retesting_ = false, retested_ = false;
};

}  // namespace numatlas
