#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/test_data.h"
#include "benchmarks/test_plan.h"
#include "benchmarks/weights/search.h"
#include "report/view_text.h"

namespace numatlas::weights_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<std::string> texts(const std::vector<Weights>& all) {
  std::vector<std::string> found;
  for (const Weights& weights : all) found.push_back(text_of(weights));
  return found;
}

NodeSet nodes(const char* list) { return *parse_list<NodeId>(list); }

TEST(WeightsGrid, EqualFirstAndEachOnce) {
  EXPECT_THAT(texts(coarse_grid(nodes("3"))), ElementsAre("3=1"));
  EXPECT_THAT(texts(coarse_grid(nodes("0,2"))),
              ElementsAre("0=1,2=1", "0=1,2=5", "0=1,2=2", "0=2,2=1", "0=5,2=1"));
  for (const auto& [list, points] : {std::pair{"0-2", 10U}, std::pair{"0-3", 11U}}) {
    const auto grid = texts(coarse_grid(nodes(list)));
    EXPECT_EQ(grid.size(), points);
    EXPECT_EQ(std::set<std::string>(grid.begin(), grid.end()).size(), points);
  }
}

TEST(WeightsGrid, NeighboursAreOneStepOfTheFinerGridAway) {
  EXPECT_THAT(texts(neighbours({{NodeId{0}, 2}, {NodeId{2}, 1}}, 1)),
              ElementsAre("0=7,2=5", "0=3,2=1"));
  EXPECT_THAT(texts(neighbours({{NodeId{0}, 11}, {NodeId{2}, 1}}, 2)),
              ElementsAre("0=7,2=1", "0=23,2=1"));
  EXPECT_THAT(texts(neighbours({{NodeId{0}, 47}, {NodeId{2}, 1}}, 3)), ElementsAre("0=23,2=1"))
      << "no weight is 0";
}

/// A point of the search with a sum of so many GB/s, sure to so many per cent.
Case measured(const std::string& weights, const std::string& round, double gbs,
              double percent = 0.1) {
  Case one;
  one.name = weights;
  one.kernel = "mix 2:1";
  one.pages = "base";
  one.size = Bytes{mib};
  one.labels = {{"weights", weights}, {"round", round}};
  Summary summary;
  summary.n = 20;
  // Inverse of the half width of a sum (Student's t for 20 stretches).
  summary.stddev = percent / 100 * gbs * 1e9 * std::sqrt(20.0) / 2.093;
  summary.mean = gbs * 1e9;
  one.figures = {{"bandwidth_sum", "B/s", estimate_of_stretches(summary), summary}};
  one.flows.resize(1);
  return one;
}

RunReport report_of(std::vector<Case> cases) {
  RunReport report = testing::one_worker();
  report.cases = std::move(cases);
  return report;
}

TEST(WeightsSearch, GoesOnWhileItGains) {
  RunReport report = report_of({measured("nearest", "0", 50), measured("0=1,2=1", "0", 40),
                                measured("0=2,2=1", "0", 60), measured("0=5,2=1", "0", 55)});
  Next next = next_round(report);
  EXPECT_EQ(next.round, "1");
  EXPECT_THAT(texts(next.weights), ElementsAre("0=7,2=5", "0=3,2=1"));
  report.cases.push_back(measured("0=7,2=5", "1", 58));
  report.cases.push_back(measured("0=3,2=1", "1", 61));
  next = next_round(report);
  EXPECT_EQ(next.round, "2");
  EXPECT_THAT(texts(next.weights), ElementsAre("0=17,2=7", "0=19,2=5"));
  report.cases.push_back(measured("0=17,2=7", "2", 61.01));
  EXPECT_EQ(next_round(report).round, "final") << "more, but not to be told";
  report.cases.back() = measured("0=17,2=7", "2", 62);
  EXPECT_EQ(next_round(report).round, "3");
  report.cases.push_back(measured("0=35,2=13", "3", 65));
  EXPECT_EQ(next_round(report).round, "final") << "after the last round";
}

TEST(WeightsSearch, NothingMeasuredNothingRefined) {
  EXPECT_TRUE(next_round(report_of({})).weights.empty());
  RunReport report = report_of({measured("0=1,2=1", "0", 40)});
  report.cases[0].status = Status::skipped;
  EXPECT_EQ(best_point(report), nullptr);
  EXPECT_TRUE(next_round(report).weights.empty());
}

