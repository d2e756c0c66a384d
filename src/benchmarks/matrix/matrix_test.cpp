#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "benchmarks/matrix/table.h"
#include "benchmarks/metrics.h"
#include "benchmarks/parse.h"
#include "machine/source.h"

namespace numatlas {
namespace {

using ::testing::HasSubstr;

/// The plan of `matrix` on a machine with a worker on each CPU; `hide`: a node that may not be
/// used.
std::vector<PlannedScenario> plan_on(const std::string& spec, const std::vector<std::string>& words,
                                     int only_node = -1) {
  auto machine = read_recorded_machine(spec);
  if (only_node >= 0) machine->allowance.memory_nodes = {NodeId{only_node}};
  const auto run = parse_run("matrix", words);
  EXPECT_TRUE(run) << run.error().message;
  Layout layout;
  layout.hosts = {"host"};
  for (const Cpu& cpu : machine->cpus) {
    Worker worker;
    worker.placement.thread = static_cast<int>(layout.workers.size());
    worker.placement.cpus = {cpu.id};
    worker.placement.cpu_node = cpu.node;
    layout.workers.push_back(worker);
  }
  const auto plan = run->benchmark->plan({run->options, layout, {*machine}});
  EXPECT_TRUE(plan) << plan.error().message;
  return *plan;
}

TEST(Matrix, ACellForEveryPairAndQuantity) {
  const auto plan = plan_on("numa:2 core:3 pu:1", {"--kernels", "read", "--mix", "2:1"});
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
  EXPECT_EQ(plan_on("numa:2 core:1 pu:1", {"--only", "latency"}).size(), 4U);
  EXPECT_EQ(plan_on("numa:2 core:1 pu:1", {"--only", "bandwidth", "--kernels", "read"}).size(), 8U);
  EXPECT_FALSE(parse_run("matrix", {"--only", "both"}));
}

TEST(Matrix, ACellThatCannotBeSaysWhy) {
  const auto plan = plan_on("numa:2 core:1 pu:1", {"--only", "latency"}, 0);
  ASSERT_EQ(plan.size(), 4U);
  EXPECT_EQ(plan[0].skip, "");
  EXPECT_THAT(plan[1].skip, HasSubstr("node 1 is not among the memory nodes"));
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
  EXPECT_DOUBLE_EQ(*find_total(second.scenarios[0], "bandwidth_sum")->value, 4e9);
  const std::string text = matrix_table(report, false);
  EXPECT_THAT(text, HasSubstr("Host a"));
  EXPECT_THAT(text, HasSubstr("4.00"));
  // What is in the files is what the table shows.
  report.scenarios[0].host_totals[1].totals[0].value = 5e9;
  EXPECT_THAT(matrix_table(report, false), HasSubstr("5.00"));
}

}  // namespace
}  // namespace numatlas
