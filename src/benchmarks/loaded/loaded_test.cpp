#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "benchmarks/loaded/table.h"
#include "benchmarks/test_plan.h"

namespace numatlas {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

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
  peak.figures = {{"bandwidth_sum", "B/s", 20e9, std::nullopt}};
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

/// A measured point of the curve of one loader on node 0.
ScenarioResult measured(const std::string& load, double asked, double achieved, double percent) {
  ScenarioResult point;
  point.name = "read " + load + " node 0 to 0 base";
  point.kernel = "read";
  point.labels = {{"cell_cpu_node", "0"}, {"cell_memory_node", "0"}, {"load", load}};
  Summary summary;
  summary.n = 20;
  // Inverse of the half width of a sum (Student's t for 20 stretches).
  summary.stddev = percent / 100 * achieved * std::sqrt(20.0) / 2.093;
  summary.mean = achieved;
  point.figures = {{"bandwidth_sum", "B/s", estimate_of_stretches(summary), summary}};
  FlowResult chase, loader;
  chase.figures = {{"latency", "s", 100e-9, std::nullopt}};
  chase.stop = "converged";
  loader.load = true;
  if (asked > 0) loader.rate = asked;
  point.flows = {chase, loader};
  return point;
}

RunReport curve(double reached, double peak_percent) {
  RunReport report;
  report.hosts = {"alpha"};
  report.workers.resize(2);
  report.complete = true;
  report.precision = 0.01;
  report.scenarios = {measured("peak", 0, 10e9, peak_percent),
                      measured("40%", 4e9, reached * 4e9, 0.1)};
  return report;
}

TEST(LoadedWarnings, ARateThatIsNotReachedIsMarked) {
  EXPECT_THAT(counted(loaded_warnings(curve(0.95, 1))), ElementsAre());
  EXPECT_THAT(loaded_table(curve(0.95, 1), false), Not(HasSubstr("note")));
  const RunReport report = curve(0.5, 1);
  EXPECT_THAT(
      counted(loaded_warnings(report)),
      ElementsAre(HasSubstr("read peak node 0 to 0 base: the rate asked for was not reached "
                            "at 40% (least: 50 % of it)")));
  EXPECT_THAT(loaded_table(report, false), HasSubstr("rate not reached\n"));
}

TEST(LoadedWarnings, APeakThatIsHardlyKnownIsMarked) {
  RunReport report = curve(1, 8);
  EXPECT_THAT(
      counted(loaded_warnings(report)),
      ElementsAre(HasSubstr("the peak is known to +-8.0 % only, and parts of it no better")));
  EXPECT_THAT(loaded_table(report, false), HasSubstr("wide\n"));
  report = curve(1, 3);
  EXPECT_THAT(counted(loaded_warnings(report)), ElementsAre())
      << "less than half a step of the parts";
  report.scenarios[0].figures[0].estimate = 10e9;
  EXPECT_THAT(counted(loaded_warnings(report)),
              ElementsAre(HasSubstr("too few samples for an interval")));
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