testing::Prepared prepare(const testing::Words& words) {
  auto prepared = testing::prepare("weights", words,
                                   "numa:2(memory=34359738368) l3:1(size=16777216) core:1 pu:1");
  EXPECT_TRUE(prepared) << full_text(prepared.error());
  return *std::move(prepared);
}

Machine recorded(const char* file) {
  const auto machine = read_recorded_machine(test_data() + "/topologies/" + file);
  EXPECT_TRUE(machine) << full_text(machine.error());
  return *machine;
}

testing::Words words_in_survey(const Machine& machine) {
  return parse_run("weights", {})->benchmark.survey(machine).words;
}

TEST(WeightsSurvey, ByTheCpusNearBothMemoriesAndNotByAllOfALargeMachine) {
  EXPECT_THAT(words_in_survey(recorded("cxl-tiers.json")), ElementsAre("--size", "20MiB"));
  EXPECT_THAT(
      words_in_survey(*read_recorded_machine("package:2 group:4 [numa(memory=128GiB)] "
                                             "l3:2(size=32MiB) core:8 pu:2(indexes=2*128:1*2)")),
      ElementsAre("--cpus", "0-7,16-23,32-39,48-55,64-71,80-87,96-103,112-119", "--size", "16MiB"));
}

TEST(WeightsSurvey, TheSameCpusMeasureTheWeightsAndTheirOwnMemoryAlone) {
  const Machine machine = recorded("cxl-tiers.json");
  const testing::Plan plan = testing::sure_plan("weights", words_in_survey(machine), machine);
  ASSERT_FALSE(plan.empty());
  const std::vector<Flow>& alone = plan.front().scenario.flows;
  EXPECT_EQ(label_of(plan.front().head, "weights"), "nearest");
  for (const Flow& flow : alone) EXPECT_EQ(flow.region.placement.text(), "bind:0");
  for (const PlannedCase& planned : plan)
    EXPECT_EQ(planned.scenario.flows.size(), alone.size()) << planned.head.name;
}

/// With every neighbour of the best measured.
RunReport searched() {
  return report_of({measured("nearest", "0", 40), measured("0=1,1=1", "0", 45),
                    measured("0=2,1=1", "0", 60), measured("0=7,1=5", "1", 50),
                    measured("0=3,1=1", "1", 51)});
}

TEST(WeightsRefine, MeasuresTheBestFewAgainBesideEqualOnesAndTheNearest) {
  const testing::Prepared planned = prepare({});
  RunReport report = searched();
  const auto more = planned.run.benchmark.refinement.plan(planned.input(), report);
  ASSERT_TRUE(more);
  EXPECT_THAT(testing::names_of(*more),
              ElementsAre("0=2,1=1 again", "0=3,1=1 again", "0=7,1=5 again", "0=1,1=1 again",
                          "nearest again"));
  EXPECT_EQ(label_of(more->at(4).head, "round"), "final");
  EXPECT_EQ(more->at(4).scenario.flows.at(0).region.placement.text(), "bind:0");
  EXPECT_EQ(more->at(4).number, 4) << "points of their own, so that visits take turns";
  EXPECT_TRUE(more->at(4).in_turn);
}

TEST(WeightsRefine, WhatWasMeasuredAgainAloneCounts) {
  RunReport report = searched();
  report.cases.push_back(measured("0=2,1=1", "final", 52));
  report.cases.push_back(measured("0=3,1=1", "final", 53));
  report.cases.push_back(measured("0=1,1=1", "final", 46));
  report.cases.push_back(measured("nearest", "final", 41));
  EXPECT_EQ(best_point(report), &report.cases[6]);
  EXPECT_EQ(point_of(report, "0=1,1=1"), &report.cases[7]);
  EXPECT_EQ(point_of(report, "nearest"), &report.cases[8]);
  EXPECT_EQ(point_of(report, "0=7,1=5"), &report.cases[3]) << "measured once";
  EXPECT_TRUE(next_round(report).weights.empty());
}

/// A point of the final round with these sums in GB/s, a visit each.
Case visited(const std::string& weights, std::vector<double> gbs) {
  Case one = measured(weights, "final", 1);
  for (double& value : gbs) value *= 1e9;
  one.figures.front().estimate = estimate_of_visits(gbs, std::nullopt, std::nullopt);
  one.visits.emplace();
  one.visits->figures = {{"bandwidth_sum", "B/s", std::move(gbs), 0}};
  return one;
}

/// The machine loses half of its speed after the second round.
RunReport of_two_speeds() {
  return report_of({visited("0=2,1=1", {102, 103, 51, 50.5, 51, 102}),
                    visited("0=1,1=1", {100, 100, 50, 50, 50}),
                    visited("nearest", {106, 105, 53, 53, 52, 105, 106})});
}

