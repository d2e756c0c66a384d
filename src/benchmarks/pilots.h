// A short reference measurement, always the same, repeated throughout a run: how fast the machine
// was when. Differences between runs are seen relative to it (docs/methods.md).
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "benchmarks/setup.h"
#include "engine/engine.h"
#include "record/report.h"

namespace numatlas {

/// One kind of pilot, and what it runs.
struct PlannedPilot {
  PilotSeries head;  ///< without values
  Scenario scenario;
};

/// The pilots that suit a plan: reads by the CPUs of all workers where it moves memory, a pointer
/// chase on each host where it measures latencies. None where preparing them would take more than a
/// twentieth of the run, where their memory would take more than a tenth of what is free or leave
/// less than a fifth of it beside the cases', or where the workers' memory is a device's. Pure, and
/// the same on every rank.
std::vector<PlannedPilot> plan_pilots(const Setup& setup, const RunOptions& options);

/// The pilots of a run in progress. They keep their memory.
class Pilots {
 public:
  /// `setup` and `comm` must outlive it. `shared`: the null engine, whose flows share one time and
  /// take no memory; nullptr: each pilot has an engine of its own, so that its memory stays.
  /// Collective; errors are those that end a run. Others leave no pilots; `failure` says why.
  static Expected<Pilots> make(const Setup& setup, const RunOptions& options, Comm& comm,
                               Engine* shared);

  /// Takes one of each kind at `now` (seconds of the run), unless all of them together have taken a
  /// tenth of the time so far; `last`: in any case. Collective; errors are those that end a run
  /// (peer, interrupted).
  Expected<void> take(const std::function<double()>& now, bool last = false);

  bool empty() const { return kinds_.empty(); }
  /// Seconds that they took.
  double seconds() const { return seconds_; }
  /// What rank 0 knows.
  std::vector<PilotSeries> series() const;
  /// Why there are none, where they were planned; "" otherwise.
  const std::string& failure() const { return failure_; }

 private:
  struct Kind {
    PlannedPilot planned;
    std::unique_ptr<Engine> engine;
  };

  Pilots(const Setup& setup, Comm& comm, Engine* shared)
      : setup_(&setup), comm_(&comm), shared_(shared) {}
  Expected<void> take_one(Kind& kind, const std::function<double()>& now);
  void give_up(const Error& error);

  const Setup* setup_;
  Comm* comm_;
  Engine* shared_;
  std::vector<Kind> kinds_;
  double seconds_ = 0, rationed_ = 0;  ///< all; without preparing
  bool first_ = true;
  std::string failure_;
};

/// The mean of the pilots before and after a time, in seconds of the run; absent without any.
std::optional<double> pilot_around(const PilotSeries& pilot, double start, double end);

/// Sets `relative` of the figures of a case: bandwidths over the pilots' bandwidth, latencies over
/// their latency. What a cache holds goes with none. `times`: start and end of each visit.
void relate_to_pilots(ScenarioResult& result, const std::vector<std::pair<double, double>>& times,
                      const std::vector<PilotSeries>& pilots);

}  // namespace numatlas
