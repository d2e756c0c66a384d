// STREAM over hosts: what is kept of each host, so that rank 0 holds something for each host and
// kernel and round, and nothing for each rank (unless samples are asked for).
//
// Words: a *round* is one pass of every kernel, in their order; a *pass* is one kernel over all of
// the arrays of every process, begun together. Times are in seconds, bytes are counted as STREAM
// counts them. The first round warms up: it is kept, and left out of every figure (as in STREAM).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/units.h"
#include "base/warning.h"
#include "machine/cpu_use.h"
#include "machine/machine.h"

namespace numatlas {

/// What hosts must have in common to be compared with each other (alike).
struct HostKind {
  std::string cpu_model;
  std::string os;  ///< "Linux 6.1.0-18-amd64"
  int cpus = 0, nodes = 0;
  /// Of all nodes, rounded to whole GiB: what the firmware keeps differs by some MiB.
  Bytes memory;
  int processes = 0, workers = 0;  ///< of the run on this host; workers: threads of all processes
  friend bool operator==(const HostKind&, const HostKind&) = default;
};
/// The same but for 2 % of the memory, of which firmware keeps more here and less there.
bool alike(const HostKind& a, const HostKind& b);
/// The kind of a host that runs so many processes and workers.
HostKind kind_of(const Machine& machine, int processes, int workers);
/// "AMD EPYC 7742, 256 CPUs, 8 nodes, 503 GiB, Linux 5.14.0, 8 processes x 16 threads".
std::string to_text(const HostKind& kind);

/// One kernel as every process of the run executes it.
struct FleetKernel {
  std::string name;    ///< "copy", "scale", "add", "triad", "read", "write"
  std::string mode;    ///< "memory", or of persistent memory "none", "individual", ... (--persist)
  std::string stores;  ///< "ordinary", "non-temporal"; "" for a kernel that only reads
  std::uint64_t bytes = 0;  ///< of one process in one pass
  std::uint64_t moved = 0;  ///< with the lines that ordinary stores fetch first
  /// Of which run it is, where runs that differ in these are put together (fleet/merged.h); else
  /// "".
  std::string memory{}, isa{};
  friend bool operator==(const FleetKernel&, const FleetKernel&) = default;
};
/// "triad"; "triad (persist individual)" where there is more than memory.
std::string full_name(const FleetKernel& kernel);

/// One pass on one host, from the times of its processes: each from when its first thread began to
/// when its last one ended.
struct PassTimes {
  /// The host's own time: from when its first process began to when its last one ended. As long as
  /// `slowest` where they began together; system E takes that one, which says too little where they
  /// did not.
  double node = 0;
  double start = 0;    ///< its first worker's, after the time that all hosts agreed on; -1 unknown
  double slowest = 0;  ///< of the processes
  double fastest = 0;
  double sum = 0;         ///< of all processes
  double overlap = 0;     ///< part of `node` in which all workers ran, 0..1
  int slowest_rank = -1;  ///< global
  friend bool operator==(const PassTimes&, const PassTimes&) = default;
};

/// Rounds of one process, where samples are asked for.
struct ProcessRounds {
  int rank = 0;
  std::vector<std::vector<double>> starts;   ///< by kernel, then round: after the host's first
  std::vector<std::vector<double>> seconds;  ///< by kernel, then round
  friend bool operator==(const ProcessRounds&, const ProcessRounds&) = default;
};

/// What some files hold of a kernel on a host instead of its rounds (those of system E): seconds.
struct HostSummary {
  double average = 0;               ///< of its processes, over all rounds
  double minimum = 0, maximum = 0;  ///< of the host's own time, over the rounds
  friend bool operator==(const HostSummary&, const HostSummary&) = default;
};

struct FleetHost {
  std::string name;
  std::size_t kind = 0;                        ///< index into Fleet::kinds
  int first_rank = 0;                          ///< global rank of its first process
  std::vector<std::vector<PassTimes>> rounds;  ///< by kernel, then round; the first one included
  std::string placement;  ///< observed, in words: "node 0: 1536 pages, node 1: 1536 pages of 4 KiB"
  std::vector<Warning> warnings;
  std::optional<CpuUse> cpu_use;         ///< while the rounds ran; absent with the null engine
  std::vector<ProcessRounds> processes;  ///< empty unless samples are asked for
  /// By kernel, where a file told only these; then there are no rounds. Else empty.
  std::vector<std::optional<HostSummary>> summaries;
  friend bool operator==(const FleetHost&, const FleetHost&) = default;
};

/// A suspect host run again, with healthy ones beside it.
struct Retest {
  std::vector<FleetHost> hosts;  ///< suspects and partners; kinds as in the fleet
  friend bool operator==(const Retest&, const Retest&) = default;
};

/// Everything a run of STREAM over hosts found; what --json writes.
struct Fleet {
  /// False of runs put together: their hosts did not measure at the same time. Not in files.
  bool at_once = true;
  std::string command, version;
  std::vector<std::string> arguments;
  std::string started;  ///< UTC, ISO 8601
  double seconds = 0;
  bool complete = false;
  std::string incomplete_reason;
  std::string comm, engine, isa;
  double clock_error = 0;  ///< seconds by which a host's clock may have been off rank 0's
  int ranks = 1;
  std::uint64_t elements = 0;   ///< of each of the three arrays of a process, 8 bytes each
  std::string elements_source;  ///< "--elements", "4 x last-level caches (32 MiB) of cn01"
  int repeats = 0;              ///< rounds asked for
  std::string memory;           ///< placement asked for, in the grammar's words
  std::vector<FleetKernel> kernels;
  std::vector<HostKind> kinds;
  std::vector<FleetHost> hosts;
  std::optional<Retest> retest;
  std::vector<Machine> machines;  ///< the first host of each kind, in full
  std::vector<Warning> warnings;
  friend bool operator==(const Fleet&, const Fleet&) = default;
};

}  // namespace numatlas