TEST(WeightsGain, IsOfVisitsOfTheSameRound) {
  const RunReport report = of_two_speeds();
  const Case &best = report.cases[0], &equal = report.cases[1];
  const auto gain = gain_of(report, best, equal);
  ASSERT_TRUE(gain);
  EXPECT_NEAR(gain->value, 1.02, 0.001) << "of the rounds that both have";
  EXPECT_EQ(gain->n, 5U);
  EXPECT_GT(*gain->low, 1.01);
  EXPECT_LT(*ratio_of(*rate_of(best), *rate_of(equal)).low, 1) << "without pairs nothing is sure";
}

TEST(WeightsGain, AllowsForTheChoiceAmongCandidates) {
  RunReport report = of_two_speeds();
  const Estimate one = *gain_of(report, report.cases[0], report.cases[1]);
  report.cases.push_back(visited("0=3,1=1", {101, 101, 50, 50, 50}));
  report.cases.push_back(visited("0=5,1=1", {101, 101, 50, 50, 50}));
  const Estimate of_three = *gain_of(report, report.cases[0], report.cases[1]);
  EXPECT_EQ(of_three.value, one.value);
  EXPECT_LT(*of_three.low, *one.low);
  EXPECT_GT(*of_three.high, *one.high);
}

TEST(WeightsGain, OfFewRoundsIsWhatBothIntervalsLeaveOpen) {
  RunReport report = report_of(
      {visited("0=2,1=1", {102, 103, 102, 103, 102}), visited("nearest", {100, 100, 100, 100})});
  const Case &best = report.cases[0], &nearest = report.cases[1];
  EXPECT_EQ(gain_of(report, best, nearest), ratio_of(*rate_of(best), *rate_of(nearest)));
  report.cases[1] = visited("nearest", {100, 100, 100, 100, 100});
  EXPECT_EQ(gain_of(report, best, nearest)->method, Method::visits);
  report.cases[1].labels[1].second = "0";
  EXPECT_EQ(gain_of(report, best, nearest)->method, Method::derived) << "not in the same rounds";
  report.cases[1].status = Status::skipped;
  EXPECT_FALSE(gain_of(report, best, nearest));
}

TEST(WeightsGain, IsWhatTablesAndFactsTell) {
  const RunReport report = of_two_speeds();
  const std::string text =
      views_text(report, parse_run("weights", {})->benchmark.shown.views(report));
  EXPECT_THAT(text, HasSubstr("against equal weights: +2.0 % (+"));
  EXPECT_THAT(text, HasSubstr("against the nearest node alone: less, -3."));
  EXPECT_THAT(text, HasSubstr("Best: the nearest node alone with "));
  EXPECT_THAT(text, HasSubstr("The best weights: 0=2,1=1 with "));
  const std::vector<Fact> facts = parse_run("weights", {})->benchmark.shown.facts(report);
  ASSERT_EQ(facts.size(), 3U);
  EXPECT_EQ(facts[2].estimate, gain_of(report, report.cases[0], report.cases[2]));
}

std::vector<std::string> keys_of(const std::vector<Fact>& facts) {
  std::vector<std::string> keys;
  for (const Fact& fact : facts) keys.push_back(fact.key);
  return keys;
}

// It said "408 GB/s with weights 47:2" in the answer, and "no weights are as fast" below.
TEST(WeightsFacts, TheFastestStandsFirst) {
  const auto facts_of = [](double nearest) {
    return parse_run("weights", {})
        ->benchmark.shown.facts(
            report_of({measured("nearest", "0", nearest), measured("0=1,2=1", "0", 50)}));
  };
  const auto slower = facts_of(80), faster = facts_of(40), as_fast = facts_of(50);
  EXPECT_THAT(keys_of(slower),
              ElementsAre("nearest_bandwidth", "weights_bandwidth", "weights_times"));
  EXPECT_EQ(slower[0].estimate.value, 80e9);
  EXPECT_THAT(slower[0].line, HasSubstr("{} on the nearest node alone, faster than any weights"));
  EXPECT_EQ(slower[1].line, "{} with the best weights, 0=1,2=1");
  for (const auto& facts : {faster, as_fast}) {
    EXPECT_THAT(keys_of(facts), ElementsAre("weights_bandwidth", "weights_times"));
    EXPECT_THAT(facts[0].line, HasSubstr("{} with weights 0=1,2=1 ("));
  }
}

}  // namespace
}  // namespace numatlas::weights_test
