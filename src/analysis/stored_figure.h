// A stored figure as far as it can be compared: its value, how sure it is, and where it was
// measured.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "record/uncertain.h"

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
/// the figure itself. "" where it is, or has no interval.
std::string width_problem(const Estimate& figure);

struct StoredFigure {
  std::optional<Estimate> estimate;  ///< in the unit of its case
  std::string problem;               ///< why there is no comparing with it; "" for none
  Observed observed;
  /// What else used the host while it was measured: "other programs used 1.0 of 2 CPUs"; "" where
  /// nothing is known of it.
  std::string disturbed = {};
  /// Rates of a host's rounds, where it was measured in these; 0 for one that did not end.
  std::vector<double> rounds = {};
  std::optional<double> again = {};   ///< the rate when the host ran once more (--retest)
  bool guest = false;                 ///< it was measured on a virtual machine
  std::vector<double> launches = {};  ///< the value of each, in their order; empty for one
  /// Of the logarithm in a launch of the same program on the same host; absent where too few hosts
  /// tell.
  std::optional<Uncertain> launch_spread = {};
  /// Over the pilots around its visits; absent where its run has none.
  std::optional<Estimate> relative = {};
  std::string pilot = {};  ///< which these are: comparable only with the same ones
  friend bool operator==(const StoredFigure&, const StoredFigure&) = default;
};

}  // namespace numatlas
