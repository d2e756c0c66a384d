#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "benchmarks/metrics.h"
#include "benchmarks/test_plan.h"

namespace numatlas {
namespace {

using ::testing::HasSubstr;

testing::Plan matrix_plan(const testing::Words& words,
                          const std::string& machine = "numa:2 core:1 pu:1") {
  return testing::sure_plan("matrix", words, machine);
}

TEST(Matrix, ACellForEveryPairAndQuantity) {
  const auto plan = matrix_plan({"--kernels", "read", "--mix", "2:1"}, "numa:2 core:3 pu:1");
  ASSERT_EQ(plan.size(), 3U * 4U);
  const PlannedScenario& latency = plan[1];
  EXPECT_EQ(latency.head.name, "latency node 0 to 1 base");
  ASSERT_EQ(latency.scenario.flows.size(), 1U);
  EXPECT_EQ(latency.scenario.flows[0].region.placement.text(), "bind:1");
  const PlannedScenario& mix = plan[8 + 2];
  EXPECT_EQ(mix.head.name, "mix 2:1 node 1 to 0 base");
  EXPECT_EQ(mix.head.labels[0].second, "1");
  ASSERT_EQ(mix.scenario.flows.size(), 3U);
  for (const Flow& flow : mix.scenario.flows) {
    EXPECT_GE(flow.worker, 3);
    EXPECT_EQ(flow.region.placement.text(), "bind:0");
  }
}

TEST(Matrix, OnlyOneOfTheTwo) {
  EXPECT_EQ(matrix_plan({"--only", "latency"}).size(), 4U);
  EXPECT_EQ(matrix_plan({"--only", "bandwidth", "--kernels", "read"}).size(), 8U);
  EXPECT_FALSE(parse_run("matrix", {"--only", "both"}));
}

TEST(Matrix, WhatTheOtherOfTheTwoWouldNeedIsRefused) {
  for (const testing::Words& words : {testing::Words{"--only", "latency", "--kernels", "read"},
                                      {"--only", "latency", "--mix", "none"},
                                      {"--stores", "ordinary", "--only", "latency"},
                                      {"--only", "bandwidth", "--order", "sequential"}}) {
    const auto run = parse_run("matrix", words);
    ASSERT_FALSE(run) << words[1] << " " << words[2];
    EXPECT_EQ(run.error().kind, ErrorKind::usage);
    EXPECT_THAT(full_text(run.error()), HasSubstr(": --only "));
  }
}

TEST(Matrix, ThreadsAreTheFirstCpus) {
  const auto plan =
      matrix_plan({"--only", "bandwidth", "--kernels", "read", "--mix", "none", "--threads", "2"},
                  "numa:2 core:3 pu:1");
  ASSERT_EQ(plan.size(), 2U) << "no worker on node 1";
  EXPECT_EQ(plan[0].scenario.flows.size(), 2U);
}

TEST(Matrix, ACellThatCannotBeSaysWhy) {
  auto machine = *read_recorded_machine("numa:2 core:1 pu:1");
  machine.allowance.memory_nodes = {NodeId{0}};
  const auto plan = testing::sure_plan("matrix", {"--only", "latency"}, machine);
  ASSERT_EQ(plan.size(), 4U);
  EXPECT_FALSE(plan[0].skip);
  EXPECT_THAT(full_text(plan[1].skip.value()), HasSubstr("node 1 is not among the memory nodes"));
  EXPECT_TRUE(plan[1].scenario.flows.empty());
}

TEST(MatrixTable, HostsStandApart) {
  RunReport report;
  report.hosts = {"a", "b"};
  report.machines.resize(2);
  report.workers.resize(2);
  report.workers[1].host = 1;
  ScenarioResult point;
  point.kernel = "read";
  point.pages = "base";
  point.labels = {{"cell_cpu_node", "0"}, {"cell_memory_node", "0"}};
  for (int worker = 0; worker < 2; ++worker) {
    FlowResult flow;
    flow.worker = worker;
    flow.kernel = "read";
    flow.together = 1;
    flow.stretch_bytes = {(worker + 1) * 1e9, (worker + 1) * 1e9};
    point.flows.push_back(flow);
  }
  point.host_totals = host_sums_of(point, report);
  ASSERT_EQ(point.host_totals.size(), 2U);
  report.scenarios = {point};
  const RunReport second = of_host(report, 1);
  ASSERT_EQ(second.scenarios[0].flows.size(), 1U);
  EXPECT_DOUBLE_EQ(*find_total(second.scenarios[0], "bandwidth_sum")->value(), 4e9);
  const auto run = parse_run("matrix", {});
  const std::string text = testing::tables_of(*run->benchmark, report);
  EXPECT_THAT(text, HasSubstr("Host a"));
  EXPECT_THAT(text, HasSubstr("4.00"));
  // What is in the files is what the table shows.
  report.scenarios[0].host_totals[1].figures[0].estimate = 5e9;
  EXPECT_THAT(testing::tables_of(*run->benchmark, report), HasSubstr("5.00"));
}

}  // namespace
}  // namespace numatlas
