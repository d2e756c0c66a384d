// A short reference measurement, always the same, repeated throughout a run: how fast the machine
// was when. Differences between runs are seen relative to it (docs/methods.md).
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/engine.h"
#include "record/report.h"
#include "run/setup.h"

namespace numatlas {

/// One kind of pilot, and what it runs.
struct PlannedPilot {
  PilotSeries head;  ///< without values
  Scenario scenario;
};

/// The pilots that suit a plan: reads by the CPUs of all workers where these move memory, a pointer
/// chase on each host where they measure latencies. None where preparing them would take more
/// than a twentieth of the run, where their memory would leave less than
/// a fifth of what is free beside the cases', or where the workers' memory is a device's.
/// Pure, and the same on every rank.
std::vector<PlannedPilot> plan_pilots(const Setup& setup, const RunOptions& options,
                                      std::chrono::duration<double> session);

/// The pilots of a session in progress. They keep their memory.
class Pilots {
 public:
  /// `comm` must outlive it.
  explicit Pilots(Comm& comm) : comm_(&comm) {}

  /// Adds those that suit a plan, of kinds that are not there yet. `time`: seconds of the session.
  /// `setup` must outlive it. `shared`: the null engine, whose flows share one time and take no
  /// memory; nullptr: each pilot has an engine of its own, so that its memory stays. Collective;
  /// errors are those that end a session. With others a kind is left out; `failure` says why.
  Expected<void> add(const Setup& setup, const RunOptions& options,
                     std::chrono::duration<double> time, Engine* shared);

  /// Takes one of each kind at `now` (seconds of the session), unless all of them together have
  /// taken a tenth of the time so far; `last`: in any case. Collective; errors are those that end a
  /// session (peer, interrupted).
  Expected<void> take(const std::function<double()>& now, bool last = false);

  /// What rank 0 knows.
  std::vector<PilotSeries> series() const;
  /// Which one failed last, and why; "": none.
  const std::string& failure() const { return failure_; }

 private:
  struct Kind {
    PlannedPilot planned;
    Engine* engine = nullptr;
    std::unique_ptr<Engine> own_engine;
    bool prepared = false;  ///< its memory stands
  };

  Expected<void> take_one(Kind& kind, const std::function<double()>& now);
  void give_up(const std::string& key, const Error& error);

  Comm* comm_;
  std::vector<Kind> kinds_;
  double rationed_ = 0;  ///< seconds that they took, without preparing
  std::string failure_;
};

/// The mean of the pilots before and after a time, in seconds of the run; absent without any.
std::optional<double> pilot_around(const PilotSeries& pilot, double start, double end);

/// Sets `relative` of the figures of a case: bandwidths over the pilots' bandwidth, latencies over
/// their latency. What a cache holds goes with none. `times`: start and end of each visit.
void relate_to_pilots(Case& result, const std::vector<std::pair<double, double>>& times,
                      const std::vector<PilotSeries>& pilots);

}  // namespace numatlas
