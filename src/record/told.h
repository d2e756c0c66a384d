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

/// The value by `number`, or "unknown: 20 to 150" where it says nothing.
template <class Number>
std::string told(const Estimate& estimate, const Number& number) {
  if (!is_unknown(estimate)) return number(estimate.value);
  return "unknown: " + number(*estimate.low) + " to " + number(*estimate.high);
}

}  // namespace numatlas
