#include "record/uncertain.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "record/test_estimate.h"

namespace numatlas {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

// Quantiles from tables of Student's t and of the normal distribution.
constexpr double t_3 = 3.182446, t_4 = 2.776445, one_sided_t_4 = 2.131847, normal = 1.959964;

TEST(Uncertain, IsTheMeanOfValues) {
  const Uncertain mean = mean_of(std::vector<double>{1, 2, 3, 4});
  EXPECT_DOUBLE_EQ(mean.value, 2.5);
  EXPECT_DOUBLE_EQ(mean.variance, 5.0 / 3 / 4);
  EXPECT_DOUBLE_EQ(mean.freedom, 3);
  const Interval interval = interval_of(mean, 0.05);
  EXPECT_NEAR(interval.high - 2.5, t_3 * std::sqrt(5.0 / 12), 1e-6);
  EXPECT_DOUBLE_EQ(interval.high - 2.5, 2.5 - interval.low);
  EXPECT_EQ(estimate_of(mean, 0.05), testing::with_interval(2.5, interval.low, interval.high, 4));
}

TEST(Uncertain, OfAnIntervalHasThatInterval) {
  const Uncertain one = logarithm_of(testing::with_interval(100, 98, 102, 5), 50);
  EXPECT_DOUBLE_EQ(one.value, std::log(2));
  EXPECT_NEAR(one.deviation(), 0.02 / t_4, 1e-8);
  EXPECT_NEAR(half_width(one, 0.05), 0.02, 1e-12);
  EXPECT_NEAR(logarithm_of(testing::with_interval(100, 98, 101)).deviation(), 0.02 / normal, 1e-8)
      << "the larger side";
}

TEST(Uncertain, DifferencesHaveWelchsDegreesOfFreedom) {
  const Uncertain found = difference({5, 1, 4}, {3, 4, 9});
  EXPECT_DOUBLE_EQ(found.value, 2);
  EXPECT_DOUBLE_EQ(found.variance, 5);
  EXPECT_DOUBLE_EQ(found.freedom, 25 / (1.0 / 4 + 16.0 / 9));
  EXPECT_NEAR(difference({5}, {3, 4, 9}).freedom, 9, 1e-12) << "a reading is exact";
  EXPECT_DOUBLE_EQ(sum_of({{0, 1}, {0, 2}}).freedom, infinity);
}

TEST(Uncertain, ChancesAreStudents) {
  EXPECT_NEAR(chance_of({-normal, 1, infinity}), 0.05, 1e-7);
  EXPECT_NEAR(chance_of({2 * t_4, 4, 4}), 0.05, 1e-7);
  EXPECT_NEAR(chance_below({-one_sided_t_4, 1, 4}), 0.05, 1e-7);
  EXPECT_NEAR(chance_below({one_sided_t_4, 1, 4}), 0.95, 1e-7);
}

TEST(Uncertain, WithoutVarianceIsCertain) {
  EXPECT_EQ(chance_of({0}), 1);
  EXPECT_EQ(chance_of({1e-9}), 0);
  EXPECT_EQ(chance_below({-1e-9}), 0);
  EXPECT_EQ(chance_below({1e-9}), 1);
}

}  // namespace
}  // namespace numatlas
