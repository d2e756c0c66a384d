// STREAM over hosts: what is kept of each host, so that rank 0 holds something for each host and
// kernel and round, and nothing for each rank (unless samples are asked for).
//
// Words: a *round* is one pass of every kernel, in their order; a *pass* is one kernel over all of
// the arrays of every process, begun together. Times are in seconds, bytes are counted as STREAM
// counts them. The first round warms up: it is kept, and left out of every figure (as in STREAM).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/units.h"
#include "base/warning.h"
#include "machine/cpu_use.h"

namespace numatlas {

/// What hosts must have in common to be compared with each other (fleet/fleet.h, alike).
struct HostKind {
  std::string cpu_model;
  std::string os;  ///< "Linux 6.1.0-18-amd64"
  int cpus = 0, nodes = 0;
  /// Of all nodes, rounded to whole GiB: what the firmware keeps differs by some MiB.
  Bytes memory;
  int processes = 0, workers = 0;  ///< of the run on this host; workers: threads of all processes
  friend bool operator==(const HostKind&, const HostKind&) = default;
};

/// One kernel as every process of the run executes it.
struct FleetKernel {
  std::string name;    ///< "copy", "scale", "add", "triad", "read", "write"
  std::string mode;    ///< "memory", or of persistent memory "none", "individual", ... (--persist)
  std::string stores;  ///< "regular", "non-temporal"; "" for a kernel that only reads
  std::uint64_t bytes = 0;  ///< of one process in one pass
  std::uint64_t moved = 0;  ///< with the lines that regular stores fetch first
  friend bool operator==(const FleetKernel&, const FleetKernel&) = default;
};
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

/// From when on a host is slow (analysis/peers.h).
struct SlowRule {
  double mads = 6;     ///< scaled by 1.4826, so that it is a standard deviation of normal noise
  double drop = 0.05;  ///< relative, in one kernel
  /// In all kernels together, which vary less.
  double drop_together = 0.015;
  /// The scaled MAD is at least this part of the median: among very even hosts any difference would
  /// be many deviations.
  double least_spread = 0.005;
  std::size_t least_hosts = 3;  ///< of a kind: below it nobody can say who is slow
  double false_share = 0.01;    ///< of those named for all kernels together
  friend bool operator==(const SlowRule&, const SlowRule&) = default;
};

enum class Verdict { suspected, confirmed, not_confirmed };

/// What says that a host is below the median in more than a moment.
enum class Evidence { interval, range, none };

/// One kernel in which a host is slow.
struct SlowKernel {
  std::size_t kernel = 0;
  double rate = 0;    ///< bytes/s, the host's median
  double median = 0;  ///< of the hosts of its kind
  double drop = 0;    ///< relative, > 0
  double mads = 0;
  std::size_t rounds = 0, slow_rounds = 0;  ///< rounds in which it was more than `drop` below
  Evidence evidence = Evidence::interval;
  friend bool operator==(const SlowKernel&, const SlowKernel&) = default;
};

/// All kernels together.
struct SlowTogether {
  double drop = 0;  ///< relative, > 0: of the median over kernels, over the rounds
  double mads = 0;
  std::size_t rounds = 0, slow_rounds = 0;
  friend bool operator==(const SlowTogether&, const SlowTogether&) = default;
};

struct SlowHost {
  std::size_t host = 0;             ///< index into Fleet::hosts
  std::size_t peers = 0;            ///< hosts of its kind that were compared, itself included
  std::vector<SlowKernel> kernels;  ///< the largest drop first; empty where none shows it by itself
  std::optional<SlowTogether> together = {};  ///< where all kernels together show it
  Verdict verdict = Verdict::suspected;       ///< from the retest, where there was one
  friend bool operator==(const SlowHost&, const SlowHost&) = default;
};

/// Who is slow, by which rule (analysis/peers.h).
struct SlowReport {
  SlowRule rule;
  std::vector<SlowHost> hosts;          ///< the largest drop first
  std::vector<std::string> not_judged;  ///< why hosts could not be judged, in words
  std::vector<std::size_t> unjudged;    ///< those hosts, ascending; the others were
  std::size_t judged = 0;               ///< hosts that were compared with others

  /// Number of them without those that a retest did not confirm.
  std::size_t slow() const {
    return static_cast<std::size_t>(std::ranges::count_if(
        hosts, [](const SlowHost& host) { return host.verdict != Verdict::not_confirmed; }));
  }
  friend bool operator==(const SlowReport&, const SlowReport&) = default;
};

/// The rounds of all hosts of a run.
struct Fleet {
  double clock_error = 0;       ///< seconds by which a host's clock may have been off rank 0's
  std::uint64_t elements = 0;   ///< of each of the three arrays of a process, 8 bytes each
  std::string elements_source;  ///< "--elements", "4 x last-level caches (32 MiB) of cn01"
  int repeats = 0;              ///< rounds asked for
  std::string memory;           ///< placement asked for, in the grammar's words
  std::vector<FleetKernel> kernels;
  std::vector<HostKind> kinds;  ///< the first host of each is in the report's machines
  std::vector<FleetHost> hosts;
  std::optional<Retest> retest;
  std::optional<SlowReport> slow;  ///< absent until hosts were compared
  friend bool operator==(const Fleet&, const Fleet&) = default;
};

}  // namespace numatlas
