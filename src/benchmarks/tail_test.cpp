#include "benchmarks/tail.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "base/units.h"
#include "benchmarks/parse.h"
#include "engine/simulated/null_groups.h"
#include "record/test_report.h"
#include "run/metrics.h"

namespace numatlas {
namespace {

using ::testing::ElementsAre;

constexpr double time_ns = 3e8;

Distribution simulated(unsigned loads, const std::optional<DelayNoise>& delays) {
  return distribution_of_groups(simulated_groups(loads, 95, time_ns, delays, 3));
}

double value_of(const std::vector<Figure>& figures, const std::string& key) {
  const Figure* const figure = find_figure(figures, key);
  return figure != nullptr ? figure->value().value_or(-1) : -1;
}

TEST(Tail, DelaysAreFoundWithTheirRateAndTime) {
  for (const unsigned loads : {1U, 4U, 8U}) {
    for (const std::int64_t by : {500, 1000, 5000}) {
      const DelayNoise delays{0.001, Nanoseconds(by)};
      const auto figures = tail_figures(simulated(loads, delays), loads);
      const double slow = (95 + static_cast<double>(by)) * 1e-9;
      EXPECT_NEAR(value_of(figures, "tail_slow"), 0.001, 0.0001) << loads << " loads, " << by;
      EXPECT_NEAR(value_of(figures, "tail_slow_time"), slow, 0.1 * slow) << loads << " loads";
      EXPECT_NEAR(value_of(figures, "tail_p50"), 96.6e-9, 3e-9) << loads << " loads";
      EXPECT_NEAR(value_of(figures, "tail_p9999"), slow, 0.1 * slow) << loads << " loads";
      EXPECT_GE(value_of(figures, "tail_max"), value_of(figures, "tail_p9999"));
    }
  }
}

TEST(Tail, WithoutDelaysNoLoadIsSlow) {
  const auto figures = tail_figures(simulated(8, {}), 8);
  EXPECT_DOUBLE_EQ(value_of(figures, "tail_slow"), 0);
  EXPECT_EQ(find_figure(figures, "tail_slow_time"), nullptr);
  EXPECT_LT(value_of(figures, "tail_max"), 3 * value_of(figures, "tail_p50"));
  EXPECT_TRUE(tail_figures({}, 8).empty());
}

TEST(Tail, WhatWasStoppedIsSetAsideAndCounted) {
  GroupTimes times;
  times.loads = 8;
  times.sees_interrupts = true;
  for (int i = 0; i < 96; ++i) times.add(800, false);
  times.add(5'000, true);
  for (int i = 0; i < 3; ++i) times.add(3'000'000, false);
  Trace trace;
  trace.steps_per_sample = 100;
  trace.samples = {{0, 10'000}, {10'000, 10'000}};
  trace.groups = times;
  const auto figures = figures_of(Flow{}, trace);
  EXPECT_DOUBLE_EQ(value_of(figures, "tail_stopped"), 0.03);
  EXPECT_DOUBLE_EQ(value_of(figures, "tail_interrupted"), 0.01);
  const Distribution groups = distribution_of_groups(times);
  ASSERT_EQ(groups.counts.size(), 1U);
  EXPECT_EQ(groups.counts[0], 96U);
  times.sees_interrupts = false;
  trace.groups = times;
  EXPECT_EQ(find_figure(figures_of(Flow{}, trace), "tail_interrupted"), nullptr);
}

TEST(Tail, TheTimingIsNoPartOfTheLatency) {
  Trace trace;
  trace.steps_per_sample = 100;
  trace.samples = {{0, 12'000}, {12'000, 12'000}};
  trace.groups.emplace().loads = 8;
  trace.groups->overhead_ns = 160;
  EXPECT_DOUBLE_EQ(value_of(figures_of(Flow{}, trace), "latency"), 100e-9);
}

TEST(Tail, FiguresAreThoseOfAllVisitsTogether) {
  RunReport report;
  Case& one = report.cases.emplace_back();
  FlowResult& flow = one.flows.emplace_back();
  flow.kernel = "chase";
  flow.distribution = simulated(8, DelayNoise{0.001, Nanoseconds(1000)});
  flow.figures = {{"tail_p999", "s", testing::with_interval(300e-9, 200e-9, 400e-9), std::nullopt},
                  {"tail_max", "s", testing::with_interval(300e-9, 200e-9, 400e-9), std::nullopt},
                  {"tail_timer", "s", Estimate(10e-9), std::nullopt}};
  TailOption tail;
  tail.conclude(report);
  EXPECT_EQ(*flow.figures.front().value(), 300e-9) << "not asked for";
  CLI::App app;
  tail.add_to(app);
  app.parse("--tail");
  tail.conclude(report);
  ASSERT_EQ(report.cases.size(), 1U);
  const auto of = [&](const char* key) { return *find_figure(flow, key)->estimate; };
  EXPECT_NEAR(of("tail_p999").value, 1095e-9, 110e-9);
  EXPECT_EQ(of("tail_p999").low, 200e-9);
  EXPECT_EQ(of("tail_p999").high, of("tail_p999").value) << "widened";
  EXPECT_FALSE(of("tail_max").low) << "the longest of all has no interval";
  EXPECT_EQ(find_figure(flow, "tail_p50"), nullptr) << "what no visit had";
}

std::vector<std::string> lines_of(const Case& one) {
  std::vector<std::string> lines;
  for (const Fact& fact : tail_facts(one, "Idle latency"))
    if (!fact.heading.empty()) lines.push_back(fact.line);
  return lines;
}

TEST(Tail, ItsFiguresAreInTheFirstLine) {
  const auto figures_with = [](double slow) {
    return std::vector<Figure>{{"tail_p99", "s", Estimate(1.4e-6), std::nullopt},
                               {"tail_p999", "s", Estimate(29e-6), std::nullopt},
                               {"tail_slow", "cost", Estimate(slow), std::nullopt}};
  };
  Case one;
  one.flows.emplace_back().figures = figures_with(0.038);
  EXPECT_THAT(lines_of(one), ElementsAre("p99 {}", "p99.9 {}, 3.8 % slow"));
  one.flows.front().figures = figures_with(12e-6);
  EXPECT_THAT(lines_of(one), ElementsAre("p99 {}", "p99.9 {}, 12 per million slow"));
  EXPECT_EQ(tail_facts(one, "")[0].estimate.value, 1.4e-6);
  one.groups = {{{}, 2, figures_with(0.1)},
                {{{"nodes", "0 -> 0"}}, 1, figures_with(0.02)},
                {{{"nodes", "0 -> 2"}}, 1, figures_with(0.18)}};
  EXPECT_THAT(lines_of(one),
              ElementsAre("0 -> 0: p99.9 {}, 2.0 % slow", "0 -> 2: p99.9 {}, 18 % slow"))
      << "never one for both";
  EXPECT_TRUE(tail_facts(Case{}, "").empty());
}

}  // namespace
}  // namespace numatlas
