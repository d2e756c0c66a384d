#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "benchmarks/loaded/table.h"
#include "benchmarks/test_plan.h"

namespace numatlas {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

LoadPoint at(const std::string& load, double bandwidth, double latency) {
  LoadPoint point;
  point.load = load;
  point.bandwidth = bandwidth;
  point.latency = latency;
  return point;
}

TEST(Knee, BetweenTheNeighboursOf80Percent) {
  const Knee knee =
      knee_of({at("idle", 0, 100), at("peak", 10, 300), at("70%", 7, 120), at("90%", 9, 200)});
  EXPECT_EQ(knee.unloaded, 100);
  EXPECT_EQ(knee.peak, 10);
  EXPECT_EQ(knee.at_peak, 300);
  ASSERT_TRUE(knee.at_80_percent);
  EXPECT_DOUBLE_EQ(*knee.at_80_percent, 160);
}

TEST(Knee, MoreThanThePeakMayBeReachedBelowIt) {
  const Knee knee = knee_of({at("idle", 0, 100), at("90%", 11, 200), at("peak", 10, 300)});
  EXPECT_EQ(knee.peak, 11);
  EXPECT_EQ(knee.at_peak, 200);
}

TEST(Knee, NothingIsMadeUp) {
  EXPECT_FALSE(knee_of({}).unloaded);
  const Knee idle = knee_of({at("idle", 0, 100)});
  EXPECT_EQ(idle.unloaded, 100);
  EXPECT_FALSE(idle.at_80_percent);
  EXPECT_FALSE(idle.at_peak);
}

testing::Plan loaded_plan(const std::string& machine, const testing::Words& words) {
  return testing::sure_plan("loaded", words, machine);
}

/// What follows from what was seen.
testing::Plan refined_plan(const std::string& machine, const testing::Words& words,
                           const RunReport& seen) {
  const auto prepared = testing::prepare("loaded", words, machine);
  EXPECT_TRUE(prepared) << prepared.error().message;
  const auto plan = prepared->run.benchmark->refine(prepared->input(), seen);
  EXPECT_TRUE(plan) << plan.error().message;
  return *plan;
}

std::vector<std::string> names_of(const std::vector<PlannedScenario>& plan) {
  std::vector<std::string> names;
  for (const PlannedScenario& planned : plan) names.push_back(planned.head.name);
  return names;
}

TEST(Loaded, IdleAndPeakComeFirst) {
  const auto plan = loaded_plan("numa:2 core:3 pu:1", {"--pairs", "1:0", "--mix", "none"});
  EXPECT_THAT(names_of(plan), ElementsAre("idle node 1 to 0 base", "read peak node 1 to 0 base"));
  const std::vector<Flow>& flows = plan[1].scenario.flows;
  ASSERT_EQ(flows.size(), 3U);
  EXPECT_EQ(flows[0].kernel.name, "chase");
  EXPECT_EQ(flows[0].role, Role::measured);
  for (std::size_t i = 1; i < 3; ++i) {
    EXPECT_EQ(flows[i].kernel.name, "read");
    EXPECT_EQ(flows[i].role, Role::load);
    EXPECT_FALSE(flows[i].rate);
    EXPECT_EQ(flows[i].region.placement.text(), "bind:0");
  }
}

TEST(Loaded, ThePartsOfThePeakFollowFromIt) {
  RunReport report;
  ScenarioResult peak;
  peak.name = "read peak node 0 to 0 base";
  peak.labels = {{"load", "peak"}};
  peak.totals = {{"bandwidth_sum", "B/s", 20e9, std::nullopt}};
  report.scenarios = {peak};
  const std::vector<std::string> words{"--pairs", "local", "--mix", "none"};
  auto more = refined_plan("numa:1 core:3 pu:1", words, report);
  ASSERT_EQ(more.size(), 9U);
  EXPECT_EQ(more[3].head.name, "read 40% node 0 to 0 base");
  // Both loaders together make 8 GB/s.
  EXPECT_DOUBLE_EQ(*more[3].scenario.flows[1].rate, 4e9);
  EXPECT_FALSE(more[3].scenario.flows[0].rate);
  // And that is all.
  report.scenarios.push_back(more[3].head);
  EXPECT_TRUE(refined_plan("numa:1 core:3 pu:1", words, report).empty());
}

TEST(Loaded, RatesAskedForNeedNoPeak) {
  const auto plan = loaded_plan("numa:1 core:3 pu:1", {"--rates", "4,1.5", "--mix", "none"});
  EXPECT_THAT(names_of(plan),
              ElementsAre("idle node 0 to 0 base", "read 1.5 GB/s node 0 to 0 base",
                          "read 4 GB/s node 0 to 0 base", "read peak node 0 to 0 base"));
  EXPECT_DOUBLE_EQ(*plan[1].scenario.flows[2].rate, 0.75e9);
}

TEST(Loaded, AHardwareThreadOfTheSameCoreDoesNotLoad) {
  EXPECT_EQ(loaded_plan("numa:1 core:2 pu:2", {"--mix", "none"})[1].scenario.flows.size(), 3U);
  const auto alone = loaded_plan("numa:1 core:1 pu:2", {"--mix", "none"});
  ASSERT_EQ(alone.size(), 1U);
  EXPECT_THAT(alone[0].skip, HasSubstr("no other core to load from"));
}

TEST(Loaded, ThreadsAreTheFirstCpus) {
  const auto plan = loaded_plan("numa:1 core:4 pu:1", {"--threads", "3", "--mix", "none"});
  EXPECT_EQ(plan[1].scenario.flows.size(), 3U);
  const auto alone = loaded_plan("numa:1 core:4 pu:1", {"--threads", "1"});
  ASSERT_EQ(alone.size(), 1U);
  EXPECT_THAT(alone[0].skip, HasSubstr("no other core to load from"));
}

TEST(Loaded, BadWordsAreNamed) {
  for (const auto& [option, value] :
       {std::pair("--rates", "fast"), std::pair("--rates", "-1"), std::pair("--rates", "1,"),
        std::pair("--order", "up"), std::pair("--size", "1,2")}) {
    const auto run = parse_run("loaded", {std::string(option) + "=" + value});
    ASSERT_FALSE(run) << option << value;
    EXPECT_THAT(run.error().message, HasSubstr(option));
  }
}

}  // namespace
}  // namespace numatlas
