#include "run/visits.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "record/estimate.h"

namespace numatlas {
namespace {

using ::testing::ElementsAre;

/// A visit of one worker, whose latency has an interval of +-1 % within it, and of a sum.
Case visit_of(double latency, double sum) {
  Case visit;
  FlowResult flow;
  Estimate estimate = latency;
  estimate.low = latency * 0.99;
  estimate.high = latency * 1.01;
  estimate.method = Method::samples;
  flow.figures = {{"latency", "s", estimate, summarize(std::vector<double>{latency, latency * 2})}};
  flow.together = 1;
  flow.overlap = latency / 10;
  flow.stop = "time_cap";
  flow.involuntary_switches = 2;
  flow.warnings = {{"placement", "", "other node"}};
  visit.flows = {flow};
  visit.figures = {{"bandwidth_sum", "B/s", Estimate(sum), std::nullopt}};
  return visit;
}

/// A list of visits, and what each gave.
class CaseVisits {
 public:
  void add(Case visit, double start, double end, const VisitUse& use = {}) {
    list_.visits.push_back({.start = start, .end = end, .flows = visit.flows, .use = use});
    each_.push_back(std::move(visit));
  }
  void keep_memory() { list_.visits.back().memory_kept = true; }
  Case result() const {
    std::vector<const Visit*> visits;
    for (const Visit& visit : list_.visits) visits.push_back(&visit);
    Case result;
    join_visits(result, each_, visits);
    return result;
  }
  const VisitList& list() const { return list_; }

