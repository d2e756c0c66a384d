// Figures of a fleet, from its rounds: pure functions. Without round 0, which warms up, unless it
// is the only one.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analysis/peers.h"
#include "base/statistics.h"
#include "fleet/fleet.h"
#include "record/estimate.h"

namespace numatlas {

/// Times of one kernel over processes or over hosts, and the rates that belong to them.
struct TimeRow {
  double average = 0, minimum = 0, maximum = 0;  ///< seconds
  /// Bytes a second of the same times. `average_rate` of a host is all bytes over the average of
  /// its own times.
  double average_rate = 0, maximum_rate = 0, minimum_rate = 0;
  std::size_t slowest_host = 0;  ///< index: where `maximum` was seen
  int slowest_rank = -1;         ///< and of which process
  /// Bytes/s: the median over hosts of what each has in the median of its rounds (of processes: in
  /// the mean of its processes), or of its averages where it has no rounds. Its interval says how
  /// well so many hosts tell the median of hosts like these; 2 to 5 hosts have none. Of one host:
  /// the median of its rounds, with their interval.
  std::optional<Estimate> median;
};

struct KernelRows {
  TimeRow process;  ///< each process of each round
  TimeRow host;     ///< each host of each round, from its first process to its last
  /// False where a file tells nothing of single processes: then the shortest time of `process` and
  /// its rate are not known (and 0); its average and longest are.
  bool processes_known = true;
  /// The host row's average as system E counts it: all bytes of a host over the average time of a
  /// process (may lie over the maximum).
  double summed_rate = 0;
};

/// One for each kernel of the fleet; hosts without a finished round do not count. nullopt for a
/// kernel that no host finished.
std::vector<std::optional<KernelRows>> rows_of(const Fleet& fleet);

/// One kernel on one host, without the first round.
struct HostTimes {
  double average = 0, minimum = 0, maximum = 0;  ///< seconds, of the host's own time
  double process_average = 0;                    ///< seconds, of its processes
  double rate = 0;  ///< bytes/s: the median of its rounds; by `average` where there are none
  std::optional<Summary> rates;  ///< bytes/s, over rounds; absent where a file told no rounds
};
std::optional<HostTimes> times_of(const Fleet& fleet, const FleetHost& host, std::size_t kernel);

/// Hosts whose workers ran together for less than nine tenths of a pass (median over kernels and
/// rounds): "did not run together all the time: cn1 63 %, cn2 70 %, cn4 71 % and 4 more"; "" for
/// none.
std::string overlap_warning(const Fleet& fleet);

/// A warning where something else used the hosts' CPUs while the rounds ran; "" where nothing did.
std::string disturbance_warning(const Fleet& fleet);

/// How far apart hosts began a pass at most, from the first to the last: median over kernels and
/// rounds, with what the clocks of two hosts may have been off (Fleet::clock_error).
struct StartSpread {
  double seconds = 0;
  double part = 0;  ///< of the shortest host's time of that pass
};
/// Absent for one host, and where hosts finished no round.
std::optional<StartSpread> start_spread(const Fleet& fleet);

/// The rounds that count: all but the first, or the first where there is no other.
std::span<const PassTimes> counted_rounds(const FleetHost& host, std::size_t kernel);

/// Bytes a second of these rounds; 0 for one that took no time.
std::vector<double> rates_of(const Fleet& fleet, const FleetHost& host, std::size_t kernel);

/// Rounds that every host has finished of every kernel, the first one included.
std::size_t finished_rounds(const Fleet& fleet);

/// Bytes that all processes of a host move in one pass, as counted.
double bytes_of_host(const Fleet& fleet, const FleetHost& host, std::size_t kernel);

/// The hosts of a fleet as peers: a case for each kernel.
PeerInput peers_in(const Fleet& fleet);
/// Which of its hosts are slow (analysis/peers.h).
SlowReport find_slow(const Fleet& fleet, const SlowRule& rule = {});
/// "cn17: triad 12 % below the median of 46 nodes, 9.3 MAD, every round".
std::string to_text(const Fleet& fleet, const SlowHost& slow);

}  // namespace numatlas
