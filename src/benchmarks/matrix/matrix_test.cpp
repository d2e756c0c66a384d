#include <cstddef>
#include <optional>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "benchmarks/test_plan.h"
#include "record/labels.h"
#include "run/flows.h"
#include "run/metrics.h"

namespace numatlas::matrix_test {
namespace {

using ::testing::HasSubstr;

testing::Plan matrix_plan(const testing::Words& words,
                          const std::string& machine = "numa:2 core:1 pu:1") {
  return testing::sure_plan("matrix", words, machine);
}

/// What one calls the same is the same work: they must not differ by their defaults.
TEST(Matrix, ALocalCellIsWhatBandwidthMeasures) {
  const testing::Words words{"--kernels", "read,copy", "--mix", "none"};
  testing::Words only = words;
  only.insert(only.end(), {"--only", "bandwidth"});
  for (const char* machine : {"numa:1 l3:1(size=33554432) core:4 pu:2", "numa:1 core:2 pu:1"}) {
    const auto cells = matrix_plan(only, machine);
    const auto points = testing::sure_plan("bandwidth", {"--kernels", "read,copy"}, machine);
    ASSERT_EQ(cells.size(), points.size());
    for (std::size_t i = 0; i < cells.size(); ++i) {
      Scenario cell = cells[i].scenario, point = points[i].scenario;
      cell.name = point.name;
      for (Scenario* one : {&cell, &point}) one->stop.time = Nanoseconds(0);
      for (Scenario* one : {&cell, &point})
        for (Flow& flow : one->flows) flow.region.placement = bound_to(NodeId{0});
      EXPECT_EQ(cell, point) << machine << " " << points[i].head.name;
    }
  }
}

TEST(Matrix, ACellThatCannotBeSaysWhy) {
  auto machine = *read_recorded_machine("numa:2 core:1 pu:1");
  machine.allowance.memory_nodes = {NodeId{0}};
  const auto plan = testing::sure_plan("matrix", {"--only", "latency"}, machine);
  ASSERT_EQ(plan.size(), 4U);
  EXPECT_FALSE(plan[0].skip);
  EXPECT_THAT(full_text(plan[1].skip.value()), HasSubstr("node 1 is not among the memory nodes"));
  EXPECT_TRUE(plan[1].scenario.flows.empty());
  EXPECT_EQ(plan[1].head.kernel, "chase") << "it is a cell of the same matrix";
  EXPECT_EQ(plan[1].head.order, "random");
}

Case cell_of(const std::string& kernel, int cpus, int memory, double value) {
  Case one;
  one.kernel = kernel;
  one.pages = "base";
  one.order = "random";
  one.labels = {{"cpu_node", std::to_string(cpus)}, {"memory_node", std::to_string(memory)}};
  FlowResult flow;
  flow.kernel = kernel;
  flow.level = "memory";
  if (kernel == "chase")
    flow.figures = {{"latency", "s", Estimate(value * 1e-9), std::nullopt}};
  else
    one.figures = {{"bandwidth_sum", "B/s", Estimate(value * 1e9), std::nullopt}};
  one.flows = {flow};
  return one;
}

TEST(MatrixShares, AreOfTheBestThatTheCpusReach) {
  RunReport report;
  report.hosts = {"alpha"};
  report.machines.resize(1);
  report.workers.resize(1);
  report.complete = true;
  report.cases = {cell_of("read", 0, 0, 40), cell_of("read", 0, 1, 10),
                  // Node 2 has CPUs and no memory.
                  cell_of("read", 2, 0, 8), cell_of("read", 2, 1, 20)};
  const auto run = parse_run("matrix", {});
  ASSERT_TRUE(run);
  run->benchmark.figures.conclude(report);
  EXPECT_DOUBLE_EQ(estimate_of(report.cases[3], "best_share")->value, 0.5);
  EXPECT_THAT(testing::tables_of(run->benchmark, report), ::testing::Not(HasSubstr("of best")));
}

TEST(MatrixShares, AreOfEachHost) {
  RunReport report;
  report.hosts = {"a", "b"};
  report.machines.resize(2);
  report.workers.resize(2);
  report.workers[1].host = 1;
  for (const int memory : {0, 1}) {
    Case one = cell_of("read", 0, memory, 1);
    for (const int host : {0, 1}) {
      const double value = memory == 0 ? 10e9 : (host == 0 ? 5e9 : 2e9);
      one.host_totals.push_back({host, {{"bandwidth_sum", "B/s", Estimate(value), std::nullopt}}});
    }
    report.cases.push_back(one);
  }
  const auto run = parse_run("matrix", {});
  run->benchmark.figures.conclude(report);
  EXPECT_DOUBLE_EQ(estimate_of(HostParts(report).of(0).cases[1], "best_share")->value, 0.5);
  EXPECT_DOUBLE_EQ(estimate_of(HostParts(report).of(1).cases[1], "best_share")->value, 0.2);
}

TEST(MatrixTable, HostsStandApart) {
  RunReport report;
  report.hosts = {"a", "b"};
  report.machines.resize(2);
  report.workers.resize(2);
  report.workers[1].host = 1;
  Case one;
  one.kernel = "read";
  one.pages = "base";
  one.labels = {{"cpu_node", "0"}, {"memory_node", "0"}};
  for (int worker = 0; worker < 2; ++worker) {
    FlowResult flow;
    flow.worker = worker;
    flow.kernel = "read";
    flow.together = 1;
    flow.stretch_bytes = {(worker + 1) * 1e9, (worker + 1) * 1e9};
    one.flows.push_back(flow);
  }
  one.host_totals = host_sums_of(one, report);
  ASSERT_EQ(one.host_totals.size(), 2U);
  report.cases = {one};
  const RunReport second = HostParts(report).of(1);
  ASSERT_EQ(second.cases[0].flows.size(), 1U);
  EXPECT_DOUBLE_EQ(*find_total(second.cases[0], "bandwidth_sum")->value(), 4e9);
  const auto run = parse_run("matrix", {});
  const std::string text = testing::tables_of(run->benchmark, report);
  EXPECT_THAT(text, HasSubstr("Host a"));
  EXPECT_THAT(text, HasSubstr("4.00"));
  // What is in the files is what the table shows.
  report.cases[0].host_totals[1].figures[0].estimate = 5e9;
  EXPECT_THAT(testing::tables_of(run->benchmark, report), HasSubstr("5.00"));
}

}  // namespace
}  // namespace numatlas::matrix_test
