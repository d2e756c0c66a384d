#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "advise/advice.h"
#include "machine/source.h"
#include "record/report_json.h"

namespace numatlas {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

Estimate ratio(double low, double mean, double high) {
  Estimate estimate = std::log(mean);
  estimate.low = std::log(low);
  estimate.high = std::log(high);
  estimate.n = 6;
  return estimate;
}

Lane lane(const Estimate& against, bool finalist) {
  Lane one;
  one.screening = {2.0, 2.1, 1.9, 2.0};
  if (finalist) one.final = {1.4, 1.5, 1.4, 1.45, 1.5, 1.4};
  one.finalist = finalist;
  one.against_reference = against;
  return one;
}

Advice advice() {
  Advice all;
  all.program = {"./prog", "1"};
  all.machine = *read_recorded_machine("numa:1 core:2 pu:1");
  all.started = "2026-01-01T00:00:00Z";
  Candidate as_it_is, thp, pinned, far;
  as_it_is.name = "as it is";
  thp.name = "thp";
  thp.axis = Aspect::pages;
  thp.layout.pages = PageKind::thp;
  pinned.name = "pinned";
  far.name = "bind:9";
  far.not_tried = "no room";
  all.candidates = {as_it_is, thp, pinned, far};
  all.tried = 3;
  all.race.lanes = {Lane{}, lane(ratio(0.68, 0.70, 0.72), true), lane(ratio(0.9, 1, 1.1), false)};
  all.race.lanes[0].screening = {2, 2, 2, 2};
  all.race.lanes[0].final = {2, 2.1, 2, 2, 2.1, 2};
  all.race.lanes[2].failure = "ended with exit code 3";
  all.race.rounds = 4;
  all.race.final_rounds = 6;
  all.race.complete = true;
  all.race.best = 1;
  all.look.samples = {{0.1, {{0, Bytes{gib}}}, Bytes{gib / 2}}};
  return all;
}

TEST(Answer, SaysWhatIsBestAndByHowMuch) {
  EXPECT_EQ(answer_of(advice()),
            "thp: 30.0 % less time (28.0 to 32.0 %) than as it is, 6 fresh runs of each");
  EXPECT_THAT(
      advice_text(advice()),
      StartsWith("thp: 30.0 % less time (28.0 to 32.0 %) than as it is, 6 fresh runs of each\n"
                 "Run        numatlas exec --pages thp -- ./prog 1\n"));
  EXPECT_EQ(report_of(advice()).answer, answer_of(advice()));
}

TEST(Answer, SaysHowMuchMayHaveBeenMissedWhereNothingIsBetter) {
  Advice all = advice();
  all.race.best.reset();
  all.race.lanes[1].against_reference = ratio(0.988, 1, 1.012);
  all.race.open = all.race.open_of_finalists = std::log(1 - 0.012);
  EXPECT_EQ(answer_of(all), "no placement is better than as it is (within 1.2 %)");
  all.race.open = std::log(1 - 0.03);
  EXPECT_EQ(answer_of(all),
            "no placement is better than as it is (within 3.0 %; within 1.2 % for those run most)");
  all.race.open = std::log(1 - 0.4);
  EXPECT_THAT(answer_of(all), HasSubstr("a gain of up to 40 % cannot be ruled out"));
  all.metric = *Metric::parse("(x)", true);
  all.race.open = all.race.open_of_finalists = std::log(1 / 1.04);  // 4 % more, of a metric
  EXPECT_EQ(answer_of(all), "no placement is better than as it is (within 4.0 %)");
}

TEST(Answer, ASureGainThatIsTooSmallIsToldButNotAdvised) {
  Advice all = advice();
  all.race.best.reset();
  all.race.lanes[1].against_reference = ratio(0.984, 0.988, 0.992);
  all.race.open = all.race.open_of_finalists = std::log(0.98);
  EXPECT_EQ(answer_of(all),
            "no placement is better than as it is; thp: 1.2 % less time (0.8 to 1.6 %), less than "
            "--min-effect");
}

TEST(Answer, OfARunThatTheTimeEndedIsThatThereIsNone) {
  Advice all = advice();
  all.race = {};
  all.race.lanes.resize(1);
  all.race.complete = true;
  all.tried = 1;
  all.lacks_time = all.first_run_cut = true;
  EXPECT_EQ(outcome_of(all), Outcome::no_time);
  EXPECT_THAT(advice_text(all), StartsWith("no answer: the program as it is did not end within "
                                           "--time; increase it\n"));
  const RunReport report = report_of(all);
  EXPECT_FALSE(report.complete);
  EXPECT_TRUE(report.facts.empty()) << "nothing was seen to its end";
  EXPECT_EQ(report.cases.front().status, Status::incomplete);
}

TEST(Answer, ClaimsNothingWithoutEnoughRuns) {
  Advice all = advice();
  all.race.best.reset();
  EXPECT_THAT(answer_of(all), StartsWith("no answer: too few runs"));
  all.race.complete = false;
  EXPECT_EQ(answer_of(all), "stopped before there was an answer");
  all.tried = 1;
  EXPECT_EQ(answer_of(all), "no candidate can be tried on this machine");
  all.lacks_time = true;
  EXPECT_EQ(answer_of(all), "no answer: no time to try any candidate; increase --time");
}

TEST(Answer, NamesWhatEndedTheRace) {
  Advice all = advice();
  all.race.complete = false;
  all.race.lanes[0].failure = "ended with exit code 3";
  EXPECT_EQ(all.incomplete_reason(), "the program as it is ended with exit code 3");
  EXPECT_EQ(report_of(all).incomplete_reason, all.incomplete_reason());
  EXPECT_THAT(answer_of(all), StartsWith("thp: 30.0 % less time"));  // rounds enough before that
  all.race.best.reset();
  EXPECT_EQ(answer_of(all), "no answer: the program as it is ended with exit code 3");
  all.race.lanes[0].failure = "";
  all.prepare_failure = "--prepare: 'x' ended with exit code 1";
  EXPECT_EQ(answer_of(all), "no answer: --prepare: 'x' ended with exit code 1");
  EXPECT_EQ(outcome_of(all), Outcome::reference_failed);
}

TEST(Answer, FinalistsThatFailAreNotTooFewRuns) {
  Advice all = advice();
  all.race.best.reset();
  all.race.lanes[1].failure = "ended with exit code 3";
  all.race.lanes[2].failure = "";
  EXPECT_EQ(answer_of(all), "no answer: each of the fastest candidates failed");
}

TEST(Answer, GainsAreToldInTheWayOfTheMetric) {
  const Metric time = *Metric::parse("time", false), more = *Metric::parse("(x)", true);
  EXPECT_EQ(gain_text(ratio(0.5, 0.8, 1.25), time), "20.0 % less time (-25.0 to 50.0 %)");
  EXPECT_EQ(gain_text(ratio(1.1, 1.2, 1.3), time), "20.0 % more time (10.0 to 30.0 %)");
  EXPECT_EQ(gain_text(ratio(0.5, 0.8, 1.0), more), "25.0 % more of the metric (0.0 to 100.0 %)");
}

TEST(RaceText, TellsTheLeaderInTheWayOfTheMetric) {
  const Advice all = advice();
  const RaceProgress progress{true, 6, 20, 1, 2};
  EXPECT_THAT(race_text(progress, all.race, all.candidates, all.metric),
              HasSubstr("; ahead: thp, 29.1 % less time than as it is"));
  EXPECT_THAT(race_text(progress, all.race, all.candidates, *Metric::parse("(x)", true)),
              HasSubstr("; ahead: thp, 41.1 % more of the metric than as it is"));
}

TEST(Answer, IsACommonRecord) {
  const RunReport report = report_of(advice());
  ASSERT_EQ(report.cases.size(), 4U);
  const auto& thp = report.cases[1];
  ASSERT_EQ(thp.flows.size(), 1U);
  EXPECT_EQ(thp.flows[0].figures[0].key, "run_time");
  EXPECT_EQ(thp.flows[0].figures[0].estimate->n, 6U);  // of the final, not of the screening
  EXPECT_NEAR(*find_total(thp, "gain")->value(), 0.30, 1e-9);
  EXPECT_EQ(report.cases[2].status, Status::failed);
  EXPECT_EQ(report.cases[3].status, Status::skipped);
  const auto back = report_from_json(nlohmann::json::parse(json_text(report)));
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(back->cases.size(), report.cases.size());
  EXPECT_EQ(back->facts.size(), report.facts.size());
}

TEST(Answer, OneRunHasNoInterval) {
  Advice one = advice();
  one.race.lanes[2].failure = "";
  one.race.lanes[2].screening = {2.0};
  const RunReport report = report_of(one);
  const Estimate& time = *report.cases[2].flows.at(0).figures.at(0).estimate;
  EXPECT_NEAR(time.value, 2, 1e-12);
  EXPECT_FALSE(time.low);
  EXPECT_EQ(time.n, 1U);
}

TEST(Answer, AGainBetweenATenthAndTenTimesHasNoInterval) {
  Advice wide = advice();
  wide.race.lanes[1].against_reference = ratio(1e-15, 0.9, 1e15);
  wide.race.best = std::nullopt;
  const RunReport report = report_of(wide);
  const Estimate& gain = *find_total(report.cases[1], "gain")->estimate;
  EXPECT_NEAR(gain.value, 0.1, 1e-9);
  EXPECT_FALSE(gain.low);
  EXPECT_FALSE(gain.high);
}

TEST(Answer, GainIsThatOfTheTimesBesideIt) {
  Advice one = advice();
  std::vector<Lane>& lanes = one.race.lanes;
  lanes[0].final = {2, 2, 5, 2, 2, 2};  // a run that was disturbed: the mean is not the median
  lanes[1].against_reference = estimate_of(*log_ratio(lanes[1].final, lanes[0].final), 0.05);
  const RunReport report = report_of(one);
  const double as_it_is = *report.cases[0].flows[0].figures[0].value();
  const double advised = *report.cases[1].flows[0].figures[0].value();
  EXPECT_NEAR(*find_total(report.cases[1], "gain")->value(), 1 - advised / as_it_is, 1e-12);
}

}  // namespace
}  // namespace numatlas
