#include "base/statistics.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <vector>

namespace numatlas {
namespace {

std::vector<double> count_up(std::size_t n) {
  std::vector<double> values(n);
  std::iota(values.begin(), values.end(), 1.0);
  return values;
}

TEST(Statistics, KnownValues) {
  const std::vector<double> values{9, 2, 4, 4, 5, 4, 7, 5};
  const auto s = summarize(values);
  ASSERT_TRUE(s);
  EXPECT_EQ(s->n, 8U);
  EXPECT_DOUBLE_EQ(s->median, 4.5);
  EXPECT_DOUBLE_EQ(s->mean, 5);
  // Sum of squared deviations is 32; over n - 1 = 7.
  EXPECT_DOUBLE_EQ(*s->stddev, std::sqrt(32.0 / 7));
  EXPECT_DOUBLE_EQ(s->min, 2);
  EXPECT_DOUBLE_EQ(s->max, 9);
  EXPECT_DOUBLE_EQ(s->p25, 4);    // position 1.75 between 4 and 4
  EXPECT_DOUBLE_EQ(s->p75, 5.5);  // position 5.25 between 5 and 7
  EXPECT_DOUBLE_EQ(s->mad, 0.5);  // deviations .5 .5 .5 .5 .5 2.5 2.5 4.5
  EXPECT_EQ(s->outliers, 1U);     // only 9 is beyond 5.5 + 2.25; 2 is within 4 - 2.25
}

TEST(Statistics, NothingAndLittle) {
  EXPECT_FALSE(summarize({}));
  const std::vector<double> one{3};
  const auto s = summarize(one);
  ASSERT_TRUE(s);
  EXPECT_DOUBLE_EQ(s->median, 3);
  EXPECT_FALSE(s->stddev);
  EXPECT_FALSE(s->ci_low);
  EXPECT_FALSE(s->ci_high);
  EXPECT_FALSE(relative_half_width(one));
}

TEST(Statistics, PercentilesAreLinearBetweenRanks) {
  const std::vector<double> sorted{10, 20, 30, 40};
  EXPECT_DOUBLE_EQ(percentile_sorted(sorted, 0), 10);
  EXPECT_DOUBLE_EQ(percentile_sorted(sorted, 50), 25);
  EXPECT_DOUBLE_EQ(percentile_sorted(sorted, 100), 40);
  EXPECT_DOUBLE_EQ(percentile_sorted(sorted, 95), 38.5);
}

TEST(Statistics, IntervalRanksAreThePublishedOnes) {
  EXPECT_FALSE(summarize(count_up(5))->ci_low);
  // Values equal their one-based ranks, so the bounds are the ranks themselves.
  for (std::size_t n : {10U, 20U, 31U, 100U, 1000U, 4567U}) {
    const auto s = summarize(count_up(n));
    const double root = 1.96 * std::sqrt(static_cast<double>(n));
    EXPECT_EQ(*s->ci_low, std::floor((static_cast<double>(n) - root) / 2)) << n;
    EXPECT_EQ(*s->ci_high, std::ceil(1 + (static_cast<double>(n) + root) / 2)) << n;
  }
  // Worked by hand: n = 100, 1.96 sqrt n = 19.6, ranks floor(40.2) = 40 and ceil(60.8) = 61.
  EXPECT_EQ(*summarize(count_up(100))->ci_low, 40);
  EXPECT_EQ(*summarize(count_up(100))->ci_high, 61);
  // Below n = 10 the formula leaves the samples and is held within them.
  EXPECT_EQ(*summarize(count_up(6))->ci_low, 1);
  EXPECT_EQ(*summarize(count_up(6))->ci_high, 6);
}

TEST(Statistics, HalfWidthIsThatOfTheSummary) {
  std::mt19937 random(4);
  std::lognormal_distribution<double> skewed(4, 0.3);
  for (std::size_t n : {6U, 7U, 50U, 51U, 999U}) {
    std::vector<double> values(n);
    for (double& value : values) value = skewed(random);
    const auto s = summarize(values);
    const double larger = std::max(s->median - *s->ci_low, *s->ci_high - s->median);
    ASSERT_TRUE(relative_half_width(values));
    EXPECT_NEAR(*relative_half_width(values), larger / s->median, 1e-12) << n;
  }
}

TEST(Statistics, HalfWidthOfZeroesIsUnknown) {
  EXPECT_FALSE(relative_half_width(std::vector<double>(20, 0.0)));
  EXPECT_EQ(*relative_half_width(std::vector<double>(20, 7.0)), 0);
}

TEST(Statistics, IntervalCoversTheTrueMedianAsOftenAsItSays) {
  // 2000 rounds at 95 %: a deviation below 92 % would be six standard errors.
  std::mt19937 random(5);
  std::exponential_distribution<double> skewed(1);
  const double true_median = std::log(2.0);
  int covered = 0;
  for (int round = 0; round < 2000; ++round) {
    std::vector<double> values(80);
    for (double& value : values) value = skewed(random);
    const auto s = summarize(values);
    covered += *s->ci_low <= true_median && true_median <= *s->ci_high ? 1 : 0;
  }
  EXPECT_GE(covered, 1840);
}

TEST(Statistics, BlockMediansAreOfConsecutiveStretches) {
  const std::vector<double> values{1, 9, 2, /**/ 5, 5, 6, /**/ 7, 8, 7, 30};
  EXPECT_EQ(block_medians(values, 3), (std::vector<double>{2, 5, 7.5}));
  EXPECT_EQ(block_medians(values, 10), values);
  EXPECT_TRUE(block_medians(values, 11).empty());
  EXPECT_TRUE(block_medians(values, 0).empty());
  EXPECT_TRUE(block_medians({}, 3).empty());
}

TEST(Interval, IsTheWiderOfSamplesAndStopRule) {
  Summary summary;
  summary.ci_low = 99;
  summary.ci_high = 102;
  EXPECT_EQ(interval_of(100, summary, std::nullopt), (Interval{99, 102}));
  EXPECT_EQ(interval_of(100, summary, 0.05), (Interval{95, 105}));
  EXPECT_EQ(interval_of(100, summary, 0.001), (Interval{99, 102}));
  EXPECT_EQ(interval_of(100, summary, 2.0), (Interval{0, 300}));
  EXPECT_EQ(interval_of(103, summary, std::nullopt), (Interval{99, 103})) << "has the value";
  EXPECT_EQ(interval_of(100, Summary{}, 0.05), std::nullopt) << "fewer than 6 samples";
}

}  // namespace
}  // namespace numatlas
