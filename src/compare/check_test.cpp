// Hosts against each other, against their own past, and against what is expected.
#include "compare/check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "analysis/test_hosts.h"
#include "machine/source.h"
#include "record/report_json.h"
#include "record/test_report.h"
#include "report/openmetrics.h"

namespace numatlas {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using testing::with_interval;

std::string day(int number) { return fmt::format("2026-01-{:02}T00:00:00Z", number); }

/// A run of one host with these figures, each known within 1 %.
Rows run_on(const std::string& host, const std::vector<double>& values, int started = 10,
            Unit unit = "B/s") {
  Rows run;
  run.file = host + ".json";
  run.command = "bandwidth";
  run.engine = "threads";
  run.complete = true;
  run.started = day(started);
  run.hosts = {host};
  run.kinds.resize(1);
  run.kinds[0].cpu_model = "A CPU";
  for (std::size_t i = 0; i < values.size(); ++i) {
    Row one;
    one.key = one.case_key = one.name = "case " + std::to_string(i);
    one.command = "bandwidth";
    one.figure = unit == "s" ? "latency" : "bandwidth_sum";
    one.kernel = unit == "s" ? "chase" : "read";
    one.unit = unit;
    one.estimate = with_interval(values[i], values[i] * 0.99, values[i] * 1.01);
    run.rows.push_back(one);
  }
  return run;
}

RunReport checked(const Results& results, const CheckRule& rule = {}) {
  auto found = check(results, rule);
  EXPECT_TRUE(found) << full_text(found.error());
  return found.value_or(RunReport{});
}
RunReport checked(const std::vector<Rows>& runs, const CheckRule& rule = {}) {
  Results results;
  results.runs = runs;
  return checked(results, rule);
}

/// The findings of a host.
std::vector<Case> findings(const RunReport& report, const std::string& host) {
  std::vector<Case> found;
  for (const Case& one : report.cases)
    if (label_of(one, "host") == host && label_of(one, "finding") != finding::none)
      found.push_back(one);
  return found;
}

/// Hosts whose figure is this: "host_slow".
std::size_t count(const RunReport& report, const std::string& key, double value = 1) {
  std::size_t hosts = 0;
  for (const Case& one : report.cases) {
    const Figure* const figure = find_total(one, key);
    hosts += figure != nullptr && figure->value() == value ? 1 : 0;
  }
  return hosts;
}
std::size_t not_judged(const RunReport& report) { return count(report, "host_judged", 0); }

std::vector<std::string> texts(const RunReport& report, const std::string& code) {
  std::vector<std::string> all;
  for (const Warning& one : report.warnings)
    if (one.code == code) all.push_back(one.text);
  return all;
}

/// Three that are alike, and one more run.
std::vector<Rows> beside_three(Rows run, double value = 1e10) {
  std::vector<Rows> runs{run_on("a", {value}), run_on("b", {value}), run_on("c", {value})};
  runs.push_back(std::move(run));
  return runs;
}

/// A run of STREAM over hosts, as it is stored.
Rows stream_run(const RunReport& run, int started) {
  RunReport report = testing::with_figures(run);
  report.started = day(started);
  return rows_of(report);
}

/// A host alone, of which nothing but its kind is known.
TEST(Check, WhatOthersPublishedOfSuchMachines) {
  Rows run = run_on("n1", {300e9});
  Normal one{"read", "B/s", with_interval(300e9, 297e9, 303e9)};
  one.verdict = Normal::Verdict::ok;
  one.limit = 280e9;
  one.against = "machines like it";
  run.normal = {one};
  RunReport found = checked({run});
  EXPECT_EQ(found.answer, "OK: 1 host, not slow; 0 not judged");
  EXPECT_EQ(judged_against_text(found),
            "judged against: what others published of such machines (1 host)\n");
  run.normal.front().verdict = Normal::Verdict::low;
  run.normal.front().limit = 310e9;
  found = checked({run});
  EXPECT_EQ(found.answer, "LOW 1 of 1: n1 (read -3.2 %); 0 not judged");
  EXPECT_EQ(label_of(findings(found, "n1").at(0), "against"), "machines like it");
  EXPECT_EQ(label_of(findings(found, "n1").at(1), "verdict"), "LOW");
  Rows other = run_on("n1", {300e9}, 11);
  other.normal = {one};
  EXPECT_EQ(checked({run, other}).answer, "OK: 1 host, not slow; 0 not judged");
  other.normal.front().verdict = Normal::Verdict::none;
  EXPECT_THAT(checked({run, other}).answer, HasSubstr("LOW 1 of 1")) << "hidden by other options";
  other.started = day(20);
  EXPECT_THAT(checked({run, other}).answer, HasSubstr("NOT JUDGED")) << "long ago";
  run.normal.front().verdict = Normal::Verdict::none;
  EXPECT_EQ(not_judged(checked({run})), 1U) << "a range is no verdict";
  CheckRule latency;
  latency.metric = "bandwidth_sum";
  EXPECT_EQ(not_judged(checked({run}, latency)), 1U) << "asked for one figure";
}

TEST(Check, OfTimesTheLongerOneIsSlowAndTheShorterOneIsNot) {
  const RunReport found = checked({run_on("n1", {1e-7}, 10, "s"), run_on("n2", {1.01e-7}, 10, "s"),
                                   run_on("n3", {1.5e-7}, 10, "s"), run_on("n4", {0.5e-7}, 10, "s"),
                                   run_on("n5", {1.005e-7}, 10, "s")});
  ASSERT_EQ(findings(found, "n3").size(), 1U);
  EXPECT_NEAR(change_of(findings(found, "n3").at(0)), 1.5 / 1.005 - 1, 1e-12);
  EXPECT_THAT(findings(found, "n4"), IsEmpty());
  EXPECT_THAT(found.answer, HasSubstr("n3 (case 0 +49 %)"));
}

/// A chase beside a load: the case has the sum of all rates, and the chase its latency.
TEST(Check, ALatencyIsJudgedBesideTheSumOfRatesOfItsCase) {
  const auto beside_load = [](const std::string& host, double latency) {
    Rows run = run_on(host, {1e10});
    Row chase = run_on(host, {latency}, 10, "s").rows[0];
    chase.level = RowLevel::lone_flow;
    chase.key += "|chase";
    run.rows.push_back(chase);
    return run;
  };
  std::vector<Rows> runs;
  for (const char* const host : {"a", "b", "c"}) runs.push_back(beside_load(host, 1e-7));
  runs.push_back(beside_load("d", 2e-7));
  ASSERT_EQ(findings(checked(runs), "d").size(), 1U);
}

TEST(Check, AFigureWhoseIntervalReachesTheMedianIsNotSlow) {
  std::vector<Rows> runs = beside_three(run_on("n", {0.8e10}));
  ASSERT_TRUE(!findings(checked(runs), "n").empty());
  runs.back().rows[0].estimate = with_interval(0.8e10, 0.5e10, 1.1e10);
  EXPECT_EQ(checked(runs).answer, "OK: none of 4 hosts is slow; 0 not judged");
  EXPECT_THAT(findings(checked(beside_three(run_on("n", {0.96e10}))), "n"), IsEmpty());
}

TEST(Check, AmongManyCasesOneUnlikelyFigureIsChance) {
  // Three hosts: 14 deviations are 1 in 400 by Student's t with two degrees of freedom.
  std::vector<double> one(200, 1e10), other(200, 1e10), third(200, 1e10);
  for (std::size_t i = 0; i < one.size(); ++i)
    other[i] = 1.003e10 + 1e6 * static_cast<double>(i % 7);
  third[17] = 0.93e10;
  EXPECT_EQ(
      count(checked({run_on("n1", one), run_on("n2", other), run_on("n3", third)}), "host_slow"),
      0U);
  EXPECT_EQ(count(checked({run_on("n1", {1e10}), run_on("n2", {1.003e10}), run_on("n3", {0.8e10})}),
                  "host_slow"),
            1U);
}

TEST(Check, OtherCasesOrFiguresWithoutIntervalAreNotCompared) {
  std::vector<Rows> runs{run_on("n1", {1e10}), run_on("n2", {1e10}), run_on("n3", {1e10})};
  runs[2].rows[0].estimate = 1e10;
  EXPECT_THAT(texts(checked(runs), "not-judged").at(1), HasSubstr("n1, n2: only 2 of this kind"));
  EXPECT_THAT(texts(checked(runs), "not-judged").at(0),
              HasSubstr("n3: it has no figure that can be compared"));
  runs.push_back(run_on("n4", {1e10}));
  EXPECT_EQ(not_judged(checked(runs)), 1U);
}

TEST(Check, AnotherCommandThatJudgesAHostIsEnough) {
  std::vector<Rows> runs = beside_three(run_on("n", {1e10}));
  runs.push_back(run_on("n", {1e-7}, 10, "s"));
  runs.back().command = "latency";
  EXPECT_EQ(checked(runs).answer, "OK: none of 4 hosts is slow; 0 not judged");
}

TEST(Check, AHostWithoutTheResultOfACommandIsNamed) {
  std::vector<Rows> runs = beside_three(run_on("n", {1e10}));
  for (const char* host : {"a", "b", "c"}) {
    runs.push_back(run_on(host, {1e-7}, 10, "s"));
    runs.back().command = "latency";
  }
  EXPECT_THAT(texts(checked(runs), "note"), ElementsAre("n: no result of latency"));
  runs.push_back(run_on("n", {1e-7}, 10, "s"));
  runs.back().command = "latency";
  EXPECT_THAT(texts(checked(runs), "note"), IsEmpty());
}

/// Runs of one host, a day each.
std::vector<Rows> history(const std::vector<double>& values) {
  std::vector<Rows> runs;
  for (std::size_t i = 0; i < values.size(); ++i)
    runs.insert(runs.begin(), run_on("n", {values[i]}, 10 + static_cast<int>(i)));
  return runs;
}

TEST(Check, AFallIsNamedAtItsRunAndStaysNamed) {
  const RunReport found =
      checked(history({1e10, 1.01e10, 0.99e10, 0.7e10, 0.71e10, 0.69e10, 0.7e10, 0.7e10}));
  ASSERT_EQ(findings(found, "n").size(), 1U);
  EXPECT_EQ(label_of(findings(found, "n").at(0), "since"), "2026-01-13");
  EXPECT_EQ(label_of(findings(found, "n").at(0), "against"), "3 earlier runs");
  // It came back.
  EXPECT_EQ(count(checked(history({1e10, 1.01e10, 0.99e10, 0.7e10, 0.7e10, 1e10})), "host_fell"),
            0U);
}

TEST(Check, AHostWhoseSurveyMeasuredNothingIsIncomplete) {
  auto machine = read_recorded_machine("numa:1 core:1 pu:1").value();
  machine.host = "n2";
  const auto survey = [&](const char* file) {
    const nlohmann::json document = {{"schema_version", schema_version},
                                     {"program", "numatlas"},
                                     {"command", "survey"},
                                     {"started", day(10)},
                                     {"complete", false},
                                     {"machine", to_json(machine)},
                                     {"results", nlohmann::json::array()}};
    auto stored = stored_from_text(document.dump(), file);
    EXPECT_TRUE(stored) << full_text(stored.error());
    return stored.value_or(Results{});
  };
  Results killed = survey("n2/survey.json");
  ASSERT_EQ(killed.runs.size(), 1U);
  EXPECT_EQ(checked(killed).answer, "NOT JUDGED: 1 host (n2: INCOMPLETE); 1 INCOMPLETE");
  CheckRule expected;
  expected.expected = parse_expectations("triad=1GB/s").value();
  EXPECT_EQ(not_judged(checked(killed, expected)), 1U);
  const std::vector<Rows> three = beside_three(killed.runs[0]);
  const RunReport found = checked(three);
  EXPECT_EQ(found.answer,
            "NOT JUDGED: 1 host (n2: INCOMPLETE); none of 3 hosts is slow; 1 INCOMPLETE");
  EXPECT_THAT(texts(found, "incomplete"),
              ElementsAre("INCOMPLETE results of n2: its survey has no result of any benchmark"));
  for (const int later : {0, 1}) {
    std::vector<Rows> runs = three;
    runs.push_back(run_on("n2", {1e10}, 9 + 2 * later));
    EXPECT_EQ(count(checked(runs), "host_incomplete"), later == 0 ? 1U : 0U);
  }
}

TEST(Check, RunsThatScatterHaveNotFallen) {
  EXPECT_EQ(count(checked(history({1e10, 1.2e10, 0.9e10, 1.1e10, 0.95e10, 1.15e10, 0.88e10})),
                  "host_fell"),
            0U);
}

TEST(Check, APastWithAnotherProcessorOrOnAnotherNodeIsNone) {
  std::vector<Rows> runs = history({1e10, 1e10, 1e10, 0.5e10});
  ASSERT_EQ(count(checked(runs), "host_fell"), 1U);
  for (Rows& run : runs) run.rows[0].observed.nodes = {{"0", 1}};
  runs.front().rows[0].observed.nodes = {{"1", 1}};
  EXPECT_EQ(count(checked(runs), "host_fell"), 0U);
  runs = history({1e10, 1e10, 1e10, 0.5e10});
  runs.front().kinds[0].cpu_model = "Another CPU";
  EXPECT_EQ(count(checked(runs), "host_fell"), 0U);
  runs = history({1e10, 1e10, 1e10, 0.5e10});
  runs.front().kinds[0].os = "Linux 6.12";
  EXPECT_THAT(label_of(findings(checked(runs), "n").at(0), "evidence"), HasSubstr("changed since"));
}

TEST(Check, ARunWithOtherOptionsHidesNothing) {
  std::vector<Rows> runs = beside_three(run_on("n", {0.5e10}));
  Rows later = run_on("n", {1e10});
  later.started = "2026-01-10T09:00:00Z";
  later.rows[0].key = later.rows[0].case_key = later.rows[0].name = "another size";
  runs.push_back(later);
  EXPECT_EQ(count(checked(runs), "host_slow"), 1U);
  runs.back().started = day(12);  // that was another day's
  EXPECT_EQ(count(checked(runs), "host_slow"), 0U);
}

TEST(Check, HostsOfOneRunAreJudgedThoughOneMeasuredAgain) {
  RunReport run = testing::even_hosts(6);
  testing::slow_down(run, 2, 1.25);
  const RunReport found =
      checked({stream_run(run, 10), stream_run(testing::only_hosts(run, {4}), 11)});
  EXPECT_EQ(count(found, "host_slow"), 1U);
  EXPECT_EQ(not_judged(found), 0U);
}

TEST(Check, ARunByAnotherEngineIsTheNewestToo) {
  std::vector<Rows> runs = beside_three(run_on("n", {0.5e10}, 10));
  runs.push_back(run_on("n", {1e10}, 11));
  runs.back().engine = "OpenMP 202011, 3 workers per rank";
  EXPECT_EQ(count(checked(runs), "host_slow"), 0U);
}

TEST(Check, ARunOfOneCommandThatIsADayOlderIsANote) {
  std::vector<Rows> runs = beside_three(run_on("n", {1e10}, 8));
  for (const char* host : {"a", "b", "c", "n"}) {
    runs.push_back(run_on(host, {1e-7}, 10, "s"));
    runs.back().command = "latency";
  }
  EXPECT_THAT(texts(checked(runs), "note"),
              ElementsAre(HasSubstr("n (2026-01-08): results more than a day older")));
}

TEST(Check, NoiseIsNoTwoGroups) {
  std::mt19937 random(11);
  std::normal_distribution<double> normal(0, 0.04);
  int named = 0;
  for (int fleet = 0; fleet < 300; ++fleet) {
    std::vector<Rows> runs;
    for (std::size_t host = 0; host < 8; ++host) {
      std::vector<double> values;
      for (int i = 0; i < 10; ++i) values.push_back(1e10 * std::exp(normal(random)));
      runs.push_back(run_on("n" + std::to_string(host), values));
    }
    named += checked(runs).answer.find("two groups") != std::string::npos ? 1 : 0;
  }
  EXPECT_LE(named, 3);
}

TEST(Check, TheMetricOfTheRuleAloneIsJudged) {
  CheckRule rule;
  rule.metric = "latency";
  Results results;
  results.runs = beside_three(run_on("n", {0.5e10}));
  const auto none = check(results, rule);
  ASSERT_FALSE(none);
  EXPECT_EQ(full_text(none.error()), "--metric: no case has 'latency'");
  rule.metric = "bandwidth_sum";
  EXPECT_EQ(count(checked(beside_three(run_on("n", {0.5e10})), rule), "host_slow"), 1U);
}

TEST(Check, WhatIsExpectedJudgesAHostByItself) {
  CheckRule rule;
  rule.expected = *parse_expectations("read=9GB/s");
  EXPECT_EQ(checked({run_on("n", {1e10})}, rule).answer, "OK: 1 host, not slow; 0 not judged");
  EXPECT_EQ(checked({run_on("n", {0.5e10})}, rule).answer,
            "BELOW 1 of 1: n (read -44 %); 0 not judged");
  // Its interval reaches the limit.
  EXPECT_EQ(count(checked({run_on("n", {0.895e10})}, rule), "host_below"), 0U);
  rule.expected = *parse_expectations("latency=120ns");
  EXPECT_EQ(count(checked({run_on("n", {150e-9}, 10, "s")}, rule), "host_below"), 1U);
  EXPECT_EQ(count(checked({run_on("n", {100e-9}, 10, "s")}, rule), "host_below"), 0U);
  // Of several commands the better one; a host without one of the figures is not judged.
  std::vector<Rows> two{run_on("n", {0.5e10}), run_on("n", {1e10})};
  two.back().command = "matrix";
  rule.expected = *parse_expectations("read=9GB/s");
  EXPECT_EQ(count(checked(two, rule), "host_below"), 0U);
  rule.expected = *parse_expectations("read=9GB/s,bandwidth_sum=1GB/s");
  EXPECT_EQ(not_judged(checked({run_on("n", {1e10}), run_on("m", {1e-7}, 10, "s")}, rule)), 1U);
  rule.expected = *parse_expectations("triad=9GB/s");
  Results results;
  results.runs = {run_on("n", {1e10})};
  const auto none = check(results, rule);
  ASSERT_FALSE(none);
  EXPECT_THAT(full_text(none.error()), HasSubstr("no result has a figure 'triad'"));
  EXPECT_THAT(none.error().hint, HasSubstr("read, bandwidth_sum"));
}

TEST(Check, ExpectationsAreNamesAndValues) {
  const auto two = parse_expectations("triad=350GB/s, latency = 120 ns");
  ASSERT_TRUE(two);
  EXPECT_EQ(two->size(), 2U);
  EXPECT_DOUBLE_EQ((*two)[0].limit, 350e9);
  EXPECT_EQ((*two)[1].unit, Unit("s"));
  EXPECT_DOUBLE_EQ((*two)[1].limit, 120e-9);
  for (const char* bad :
       {"triad=350", "triad=fastGB/s", "=3GB/s", "triad=-1GB/s", "triad=3GB/s,x", "limits"})
    EXPECT_FALSE(parse_expectations(bad)) << bad;
}

/// Fleets of hosts that differ by noise; of the first one all figures are multiplied by `factor`.
/// Returns how many fleets name the first host, and how many another one.
std::pair<int, int> named_in_trials(int fleets, std::size_t hosts, double noise, double factor,
                                    const CheckRule& rule = {}) {
  std::mt19937 random(7);
  std::normal_distribution<double> normal(0, noise);
  std::pair<int, int> named;
  for (int fleet = 0; fleet < fleets; ++fleet) {
    std::vector<Rows> runs;
    for (std::size_t host = 0; host < hosts; ++host) {
      std::vector<double> values;
      for (int i = 0; i < 20; ++i)
        values.push_back(1e10 * std::exp(normal(random)) * (host == 0 ? factor : 1));
      runs.push_back(run_on("n" + std::to_string(host), values));
    }
    const RunReport found = checked(runs, rule);
    const bool first = !findings(found, "n0").empty();
    named.first += first ? 1 : 0;
    named.second += count(found, "host_slow") > (first ? 1U : 0U) ? 1 : 0;
  }
  return named;
}

TEST(Check, NoiseNamesFewAndASlowHostIsFound) {
  // Three hosts with 3 % noise: a pair of them is close together by chance in many cases.
  const auto healthy = named_in_trials(200, 3, 0.03, 1);
  EXPECT_LE(healthy.first + healthy.second, 4);
  CheckRule each;
  each.slow.false_share = 1;
  EXPECT_GE(named_in_trials(200, 3, 0.03, 1, each).second, 40) << "each case by itself";
  const auto planted = named_in_trials(200, 8, 0.01, 0.88);
  EXPECT_GE(planted.first, 195);
  EXPECT_LE(planted.second, 1);
  EXPECT_GE(named_in_trials(200, 4, 0.005, 0.85).first, 195);
}

TEST(Check, MetricsSayWhoWasNotJudgedAndNameNoVerdictForHim) {
  std::vector<Rows> runs = beside_three(run_on("odd", {1e10}));
  runs[2].rows[0].estimate = with_interval(0.5e10, 0.49e10, 0.51e10);
  runs[3].kinds[0].cpu_model = "Another CPU";
  const std::string text = report_openmetrics(checked(runs));
  EXPECT_THAT(text, HasSubstr("numatlas_host_judged{command=\"check\",host=\"odd\"} 0"));
  EXPECT_THAT(text, Not(HasSubstr("numatlas_host_slow{command=\"check\",host=\"odd\"")));
  EXPECT_THAT(text, HasSubstr("numatlas_host_slow{command=\"check\",host=\"c\"} 1"));
  EXPECT_THAT(text, HasSubstr("numatlas_host_slow{command=\"check\",host=\"a\"} 0"));
}

}  // namespace
}  // namespace numatlas
