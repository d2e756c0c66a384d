// What a program does to the machine: one run of it, watched.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <istream>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/program.h"
#include "base/units.h"
#include "machine/machine.h"

namespace numatlas {

/// `root` and its descendants, each after its parent. Those that have ended meanwhile are left out.
std::vector<pid_t> processes_below(pid_t root);

/// One process, from /proc/PID/status and smaps_rollup.
struct ProcessState {
  int threads = 0;
  Bytes resident;
  Bytes huge;  ///< transparent huge pages, and those of the pool
};
std::optional<ProcessState> read_state(pid_t process);
/// The part of smaps_rollup.
void read_rollup(std::istream& file, ProcessState& state);

/// CPUs that each thread of a process may run on.
std::vector<CpuSet> thread_cpus(pid_t process);

/// Whether a file with one of these in its name is mapped.
bool has_mapped(pid_t process, const std::vector<std::string>& names);

/// The memory of a program and of all processes that it started, at one time.
struct MemorySample {
  double at = 0;                 ///< seconds since its start
  std::map<int, Bytes> by_node;  ///< OS node -> resident bytes
  Bytes huge;                    ///< of them in huge pages, transparent ones included
  Bytes total() const;
};

struct Look {
  ProgramRun run;
  int threads = 0;    ///< most at one time, of one process
  int processes = 0;  ///< most at one time
  std::vector<MemorySample> samples;
  bool openmp = false, gpu = false;  ///< it has such a library loaded
  CpuSet cpus_at_start;              ///< it may run on
  std::optional<CpuSet> own_cpus;    ///< a thread has these instead, which it chose itself
  std::string no_nodes;  ///< why the nodes of its pages are not known; "" where they are

  /// CPUs that it kept busy, on average.
  double cpus_used() const;
  /// The one with most memory; nullptr for a program that was too short for any.
  const MemorySample* fullest() const;
  Bytes peak_memory() const;
  /// Part of its memory in huge pages when it had most.
  std::optional<double> huge_share() const;
  /// Parts of its memory on each node when it had most.
  std::map<int, double> node_shares() const;
};

/// From one sample of a program's memory, which took so much CPU time, to the next: as long as
/// makes it half a percent of that time, but no longer than the program is old, so that a short one
/// is seen more than once; then it may be 2 %. Pure.
std::chrono::duration<double> pause_between_samples(std::chrono::duration<double> taken,
                                                    std::chrono::duration<double> age);

/// Runs the program once, on these CPUs at its start, and watches it, with half a percent of one
/// CPU's time, and at most 2 % of a short program's. Errors as run_program.
Expected<Look> look_at(ProgramRequest request, CpuSet cpus_at_start, const Machine& machine);

/// "1 of 64 CPUs, 40 GiB on node 0, 0 % of it in huge pages", a sentence an entry. Pure.
std::vector<std::string> sentences_of(const Look& look, const Machine& machine);

}  // namespace numatlas
