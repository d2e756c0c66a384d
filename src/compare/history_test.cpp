// Many runs of one host.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "compare/compare_output.h"
#include "compare/test_stored.h"

namespace numatlas {
namespace {

using testing::figure;
using ::testing::HasSubstr;
using testing::scale_flow;
using testing::stored;

/// Runs whose second flow of the first point has these medians.
std::vector<StoredRun> runs_with(const std::vector<double>& factors) {
  std::vector<StoredRun> runs;
  for (std::size_t i = 0; i < factors.size(); ++i) {
    StoredFile file = stored([&](RunReport& report) {
      report.started = "2026-01-" + std::to_string(10 + i);
      for (FlowResult& flow : report.scenarios[0].flows) {
        scale_flow(flow, factors[i]);
        Estimate& estimate = *flow.figures[0].estimate;
        estimate.low = estimate.value * 0.99;
        estimate.high = estimate.value * 1.01;
      }
    });
    file.runs[0].file = "run" + std::to_string(i);
    runs.insert(runs.begin(), file.runs[0]);  // found in another order
  }
  return runs;
}
std::vector<RunSeries> history(const std::vector<double>& factors, const CompareRule& rule,
                               std::vector<std::string>& notes) {
  return series_of(runs_with(factors), rule, notes);
}

const CaseSeries& first_point(const std::vector<RunSeries>& groups) {
  for (const CaseSeries& one : groups.at(0).cases)
    if (one.newest.point == "1MiB base") return one;
  throw std::runtime_error("no case");
}

TEST(History, TheNewestRunAgainstTheEarlierOnesByTheirStarts) {
  std::vector<std::string> notes;
  const auto groups = history({1, 1.01, 0.99, 1.02, 1, 1.01, 1.3}, {}, notes);
  EXPECT_EQ(groups.at(0).runs.back().file, "run6");
  const CaseSeries& one = first_point(groups);
  EXPECT_EQ(one.change.verdict, CaseVerdict::slower);
  EXPECT_EQ(one.points.size(), 7U);
  EXPECT_EQ(one.step, 6U);
}

TEST(History, AStepIsNamedAtItsRun) {
  std::vector<std::string> notes;
  const auto groups = history({1, 1.01, 0.99, 1.5, 1.52, 1.49, 1.51, 1.5}, {}, notes);
  const CaseSeries& one = first_point(groups);
  ASSERT_EQ(one.step, 3U);
  EXPECT_EQ(groups[0].runs[one.points[3].run].file, "run3");
  EXPECT_NEAR(*one.step_change.part, 0.5, 1e-9);
  EXPECT_EQ(one.step_change.verdict, CaseVerdict::slower);
}

TEST(History, RunsThatScatterHaveNoStep) {
  std::vector<std::string> notes;
  const auto groups = history({1, 1.2, 0.9, 1.1, 0.95, 1.15, 1.05, 1.19}, {}, notes);
  // Nor can anybody say that the newest is the same.
  EXPECT_EQ(first_point(groups).change.verdict, CaseVerdict::not_distinguishable);
  EXPECT_EQ(first_point(groups).step, std::nullopt);
  CompareRule rule;
  rule.min_effect = 0.4;
  EXPECT_EQ(
      first_point(history({1, 1.2, 0.9, 1.1, 0.95, 1.15, 1.05, 1.1}, rule, notes)).change.verdict,
      CaseVerdict::same);
}

TEST(History, AStepIsOneOfAllRunsAfterIt) {
  std::vector<std::string> notes;
  // All lie above the first, but the last by less than the least effect: it came back.
  CompareRule rule;
  rule.min_effect = 0.05;
  const auto groups = history({1, 1.5, 1.5, 1.5, 1.5, 1.5, 1.5, 1.03}, rule, notes);
  EXPECT_EQ(first_point(groups).step, std::nullopt);
}

TEST(History, TellsHowLaunchesDiffer) {
  StoredFile side = stored();
  const auto first = [&] { return side.runs[0].cases.front().figure.launch_spread; };
  EXPECT_EQ(know_launches(side, runs_with({1, 1.1, 0.9, 1, 1.1})), 0U) << "too few";
  EXPECT_EQ(first(), std::nullopt);
  EXPECT_GT(know_launches(side, runs_with({1, 1.1, 1 / 1.1, 1, 1.1, 1 / 1.1})), 0U);
  ASSERT_TRUE(first());
  EXPECT_NEAR(first()->deviation, std::log(1.1) * std::sqrt(4.0 / 5), 1e-6);
  EXPECT_EQ(first()->freedom, 5);
  std::vector<StoredRun> elsewhere = runs_with({1, 1.1, 0.9, 1, 1.1, 0.9});
  for (StoredRun& run : elsewhere) run.hosts = {"another"};
  StoredFile other = stored();
  EXPECT_EQ(know_launches(other, elsewhere), 0U);
}

TEST(History, ACopyOfAFileIsLeftOut) {
  std::vector<std::string> notes;
  const auto kept = without_copies<StoredRun>({stored().runs[0], stored().runs[0]}, notes);
  EXPECT_EQ(kept.size(), 1U);
  EXPECT_EQ(notes.size(), 1U);
}

TEST(History, WhatTheNewestRunLacksOrCannotBeComparedIsTold) {
  std::vector<std::string> notes;
  std::vector<StoredRun> runs{stored().runs[0], stored().runs[0]};
  runs[1].started = "2099-01-01T00:00:00Z";
  std::vector<StoredRun> lacking = runs;
  std::erase_if(lacking[1].cases, [](const StoredCase& one) { return one.point == "1MiB base"; });
  series_of(lacking, {}, notes);
  EXPECT_THAT(notes, Contains(HasSubstr("the newest run has no figure of 1MiB base")));
  notes.clear();
  series_of(runs, {}, notes);
  EXPECT_THAT(notes, Contains(HasSubstr("1 earlier figure is excluded"))) << "one has no interval";
  EXPECT_THAT(notes, Not(Contains(HasSubstr("the newest run has no figure"))));
}

TEST(History, FewRunsAreWidenedByTheirOwnIntervals) {
  std::vector<SeriesPoint> points{{0, figure(10, 8, 12)}, {1, figure(11, 10, 15)}};
  EXPECT_EQ(expected_of(points).interval, (Interval{8, 15}));
  for (std::size_t i = 2; i < 6; ++i) points.push_back({i, figure(10.5, 1, 100)});
  EXPECT_EQ(expected_of(points).interval, (Interval{10, 11})) << "six: by order of their medians";
}

}  // namespace
}  // namespace numatlas
