// Which hosts are slow. A robust test: a host is slow where the median of its rounds lies more than
// `mads` scaled median absolute deviations below the median of the hosts of its kind, AND more than
// `drop` below it, AND its interval excludes that median (Hampel identifier; Hoefler & Belli SC'15
// for the interval). Hosts that are unusually fast are nobody's trouble. Pure.
//
// The interval is that of the host's rounds, each over the median of its kind in the same round: so
// what moves the whole fleet (heat, a shared power limit) does not widen it. Rounds of runs that
// are put together (fleet/merged.h) have no such median; there it is that of the kind. Below 6
// rounds the interval does not exist; the range of the rounds stands for it (all of them below: 94
// % sure of 5 rounds, 50 % of 2), and the words say so. One round, or a file without rounds, has no
// interval: the other two conditions decide alone, and the words say that too. Of five rounds and
// more, the third-best must lie below by half of `drop` as well: a host that is disturbed now and
// then has good rounds.
//
// Beside it stands a test of all kernels together, which finds what no kernel shows by itself: each
// rate over the median of its kind, round and kernel; the median over the kernels; the host's score
// is the median of its rounds. Scores too far below the median of the kind (one-sided, by scaled
// MAD and Student's t) are taken by the procedure of Benjamini and Hochberg, JRSS B 57 (1995), so
// that of those named about one in a hundred is healthy. It takes rounds that all hosts made at
// once, and five of them at least.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "fleet/fleet.h"

namespace numatlas {

/// "over 5 % and 6 MAD below the median of its kind, or over 1.5 % in all kernels together".
std::string to_text(const SlowRule& rule);

/// What peers have in common: their median, and how far apart they are.
struct Peers {
  double median = 0;
  double spread = 0;  ///< scaled MAD, not below the rule's least
  std::size_t count = 0;
};
Peers peers_of(std::vector<double> values, const SlowRule& rule);

/// Which of so many findings stand, by the procedure of Benjamini and Hochberg: of those, the share
/// that chance made is about `false_share`. `chances`: how likely each is where nothing is wrong.
std::vector<bool> standing(const std::vector<double>& chances, double false_share);
/// How likely a healthy host lies so many deviations below its peers: Student's t, on one side.
double chance_of(double mads, const Peers& peers);

SlowReport find_slow(const Fleet& fleet, const SlowRule& rule = {});

/// Compares a figure with its peers: nullopt unless it is slow by drop and deviations. `relative`:
/// its rounds over the peers' median, each; may be empty (then there is no third condition).
std::optional<SlowKernel> compare(double rate, const Peers& peers, std::vector<double> relative,
                                  const SlowRule& rule);

/// The largest of its drops.
double worst_drop(const SlowHost& slow);

/// "cn17: triad 12 % below the median of 46 nodes, 9.3 MAD, every round; also add 11 %", or
/// "cn17: all kernels together 3.1 % below the median of 46 nodes, 5.6 MAD, every round".
std::string to_text(const Fleet& fleet, const SlowHost& slow);
/// "12 % below MEDIAN, 9.3 MAD, every round".
std::string to_text(const SlowKernel& slow, const std::string& median);
/// "; also add 11 %, copy 7.0 %": those after the first; "" where there are none.
std::string also_text(const Fleet& fleet, const std::vector<SlowKernel>& kernels);
/// "12 %", "5.3 %".
std::string percent_text(double part);

/// For a retest: the slow hosts, and as many of their kinds, at least three, that are nearest
/// to the median.
std::vector<std::size_t> hosts_to_retest(const Fleet& fleet, const SlowReport& slow);

/// "cn01, cn02, cn03 and 43 more".
std::string names_text(const std::vector<std::string>& names);

}  // namespace numatlas
