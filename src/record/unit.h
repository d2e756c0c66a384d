// Units of figures ("s", "B/s", "1/s", "B", "1"): which way is better, and how people read values.
#pragma once

#include <string>

#include "record/estimate.h"

namespace numatlas {

enum class Better { lower, higher };

/// Unit of a figure that a program prints of itself and of which less is better.
inline constexpr const char* unit_of_cost = "cost";

/// Which way a quantity of this unit is better: times and costs when lower, rates and shares when
/// higher.
Better better_of(const std::string& unit);

/// Of what is measured: seconds, bytes or operations per second; not of counts, sizes and ratios.
bool is_time_or_rate(const std::string& unit);

/// With three significant digits: "94.5", "1340".
std::string three_digits(double value);

/// Scale and unit in which people read a value of this size; " times" of what has no unit.
struct Reading {
  double scale = 1;
  const char* unit = "";
};
Reading reading_of(double value, const std::string& unit);

/// The value with its unit and interval: "94.5 ns ±0.2 %", "4 MiB to 16 MiB", "45.3 GB/s ±1.0 %",
/// "1.47 times (1.45 to 1.50)", "unknown: 20.0 to 150 ns".
std::string estimate_text(const Estimate& estimate, const std::string& unit);

/// "94.5 ns", "45.3 GB/s", "1.40", "32 MiB".
std::string quantity_text(double value, const std::string& unit);

/// At most `decimals` digits behind the point, and at most four that count: "1.23", "12.35",
/// "123.5", "1696".
std::string short_number(double value, int decimals);

/// The sign before half of an interval: "±", "+-" in ASCII.
const char* plus_minus();
/// Half of a 95 % interval as a part of the value: "5.3 %", "18 %", "<0.1 %".
std::string half_text(double part);
/// " ±5.3 %", behind the value.
std::string plus_minus_text(double part);

/// A part of 1, not negative: "18 %", "5.3 %".
std::string percent_text(double part);
/// The same with its sign: "-18 %", "+5.3 %".
std::string change_text(double change);

}  // namespace numatlas
