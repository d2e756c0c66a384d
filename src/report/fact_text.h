// Facts in words: their figures as people read them.
#pragma once

#include <string>

#include "record/fact.h"

namespace numatlas {

/// With three significant digits: "94.5", "1340".
std::string three_digits(double value);

/// Scale and unit in which people read a value of this size; " times" of what has no unit.
struct Reading {
  double scale = 1;
  const char* unit = "";
};
Reading reading_of(double value, const std::string& unit);

/// The figure with its unit and interval: "94.5 ns +-0.2%", "4MiB to 16MiB", "45.3 GB/s +-1.0%",
/// "1.47 times (1.45 to 1.50)", "unknown: 20.0 to 150 ns".
std::string figure_text(const Fact& fact);

/// " +-0.5%", of few visits " +-0.5%*"; "" without an interval, and where it is all that is told.
std::string interval_text(const Fact& fact);

/// Whether its figure has the star of few visits.
bool has_star(const Fact& fact);
/// What the star means.
std::string star_note();

}  // namespace numatlas
