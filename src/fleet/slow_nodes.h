// Which hosts are slow. A robust test: a host is slow where the median of its rounds lies more than
// `mads` scaled median absolute deviations below the median of the hosts of its kind, AND more than
// `drop` below it, AND its interval excludes that median (Hampel identifier; Hoefler & Belli SC'15
// for the interval). Pure.
#pragma once

#include "fleet/fleet.h"

namespace numatlas {

struct SlowRule {
  double mads = 6;     ///< scaled by 1.4826, so that it is a standard deviation of normal noise
  double drop = 0.05;  ///< relative
  /// The scaled MAD is at least this part of the median: among very even hosts any difference would
  /// be many deviations.
  double least_spread = 0.005;
  std::size_t least_hosts = 3;  ///< of a kind: below it nobody can say who is slow
};

enum class Verdict { suspected, confirmed, not_confirmed };

/// One kernel in which a host is slow.
struct SlowKernel {
  std::size_t kernel = 0;
  double rate = 0;    ///< bytes/s, the host's median
  double median = 0;  ///< of the hosts of its kind
  double drop = 0;    ///< relative, > 0
  double mads = 0;
  std::size_t rounds = 0, slow_rounds = 0;  ///< rounds in which it was more than `drop` below
};

struct SlowHost {
  std::size_t host = 0;                  ///< index into Fleet::hosts
  std::size_t peers = 0;                 ///< hosts of its kind that were compared, itself included
  std::vector<SlowKernel> kernels;       ///< the largest drop first
  Verdict verdict = Verdict::suspected;  ///< from the retest, where there was one
};

struct SlowReport {
  std::vector<SlowHost> hosts;          ///< the largest drop first
  std::vector<std::string> not_judged;  ///< why kinds of hosts could not be judged, in words
};

SlowReport find_slow(const Fleet& fleet, const SlowRule& rule = {});

/// "cn17: triad 12 % below the median of 46 nodes, 9.3 MAD, every round; also add 11 %".
std::string to_text(const Fleet& fleet, const SlowHost& slow);

/// For a retest: the slow hosts, and as many of their kinds that are nearest to the median.
std::vector<std::size_t> hosts_to_retest(const Fleet& fleet, const SlowReport& slow);

}  // namespace numatlas
