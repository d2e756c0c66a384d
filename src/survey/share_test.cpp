#include "survey/share.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

namespace numatlas {
namespace {

using ::testing::DoubleEq;
using ::testing::ElementsAre;

TEST(Share, IsByWorthAndNothingIsLeft) {
  EXPECT_THAT(shares_of(60, {4, 0, 2}), ElementsAre(DoubleEq(40), DoubleEq(0), DoubleEq(20)));
  const auto shares = shares_of(17, {4, 3, 3, 2, 1});
  EXPECT_DOUBLE_EQ(std::accumulate(shares.begin(), shares.end(), 0.0), 17);
}

TEST(Share, OfNothingIsNothing) {
  EXPECT_TRUE(shares_of(60, {}).empty());
  EXPECT_THAT(shares_of(60, {0, 0}), ElementsAre(DoubleEq(0), DoubleEq(0)));
  EXPECT_DOUBLE_EQ(next_share(60, {}), 0);
}

TEST(Share, WhatOneDoesNotUseGoesToThoseAfterIt) {
  // Of 60 s the first of three had 30 and used 10.
  EXPECT_DOUBLE_EQ(next_share(50, {2, 1}), 50.0 * 2 / 3);
  EXPECT_DOUBLE_EQ(next_share(50, {2, 0, 3}), 20);
}

TEST(Share, ThoseAfterOneThatTookTooLongStillMeasureSomething) {
  EXPECT_GT(next_share(-5, {1, 1}), 0);
  EXPECT_LT(next_share(-5, {1, 1}), 1);
}

TEST(KeptShare, IsTheLeastTimeUpToWhatWasPlannedWhereOthersTookTooLong) {
  EXPECT_DOUBLE_EQ(kept_share(5, 3, 1), 5);
  EXPECT_DOUBLE_EQ(kept_share(0.1, 3, 1), 1);
  EXPECT_DOUBLE_EQ(kept_share(0.1, 3, 4), 3);
  EXPECT_FALSE(is_too_little(kept_share(0.1, 3, 4), 4));
  EXPECT_TRUE(is_too_little(kept_share(0.1, 3, 20), 20));
}

TEST(Share, MoreBenchmarksNeedMore) {
  EXPECT_GT(least_survey_time(1), 0);
  EXPECT_DOUBLE_EQ(least_survey_time(6), 6 * least_survey_time(1));
}

}  // namespace
}  // namespace numatlas
