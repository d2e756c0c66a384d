#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "benchmarks/parse.h"
#include "benchmarks/test_plan.h"
#include "report/view_text.h"

namespace numatlas::touch_test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Expected<testing::Plan> touch_plan(const testing::Words& words, const std::string& machine) {
  return testing::plan_on("touch", words, machine);
}

constexpr const char* three_nodes = "numa:3(memory=34359738368) core:2 pu:1";

TEST(TouchPlan, EachPatternAloneAndTogether) {
  const auto plan = touch_plan({}, three_nodes);
  ASSERT_TRUE(plan);
  ASSERT_EQ(plan->size(), 3u * (3 + 1));
  const PlannedCase& alone = (*plan)[4 + 1];
  EXPECT_EQ(alone.head.name, "other scatter 1GiB base alone worker 1");
  ASSERT_EQ(alone.scenario.flows.size(), 1u);
  EXPECT_EQ(alone.scenario.flows[0].worker, 1);
  EXPECT_EQ(alone.scenario.flows[0].first_touch, 0);
  const PlannedCase& together = plan->back();
  EXPECT_EQ(together.head.name, "crossed scatter 1GiB base together");
  ASSERT_EQ(together.scenario.flows.size(), 3u);
  for (int worker = 0; worker < 3; ++worker)
    EXPECT_EQ(together.scenario.flows[static_cast<std::size_t>(worker)].first_touch,
              (worker + 1) % 3);
  EXPECT_FALSE((*plan)[0].scenario.flows[0].first_touch) << "its own";
}

TEST(TouchPlan, ACpuOfEachNodeOrThoseNamed) {
  EXPECT_EQ(touch_plan({"--pattern", "own"}, three_nodes)->size(), 3u + 1);
  EXPECT_EQ(touch_plan({"--pattern", "own", "--cpus", "0,1"}, "numa:1 core:4 pu:1")->size(),
            2u + 1);
  EXPECT_EQ(touch_plan({"--pattern", "own", "--cpus", "0-3"}, three_nodes)->size(), 4u + 1);
  EXPECT_EQ(touch_plan({"--pattern", "own", "--serial"}, three_nodes)->size(), 3u);
}

TEST(TouchPlan, OnOneNodeNothingIsMeasuredUnlessCpusAreNamed) {
  const auto plan = touch_plan({}, "numa:1 core:4 pu:1");
  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.error().kind, ErrorKind::unavailable);
  EXPECT_THAT(full_text(plan.error()), HasSubstr("all CPUs are on one node"));
  EXPECT_TRUE(touch_plan({"--threads", "2"}, "numa:1 core:4 pu:1"));
}

TEST(TouchPlan, OneCpuHasOnlyItsOwn) {
  const auto plan = touch_plan({"--cpus", "0"}, "numa:1 core:1 pu:1");
  ASSERT_TRUE(plan);
  ASSERT_EQ(plan->size(), 3u);
  EXPECT_EQ((*plan)[0].head.name, "own scatter 512MiB base alone");
  EXPECT_FALSE((*plan)[0].skip);
  for (std::size_t i : {1u, 2u}) {
    EXPECT_TRUE((*plan)[i].scenario.flows.empty());
    EXPECT_THAT(full_text((*plan)[i].skip.value()),
                HasSubstr("no other can touch its memory first"));
  }
}

/// Two nodes, of which one has a memory-side cache of 8 GiB.
Machine with_a_side_cache() {
  auto machine =
      read_recorded_machine("numa:2(memory=68719476736) l3:1(size=16777216) core:2 pu:1");
  EXPECT_TRUE(machine);
  machine->nodes[1].side_caches.emplace_back().size = Bytes{8 * gib};
  return *machine;
}

TEST(TouchPlan, AllCasesHaveOneSize) {
  for (const PlannedCase& one : testing::sure_plan("touch", {}, with_a_side_cache()))
    EXPECT_EQ(one.head.size, Bytes{16 * gib}) << one.head.name;
}

TEST(RandomPlan, IsPastTheTlbBesideAMemorySideCache) {
  const auto size = [](const testing::Words& words) {
    testing::Words all{"--operation", "read", "--memory", "bind:0"};
    all.insert(all.end(), words.begin(), words.end());
    return testing::sure_plan("random", all, with_a_side_cache()).front().head.size;
  };
  EXPECT_EQ(size({"--threads", "1"}), Bytes{256 * mib});
  EXPECT_EQ(size({"--threads", "2"}), Bytes{128 * mib});
  EXPECT_EQ(size({"--threads", "2", "--serial"}), Bytes{256 * mib}) << "each is alone";
}

