// Figures of passes over all hosts: pure functions. Without the first round, which warms up, unless
// it is the only one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/peers.h"
#include "record/report.h"

namespace numatlas {

/// Labels of STREAM's cases: how writes are made to last ("memory" where they are not, or need
/// not), the placement asked for, and the elements of each array of a process.
inline constexpr const char *mode_label = "mode", *memory_label = "memory",
                            *elements_label = "elements";
std::uint64_t elements_of(const RunReport& report);

/// Times of one kernel over processes or over hosts, and the rates that belong to them.
struct TimeRow {
  double average = 0, minimum = 0, maximum = 0;  ///< seconds
  /// Bytes a second of the same times. `average_rate` of a host is all bytes over the average of
  /// its own times.
  double average_rate = 0, maximum_rate = 0, minimum_rate = 0;
  std::size_t slowest_host = 0;  ///< index: where `maximum` was seen
  int slowest_rank = -1;         ///< and of which process
  /// Bytes/s: the median over hosts of what each has in the median of its rounds (of processes: in
  /// the mean of its processes). Its interval says how well so many hosts tell the median of hosts
  /// like these; 2 to 5 hosts have none. Of one host: the median of its rounds, with their
  /// interval.
  std::optional<Estimate> median;
};

struct KernelRows {
  TimeRow process;  ///< each process of each round
  TimeRow host;     ///< each host of each round, from its first process to its last
  /// The host row's average as distributed_streams counts it: all bytes of a host over the average
  /// time of a process (may lie over the maximum).
  double summed_rate = 0;
};

/// One for each case that hosts measured; hosts without a finished round do not count. nullopt for
/// a kernel that no host finished.
std::vector<std::optional<KernelRows>> kernel_rows(const RunReport& report);

/// The figures of such rows: "bandwidth" (the median), "average_bandwidth", "worst_time", ... and
/// of processes "process_bandwidth", ....
std::vector<Figure> figures_of(const KernelRows& rows);

/// Hosts whose workers ran together for less than nine tenths of a pass (median over kernels and
/// rounds): "did not run together all the time: cn1 63 %, cn2 70 %, cn4 71 % and 4 more"; "" for
/// none.
std::string overlap_warning(const RunReport& report);

/// Rounds that every host has finished of every kernel, the first one included.
std::size_t finished_rounds(const RunReport& report);

/// Its hosts against each other.
Judged judge_hosts(const RunReport& report, const SlowRule& rule);

/// Adds a case for each finding, and one that says of each host whether it was judged, and is slow.
void add_findings(const Judged& judged, RunReport& report);

/// Nodes, then processes, then what is slow. `rounds`: asked for; `source`: why the arrays are so
/// large, "" where that was asked for.
std::vector<View> stream_views(const RunReport& report, const SlowRule& rule, int rounds,
                               const std::string& source);

/// What it has to be read with. `rule`: of who is slow; nullptr where nobody is judged.
std::vector<Warning> stream_warnings(const RunReport& report, const SlowRule* rule);

}  // namespace numatlas
