// A figure as people read it.
#pragma once

#include <string>

#include "record/estimate.h"

namespace numatlas {

/// Whether so much is left open that the value says nothing: more than half of it.
inline bool is_unknown(const Estimate& estimate) {
  constexpr double widest = 0.5;
  return half_width(estimate).value_or(0) > widest;
}

/// The value by `number`, or "unknown: 20 to 150" where it says nothing. A difference that may be
/// none is its interval, "-0.4 to 0.4": that says how small it is.
template <class Number>
std::string told(const Estimate& estimate, const Number& number) {
  if (!is_unknown(estimate)) return number(estimate.value);
  const std::string range = number(*estimate.low) + " to " + number(*estimate.high);
  return *estimate.low < 0 ? range : "unknown: " + range;
}

}  // namespace numatlas
