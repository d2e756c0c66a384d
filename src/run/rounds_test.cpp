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

std::vector<CaseRun> cases_on(const testing::Words& words, const std::string& command = "latency") {
  const auto prepared = testing::prepare(command, words, "numa:2 core:2 pu:1");
  EXPECT_TRUE(prepared);
  const auto plan = prepared->run.benchmark.plan(prepared->input());
  EXPECT_TRUE(plan);
  return runs_of_plan(*plan, std::vector<std::optional<Error>>(plan->size()), {},
                      prepared->run.options.stop.time, prepared->run.options);
}

std::vector<int> first_blocks(const std::vector<CaseRun>& runs) {
  std::vector<int> blocks;
  for (const CaseRun& run : runs) blocks.push_back(run.first_block);
  return blocks;
}

TEST(Points, WorkersInTurnArePartsOfOne) {
  const auto points = cases_on({"--size", "16KiB,32KiB", "--serial", "--cpus", "0,1"});
  ASSERT_EQ(points.size(), 2U);
  EXPECT_EQ(points[0].count, 2U);
  EXPECT_EQ(points[1].first, 2U);
}

TEST(Points, MemoryThatIsDearIsMadeLessOften) {
  const auto points = cases_on({"--size", "16KiB,64,1GiB", "--time", "500ms", "--cpus", "0"});
  EXPECT_THAT(first_blocks(points), ElementsAre(1, 1, 5));
  EXPECT_EQ(points[0].later_block, 1) << "cheap: anew for each visit";
  EXPECT_EQ(points[1].later_block, 5) << "once for the first, once for the others";
}

TEST(Points, ALongPlanSaysHowLongItTakes) {
  const auto text = [](const testing::Words& words, const std::string& command = "latency") {
    const auto prepared = testing::prepare(command, words, "numa:2 core:2 pu:1");
    const RunOptions& options = prepared->run.options;
    return time_text(time_needed(cases_on(words, command), options), options, false);
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
    const auto points = runs_of_plan(setup.plan, setup.skips, {}, options.time_of_run(), options);
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
      cases_on({"--kernels", "read,copy", "--size", "64MiB", "--pages", "base,thp", "--cpus", "0"},
               "bandwidth");
  ASSERT_EQ(points.size(), 4U);
  std::vector<std::size_t> neighbours, works;
  for (const CaseRun& run : points) {
    neighbours.push_back(run.neighbours);
    works.push_back(run.work);
    EXPECT_GT(run.touching, 0);
  }
  EXPECT_EQ(neighbours[0], neighbours[1]);
  EXPECT_EQ(neighbours[2], neighbours[3]);
  EXPECT_NE(neighbours[0], neighbours[2]) << "other pages";
  EXPECT_THAT(works, ElementsAre(0, 1, 2, 3)) << "each writes what it needs";
  const auto alone = cases_on({"--kernels", "read", "--size", "64MiB", "--pages", "base",  //
                               "--cpus", "0"},
                              "bandwidth");
  EXPECT_NEAR(points[0].preparation, alone[0].preparation - alone[0].touching / 2, 1e-9);
}

TEST(Points, TheSameWorkGoesOnWithWhatIsThere) {
  const auto points = cases_on({"--rates", "1,2,3", "--pairs", "0:0", "--mix", "none"}, "loaded");
  ASSERT_EQ(points.size(), 5U) << "idle, three rates and the peak";
  for (const CaseRun& run : points) EXPECT_EQ(run.neighbours, 0U) << "the chase is the same";
  EXPECT_NE(points[0].work, points[1].work);
  for (std::size_t i = 2; i < points.size(); ++i) EXPECT_EQ(points[i].work, points[1].work);
  EXPECT_THAT(first_blocks(points), Each(1)) << "one chain for all of a round";
}

TEST(Points, MemoryIsMadeAnewForEachVisitThatWasAskedFor) {
  const auto points = cases_on({"--size", "1GiB", "--visits", "7", "--cpus", "0"});
  EXPECT_EQ(points[0].first_block, 1);
  EXPECT_EQ(points[0].later_block, 1);
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
  const auto points = runs_of_plan(*plan, std::vector<std::optional<Error>>(plan->size()), {},
                                   options.stop.time, options);
  EXPECT_THAT(first_blocks(points), ElementsAre(1, most_visits, most_visits));
  EXPECT_EQ(points[1].later_block, most_visits);
}

TEST(Points, WhatIsComparedVisitByVisitTakesTurns) {
  const auto prepared =
      testing::prepare("latency", {"--size", "1GiB", "--cpus", "0"}, "numa:2 core:2 pu:1");
  ASSERT_TRUE(prepared);
  auto plan = *prepared->run.benchmark.plan(prepared->input());
  const auto blocks = [&] {
    const auto points = runs_of_plan(plan, {std::nullopt}, {}, prepared->run.options.stop.time,
                                     prepared->run.options);
    return std::vector<int>{points.at(0).first_block, points.at(0).later_block};
  };
  EXPECT_THAT(blocks(), ElementsAre(5, 5));
  plan.front().in_turn = true;
  EXPECT_THAT(blocks(), ElementsAre(1, 1));
}

TEST(Points, ATimeForAllIsShared) {
  const auto points = cases_on({"--time", "12s", "--kernels", "read", "--mix", "none"}, "matrix");
  ASSERT_GT(points.size(), 1U);
  EXPECT_DOUBLE_EQ(points[0].time.count(), 12.0 / static_cast<double>(points.size()));
}

TEST(Rounds, TheFirstFollowsThePlanLaterOnesAreShuffledAlikeOnAllRanks) {
  std::vector<CaseRun> runs(50);
  for (std::size_t i = 0; i < runs.size(); ++i) runs[i].neighbours = i;
  runs[3].ended = true;
  std::vector<std::size_t> in_order(runs.size());
  std::iota(in_order.begin(), in_order.end(), 0);
  in_order.erase(in_order.begin() + 3);
  EXPECT_EQ(order_of(runs, 0, 1), in_order);
  const auto second = order_of(runs, 1, 1);
  EXPECT_NE(second, in_order);
  EXPECT_EQ(second, order_of(runs, 1, 1)) << "the same on every rank";
  EXPECT_NE(second, order_of(runs, 2, 1));
  EXPECT_NE(second, order_of(runs, 1, 2)) << "by the seed";
  auto sorted = second;
  std::sort(sorted.begin(), sorted.end());
  EXPECT_EQ(sorted, in_order) << "each once";
}

TEST(Rounds, PointsOfTheSameMemoryStayTogether) {
  std::vector<CaseRun> runs(40);
  for (std::size_t i = 0; i < runs.size(); ++i) runs[i].neighbours = runs[i].work = i % 10;
  const auto order = order_of(runs, 3, 1);
  for (std::size_t i = 0; i < order.size(); i += 4) {
    std::vector<std::size_t> memories;
    for (std::size_t k = i; k < i + 4; ++k) memories.push_back(runs[order[k]].neighbours);
    EXPECT_THAT(memories, Each(memories.front()));
  }
}

TEST(Rounds, InTheFirstRoundManyTouchMemoryBeforeOne) {
  std::vector<CaseRun> runs(6);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    runs[i].neighbours = i % 2;
    runs[i].work = i;
    runs[i].workers = i % 2 + 1;
  }
  EXPECT_THAT(order_of(runs, 0, 1), ElementsAre(1, 3, 5, 0, 2, 4));
}

