#include "kernels/clock_rate.h"

#include <gtest/gtest.h>

#include <optional>

#include "placement/policy.h"

namespace numatlas {
namespace {

/// No CPU of today is outside of this, and an addition that is not one a cycle would be.
TEST(ClockRate, IsThatOfACpu) {
  const double rate = clock_rate();
  EXPECT_GT(rate, 0.2e9);
  EXPECT_LT(rate, 8e9);
}

TEST(ClockRate, IsThatOfTheCpuThatWasAskedFor) {
  const CpuSet before = thread_affinity();
  EXPECT_GT(clock_rate_of(before.front()).value_or(0), 0.2e9);
  EXPECT_TRUE(thread_affinity() == before);
  constexpr CpuId no_cpu{100'000};
  EXPECT_EQ(clock_rate_of(no_cpu), std::nullopt) << "measured where the thread was";
}

}  // namespace
}  // namespace numatlas