TEST(TouchPlan, TwoWorkersOnACpuAreRefused) {
  const auto plan = touch_plan({"--cpus", "0", "--threads", "2"}, three_nodes);
  ASSERT_FALSE(plan);
  EXPECT_THAT(full_text(plan.error()), HasSubstr("two workers are on CPU 0"));
}

std::vector<Figure> figures_of_touch(const FlowResult& flow, const Case& one) {
  return parse_run("touch", {})->benchmark.figures.of_flow(flow, one);
}

Case point_of(const std::string& pattern, const std::string& run, const std::vector<double>& rates,
              double half_width) {
  Case one;
  one.name = pattern + " " + run;
  one.size = Bytes{64 * mib};
  one.pages = "base";
  one.kernel = "scatter";
  one.labels = {{"pattern", pattern}, {"run", run}};
  for (std::size_t i = 0; i < rates.size(); ++i) {
    FlowResult flow;
    flow.worker = static_cast<int>(i);
    flow.kernel = "scatter";
    flow.size = one.size;
    Estimate rate = rates[i];
    rate.low = rate.value * (1 - half_width);
    rate.high = rate.value * (1 + half_width);
    flow.figures = {{"bandwidth", "B/s", rate, std::nullopt}};
    flow.stop = "converged";
    if (pattern == "crossed") flow.first_touch = 1 - flow.worker;
    for (Figure& metric : figures_of_touch(flow, one)) flow.figures.push_back(metric);
    one.flows.push_back(flow);
  }
  return one;
}

RunReport report_of_cases(double half_width) {
  RunReport report;
  report.hosts = {"alpha"};
  report.complete = true;
  report.machines.resize(1);
  report.machines[0].nodes.resize(2);
  report.workers = {{0, 0, 0, {CpuId{0}}, NodeId{0}, "local"},
                    {0, 1, 0, {CpuId{8}}, NodeId{1}, "local"}};
  report.cases = {point_of("own", "together", {12.8e9, 12.8e9}, half_width),
                  point_of("crossed", "together", {6.4e9, 12.8e9}, half_width)};
  return report;
}

TEST(TouchMetrics, AnAccessIsALine) {
  const RunReport report = report_of_cases(0.01);
  const FlowResult& flow = report.cases[0].flows[0];
  EXPECT_DOUBLE_EQ(*find_figure(flow, "access_time")->value(), 10e-9) << "128 bytes an update";
  EXPECT_DOUBLE_EQ(*find_figure(flow, "pass_time")->value(), 10e-9 * mib);
  FlowResult reads = flow;
  reads.kernel = "read";
  EXPECT_DOUBLE_EQ(*figures_of_touch(reads, report.cases[0])[0].value(), 5e-9);
  FlowResult nothing;
  EXPECT_TRUE(figures_of_touch(nothing, report.cases[0]).empty());
}

TEST(TouchMetrics, ARatioWithAnInterval) {
  const Benchmark touch = parse_run("touch", {})->benchmark;
  RunReport report = report_of_cases(0.1), without = report;
  touch.figures.conclude(report);
  const Figure* const slow = find_figure(report.cases[1].flows[0], "times_as_long_as_own");
  ASSERT_NE(slow, nullptr);
  EXPECT_DOUBLE_EQ(*slow->value(), 2);
  EXPECT_DOUBLE_EQ(*slow->estimate->low, 2 * 0.9 / 1.1);
  EXPECT_DOUBLE_EQ(*slow->estimate->high, 2 * 1.1 / 0.9);
  EXPECT_EQ(slow->estimate->method, Method::derived);
  without.cases.erase(without.cases.begin());
  touch.figures.conclude(without);
  EXPECT_EQ(find_figure(without.cases[0].flows[0], "times_as_long_as_own"), nullptr);
}

std::string table_of(const RunReport& report) {
  return views_text(report, parse_run("touch", {})->benchmark.shown.views(report));
}

TEST(TouchTable, SaysWhatItCosts) {
  RunReport report = report_of_cases(0.01);
  parse_run("touch", {})->benchmark.figures.conclude(report);
  const std::string text = table_of(report);
  EXPECT_THAT(text, HasSubstr("2.00 ±2.0 %\n")) << "crossed, worker 0";
  EXPECT_THAT(text, HasSubstr("1.00 ±2.0 %\n")) << "crossed, worker 1";
}

}  // namespace
}  // namespace numatlas::touch_test
