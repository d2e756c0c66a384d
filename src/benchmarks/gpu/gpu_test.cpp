#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/test_data.h"
#include "benchmarks/gpu/gpu.h"
#include "benchmarks/test_plan.h"
#include "run/flows.h"

namespace numatlas::gpu_test {
using namespace numatlas::testing;
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// Nodes 0 and 1 with 8 CPUs and two GPUs each, node 2 without CPUs; what the GPUs' driver says.
Machine four_gpus() {
  auto machine = read_recorded_machine(test_data() + "/topologies/two-sockets-four-gpus.json");
  EXPECT_TRUE(machine);
  for (Gpu& gpu : machine->gpus) {
    gpu.memory = Bytes{80 * gib};
    gpu.shared_cache = Bytes{50 * mib};
    gpu.memory_bandwidth = 3.352e12;
  }
  return *machine;
}

Error plan_error(const std::string& command, const Words& words) {
  const auto plan = plan_on(command, words, four_gpus());
  EXPECT_FALSE(plan);
  return plan ? Error{} : plan.error();
}

TEST(GpuPlan, LatencyByDoublingSizesAndAStreamOfEachLevel) {
  const auto plan = plan_on("gpu", {"--gpus", "2", "--kernels", "read,triad"}, four_gpus());
  ASSERT_TRUE(plan);
  const std::vector<std::string> names = names_of(*plan);
  ASSERT_EQ(names.size(), 17U + 4U);
  EXPECT_EQ(names.front(), "gpu 2 latency 16KiB memory own");
  EXPECT_EQ(names[16], "gpu 2 latency 1GiB memory own");
  EXPECT_THAT(std::vector(names.end() - 4, names.end()),
              ElementsAre("gpu 2 read 12800KiB memory own", "gpu 2 triad 12800KiB memory own",
                          "gpu 2 read 1GiB memory own", "gpu 2 triad 1GiB memory own"));
  const Flow& flow = plan->back().scenario.flows.at(0);
  EXPECT_EQ(name_of(flow.kernel), "gpu triad");
  EXPECT_EQ(flow.region.placement.text(), "gpu:2");
  const auto& stream = flow.kernel.as<DeviceStreamParameters>();
  EXPECT_EQ(stream.gpu, 2);
  EXPECT_EQ(stream.passes, 2U);
  // Three arrays, of which two are read.
  const Traffic traffic = traffic_per_step(flow.kernel);
  EXPECT_EQ(traffic.read, 2 * traffic.written);
  EXPECT_EQ(traffic.written, stream.passes * stream.array_bytes().value);
}

TEST(GpuPlan, OneThreadNearEachGpuQueuesItsWork) {
  const auto prepared =
      prepare("gpu", {"--measure", "bandwidth", "--kernels", "read", "--together"}, four_gpus());
  ASSERT_TRUE(prepared);
  const auto plan = prepared->run.benchmark.plan(prepared->input());
  ASSERT_TRUE(plan);
  const std::vector<Flow>& flows = plan->back().scenario.flows;
  ASSERT_EQ(flows.size(), 4U);
  std::vector<int> nodes;
  for (const Flow& flow : flows)
    nodes.push_back(worker_of(prepared->input(), flow.worker).placement.cpu_node.value);
  EXPECT_THAT(nodes, ElementsAre(0, 0, 1, 1));
}

TEST(GpuPlan, MemoryOfAnotherGpuAndOfTheHost) {
  const auto peer = plan_on(
      "gpu", {"--gpus", "0", "--measure", "latency", "--latency-size", "1MiB", "--memory", "gpu:3"},
      four_gpus());
  ASSERT_TRUE(peer);
  EXPECT_EQ(peer->front().scenario.flows.at(0).region.placement.text(), "gpu:3");
  const auto host =
      plan_on("gpu", {"--gpus", "0", "--memory", "bind:1", "--kernels", "copy"}, four_gpus());
  ASSERT_TRUE(host);
  EXPECT_THAT(names_of(*host), ElementsAre("gpu 0 latency 64MiB memory bind:1 base",
                                           "gpu 0 copy 256MiB memory bind:1 base"));
}

TEST(GpuPlan, LatencyAndBandwidthOnGpus) {
  const auto latency = plan_on("latency", {"--on", "gpu:1", "--size", "2MiB"}, four_gpus());
  ASSERT_TRUE(latency);
  EXPECT_THAT(names_of(*latency), ElementsAre("gpu 1 latency 2MiB memory own"));
  const auto bandwidth =
      plan_on("bandwidth", {"--on", "gpu:0-1", "--size", "2MiB", "--kernels", "add"}, four_gpus());
  ASSERT_TRUE(bandwidth);
  EXPECT_THAT(names_of(*bandwidth),
              ElementsAre("gpu 0 add 2MiB memory own", "gpu 1 add 2MiB memory own"));
}

TEST(GpuPlan, WhatIsRefused) {
  EXPECT_EQ(plan_error("gpu", {"--gpus", "4"}).subject, "--gpus");
  EXPECT_EQ(plan_error("latency", {"--on", "gpu:4"}).subject, "--on");
  EXPECT_EQ(plan_error("latency", {"--on", "gpu:x"}).subject, "--on");
  EXPECT_THAT(plan_error("latency", {"--on", "gpu:0", "--chains", "4"}).message,
              HasSubstr("chases by CPUs"));
  EXPECT_THAT(plan_error("bandwidth", {"--on", "gpu:0", "--mix", "2:1"}).message,
              HasSubstr("'mix 2:1' is a kernel of CPUs"));
  EXPECT_EQ(
      plan_error("bandwidth", {"--on", "gpu:0", "--stores", "nt", "--kernels", "copy"}).subject,
      "--kernels");
  EXPECT_THAT(plan_error("gpu", {"--pages", "2M"}).message, HasSubstr("no choice of pages"));
  EXPECT_THAT(plan_error("gpu", {"--memory", "gpu:7"}).message, HasSubstr("no GPU 7"));
  EXPECT_EQ(plan_error("gpu", {"--size", "700B"}).subject, "--size");
  EXPECT_EQ(plan_error("gpu", {"--latency-size", "64B"}).subject, "--latency-size");
  EXPECT_EQ(plan_error("gpu", {"--blocks", "1,2"}).subject, "--blocks");
}

ScenarioResult measured(const std::string& measure, const std::string& level, const char* key,
                        double value) {
  ScenarioResult point;
  point.kernel = measure == "latency" ? "device chase" : "gpu read";
  point.labels = {{"measure", measure}, {"gpus", "0"}, {"memory", "own"}, {"gpu_loads", "cached"}};
  FlowResult flow;
  flow.kernel = point.kernel;
  flow.level = level;
  flow.gpu.emplace();
  flow.gpu->memory_bandwidth = 4e12;
  point.flows = {flow};
  const Unit unit = measure == "latency" ? Unit("s") : Unit("B/s");
  point.figures = {{key, unit, Estimate(value), std::nullopt}};
  return point;
}

TEST(GpuFacts, OfEachLevelAndKernel) {
  RunReport report;
  report.scenarios = {measured("latency", "L1", "latency", 17e-9),
                      measured("latency", "L2", "latency", 142e-9),
                      measured("latency", "L2", "latency", 143e-9),
                      measured("latency", "-", "latency", 250e-9),
                      measured("latency", "memory", "latency", 346e-9),
                      measured("bandwidth", "L2", "bandwidth_sum", 9e12),
                      measured("bandwidth", "memory", "bandwidth_sum", 3e12)};
  std::vector<std::string> keys;
  for (const Fact& fact : benchmark_gpu::facts(report)) keys.push_back(fact.key);
  EXPECT_THAT(keys, ElementsAre("gpu_l1_latency", "gpu_l2_latency", "gpu_memory_latency",
                                "gpu_l2_read", "gpu_read"));
  // Only memory has a bus.
  EXPECT_TRUE(benchmark_gpu::totals(report.scenarios[5], report).empty());
  const auto totals = benchmark_gpu::totals(report.scenarios[6], report);
  ASSERT_EQ(totals.size(), 1U);
  EXPECT_DOUBLE_EQ(*totals[0].value(), 0.75);
}

}  // namespace
}  // namespace numatlas::gpu_test
