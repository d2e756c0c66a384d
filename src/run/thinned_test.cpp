#include "run/thinned.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include <fmt/format.h>

#include "run/benchmark.h"

namespace numatlas {
namespace {

using ::testing::ElementsAre;

/// All pairs of so many nodes, each with two kernels, and a case without labels.
std::vector<PlannedCase> pairs_of(int nodes) {
  std::vector<PlannedCase> plan(1);
  plan.front().head.kernel = "";
  for (int from = 0; from < nodes; ++from) {
    for (int to = 0; to < nodes; ++to) {
      for (const char* kernel : {"read", "copy"}) {
        PlannedCase& one = plan.emplace_back();
        one.head.kernel = kernel;
        one.head.name = fmt::format("{} {} {}", kernel, from, to);
        one.head.labels = {{"from", std::to_string(from)}, {"to", std::to_string(to)}};
      }
    }
  }
  return plan;
}

Thinned within(double share, int nodes, const std::vector<ThinnedAxis>& axes) {
  const std::vector<PlannedCase> plan = pairs_of(nodes);
  return thinned(plan, std::vector<double>(plan.size(), 1.0), axes, share);
}

const ThinnedAxis pairs{"pairs", {"from", "to"}, 2};

TEST(Thinned, NothingGoesWhereThereIsTime) {
  const Thinned all = within(33, 4, {pairs});
  EXPECT_EQ(all.text, "");
  EXPECT_EQ(all.seconds, 33);
  EXPECT_TRUE(all.kept.empty());
}

TEST(Thinned, HalvesEachLabelAndKeepsItsEnds) {
  const Thinned some = within(20, 5, {pairs});
  EXPECT_EQ(some.text, "16 of 25 pairs");
  EXPECT_THAT(some.kept.at("from"), ElementsAre("0", "2", "4"));
  EXPECT_EQ(some.seconds, 19) << "and the case without labels";
  EXPECT_THAT(within(9, 4, {pairs}).kept.at("to"), ElementsAre("0", "3"));
  EXPECT_THAT(within(50, 8, {pairs}).kept.at("to"), ElementsAre("0", "2", "4", "7"));
}

TEST(Thinned, TheFirstAxisBeforeTheNextDownToItsLeast) {
  const Thinned some = within(10, 4, {{"kernels", {"kernel"}, 1, Keep::first}, pairs});
  EXPECT_EQ(some.text, "1 of 2 kernels, 12 of 16 pairs");
  EXPECT_THAT(some.kept.at("kernel"), ElementsAre("read"));
}

TEST(Thinned, KeepsItsLeastAndTheEndsWherePairsLackTheDiagonal) {
  std::vector<PlannedCase> plan = pairs_of(4);
  std::erase_if(plan, [](const PlannedCase& one) {
    return one.head.labels.empty() || one.head.labels[0].second == one.head.labels[1].second;
  });
  const std::vector<double> seconds(plan.size(), 1.0);
  EXPECT_THAT(thinned(plan, seconds, {pairs}, 12).kept.at("to"), ElementsAre("0", "3"));
  EXPECT_TRUE(thinned(plan, seconds, {{"nodes", {"from"}, 3}}, 1).kept.empty());
  EXPECT_THAT(thinned(plan, seconds, {{"nodes", {"to"}}}, 1).kept.at("to"), ElementsAre("0", "1"))
      << "the ends in the order of the plan: 1, 2, 3, 0";
}

TEST(Thinned, WhatNoAxisGivesIsTooMuch) {
  const Thinned least = within(1, 4, {pairs});
  EXPECT_EQ(least.seconds, 9);
  EXPECT_EQ(least.text, "12 of 16 pairs");
}

TEST(Thinned, CasesThatAreNotMeasuredDoNotCount) {
  const std::vector<PlannedCase> plan = pairs_of(2);
  const std::vector<double> seconds{0, 1, 1, 0, 0, 1, 1, 0, 0};
  EXPECT_EQ(thinned(plan, seconds, {{"nodes", {"from"}, 1}}, 2).text, "1 of 2 nodes");
  EXPECT_EQ(thinned(plan, seconds, {{"nodes", {"to"}, 1}}, 2).text, "") << "all are to one";
}

}  // namespace
}  // namespace numatlas
