// Whether visits fall into two groups, as they do on a machine that changes between two speeds.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "record/report.h"

namespace numatlas {

/// Two groups of values, the smaller values first.
struct Modes {
  double low = 0, high = 0;  ///< means of the groups
  double low_share = 0;      ///< of the values; in (0, 1)
};

/// The two groups that the values fall into, if they are further apart than groups of values that
/// belong together: by at least 5 % of the lower one, and by so many standard deviations within the
/// groups that fewer than 1 % of normal samples are. Absent for fewer than 5 values; each group has
/// at least 2.
std::optional<Modes> modes_of(std::span<const double> values);

/// "two speeds: 24.5 GB/s in 60 % of 10 visits, 40.6 GB/s in 40 %"; "" where there is only one.
std::string modes_text(const VisitValues& figure);
/// The same of a pilot: "two speeds: 24.5 GB/s in 60 % of 24 pilots, 40.6 GB/s in 40 %".
std::string modes_text(const PilotSeries& pilot);

}  // namespace numatlas
