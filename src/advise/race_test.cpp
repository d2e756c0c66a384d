// The race against known truth: simulated programs whose speeds are given.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "advise/race.h"
#include "advise/test_machine.h"

namespace numatlas {
namespace {

using testing::HasSubstr;

const char* const triad = "Triad: *([0-9.e+-]+)";

std::string problem(const std::string& output) {
  const auto value = Metric::parse(triad, true)->find_in(output);
  return value ? "" : value.error().message;
}

TEST(Metric, IsTheNumberThatAProgramPrints) {
  const auto metric = Metric::parse(triad, true);
  ASSERT_TRUE(metric);
  EXPECT_FALSE(metric->is_time());
  EXPECT_DOUBLE_EQ(*metric->find_in("Copy: 3\nTriad:   1.5e3 MB/s\nend\n"), 1500);
  EXPECT_DOUBLE_EQ(metric->cost_of(4), 0.25);
  EXPECT_DOUBLE_EQ(Metric::parse(triad, false)->cost_of(4), 4);
}

TEST(Metric, TellsWhyThereIsNone) {
  EXPECT_EQ(problem("Copy: 3\n"), "printed no metric");
  EXPECT_THAT(problem("Triad: 3\nTriad: 4\n"), HasSubstr("more than once ('3' and '4')"));
  EXPECT_THAT(problem("Triad: 1.2.3\n"), HasSubstr("not a number"));
  EXPECT_THAT(problem("Triad: 0\n"), HasSubstr("above 0"));
}

TEST(Metric, IsCheckedBeforeAnythingRuns) {
  EXPECT_EQ(Metric::parse("a(", false).error().subject, "--metric");
  EXPECT_EQ(Metric::parse("no group", false).error().subject, "--metric");
  EXPECT_EQ(Metric::parse("(a)(b)", false).error().subject, "--metric");
  EXPECT_EQ(Metric::parse("time", true).error().subject, "--higher");
  EXPECT_TRUE(Metric::parse("time", false)->is_time());
}

TEST(Metric, IsNotSearchedInLinesOfAnyLength) {
  // The standard library's search would end the process.
  const auto metric = Metric::parse(".*rate: ([0-9.]+)", false);
  const std::string long_line(1000000, 'a');
  EXPECT_DOUBLE_EQ(*metric->find_in(long_line + "\nrate: 5\n"), 5);
  EXPECT_THAT(metric->find_in(long_line).error().message, HasSubstr("more than 4096 characters"));
}

constexpr double seldom = 0.002, often = 0.02;

RaceResult race(const std::vector<double>& truth, std::uint64_t seed, double change = seldom) {
  SimulatedMachine machine(truth, seed, {change});
  return Race(truth.size(), {}, seed).run({[&](std::size_t i) { return machine.run(i); }});
}

constexpr int races = 200;

/// Of the races those in which `claimed` holds.
int count_races(const std::vector<double>& truth,
                const std::function<bool(const RaceResult&)>& claimed, double change = seldom) {
  int count = 0;
  for (std::uint64_t i = 0; i < races; ++i) count += claimed(race(truth, 1000 + i, change)) ? 1 : 0;
  return count;
}

TEST(Race, ClaimsNothingWhereAllAreEqual) {
  const std::vector<double> equal(8, 10.0);
  for (const double change : {seldom, often})
    EXPECT_LE(count_races(
                  equal, [](const auto& r) { return r.best.has_value(); }, change),
              races * 5 / 100);
}

TEST(Race, FindsThreePercentAmongEight) {
  std::vector<double> truth(8, 10.0);
  truth[5] = 9.7;
  EXPECT_GE(count_races(truth, [](const auto& r) { return r.best == 5U; }), races * 80 / 100);
}

TEST(Race, IntervalsOfTheFinalHoldTheTruthThoughTheWinnerWasChosen) {
  // Seven equals: whoever looks best in the screening is no better than the others.
  std::vector<double> truth(8, 9.5);
  truth[0] = 10;
  const auto holds = [&](const RaceResult& r) {
    if (!r.best) return false;
    const Estimate ratio = *r.lanes[*r.best].against_reference;
    const double log = std::log(0.95);
    return *ratio.low <= log && log <= *ratio.high;
  };
  EXPECT_GE(count_races(truth, holds), races * 90 / 100);
}

TEST(Race, WhatItLeavesOpenHoldsTheGainThatItMissed) {
  for (const double gain : {0.02, 0.03}) {
    std::vector<double> truth(8, 10.0);
    truth[5] = 10 * (1 - gain);
    const auto is_wrong = [&](const RaceResult& r) {
      return !r.best && r.open && *r.open > std::log(1 - gain);
    };
    EXPECT_LE(count_races(truth, is_wrong, often), races * 5 / 100) << gain;
  }
}

TEST(Race, LeavesEverythingOpenWhereOneHasTooFewRuns) {
  RaceRule rule;
  rule.least_rounds = rule.most_rounds = 1;
  SimulatedMachine machine(std::vector<double>(5, 10.0), 3);
  const RaceResult result = Race(5, rule, 3).run({[&](std::size_t i) { return machine.run(i); }});
  EXPECT_FALSE(result.open);
  EXPECT_TRUE(result.open_of_finalists);
}

TEST(Race, DropsTheSlowEarlyAndSavesTheirRuns) {
  const RaceResult result = race({10, 20, 9, 15}, 1);
  EXPECT_EQ(result.best, 2U);
  EXPECT_EQ(result.lanes[1].dropped_in, RaceRule{}.least_rounds);
  EXPECT_FALSE(result.lanes[1].finalist);
  EXPECT_FALSE(result.lanes[0].dropped_in);  // what the others are told against
}

TEST(Race, AFailureIsAResultAndNotTheEnd) {
  SimulatedMachine machine({10, 5, 9}, 3);
  const RaceResult result = Race(3, {}, 3).run({[&](std::size_t i) {
    return i == 1 ? RunValue{std::nullopt, "no memory", false} : machine.run(i);
  }});
  EXPECT_EQ(result.lanes[1].failure, "no memory");
  EXPECT_EQ(result.lanes[1].screening.size(), result.rounds);
  EXPECT_EQ(result.best, 2U);
  EXPECT_TRUE(result.complete);
}

TEST(Race, WithoutItsReferenceItEnds) {
  const RaceResult result = Race(3, {}, 3).run({[](std::size_t i) {
    return i == 0 ? RunValue{{}, "gone", false} : RunValue{5, "", false};
  }});
  EXPECT_FALSE(result.complete);
  EXPECT_FALSE(result.best);
  EXPECT_EQ(result.lanes[0].failure, "gone");
}

TEST(Race, AStopGivesTheAnswerSoFarAndClaimsNothing) {
  SimulatedMachine machine({10, 5}, 3);
  int runs = 0;
  const RaceResult result = Race(2, {}, 3).run({[&](std::size_t i) {
    return ++runs > 6 ? RunValue{std::nullopt, "", true} : machine.run(i);
  }});
  EXPECT_FALSE(result.complete);
  EXPECT_FALSE(result.best);
  ASSERT_TRUE(result.lanes[1].against_reference);
  EXPECT_EQ(result.lanes[1].against_reference->n, 3U);
  EXPECT_TRUE(result.lanes[1].failure.empty());
}

TEST(Race, ARunThatTheTimeEndedCountsForNothing) {
  for (const int allowed : {3, 12}) {  // in the first round of the screening, and in the final
    SimulatedMachine machine({10, 5, 9}, 3);
    RaceRule rule;
    rule.least_rounds = rule.most_rounds = 2;
    int runs = 0;
    const RaceResult result = Race(3, rule, 3).run({[&](std::size_t i) {
      return ++runs > allowed ? RunValue{std::nullopt, "", false, true} : machine.run(i);
    }});
    EXPECT_TRUE(result.complete) << "nobody stopped it";
    EXPECT_FALSE(result.best);
    EXPECT_EQ(runs, allowed + 1);
    for (const Lane& lane : result.lanes) EXPECT_TRUE(lane.failure.empty());
  }
}

TEST(Race, AGainBelowTheLeastIsNone) {
  RaceRule rule;
  rule.least_gain = -std::log(1 - 0.02);
  const auto best_of = [&](double cost) {
    return Race(2, rule, 3)
        .run({[&](std::size_t i) {
          return RunValue{i == 0 ? 1 : cost, "", false};
        }})
        .best;
  };
  EXPECT_FALSE(best_of(0.985));
  EXPECT_EQ(best_of(0.975), 1U);
}

TEST(Race, KeepsItsTime) {
  SimulatedMachine machine(std::vector<double>(5, 10.0), 3);
  double left = 600;
  const RaceResult result = Race(5, {}, 3).run({[&](std::size_t i) {
                                                  const RunValue value = machine.run(i);
                                                  left -= *value.cost;
                                                  return value;
                                                },
                                                [&] { return left; }});
  EXPECT_GE(left, -20);
  EXPECT_LT(left, 120);
  EXPECT_GE(result.final_rounds, RaceRule{}.least_final);
}

TEST(LogRatio, IsPairedByRound) {
  // Both twice as slow in one round: their ratio does not change.
  const std::vector<std::optional<double>> one{1.1, 2.2, 1.1, std::nullopt}, other{1, 2, 1, 5};
  const auto ratio = log_ratio(one, other);
  ASSERT_TRUE(ratio);
  EXPECT_EQ(ratio->freedom, 2) << "of three rounds";
  EXPECT_NEAR(ratio->value, std::log(1.1), 1e-12);
  EXPECT_NEAR(ratio->deviation(), 0, 1e-12);
  EXPECT_FALSE(log_ratio({one.data(), 1}, other));
}

TEST(RoundsFor, FollowsTheSpread) {
  EXPECT_EQ(rounds_for(0.01, 0, 0.05, 5, 40), 5U);
  EXPECT_EQ(rounds_for(0.01, 0.02, 0.05, 5, 40), 18U);  // 2.1098 x 0.02 / sqrt(18) = 0.00995
  EXPECT_EQ(rounds_for(0.01, 0.5, 0.05, 5, 40), 40U);
}

}  // namespace

}  // namespace numatlas
