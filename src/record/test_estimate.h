// Test helper: estimates with given intervals.
#pragma once

#include <cstddef>

#include "record/estimate.h"

namespace numatlas::testing {

/// `visits`: those of Student's interval over them; 0 for an interval of other kind.
inline Estimate with_interval(double value, double low, double high, std::size_t visits = 0) {
  Estimate estimate = value;
  estimate.low = low;
  estimate.high = high;
  estimate.n = visits;
  estimate.method = visits > 0 ? Method::visits : Method::derived;
  return estimate;
}

}  // namespace numatlas::testing
