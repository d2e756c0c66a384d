#include "run/rounds.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "benchmarks/test_plan.h"
#include "run/estimate_time.h"

namespace numatlas {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;

std::vector<PointRun> points_on(const testing::Words& words,
                                const std::string& command = "latency") {
  const auto prepared = testing::prepare(command, words, "numa:2 core:2 pu:1");
  EXPECT_TRUE(prepared);
  const auto plan = prepared->run.benchmark.plan(prepared->input());
  EXPECT_TRUE(plan);
  return points_of(*plan, std::vector<std::optional<Error>>(plan->size()), {},
                   prepared->run.options.stop.time, prepared->run.options);
}

std::vector<int> first_sittings(const std::vector<PointRun>& points) {
  std::vector<int> sittings;
  for (const PointRun& point : points) sittings.push_back(point.first_sitting);
  return sittings;
}

TEST(Points, WorkersInTurnArePartsOfOne) {
  const auto points = points_on({"--size", "16KiB,32KiB", "--serial", "--cpus", "0,1"});
  ASSERT_EQ(points.size(), 2U);
  EXPECT_EQ(points[0].count, 2U);
  EXPECT_EQ(points[1].first, 2U);
}

TEST(Points, MemoryThatIsDearIsMadeLessOften) {
  const auto points = points_on({"--size", "16KiB,64,1GiB", "--time", "500ms", "--cpus", "0"});
  EXPECT_THAT(first_sittings(points), ElementsAre(1, 1, 5));
  EXPECT_EQ(points[0].later_sitting, 1) << "cheap: anew for each visit";
  EXPECT_EQ(points[1].later_sitting, 5) << "once for the first, once for the others";
}

TEST(Points, ALongPlanSaysHowLongItTakes) {
  const auto text = [](const testing::Words& words, const std::string& command = "latency") {
    const auto prepared = testing::prepare(command, words, "numa:2 core:2 pu:1");
    const RunOptions& options = prepared->run.options;
    return time_text(time_needed(points_on(words, command), options), options, false);
  };
  EXPECT_EQ(text({"--size", "16KiB,32KiB", "--time", "1s", "--cpus", "0"}),
            "about 2.2 s: 2 cases of 1 s, and 0 s to prepare memory");
  EXPECT_EQ(text({"--size", "16KiB,32KiB", "--time", "8s", "--cpus", "0"}),
            "about 16 s: 2 cases of 8 s, and 0 s to prepare memory");
  EXPECT_EQ(text({"--size", "4GiB", "--visits", "7", "--time", "1s", "--cpus", "0"}),
            "about 35 s: 1 case of 1 s, and 34 s to prepare memory");
  EXPECT_EQ(text({"--pages", "base", "--page-counts", "8,16", "--time", "20s"}, "tlb"),
            "about 20 s: 4 cases");
}

TEST(Points, WithoutATimeAllCasesTakeTenSecondsAtMost) {
  const auto needed = [](const testing::Words& words) {
    auto prepared = testing::prepare("latency", words, "numa:2 core:2 pu:1");
    numatlas::Setup setup;
    setup.plan = *prepared->run.benchmark.plan(prepared->input());
    setup.skips.resize(setup.plan.size());
    RunOptions& options = prepared->run.options;
    EXPECT_TRUE(options.time_is_usual);
    choose_time(options, prepared->run.benchmark, setup);
    const auto points = points_of(setup.plan, setup.skips, {}, options.time_of_run(), options);
    return time_needed(points, options).seconds;
  };
  EXPECT_NEAR(needed({"--size", "16KiB", "--cpus", "0"}), 0.55, 0.05) << "less needs less";
  std::string sizes = "4KiB";
  for (int i = 2; i <= 30; ++i) sizes += "," + std::to_string(4 * i) + "KiB";
  EXPECT_DOUBLE_EQ(needed({"--size", sizes, "--cpus", "0"}), 10);
  for (int i = 31; i <= 200; ++i) sizes += "," + std::to_string(4 * i) + "KiB";
  EXPECT_DOUBLE_EQ(needed({"--size", sizes, "--cpus", "0"}), 20) << "five visits of 20 ms each";
}

TEST(Points, NeighboursHaveEachOthersPages) {
  const auto points =
      points_on({"--kernels", "read,copy", "--size", "64MiB", "--pages", "base,thp", "--cpus", "0"},
                "bandwidth");
  ASSERT_EQ(points.size(), 4U);
  std::vector<std::size_t> neighbours, works;
  for (const PointRun& point : points) {
    neighbours.push_back(point.neighbours);
    works.push_back(point.work);
    EXPECT_GT(point.touching, 0);
  }
  EXPECT_EQ(neighbours[0], neighbours[1]);
  EXPECT_EQ(neighbours[2], neighbours[3]);
  EXPECT_NE(neighbours[0], neighbours[2]) << "other pages";
  EXPECT_THAT(works, ElementsAre(0, 1, 2, 3)) << "each writes what it needs";
  const auto alone = points_on({"--kernels", "read", "--size", "64MiB", "--pages", "base",  //
                                "--cpus", "0"},
                               "bandwidth");
  EXPECT_NEAR(points[0].preparation, alone[0].preparation - alone[0].touching / 2, 1e-9);
}

TEST(Points, TheSameWorkGoesOnWithWhatIsThere) {
  const auto points = points_on({"--rates", "1,2,3", "--pairs", "0:0", "--mix", "none"}, "loaded");
  ASSERT_EQ(points.size(), 5U) << "idle, three rates and the peak";
  for (const PointRun& point : points) EXPECT_EQ(point.neighbours, 0U) << "the chase is the same";
  EXPECT_NE(points[0].work, points[1].work);
  for (std::size_t i = 2; i < points.size(); ++i) EXPECT_EQ(points[i].work, points[1].work);
  EXPECT_THAT(first_sittings(points), Each(1)) << "one chain for all of a round";
}

TEST(Points, MemoryIsMadeAnewForEachVisitThatWasAskedFor) {
  const auto points = points_on({"--size", "1GiB", "--visits", "7", "--cpus", "0"});
  EXPECT_EQ(points[0].first_sitting, 1);
  EXPECT_EQ(points[0].later_sitting, 1);
}

TEST(Points, MemoryThatIsDearIsMadeOnceWhereTheOptionsSaySo) {
  const auto prepared =
      testing::prepare("latency", {"--size", "16KiB,64MiB,1GiB", "--time", "500ms", "--cpus", "0"},
                       "numa:2 core:2 pu:1");
  ASSERT_TRUE(prepared);
  const auto plan = prepared->run.benchmark.plan(prepared->input());
  ASSERT_TRUE(plan);
  RunOptions options = prepared->run.options;
  options.keep_memory = true;
  const auto points = points_of(*plan, std::vector<std::optional<Error>>(plan->size()), {},
                                options.stop.time, options);
  EXPECT_THAT(first_sittings(points), ElementsAre(1, most_visits, most_visits));
  EXPECT_EQ(points[1].later_sitting, most_visits);
}

TEST(Points, WhatIsComparedVisitByVisitTakesTurns) {
  const auto prepared =
      testing::prepare("latency", {"--size", "1GiB", "--cpus", "0"}, "numa:2 core:2 pu:1");
  ASSERT_TRUE(prepared);
  auto plan = *prepared->run.benchmark.plan(prepared->input());
  const auto sittings = [&] {
    const auto points =
        points_of(plan, {std::nullopt}, {}, prepared->run.options.stop.time, prepared->run.options);
    return std::vector<int>{points.at(0).first_sitting, points.at(0).later_sitting};
  };
  EXPECT_THAT(sittings(), ElementsAre(5, 5));
  plan.front().in_turn = true;
  EXPECT_THAT(sittings(), ElementsAre(1, 1));
}

TEST(Points, ATimeForAllIsShared) {
  const auto points = points_on({"--time", "12s", "--kernels", "read", "--mix", "none"}, "matrix");
  ASSERT_GT(points.size(), 1U);
  EXPECT_DOUBLE_EQ(points[0].time.count(), 12.0 / static_cast<double>(points.size()));
}

TEST(Rounds, TheFirstFollowsThePlanLaterOnesAreShuffledAlikeOnAllRanks) {
  std::vector<PointRun> points(50);
  for (std::size_t i = 0; i < points.size(); ++i) points[i].neighbours = i;
  points[3].ended = true;
  std::vector<std::size_t> in_order(points.size());
  std::iota(in_order.begin(), in_order.end(), 0);
  in_order.erase(in_order.begin() + 3);
  EXPECT_EQ(order_of(points, 0, 1), in_order);
  const auto second = order_of(points, 1, 1);
  EXPECT_NE(second, in_order);
  EXPECT_EQ(second, order_of(points, 1, 1)) << "the same on every rank";
  EXPECT_NE(second, order_of(points, 2, 1));
  EXPECT_NE(second, order_of(points, 1, 2)) << "by the seed";
  auto sorted = second;
  std::sort(sorted.begin(), sorted.end());
  EXPECT_EQ(sorted, in_order) << "each once";
}

TEST(Rounds, PointsOfTheSameMemoryStayTogether) {
  std::vector<PointRun> points(40);
  for (std::size_t i = 0; i < points.size(); ++i) points[i].neighbours = points[i].work = i % 10;
  const auto order = order_of(points, 3, 1);
  for (std::size_t i = 0; i < order.size(); i += 4) {
    std::vector<std::size_t> memories;
    for (std::size_t k = i; k < i + 4; ++k) memories.push_back(points[order[k]].neighbours);
    EXPECT_THAT(memories, Each(memories.front()));
  }
}

TEST(Rounds, InTheFirstRoundManyTouchMemoryBeforeOne) {
  std::vector<PointRun> points(6);
  for (std::size_t i = 0; i < points.size(); ++i) {
    points[i].neighbours = i % 2;
    points[i].work = i;
    points[i].workers = i % 2 + 1;
  }
  EXPECT_THAT(order_of(points, 0, 1), ElementsAre(1, 3, 5, 0, 2, 4));
}

/// Of a time for one plan, for the first of its points.
TimeLeft divide(const std::vector<PointRun>& points, double left, double slower) {
  const PlanPoints plan{points, slower};
  return divide_time({&plan, 1}, points.front(), slower, left);
}

TEST(TimeForAll, EachPointGetsFiveVisitsWhereTheTimeAllows) {
  std::vector<PointRun> points(4);
  for (PointRun& point : points) {
    point.count = 1;
    point.time = std::chrono::seconds(1);
  }
  const TimeLeft plenty = divide(points, 100, 1);
  EXPECT_EQ(plenty.visits, 5);
  EXPECT_EQ(plenty.window.count(), 0.05) << "more visits are better than longer ones";
  EXPECT_DOUBLE_EQ(divide(points, 0.5, 1).window.count(), 0.025);
  EXPECT_EQ(divide(points, 0.2, 1).visits, 2) << "5 of 10 ms would say nothing";
  EXPECT_EQ(divide(points, 0, 1).visits, 1) << "each point has a value, whatever the time";
}

TEST(TimeForAll, PreparingComesOff) {
  std::vector<PointRun> points(2);
  for (PointRun& point : points) {
    point.count = 1;
    point.preparation = 0.1;
    point.time = std::chrono::milliseconds(500);
  }
  EXPECT_DOUBLE_EQ(divide(points, 1.4, 1).window.count(), 0.04);
  EXPECT_EQ(divide(points, 1.4, 2).visits, 3) << "it takes twice as long as estimated";
}

TEST(TimeForAll, MemoryThatStandsIsNotPreparedAgain) {
  std::vector<PointRun> points(1);
  points[0].count = 1;
  points[0].time = std::chrono::seconds(15);
  points[0].preparation = 10;
  points[0].first_sitting = points[0].later_sitting = 5;
  points[0].done->visits.emplace_back();
  EXPECT_EQ(divide(points, 4, 1).window.count(), 0) << "no time to prepare it";
  points[0].ready = 4;
  EXPECT_EQ(divide(points, 4, 1).window.count(), 0.75);
}

TEST(TimeForAll, IsThatOfAllPlans) {
  std::vector<PointRun> one(1), other(3);
  for (PointRun* point : {&one[0], &other[0], &other[1], &other[2]}) {
    point->count = 1;
    point->time = std::chrono::seconds(1);
  }
  other[0].preparation = 0.02;
  const PlanPoints plans[] = {{one, 1}, {other, 5}};
  const TimeLeft left = divide_time(plans, one.front(), 1, 1);
  EXPECT_EQ(left.visits, 5);
  EXPECT_DOUBLE_EQ(left.window.count(), 0.5 / 20)
      << "5 of 4 points, and 5 times 20 ms of preparing";
}

TEST(TimeForAll, EndsWhenNoVisitFits) {
  std::vector<PointRun> points(1);
  points[0].count = 1;
  points[0].time = std::chrono::seconds(1);
  points[0].done->visits.resize(5);
  EXPECT_EQ(divide(points, 0.06, 1).window.count(), 0.05);
  EXPECT_EQ(divide(points, 0.04, 1).window.count(), 0);
}

}  // namespace
}  // namespace numatlas