/// Of a time for one plan, for the first of its cases.
TimeLeft divide(const std::vector<CaseRun>& runs, double left, double slower) {
  const RunCases plan{runs, slower};
  return divide_time({&plan, 1}, runs.front(), slower, left);
}

TEST(TimeForAll, EachPointGetsFiveVisitsWhereTheTimeAllows) {
  std::vector<CaseRun> runs(4);
  for (CaseRun& run : runs) {
    run.count = 1;
    run.time = std::chrono::seconds(1);
  }
  const TimeLeft plenty = divide(runs, 100, 1);
  EXPECT_EQ(plenty.visits, 5);
  EXPECT_EQ(plenty.window.count(), 0.05) << "more visits are better than longer ones";
  EXPECT_DOUBLE_EQ(divide(runs, 0.5, 1).window.count(), 0.025);
  EXPECT_EQ(divide(runs, 0.2, 1).visits, 2) << "5 of 10 ms would say nothing";
  EXPECT_EQ(divide(runs, 0, 1).visits, 1) << "each point has a value, whatever the time";
}

TEST(TimeForAll, PreparingComesOff) {
  std::vector<CaseRun> runs(2);
  for (CaseRun& run : runs) {
    run.count = 1;
    run.preparation = 0.1;
    run.time = std::chrono::milliseconds(500);
  }
  EXPECT_DOUBLE_EQ(divide(runs, 1.4, 1).window.count(), 0.04);
  EXPECT_EQ(divide(runs, 1.4, 2).visits, 3) << "it takes twice as long as estimated";
}

TEST(TimeForAll, MemoryThatStandsIsNotPreparedAgain) {
  std::vector<CaseRun> runs(1);
  runs[0].count = 1;
  runs[0].time = std::chrono::seconds(15);
  runs[0].preparation = 10;
  runs[0].first_block = runs[0].later_block = 5;
  runs[0].done->visits.emplace_back();
  EXPECT_EQ(divide(runs, 4, 1).window.count(), 0) << "no time to prepare it";
  runs[0].ready = 4;
  EXPECT_EQ(divide(runs, 4, 1).window.count(), 0.75);
}

TEST(TimeForAll, IsThatOfAllPlans) {
  std::vector<CaseRun> one(1), other(3);
  for (CaseRun* run : {&one[0], &other[0], &other[1], &other[2]}) {
    run->count = 1;
    run->time = std::chrono::seconds(1);
  }
  other[0].preparation = 0.02;
  const RunCases plans[] = {{one, 1}, {other, 5}};
  const TimeLeft left = divide_time(plans, one.front(), 1, 1);
  EXPECT_EQ(left.visits, 5);
  EXPECT_DOUBLE_EQ(left.window.count(), 0.5 / 20)
      << "5 of 4 points, and 5 times 20 ms of preparing";
}

TEST(TimeForAll, EndsWhenNoVisitFits) {
  std::vector<CaseRun> runs(1);
  runs[0].count = 1;
  runs[0].time = std::chrono::seconds(1);
  runs[0].done->visits.resize(5);
  EXPECT_EQ(divide(runs, 0.06, 1).window.count(), 0.05);
  EXPECT_EQ(divide(runs, 0.04, 1).window.count(), 0);
}

}  // namespace
}  // namespace numatlas
