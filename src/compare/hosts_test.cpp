#include "compare/hosts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "compare/compare_output.h"

namespace numatlas {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

/// A run of one host with these bandwidths, each known within 1 %.
StoredRun run_on(const std::string& host, const std::vector<double>& values,
                 const std::string& started = "2026-01-10T00:00:00Z",
                 const std::string& unit = "B/s") {
  StoredRun run;
  run.file = host + ".json";
  run.command = "bandwidth";
  run.engine = "threads";
  run.started = started;
  run.hosts = {host};
  run.machines.resize(1);
  run.machines[0].cpu_model = "A CPU";
  for (std::size_t i = 0; i < values.size(); ++i) {
    StoredCase one;
    one.key = one.point_key = one.point = "case " + std::to_string(i);
    one.command = "bandwidth";
    one.metric = unit == "s" ? "latency" : "bandwidth_sum";
    one.unit = unit;
    one.figure.value = values[i];
    one.figure.interval = Interval{values[i] * 0.99, values[i] * 1.01};
    run.cases.push_back(one);
  }
  return run;
}

std::vector<RunSeries> judged(const std::vector<StoredRun>& runs, const CompareRule& rule = {},
                              const SlowRule& slow = {}) {
  std::vector<std::string> notes;
  std::vector<RunSeries> groups = series_of(runs, rule, notes);
  judge_hosts(groups, runs, rule, slow);
  return groups;
}

const HostVerdict& of(const std::vector<RunSeries>& groups, const std::string& host) {
  for (const RunSeries& group : groups)
    if (hosts_text(group) == host && !group.verdict.replaced) return group.verdict;
  throw std::runtime_error("no host " + host);
}

TEST(Hosts, OneFarBelowTheOthersIsSlow) {
  const auto groups = judged({run_on("n1", {1e10, 2e10}), run_on("n2", {1.01e10, 2.02e10}),
                              run_on("n3", {0.8e10, 2.01e10}), run_on("n4", {1.005e10, 1.99e10})});
  const HostVerdict& slow = of(groups, "n3");
  ASSERT_EQ(slow.slow.size(), 1U);
  EXPECT_EQ(slow.slow[0].index, 0U);
  EXPECT_EQ(slow.slow[0].peers, 4U);
  EXPECT_DOUBLE_EQ(slow.slow[0].median, 1.0025e10);
  EXPECT_NEAR(slow.slow[0].part, 0.8 / 1.0025 - 1, 1e-12);
  EXPECT_EQ(slow.compared, 2U);
  EXPECT_TRUE(of(groups, "n1").slow.empty());
  EXPECT_EQ(of(groups, "n1").not_judged, "");
  const HostCounts counts = count_hosts(groups);
  EXPECT_EQ(counts.judged, 4U);
  EXPECT_EQ(counts.slow, 1U);
  EXPECT_EQ(counts.not_judged, 0U);
}

TEST(Hosts, OfTimesTheLongerOneIsSlowAndTheShorterOneIsNot) {
  const std::string day = "2026-01-10T00:00:00Z";
  const auto groups = judged({run_on("n1", {1e-7}, day, "s"), run_on("n2", {1.01e-7}, day, "s"),
                              run_on("n3", {1.5e-7}, day, "s"), run_on("n4", {0.5e-7}, day, "s"),
                              run_on("n5", {1.005e-7}, day, "s")});
  ASSERT_EQ(of(groups, "n3").slow.size(), 1U);
  EXPECT_NEAR(of(groups, "n3").slow[0].part, 1.5 / 1.005 - 1, 1e-12);
  EXPECT_NEAR(of(groups, "n3").slow[0].drop, 1 - 1.005 / 1.5, 1e-12);
  EXPECT_TRUE(of(groups, "n4").slow.empty());
}

TEST(Hosts, AFigureWhoseIntervalReachesTheMedianIsNotSlow) {
  std::vector<StoredRun> runs{run_on("n1", {1e10}), run_on("n2", {1e10}), run_on("n3", {0.8e10})};
  ASSERT_EQ(of(judged(runs), "n3").slow.size(), 1U);
  runs[2].cases[0].figure.interval = Interval{0.5e10, 1.1e10};
  EXPECT_TRUE(of(judged(runs), "n3").slow.empty());
}

TEST(Hosts, AFewPercentAreNotSlow) {
  EXPECT_TRUE(
      of(judged({run_on("n1", {1e10}), run_on("n2", {1e10}), run_on("n3", {0.96e10})}), "n3")
          .slow.empty());
}

TEST(Hosts, AmongManyCasesOneUnlikelyFigureIsChance) {
  // Three hosts: 14 deviations are 1 in 400 by Student's t with two degrees of freedom.
  std::vector<double> one(200, 1e10), other(200, 1e10), third(200, 1e10);
  for (std::size_t i = 0; i < one.size(); ++i)
    other[i] = 1.003e10 + 1e6 * static_cast<double>(i % 7);
  third[17] = 0.93e10;
  EXPECT_TRUE(
      of(judged({run_on("n1", one), run_on("n2", other), run_on("n3", third)}), "n3").slow.empty());
  EXPECT_EQ(
      of(judged({run_on("n1", {1e10}), run_on("n2", {1.003e10}), run_on("n3", {0.8e10})}), "n3")
          .slow.size(),
      1U);
}

TEST(Hosts, TooFewOfAKindAreNotJudged) {
  std::vector<StoredRun> runs{run_on("n1", {1e10}), run_on("n2", {0.5e10}), run_on("n3", {1e10}),
                              run_on("n4", {1e10}), run_on("n5", {1e10})};
  runs[0].machines[0].cpu_model = runs[1].machines[0].cpu_model = "Another CPU";
  const auto groups = judged(runs);
  EXPECT_THAT(of(groups, "n2").not_judged, HasSubstr("only 2 of this kind (Another CPU"));
  EXPECT_THAT(of(groups, "n2").not_judged, HasSubstr("no earlier run"));
  EXPECT_EQ(of(groups, "n3").not_judged, "");
  EXPECT_EQ(count_hosts(groups).not_judged, 2U);
}

TEST(Hosts, OtherCasesOrFiguresWithoutIntervalAreNotCompared) {
  std::vector<StoredRun> runs{run_on("n1", {1e10}), run_on("n2", {1e10}), run_on("n3", {1e10})};
  runs[2].cases[0].figure.interval.reset();
  EXPECT_THAT(of(judged(runs), "n1").not_judged, HasSubstr("measured the same cases"));
  runs.push_back(run_on("n4", {1e10}));
  EXPECT_EQ(of(judged(runs), "n1").not_judged, "");
  EXPECT_THAT(of(judged(runs), "n3").not_judged, HasSubstr("measured the same cases"));
}

TEST(Hosts, TheNewestRunOfEachIsComparedAndTheOthersAreItsHistory) {
  const std::string later = "2026-01-11T00:00:00Z";
  const auto groups =
      judged({run_on("n1", {1e10}), run_on("n1", {0.7e10}, later), run_on("n2", {1e10}),
              run_on("n2", {1e10}, later), run_on("n3", {1e10}), run_on("n4", {0.7e10}),
              run_on("n4", {1e10}, later)});
  EXPECT_EQ(of(groups, "n1").slow.size(), 1U);
  EXPECT_EQ(of(groups, "n1").slower_than_past, 1U);
  EXPECT_EQ(of(groups, "n2").with_past, 1U);
  EXPECT_EQ(of(groups, "n3").with_past, 0U);
  EXPECT_TRUE(of(groups, "n4").slow.empty()) << "its earlier run was";
}

TEST(Hosts, WhoHasOnlyAPastIsJudgedByIt) {
  const std::string later = "2026-01-11T00:00:00Z";
  const auto groups = judged({run_on("n1", {1e10}), run_on("n1", {0.7e10}, later)});
  EXPECT_EQ(of(groups, "n1").not_judged, "");
  EXPECT_TRUE(of(groups, "n1").is_slow());
  EXPECT_TRUE(of(groups, "n1").slow.empty());
}

TEST(Hosts, APastThatTellsNothingIsNoVerdict) {
  const std::string later = "2026-01-11T00:00:00Z";
  std::vector<StoredRun> runs{run_on("n1", {1e10}), run_on("n1", {1e10}, later)};
  EXPECT_EQ(of(judged(runs), "n1").not_judged, "");
  runs[1].cases[0].figure.interval = Interval{0.25e10, 4e10};
  const auto groups = judged(runs);
  EXPECT_THAT(of(groups, "n1").not_judged, HasSubstr("--min-effect"));
  EXPECT_EQ(of(groups, "n1").with_past, 0U);
  EXPECT_EQ(count_hosts(groups).not_judged, 1U);
}

TEST(Hosts, RunsOverSeveralHostsAreNoPeers) {
  std::vector<StoredRun> runs{run_on("n1", {1e10}), run_on("n2", {1e10}), run_on("n3", {1e10})};
  runs[2].hosts = {"n3", "n4"};
  const auto groups = judged(runs);
  EXPECT_EQ(of(groups, "n3 n4").not_judged, "no earlier run");
  EXPECT_NE(of(groups, "n1").not_judged, "");
}

TEST(Hosts, AHostWithANewProcessorIsOfItsNewKindAlone) {
  std::vector<StoredRun> runs{run_on("n1", {1e10}), run_on("n2", {1e10}), run_on("n3", {1e10}),
                              run_on("n1", {0.5e10}, "2026-01-11T00:00:00Z")};
  runs[3].machines[0].cpu_model = "Another CPU";
  const auto groups = judged(runs);
  EXPECT_EQ(groups.size(), 4U);
  EXPECT_THAT(of(groups, "n1").not_judged, HasSubstr("only 1 of this kind"));
  EXPECT_THAT(of(groups, "n2").not_judged, HasSubstr("only 2 of this kind"));
  EXPECT_EQ(count_hosts(groups).not_judged, 3U);
}

TEST(Hosts, TheMetricOfARuleAloneIsCompared) {
  CompareRule rule;
  rule.metric = "latency";
  const std::vector<StoredRun> runs{run_on("n1", {1e10}), run_on("n2", {1e10}), run_on("n3", {1})};
  EXPECT_NE(of(judged(runs, rule), "n3").not_judged, "");
}

TEST(Hosts, WhoseNewestRunIsADayOlderIsNamed) {
  std::vector<StoredRun> runs{run_on("n1", {1e10}, "2026-01-11T00:00:01Z"),
                              run_on("n2", {1e10}, "2026-01-11T00:00:00Z"),
                              run_on("n3", {1e10}, "2026-01-10T00:00:00Z")};
  EXPECT_EQ(hosts_with_old_runs(judged(runs)),
            std::vector<std::string>{"bandwidth on n3 (2026-01-10T00:00:00Z)"});
  runs[2].started = "2026-01-10T00:00:01Z";
  EXPECT_TRUE(hosts_with_old_runs(judged(runs)).empty());
}

/// Fleets of hosts that differ by noise; of the first one all figures are multiplied by `factor`.
/// Returns how many fleets name the first host, and how many another one.
std::pair<int, int> named_in_trials(int fleets, std::size_t hosts, double noise, double factor,
                                    const SlowRule& slow = {}) {
  std::mt19937 random(7);
  std::normal_distribution<double> normal(0, noise);
  std::pair<int, int> named;
  for (int fleet = 0; fleet < fleets; ++fleet) {
    std::vector<StoredRun> runs;
    for (std::size_t host = 0; host < hosts; ++host) {
      std::vector<double> values;
      for (int i = 0; i < 20; ++i)
        values.push_back(1e10 * std::exp(normal(random)) * (host == 0 ? factor : 1));
      runs.push_back(run_on("n" + std::to_string(host), values));
    }
    const auto groups = judged(runs, {}, slow);
    bool others = false;
    for (const RunSeries& group : groups)
      others = others || (hosts_text(group) != "n0" && !group.verdict.slow.empty());
    named.first += of(groups, "n0").slow.empty() ? 0 : 1;
    named.second += others ? 1 : 0;
  }
  return named;
}

TEST(Hosts, NoiseNamesFewAndASlowHostIsFound) {
  // Three hosts with 3 % noise: a pair of them is close together by chance in many cases.
  const auto healthy = named_in_trials(200, 3, 0.03, 1);
  EXPECT_LE(healthy.first + healthy.second, 4);
  SlowRule each;
  each.false_share = 1;
  EXPECT_GE(named_in_trials(200, 3, 0.03, 1, each).second, 40) << "each case by itself";
  const auto planted = named_in_trials(200, 8, 0.01, 0.88);
  EXPECT_GE(planted.first, 195);
  EXPECT_LE(planted.second, 1);
  EXPECT_GE(named_in_trials(200, 4, 0.005, 0.85).first, 195);
}

ComparedRuns compared(std::vector<StoredRun> runs) {
  ComparedRuns all;
  all.runs = std::move(runs);
  all.groups = judged(all.runs);
  return all;
}

TEST(Hosts, MetricsSayWhoWasNotJudgedAndNameNoVerdictForHim) {
  ComparedRuns runs = compared(
      {run_on("n1", {1e10}), run_on("n2", {1e10}), run_on("n3", {0.5e10}), run_on("odd", {1e10})});
  runs.runs[3].machines[0].cpu_model = "Another CPU";
  runs.groups = judged(runs.runs);
  const std::string text = runs_openmetrics(runs);
  EXPECT_THAT(text, HasSubstr("host_judged{command=\"bandwidth\",host=\"odd\"} 0\n"));
  EXPECT_THAT(text, Not(HasSubstr("host_slow{command=\"bandwidth\",host=\"odd\"}")));
  EXPECT_THAT(text, HasSubstr("host_slow{command=\"bandwidth\",host=\"n3\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("host_slow{command=\"bandwidth\",host=\"n1\"} 0\n"));
  EXPECT_THAT(text,
              HasSubstr("slower_cases{command=\"bandwidth\",host=\"n3\",against=\"peers\"} 1\n"));
  EXPECT_THAT(text,
              HasSubstr("newest_run_seconds{command=\"bandwidth\",host=\"n1\"} 1768003200\n"));
}

TEST(Hosts, TheTableNamesSlowHostsAndWhoWasNotJudged) {
  ComparedRuns runs =
      compared({run_on("n1", {1e10}), run_on("n2", {1e10}), run_on("n3", {0.5e10})});
  const std::string text = runs_table(runs, {});
  EXPECT_THAT(text, HasSubstr("1 of 3 slow"));
  EXPECT_THAT(text, HasSubstr("-50.0 %"));
  EXPECT_THAT(text, HasSubstr("3 judged, 1 slow, 0 not judged"));
  EXPECT_THAT(runs_table(compared({run_on("n1", {1e10})}), {}),
              HasSubstr("not judged: n1: numatlas bandwidth: only 1 of this kind"));
}

}  // namespace
}  // namespace numatlas
