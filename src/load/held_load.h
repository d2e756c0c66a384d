// A load on memory that is held at a rate while others run: threads that stream over memory of
// their own, with pauses that keep all of them together at the rate.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/scenario.h"
#include "machine/machine.h"
#include "placement/placement.h"

namespace numatlas {

/// A thread on each of these places.
struct LoadRequest {
  std::vector<WorkerPlacement> workers;  ///< each with one CPU
  KernelSpec kernel;
  Bytes size;  ///< memory of each
  PageKind pages = PageKind::base;

  CpuSet cpus() const;
  Region region_of(const WorkerPlacement& worker) const;
  /// The cache that holds the memory of each thread, or "memory" (run/levels.h).
  std::vector<std::string> levels(const Machine& machine) const;
  /// "read by CPUs 0-3, 64 MiB each on bind:1".
  std::string text() const;
};

/// What a load did in some time.
struct LoadWindow {
  double seconds = 0;
  double bytes = 0;  ///< as STREAM counts them, of all threads
  double taken = 0;  ///< seconds of all threads in which they had work to do and no CPU
  double cpu = 0;    ///< seconds of CPU time of all threads
  double rate() const { return seconds > 0 ? bytes / seconds : 0; }
  LoadWindow& operator+=(const LoadWindow& more);
};

/// Nearer to what was asked a load is held.
inline constexpr double held_within = 0.03;

/// Why a load fell short of `asked` bytes a second: the CPUs were taken away, or its threads did
/// all that they could; "" where it is held.
std::string shortfall_text(const LoadWindow& window, double asked, std::size_t threads);

class HeldLoad {
 public:
  virtual ~HeldLoad() = default;
  /// From now on so many bytes a second; nullopt: all that it can; 0: none.
  virtual void hold(std::optional<double> rate) = 0;
  /// What it did since the last look. The simulated one did what it can in `seconds`.
  virtual LoadWindow look(double seconds) = 0;
  /// Waits so long, shorter after a stop.
  virtual void wait(double seconds) = 0;
  /// Where the memory of each thread lies now.
  virtual std::vector<Residency> residencies() = 0;
  virtual std::vector<PolicyOutcome> policies() = 0;
  /// Error (internal): a thread read what it had not written.
  virtual Expected<void> finish() = 0;
};

/// Comes back when all memory is there, with a load of none. What is started ends with it, and with
/// this process. Errors as those of memory and threads.
Expected<std::unique_ptr<HeldLoad>> start_load(const LoadRequest& request, const Machine& machine);
/// Of a machine that is simulated, which has the peak that the null engine gives it. The request
/// and the machine must outlive it.
Expected<std::unique_ptr<HeldLoad>> simulate_load(const LoadRequest& request,
                                                  const Machine& machine);

/// "CPU 1", "CPUs 0-3".
std::string cpus_text(const CpuSet& cpus);

/// What it does without pauses, measured for a second.
LoadWindow peak_of(HeldLoad& load);
/// Where it did not have its CPUs all the time, that; else "".
std::string lack_of_peak(const LoadWindow& peak, std::size_t threads);
/// "17.4 GB/s without pauses", and where it did not have its CPUs all the time, that.
std::string peak_text(const LoadWindow& peak, std::size_t threads);

/// The first hardware thread of each core, of these.
CpuSet one_cpu_per_core(const Machine& machine, const CpuSet& cpus);

/// A load's CPUs, and those that are left for a program beside it.
struct LoadCpus {
  CpuSet load, program;
};
/// Of those that this process may use: of the node nearest to the memory (of all where it is
/// local) a CPU a core; beside a program half of these cores. Error (unavailable): there is none
/// left for the program.
Expected<LoadCpus> usual_load_cpus(const Machine& machine, const NodeSet& memory, bool beside);

}  // namespace numatlas