 private:
  VisitList list_;
  std::vector<Case> each_;
};

TEST(CaseVisits, SayWhatElseHappened) {
  CaseVisits visits;
  visits.add(visit_of(4, 100), 0, 1);
  Case result = visits.result();
  EXPECT_TRUE(result.visits->others.empty()) << "nothing is known";
  EXPECT_TRUE(result.visits->pages_moved.empty());
  EXPECT_TRUE(result.visits->frequency.empty());
  Case second = visit_of(4, 100);
  second.flows[0].pages_moved = 7;
  second.flows[0].frequency = 2e9;
  second.flows.push_back(second.flows[0]);
  second.flows[1].worker = 1;
  second.flows[1].frequency = 4e9;
  visits.add(second, 1, 2, {0.5, 0.25, true, true});
  result = visits.result();
  using Numbers = std::vector<std::optional<double>>;
  using Counts = std::vector<std::optional<std::uint64_t>>;
  EXPECT_EQ(result.visits->others, (Numbers{std::nullopt, 0.5}));
  EXPECT_EQ(result.visits->stolen, (Numbers{std::nullopt, 0.25}));
  EXPECT_EQ(result.visits->frequency, (Numbers{std::nullopt, 3e9}));
  EXPECT_EQ(result.visits->pages_moved, (Counts{std::nullopt, 14}));
  EXPECT_EQ(result.visits->switches, (Counts{2, 4}));
  EXPECT_EQ(result.visits->repeated, 1);
  EXPECT_EQ(result.visits->disturbed, 1);
}

TEST(Repeats, AreOfDisturbedVisitsUntilTheyAreInVain) {
  const VisitUse quiet{0.0, 0.0, false, false, false}, quiet_again{0.0, 0.0, false, true, false};
  const VisitUse disturbed{1.0, 0.0, true, false, false}, again{1.0, 0.0, true, true, false};
  const VisitUse wrong{1.0, 0.0, true, false, true};
  Repeats repeats;
  EXPECT_FALSE(repeats.again(quiet));
  EXPECT_FALSE(repeats.again(wrong)) << "what it found counts";
  EXPECT_TRUE(repeats.again(disturbed));
  EXPECT_FALSE(repeats.again(quiet_again)) << "once";
  for (int i = 0; i < 20; ++i) EXPECT_FALSE(repeats.again(quiet));
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(repeats.again(disturbed));
    EXPECT_FALSE(repeats.again(again)) << "once";
  }
  EXPECT_FALSE(repeats.again(disturbed)) << "it lasts";
  EXPECT_FALSE(repeats.again(quiet));
  EXPECT_TRUE(repeats.again(disturbed)) << "it had ended";
}

TEST(Repeats, AreFewBesideTheVisits) {
  const VisitUse disturbed{1.0, 0.0, true, false, false}, quiet_again{0.0, 0.0, false, true, false};
  Repeats repeats;
  int repeated = 0;
  for (int i = 0; i < 100; ++i) {
    if (!repeats.again(disturbed)) continue;
    ++repeated;
    repeats.again(quiet_again);
  }
  EXPECT_EQ(repeated, 23);
}

TEST(CaseVisits, FewAreKnownAsWellAsEachIsWithin) {
  CaseVisits visits;
  visits.add(visit_of(4, 100), 10, 11);
  EXPECT_EQ(visits.result().flows[0].figures[0].estimate->method, Method::samples)
      << "one says all";
  visits.add(visit_of(6, 90), 12, 13);
  const Estimate latency = *visits.result().flows[0].figures[0].estimate;
  EXPECT_EQ(latency.value, 5);
  EXPECT_EQ(latency.method, Method::within);
  EXPECT_EQ(*latency.low, 4 * 0.99);
  EXPECT_EQ(*latency.high, 6 * 1.01);
  EXPECT_FALSE(has_converged(visits.list(), 100)) << "too few for that";
}

TEST(CaseVisits, FiveGiveStudentsInterval) {
  CaseVisits visits;
  for (const double latency : {1, 2, 3, 4, 5}) visits.add(visit_of(latency, 7), 0, latency);
  Case result = visits.result();
  const Estimate& estimate = *result.flows[0].figures[0].estimate;
  EXPECT_EQ(estimate.value, 3);
  EXPECT_EQ(estimate.n, 5U);
  EXPECT_EQ(estimate.method, Method::visits);
  // 2.776: 0.975 quantile of Student's t with 4 degrees of freedom; deviation sqrt(2.5).
  EXPECT_NEAR(*estimate.high, 3 + 2.7764451 * std::sqrt(2.5 / 5), 1e-6);
  EXPECT_NEAR(*estimate.low, 3 - 2.7764451 * std::sqrt(2.5 / 5), 1e-6);
  EXPECT_TRUE(has_converged(visits.list(), 0.7));
  EXPECT_FALSE(has_converged(visits.list(), 0.6));
  set_stop(result, 0.6, true);
  EXPECT_EQ(result.flows[0].stop, "time_cap") << "as the last of them";
  set_stop(result, 0.6, false);
  EXPECT_EQ(result.flows[0].stop, "interrupted");
  set_stop(result, 0.7, false);
  EXPECT_EQ(result.flows[0].stop, "converged");
}

TEST(CaseVisits, WhatNeverDiffersWasNotMeasured) {
  CaseVisits visits;
  for (int i = 0; i < 6; ++i) visits.add(visit_of(1, 7), 0, 1);
  const Case result = visits.result();
  EXPECT_EQ(result.figures[0].value(), 7);
  EXPECT_FALSE(result.figures[0].estimate->low);
}

TEST(CaseVisits, TheirValuesAndTheBestAreKept) {
  CaseVisits visits;
  visits.add(visit_of(4, 100), 10, 11);
  visits.add(visit_of(3, 90), 15, 17.5);
  visits.keep_memory();
  const Case result = visits.result();
  ASSERT_TRUE(result.visits);
  EXPECT_EQ(result.visits->count, 2);
  EXPECT_EQ(result.visits->seconds, 7.5);
  EXPECT_EQ(result.visits->memory_kept, 1);
  ASSERT_EQ(result.visits->figures.size(), 2U);
  EXPECT_THAT(result.visits->figures[0].values, ElementsAre(4, 3));
  EXPECT_EQ(result.visits->figures[0].best, 3) << "a time";
  EXPECT_EQ(result.visits->figures[1].key, "bandwidth_sum");
  EXPECT_EQ(result.visits->figures[1].best, 100) << "a rate";
}

TEST(CaseVisits, WarningsOfAVisitAreAllKept) {
  CaseVisits visits;
  Case visit = visit_of(4, 1);
  visit.flows[0].warnings = {{"placement", "", "region"}, {"placement", "", "source"}};
  visits.add(visit, 0, 1);
  visit.flows[0].warnings.push_back({"page-size", "", "other"});
  visits.add(visit, 1, 2);
  const Case result = visits.result();
  std::vector<std::string> texts;
  for (const Warning& warning : result.flows[0].warnings) texts.push_back(warning.text);
  EXPECT_THAT(texts, ElementsAre("region", "source", "other"));
}

TEST(CaseVisits, FactsOfAllVisitsAreKept) {
  CaseVisits visits;
  visits.add(visit_of(4, 1), 0, 1);
  visits.add(visit_of(6, 1), 0, 1);
  const Case result = visits.result();
  const FlowResult& flow = result.flows[0];
  EXPECT_EQ(flow.involuntary_switches, 4U);
  EXPECT_EQ(flow.together, 2);
  EXPECT_DOUBLE_EQ(*flow.overlap, 0.5);
  EXPECT_EQ(flow.warnings.size(), 1U) << "the same is said once";
  EXPECT_EQ(flow.figures[0].summary->n, 4U);
}

TEST(Summaries, CombinedHaveTheMomentsOfAllSamples) {
  const std::vector<double> a{1, 2, 6}, b{3, 9};
  const Summary both = combined(*summarize(a), *summarize(b), {});
  const Summary all = *summarize(std::vector<double>{1, 2, 6, 3, 9});
  EXPECT_EQ(both.n, all.n);
  EXPECT_DOUBLE_EQ(both.mean, all.mean);
  EXPECT_DOUBLE_EQ(*both.stddev, *all.stddev);
  EXPECT_EQ(both.min, all.min);
  EXPECT_EQ(both.max, all.max);
}

/// A visit whose latency has these samples.
Case visit_with(std::vector<double> samples) {
  std::ranges::sort(samples);
  Case visit;
  FlowResult flow;
  flow.figures = {{"latency", "s", Estimate(samples.front()), summarize(samples),
                   distribution_of(samples, fine)}};
  visit.flows = {flow};
  return visit;
}

TEST(CaseVisits, PercentilesAreThoseOfAllSamples) {
  // A quiet visit, a short one of another speed, and one with a long tail.
  std::mt19937_64 random(11);
  std::vector<double> all;
  CaseVisits visits;
  for (const auto& [count, centre, spread] :
       {std::tuple(5000, 100e-9, 0.01), {500, 300e-9, 0.02}, {2000, 110e-9, 0.8}}) {
    std::lognormal_distribution<double> factor(0, spread);
    std::vector<double> samples(static_cast<std::size_t>(count));
    for (double& one : samples) one = centre * factor(random);
    all.insert(all.end(), samples.begin(), samples.end());
    visits.add(visit_with(std::move(samples)), 0, 1);
  }
  const Summary truth = *summarize(all), found = *visits.result().flows[0].figures[0].summary;
  EXPECT_EQ(found.n, truth.n);
  for (const auto member :
       {&Summary::median, &Summary::p5, &Summary::p25, &Summary::p75, &Summary::p95, &Summary::p99,
        &Summary::min, &Summary::max, &Summary::mean})
    EXPECT_NEAR(found.*member, truth.*member, truth.*member * 0.002);
  EXPECT_NEAR(found.mad, truth.mad, truth.mad * 0.05);
  EXPECT_NEAR(static_cast<double>(found.outliers), static_cast<double>(truth.outliers),
              0.01 * static_cast<double>(truth.outliers));
}

TEST(CaseVisits, PercentilesOfEqualVisitsAreThoseOfEach) {
  CaseVisits visits;
  for (int visit = 0; visit < 3; ++visit)
    visits.add(visit_with(std::vector<double>(100, 5e-9)), 0, 1);
  const Summary summary = *visits.result().flows[0].figures[0].summary;
  EXPECT_DOUBLE_EQ(summary.p5, 5e-9);
  EXPECT_DOUBLE_EQ(summary.p99, 5e-9);
  EXPECT_EQ(summary.n, 300U);
}

TEST(CaseVisits, StopsAreCounted) {
  CaseVisits visits;
  Case visit = visit_of(4, 100);
  visit.flows[0].stopped = 0.25;
  visit.flows.push_back(visit.flows[0]);
  visit.flows[1].worker = 1;
  visit.flows[1].stopped = 0.5;
  visits.add(visit, 0, 1);
  visit.flows[1].stopped = 0;
  visits.add(visit, 1, 2);
  const Case result = visits.result();
  EXPECT_THAT(result.visits->stopped,
              ElementsAre(std::optional<double>(0.5), std::optional<double>(0.25)));
  EXPECT_EQ(result.flows[0].stopped, 0.5);
}

/// The truth is what visits scatter around, whatever each of them is sure of.
TEST(CaseVisits, TheIntervalCoversTheTruth) {
  constexpr int runs = 4000;
  for (const double spread : {0.01, 0.2}) {
    std::mt19937_64 random(7);
    std::lognormal_distribution<double> value(0, spread);
    const double truth = std::exp(spread * spread / 2);
    int covered = 0;
    for (int run = 0; run < runs; ++run) {
      std::vector<double> values(6);
      for (double& one : values) one = value(random);
      const Estimate estimate = estimate_of_visits(values, std::nullopt, std::nullopt);
      covered += *estimate.low <= truth && truth <= *estimate.high ? 1 : 0;
    }
    // Five standard errors of a share of 95 % are 1.7 %.
    EXPECT_NEAR(covered / static_cast<double>(runs), 0.95, 0.017) << spread;
  }
}

}  // namespace
}  // namespace numatlas
