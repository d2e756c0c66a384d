#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "benchmarks/parse.h"
#include "benchmarks/test_plan.h"
#include "report/view_text.h"

namespace numatlas::touch_test {
namespace {

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

}  // namespace
}  // namespace numatlas::touch_test
