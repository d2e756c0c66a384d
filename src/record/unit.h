// Units of figures ("s", "B/s", "1/s", "B", "1"): which way is better, and how people read values.
#pragma once

#include <string>

namespace numatlas {

enum class Better { lower, higher };

/// Unit of a figure that a program prints of itself and of which less is better.
inline constexpr const char* unit_of_cost = "cost";

/// Which way a quantity of this unit is better: times and costs when lower, rates and shares when
/// higher.
Better better_of(const std::string& unit);

/// With three significant digits: "94.5", "1340".
std::string three_digits(double value);

/// Scale and unit in which people read a value of this size; " times" of what has no unit.
struct Reading {
  double scale = 1;
  const char* unit = "";
};
Reading reading_of(double value, const std::string& unit);

/// "94.5 ns", "45.3 GB/s", "1.40", "32 MiB".
std::string quantity_text(double value, const std::string& unit);

/// A part of 1, not negative: "18 %", "5.3 %".
std::string percent_text(double part);
/// The same with its sign: "-18 %", "+5.3 %".
std::string change_text(double change);

}  // namespace numatlas
