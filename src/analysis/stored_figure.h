// A stored figure as far as it can be compared: its value, how sure it is, and where it was
// measured.
#pragma once

#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/statistics.h"

namespace numatlas {

/// Where a figure was measured, as it was observed. Empty: not known, or there is no such thing.
struct Observed {
  /// Parts of the memory on each node ("0"; "from 0" of what is read from where that is apart).
  std::map<std::string, double> nodes;
  /// Parts of the memory in pages of each kind ("4 KiB", "THP").
  std::map<std::string, double> pages;
  std::map<std::string, int> cpu_nodes;  ///< node of the worker's CPU -> workers
  std::map<std::string, int> gpus;       ///< name of the GPU -> flows of it
  friend bool operator==(const Observed&, const Observed&) = default;
};

/// Why two figures were not measured at the same place: "memory on node 0, now on 1"; "" where
/// nothing speaks against it.
std::string place_difference(const Observed& base, const Observed& now);

/// Why a figure is not known well enough for a verdict: what its interval leaves open is as much as
/// the figure itself. "" where it is.
std::string width_problem(double value, const Interval& interval);

/// A figure over that of the pilots around its visits.
struct RelativeFigure {
  double value = 0;
  Interval interval{};  ///< 95 %
  double freedom = 0;   ///< degrees of freedom of the interval
  std::string pilot{};  ///< which it is over: comparable only with the same one
  friend bool operator==(const RelativeFigure&, const RelativeFigure&) = default;
};

/// How much earlier launches of the same program on the same host differ.
struct LaunchSpread {
  double deviation = 0;  ///< standard deviation of the logarithm of the figure
  double freedom = 0;    ///< launches less 1
  friend bool operator==(const LaunchSpread&, const LaunchSpread&) = default;
};

struct StoredFigure {
  std::optional<double> value;       ///< in the unit of its case
  std::optional<Interval> interval;  ///< 95 %
  std::string problem;               ///< why there is no comparing with it; "" for none
  Observed observed;
  /// What else used the host while it was measured: "other programs used 1.0 of 2 CPUs"; "" where
  /// nothing is known of it.
  std::string disturbed = {};
  /// Rates of a host's rounds, where it was measured in these; 0 for one that did not end.
  std::vector<double> rounds = {};
  std::optional<double> again = {};  ///< the rate when the host ran once more (--retest)
  bool guest = false;                ///< it was measured on a virtual machine
  /// Degrees of freedom of the interval: visits less 1, launches less 1; infinite for others.
  double freedom = std::numeric_limits<double>::infinity();
  std::vector<double> launches = {};  ///< the value of each, in their order; empty for one
  std::optional<LaunchSpread> launch_spread = {};  ///< absent where no history tells
  std::optional<RelativeFigure> relative = {};     ///< absent where its run has no pilots
  friend bool operator==(const StoredFigure&, const StoredFigure&) = default;
};

}  // namespace numatlas
