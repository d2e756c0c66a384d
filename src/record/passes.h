// Passes of a kernel over hosts: what a run that is reduced to its hosts keeps of them, so that
// rank 0 holds something for each host, case and pass, and nothing for each rank (unless samples
// are asked for).
//
// A *pass* is one kernel over all arrays of every process, begun together; a *round* is one pass of
// every kernel, in their order. Times are in seconds. The first round warms up: it is kept, and
// left out of every figure (as in STREAM).
#pragma once

#include <span>
#include <vector>

namespace numatlas {

/// One pass on one host, from the times of its processes: each from when its first thread began to
/// when its last one ended.
struct PassTimes {
  /// The host's own time: from when its first process began to when its last one ended. As long as
  /// `slowest` where they began together; distributed_streams takes that one, which says too little
  /// where they did not.
  double node = 0;
  double start = 0;    ///< its first worker's, after the time that all hosts agreed on; -1 unknown
  double slowest = 0;  ///< of the processes
  double fastest = 0;
  double sum = 0;         ///< of all processes
  double overlap = 0;     ///< part of `node` in which all workers ran, 0..1
  int slowest_rank = -1;  ///< global
  friend bool operator==(const PassTimes&, const PassTimes&) = default;
};

/// Those of one process, where samples are asked for.
struct ProcessPasses {
  int rank = 0;                ///< global
  std::vector<double> starts;  ///< after the host's first process
  std::vector<double> seconds;
  friend bool operator==(const ProcessPasses&, const ProcessPasses&) = default;
};

/// The passes that count: all but the first, or the first where there is no other.
inline std::span<const PassTimes> counted(const std::vector<PassTimes>& passes) {
  const std::span<const PassTimes> all = passes;
  return all.size() > 1 ? all.subspan(1) : all;
}

}  // namespace numatlas
