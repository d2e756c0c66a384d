// Loaded latency for people.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "record/report.h"

namespace numatlas {

/// A point of a curve.
struct LoadPoint {
  std::string load;      ///< "idle", "40%", "2 GB/s", "peak"
  double bandwidth = 0;  ///< B/s achieved by the loaders
  std::optional<double> bandwidth_half_width, asked;
  double latency = 0;  ///< s
  std::optional<double> latency_half_width;
  std::string cache;  ///< that all of its memory fits; "" where it does not

  /// A rate was asked for, and what was achieved is far less.
  bool short_of_rate() const;
  /// The bandwidth is not known well enough to take parts of it.
  bool loosely_known(double precision) const;
};

/// What is worth knowing of a curve; seconds and B/s.
struct Knee {
  std::optional<double> unloaded, at_80_percent, at_peak;
  double peak = 0;
  std::string peak_load;  ///< the point with the largest bandwidth of all
};

/// Pure. The latency at 80 % of the largest bandwidth is interpolated between its neighbours;
/// absent where there is none below or above.
Knee knee_of(std::vector<LoadPoint> curve);

/// Rates that were not reached, and peaks whose parts are no better known than they are: in words,
/// a line a curve at most of each kind.
std::vector<Warning> loaded_warnings(const RunReport& report);

/// A curve for each pair of nodes and kernel, and its knee in words.
std::string loaded_table(const RunReport& report, bool stats);

}  // namespace numatlas
