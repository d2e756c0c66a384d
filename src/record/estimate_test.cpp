#include <gtest/gtest.h>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "record/estimate.h"
#include "record/figure.h"
#include "record/test_report.h"

namespace numatlas {
namespace {

Estimate with_interval(double value, double low, double high) {
  Estimate estimate = value;
  estimate.low = low;
  estimate.high = high;
  estimate.method = Method::samples;
  return estimate;
}

TEST(Estimate, HalfWidthIsTheLargerSide) {
  EXPECT_DOUBLE_EQ(*half_width(with_interval(10, 9, 12)), 0.2);
  EXPECT_FALSE(half_width(Estimate(10)));
  EXPECT_FALSE(half_width(with_interval(0, -1, 1)));
}

TEST(Estimate, OfSamplesIsTheWiderOfBothIntervals) {
  std::vector<double> samples;
  for (int i = 0; i < 101; ++i) samples.push_back(100 + 0.01 * i);
  const Summary summary = *summarize(samples);
  const Estimate narrow = estimate_of_median(summary, std::nullopt);
  EXPECT_EQ(narrow.low, summary.ci_low);
  const Estimate wide = estimate_of_median(summary, 0.1);
  EXPECT_DOUBLE_EQ(*wide.low, summary.median * 0.9);
  EXPECT_DOUBLE_EQ(*wide.high, summary.median * 1.1);
  EXPECT_EQ(estimate_of_median(*summarize(std::vector<double>{1, 2}), 0.1).method, Method::none);
}

std::vector<double> up_to(int last) {
  std::vector<double> values;
  for (int i = last; i > 0; --i) values.push_back(i);
  return values;
}

TEST(Estimate, OfFewValuesHasNoInterval) {
  for (const int n : {1, 2, 5}) {
    const Estimate few = estimate_of_median(up_to(n));
    EXPECT_DOUBLE_EQ(few.value, (n + 1) / 2.0);
    EXPECT_FALSE(few.low) << n;
    EXPECT_EQ(few.method, Method::none);
  }
}

TEST(Estimate, OfValuesLiesBetweenOrderStatistics) {
  // By hand for n = 6: the range covers 62/64, the second to the fifth 50/64; 0.1 of the way from
  // one to the other is 0.95, and the weight is 5 * 0.1 / (1 + 4 * 0.1) = 5/14.
  const Estimate six = estimate_of_median(up_to(6));
  EXPECT_NEAR(*six.low, 1 + 5.0 / 14, 1e-12);
  EXPECT_NEAR(*six.high, 6 - 5.0 / 14, 1e-12);
  // For n = 10: 0.978516 between the second and the ninth, 0.890625 between the third and the
  // eighth; 0.324444 of the way, and the weight is 8 * 0.324444 / (2 + 6 * 0.324444).
  const Estimate ten = estimate_of_median(up_to(10));
  EXPECT_NEAR(*ten.low, 2.657651, 1e-5);
  EXPECT_NEAR(*ten.high, 8.342349, 1e-5);
  EXPECT_EQ(ten.n, 10U);
}

TEST(Estimate, OfStretchesIsStudents) {
  std::vector<double> rates;
  for (int i = 0; i < 10; ++i) rates.insert(rates.end(), {9, 11});
  const Estimate sum = estimate_of_stretches(*summarize(rates));
  // scipy.stats.t.ppf(.975, 19) * std(ddof=1) / sqrt(20)
  EXPECT_NEAR(*sum.high - sum.value, 0.48024, 1e-4);
  rates.pop_back();
  EXPECT_EQ(estimate_of_stretches(*summarize(rates)).method, Method::none) << "no other number";
}

TEST(Estimate, RatiosKeepWhatBothLeaveOpen) {
  const Estimate a = with_interval(102, 101.5, 102.5), b = with_interval(100, 99, 101);
  const Estimate ratio = ratio_of(a, b);
  EXPECT_DOUBLE_EQ(ratio.value, 1.02);
  EXPECT_DOUBLE_EQ(*ratio.low, 101.5 / 101);
  EXPECT_DOUBLE_EQ(*ratio.high, 102.5 / 99);
  EXPECT_TRUE(surely_more(a, b));
  EXPECT_FALSE(surely_more(b, a));
  EXPECT_FALSE(surely_more(with_interval(101, 100, 102), b));
  EXPECT_FALSE(ratio_of(a, with_interval(1, 0, 2)).low) << "0 has no multiple";
  EXPECT_FALSE(surely_more(Estimate(200), b)) << "without an interval nothing is sure";
}

TEST(Estimate, WhatIsMadeOfFewVisitsIsKnownNoBetter) {
  Estimate few = with_interval(102, 101.5, 102.5), many = with_interval(100, 99, 101);
  few.method = Method::within;
  many.method = Method::visits;
  for (const Estimate& made :
       {ratio_of(few, many), ratio_of(many, few), difference_of(few, many), sum_of(many, few),
        between(few, many, 0.5), *median_of({many, few}), scaled(few, 2), divided_into(1, few),
        ratio_of(ratio_of(few, many), many)})
    EXPECT_TRUE(is_of_few_visits(made));
  for (const Estimate& made : {ratio_of(many, many), *median_of({many, many}), scaled(many, 2)})
    EXPECT_FALSE(is_of_few_visits(made));
}

TEST(Estimate, RatioOfPairsLeavesOutWhatBothShare) {
  // The machine halves its speed in between; the ratio stays about 1.02.
  const std::vector<double> its{100, 100, 50, 50, 50};
  const std::vector<double> mine{102, 103, 51, 50.5, 51, 99};
  const auto ratio = ratio_of_pairs(mine, its, 1);
  ASSERT_TRUE(ratio);
  // exp(mean +- scipy.stats.t.ppf(.975, 4) * std(ddof=1) / sqrt(5)) of the five logarithms
  EXPECT_NEAR(ratio->value, 1.0199804, 1e-6);
  EXPECT_NEAR(*ratio->low, 1.0112380, 1e-6);
  EXPECT_NEAR(*ratio->high, 1.0287984, 1e-6);
  EXPECT_EQ(ratio->n, 5U) << "what both have";
  EXPECT_LT(*ratio_of_pairs(mine, its, 3)->low, *ratio->low) << "chosen among three";
  EXPECT_FALSE(ratio_of_pairs(mine, {its.data(), 4}, 1)) << "too few pairs";
  EXPECT_FALSE(ratio_of_pairs(mine, std::vector<double>{1, 1, 0, 1, 1}, 1));
}

TEST(Estimate, TimesFromRates) {
  const Estimate time = divided_into(100, with_interval(50, 40, 80));
  EXPECT_DOUBLE_EQ(time.value, 2);
  EXPECT_DOUBLE_EQ(*time.low, 1.25);
  EXPECT_DOUBLE_EQ(*time.high, 2.5);
  EXPECT_FALSE(divided_into(100, with_interval(50, 0, 80)).low);
  const Estimate half = scaled(with_interval(50, 40, 80), 0.5);
  EXPECT_DOUBLE_EQ(*half.low, 20);
}

TEST(Estimate, MedianIsAsSureAsTheLeastSure) {
  const auto median =
      median_of({with_interval(1, 0.99, 1.01), with_interval(3, 2.7, 3.3), with_interval(2, 2, 2)});
  EXPECT_DOUBLE_EQ(median->value, 2);
  EXPECT_DOUBLE_EQ(*median->low, 1.8);
  EXPECT_FALSE(median_of({with_interval(1, 1, 1), Estimate(2)})->low);
  EXPECT_FALSE(median_of({}));
}

TEST(Distribution, BinsOfTwoPercent) {
  const Distribution one =
      distribution_of(std::vector<double>{-1.0, 0.0, 1.0, 1.01, 1.03, HUGE_VAL});
  EXPECT_EQ(one.bins, (std::vector<int>{0, 1}));
  EXPECT_EQ(one.counts, (std::vector<std::uint64_t>{2, 1}));
  const Distribution two = merged(one, distribution_of(std::vector<double>{1.0, 1.05}));
  EXPECT_EQ(two.bins, (std::vector<int>{0, 1, 2}));
  EXPECT_EQ(two.counts, (std::vector<std::uint64_t>{3, 1, 1}));
}

TEST(Estimate, DifferencesLeaveOpenWhatBothDo) {
  const Estimate difference = difference_of(with_interval(10, 9, 12), with_interval(7, 6, 7.5));
  EXPECT_EQ(difference.value, 3);
  EXPECT_EQ(difference.low, 1.5);
  EXPECT_EQ(difference.high, 6);
  EXPECT_FALSE(difference_of(with_interval(10, 9, 12), 7).low);
}

TEST(Estimate, SumsLeaveOpenWhatBothDo) {
  const Estimate sum = sum_of(with_interval(10, 9, 12), with_interval(7, 6, 7.5));
  EXPECT_EQ(sum.value, 17);
  EXPECT_EQ(sum.low, 15);
  EXPECT_EQ(sum.high, 19.5);
  EXPECT_EQ(sum.method, Method::within) << "of samples within one visit";
  EXPECT_FALSE(sum_of(with_interval(10, 9, 12), 7).low);
}

TEST(Estimate, BetweenTwoOnTheirLine) {
  const Estimate one = between(with_interval(100, 90, 110), with_interval(200, 198, 202), 0.25);
  EXPECT_EQ(one.value, 125);
  EXPECT_EQ(one.low, 117);
  EXPECT_EQ(one.high, 133);
  EXPECT_FALSE(between(with_interval(100, 90, 110), 200, 0.25).low);
}

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
