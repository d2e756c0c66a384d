#include "kernels/clock_rate.h"

#include <gtest/gtest.h>

namespace numatlas {
namespace {

/// No CPU of today is outside of this, and an addition that is not one a cycle would be.
TEST(ClockRate, IsThatOfACpu) {
  const double rate = clock_rate();
  EXPECT_GT(rate, 0.2e9);
  EXPECT_LT(rate, 8e9);
}

}  // namespace
}  // namespace numatlas
