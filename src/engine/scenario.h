// What runs together, and what comes back. Plain data: a plan can be printed, compared and computed
// on every rank alike.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/warning.h"
#include "gpu/step_queue.h"
#include "kernels/kernel.h"
#include "memory/buffer.h"

namespace numatlas {

/// The scenario ends when all `measured` flows had their time; `load` flows keep the memory busy
/// until then.
enum class Role { measured, load };

/// One executor (a worker thread of a rank) applying a kernel to a region.
struct Flow {
  int worker = 0;  ///< index into the layout's workers
  KernelSpec kernel;
  Region region;
  std::optional<Region> source;  ///< read from here, where that is apart from what is written
  /// The worker whose thread touches every page first, of the same rank; absent: the flow's own.
  std::optional<int> first_touch;
  /// Index of the flow whose memory this one works on, of the same rank, instead of memory of its
  /// own.
  std::optional<int> shares;
  Role role = Role::measured;
  std::optional<double> rate;  ///< at most so many bytes a second, as counted; absent: all it can
  Bytes warm_up;               ///< bytes walked before the first sample
  bool in_memory = false;      ///< no cache holds it: vectors of the fastest width (engine/widths)
  friend bool operator==(const Flow&, const Flow&) = default;
};

/// For how long a measured flow records.
struct StopRule {
  Nanoseconds time{std::chrono::milliseconds(500)};
  /// Exactly so many samples, each of one step, which all flows of a host begin together, unless
  /// the time ends them.
  std::optional<std::uint64_t> steps;
  /// Each of these is a whole pass of the kernel, and no time ends them.
  bool whole_passes = false;
  friend bool operator==(const StopRule&, const StopRule&) = default;
};

/// Flows that run at the same time.
struct Scenario {
  std::string name;
  std::vector<Flow> flows;
  StopRule stop;
  /// Memory that a run leaves behind may be used by the next one that has the same number here.
  int memory_number = 0;
  /// So may its pages alone, for another kernel, by a run of the same round.
  int round = 0;
  /// The next run is of the same flows and the same number: their memory stays, on all ranks.
  bool keep_memory = false;
  /// Afterwards the kernels' output is checked, and where the memory lies is looked at again.
  bool checks = true;
  friend bool operator==(const Scenario&, const Scenario&) = default;
};

/// Duration of a block of steps.
struct Sample {
  std::int64_t start_ns = 0;     ///< on this host's CLOCK_MONOTONIC
  std::int64_t duration_ns = 0;  ///< timer overhead included (held under 1 %)
};

enum class StopReason { time_cap, interrupted, passes };
const char* name_of(StopReason reason);

/// What the engine brings back for one flow.
struct Trace {
  int flow = 0;               ///< index into the scenario's flows
  std::uint64_t address = 0;  ///< of the measured memory itself
  std::uint64_t steps_per_sample = 0;
  /// All recorded while every flow of the host ran; a load's as well.
  std::vector<Sample> samples;
  StopReason stop = StopReason::time_cap;
  std::int64_t timer_overhead_ns = 0;
  std::uint64_t warm_up_steps = 0;
  std::optional<double> overlap;  ///< part of its own time in which all flows of its host ran
  /// From when every flow of the host was running to this one's end; on this host's clock.
  std::int64_t together_start_ns = 0, together_end_ns = 0;
  std::int64_t together_ns() const { return together_end_ns - together_start_ns; }
  std::optional<Error> wrong;              ///< what the kernel found when it checked its output
  std::vector<StepCount> counts;           ///< of the kernel, over all steps that it ran
  std::optional<GroupTimes> groups;        ///< of its steps while recording, where it timed them
  std::uint64_t involuntary_switches = 0;  ///< times it lost its CPU while recording
  /// Indices of the samples, ascending, in which it lost its CPU, or a flow that shares its memory
  /// did, as far as that is seen (note_stops).
  std::vector<std::size_t> stopped;
  std::optional<CpuId> cpu_before, cpu_after;
  Residency residency;
  std::optional<Residency> source_residency;  ///< where it reads from, when that is apart
  /// Pages that were on another node after the last step, at least; absent where nobody looked.
  std::optional<std::size_t> pages_moved;
  /// Of a flow of a GPU: what its side tells, and where the host's memory lay before it was pinned
  /// and after the last step. `residency` (`source_residency`) is that once it was pinned.
  std::optional<DeviceReport> device;
  std::optional<Residency> before_pinning, after;
  PolicyOutcome policy;
  double prepare_seconds = 0;     ///< allocation, first touch, build and proof
  std::vector<Warning> warnings;  ///< without `where`: the reader knows the flow
};

/// Median of a trace's samples in nanoseconds a step, and all of them.
std::vector<double> nanoseconds_per_step(const Trace& trace);
/// Steps that lie in each of `parts` equal stretches of the time together. A sample across a border
/// counts on both sides, by its time there. Empty when there was no such time.
std::vector<double> steps_by_stretch(const Trace& trace, std::size_t parts);
/// From the first sample of all to the end of the last one; without samples the rule's whole time.
Nanoseconds time_used(const std::vector<Trace>& traces, const StopRule& rule);

}  // namespace numatlas
