#include <cstddef>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/test_data.h"
#include "benchmarks/on_gpus.h"
#include "benchmarks/test_plan.h"
#include "record/labels.h"
#include "run/flows.h"
#include "run/runner.h"

namespace numatlas::gpu_test {
using namespace numatlas::testing;
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// Nodes 0 and 1 with 8 CPUs and two GPUs each, node 2 without CPUs; what the GPUs' driver says.
Machine four_gpus() {
  auto machine = read_recorded_machine(test_data() + "/topologies/two-sockets-four-gpus.json");
  EXPECT_TRUE(machine);
  for (Gpu& gpu : machine->gpus) {
    gpu.memory = Bytes{80 * gib};
    gpu.multiprocessors = 132;
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

TEST(GpuPlan, AStreamOfEachLevel) {
  const auto plan = plan_on("bandwidth", typed("--on gpu:2 --kernels read,triad"), four_gpus());
  ASSERT_TRUE(plan);
  EXPECT_THAT(names_of(*plan),
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
      prepare("bandwidth", typed("--on gpus --kernels read --together"), four_gpus());
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
  const auto peer = plan_on("latency", typed("--on gpu:0 --size 1MiB --memory gpu:3"), four_gpus());
  ASSERT_TRUE(peer);
  EXPECT_EQ(peer->front().scenario.flows.at(0).region.placement.text(), "gpu:3");
  const auto host = [&](const Words& words) {
    Words all{words.front(), "--on", "gpu:0", "--memory", "bind:1", "--pages", "base"};
    all.insert(all.end(), words.begin() + 1, words.end());
    const auto plan = plan_on(all.front(), {all.begin() + 1, all.end()}, four_gpus());
    EXPECT_TRUE(plan);
    return plan ? names_of(*plan) : std::vector<std::string>{};
  };
  EXPECT_THAT(host({"latency"}), ElementsAre("gpu 0 latency 64MiB memory bind:1 base"));
  EXPECT_THAT(host({"bandwidth", "--kernels", "copy"}),
              ElementsAre("gpu 0 copy 256MiB memory bind:1 base"));
}

TEST(GpuPlan, WhichOnesAndWhatTheyLoad) {
  const auto latency =
      plan_on("latency", typed("--on gpu:1 --size 2MiB --gpu-loads l2"), four_gpus());
  ASSERT_TRUE(latency);
  EXPECT_THAT(names_of(*latency), ElementsAre("gpu 1 latency 2MiB memory own l2"));
  const auto bandwidth =
      plan_on("bandwidth", typed("--on gpu:0-1 --size 2MiB --kernels add"), four_gpus());
  ASSERT_TRUE(bandwidth);
  EXPECT_THAT(names_of(*bandwidth),
              ElementsAre("gpu 0 add 2MiB memory own", "gpu 1 add 2MiB memory own"));
  const auto all = plan_on("latency", typed("--on gpus --size 2MiB"), four_gpus());
  ASSERT_TRUE(all);
  EXPECT_EQ(all->size(), 4U);
}

TEST(GpuPlan, LoadsFromOneMultiprocessorToAllButOne) {
  const auto plan = plan_on("loaded", typed("--on gpu:2 --kernels write"), four_gpus());
  ASSERT_TRUE(plan);
  const std::vector<std::string> names = names_of(*plan);
  EXPECT_THAT(std::vector(names.begin(), names.begin() + 3),
              ElementsAre("idle gpu 2 memory own", "gpu write 1 SM gpu 2 memory own",
                          "gpu write 2 SMs gpu 2 memory own"));
  // The mix of two reads to a write is triad.
  EXPECT_EQ(names.back(), "gpu triad peak gpu 2 memory own");
  EXPECT_EQ(plan->front().scenario.flows.size(), 1U);
  const std::vector<Flow>& flows = plan->back().scenario.flows;
  ASSERT_EQ(flows.size(), 2U);
  EXPECT_EQ(flows[0].role, Role::measured);
  EXPECT_EQ(name_of(flows[0].kernel), "device chase");
  EXPECT_EQ(flows[1].role, Role::load);
  EXPECT_EQ(flows[1].kernel.as<DeviceStreamParameters>().blocks, 131U);
  EXPECT_NE(flows[0].worker, flows[1].worker);
}

TEST(GpuPlan, MatrixOfGpusAndAllMemories) {
  const auto plan = plan_on("matrix", typed("--on gpu:0,3 --kernels read --mix none"), four_gpus());
  ASSERT_TRUE(plan);
  std::vector<std::string> cells;
  for (const PlannedCase& planned : *plan) {
    EXPECT_TRUE(planned.optional);
    if (label_of(planned.head, "measure") == "latency")
      cells.push_back(label_of(planned.head, "gpus") + " " + label_of(planned.head, "memory"));
  }
  EXPECT_THAT(cells, ElementsAre("0 bind:0", "3 bind:0", "0 bind:1", "3 bind:1", "0 bind:2",
                                 "3 bind:2", "0 gpu:0", "3 gpu:0", "0 gpu:1", "3 gpu:1", "0 gpu:2",
                                 "3 gpu:2", "0 gpu:3", "3 gpu:3"));
  EXPECT_EQ(plan->size(), 2 * cells.size());
}

TEST(GpuPlan, AtomicAdditionsByNumbersOfThreads) {
  const auto plan = plan_on("atomics", typed("--on gpu:1 --sharing own"), four_gpus());
  ASSERT_TRUE(plan);
  EXPECT_THAT(names_of(*plan), ElementsAre("gpu 1 fetch-add own 1 thread memory own",
                                           "gpu 1 fetch-add own 32 threads memory own",
                                           "gpu 1 fetch-add own 256 threads memory own",
                                           "gpu 1 fetch-add own 135168 threads memory own"));
  const Flow& flow = plan->back().scenario.flows.at(0);
  EXPECT_EQ(flow.region.bytes, Bytes{135168 * 128});
  EXPECT_DOUBLE_EQ(1 / step_time(flow.kernel).part, 135168.0 * 31);
}

/// What a machine that is simulated does.
RunReport simulated(const std::string& command, Words words) {
  words.insert(words.end(), {"--machine", test_data() + "/topologies/two-sockets-four-gpus.json"});
  words.insert(words.end(), {"--engine", "null"});
  return report_of_run(command, words);
}

TEST(GpuPlan, ChaseAndLoadAreOfOneProcess) {
  auto prepared = prepare("loaded", {"--on", "gpu:0"}, four_gpus());
  ASSERT_TRUE(prepared);
  const auto skipped = [&] {
    const auto plan = prepared->run.benchmark.plan(prepared->input());
    EXPECT_TRUE(plan);
    return plan->back().skip;
  };
  EXPECT_FALSE(skipped());
  for (std::size_t i = 0; i < prepared->layout.workers.size(); ++i)
    prepared->layout.workers[i].rank = static_cast<int>(i);
  ASSERT_TRUE(skipped());
  EXPECT_THAT(skipped()->message, HasSubstr("two processes"));
}

TEST(GpuCurve, LatencyRisesWithTheLoad) {
  const RunReport report = simulated("loaded", typed("--on gpu:0 --kernels read --mix none"));
  ASSERT_GT(report.cases.size(), 5U);
  const auto latency = [](const Case& one) {
    return estimate_of(one, "latency").value_or(Estimate(0)).value;
  };
  const Case &idle = report.cases.front(), &peak = report.cases.back();
  EXPECT_EQ(label_of(idle, "load"), "idle");
  EXPECT_NEAR(latency(idle), 346e-9, 20e-9);
  EXPECT_NEAR(latency(peak) / latency(idle), 2.5, 0.2);
  double rate = 0;
  for (const Case& one : report.cases) {
    const double now = estimate_of(one, "bandwidth_sum").value_or(Estimate(0)).value;
    EXPECT_GE(now, 0.95 * rate) << one.name;
    rate = now;
  }
  std::vector<std::string> keys;
  const auto parsed = parse_run("loaded", {"--on", "gpu:0", "--dry-run"});
  ASSERT_TRUE(parsed);
  for (const Fact& fact : parsed->benchmark.shown.facts(report)) keys.push_back(fact.key);
  EXPECT_THAT(keys, ElementsAre("loaded_latency_idle", "loaded_knee", "loaded_latency_80",
                                "loaded_latency_peak", "loaded_bandwidth_peak"));
}

TEST(GpuCurve, OneCounterIsSlowerThanLinesOfTheirOwn) {
  const RunReport report = simulated("atomics", typed("--on gpu:0 --sharing same,own"));
  ASSERT_EQ(report.cases.size(), 8U);
  const auto rate = [&](std::size_t at) {
    return estimate_of(report.cases[at], "operations_sum").value_or(Estimate(0)).value;
  };
  EXPECT_NEAR(rate(3), 1.7e9, 0.1e9);
  EXPECT_NEAR(rate(7), 50e9, 3e9);
  EXPECT_NEAR(rate(0), rate(4), 0.1 * rate(0)) << "one thread alone";
}

TEST(GpuPlan, WhatIsRefused) {
  EXPECT_EQ(plan_error("loaded", typed("--on gpu:0 --rates 5")).subject, "--rates");
  EXPECT_EQ(plan_error("loaded", typed("--on gpu:0 --pairs 0:0")).subject, "--pairs");
  EXPECT_EQ(plan_error("loaded", typed("--on gpu:0 --mix 3:1")).subject, "--mix");
  EXPECT_EQ(plan_error("matrix", typed("--on gpu:0 --nodes 0")).subject, "--nodes");
  EXPECT_EQ(plan_error("matrix", typed("--on gpu:0 --memory bind:0")).subject, "--memory");
  EXPECT_EQ(plan_error("atomics", typed("--on gpu:0 --home 0")).subject, "--home");
  for (const char* const operations : {"compare-exchange", "fetch-add,compare-exchange"})
    EXPECT_EQ(plan_error("atomics", {"--on", "gpu:0", "--operation", operations}).subject,
              "--operation");
  EXPECT_EQ(plan_error("loaded", typed("--on gpu:0 --size 192B")).subject, "--size");
  EXPECT_EQ(plan_error("latency", {"--on", "gpu:4"}).subject, "--on");
  EXPECT_EQ(plan_error("latency", {"--on", "gpu:x"}).subject, "--on");
  EXPECT_THAT(plan_error("latency", typed("--on gpu:0 --chains 4")).message,
              HasSubstr("only to CPUs"));
  EXPECT_THAT(plan_error("bandwidth", typed("--on gpu:0 --mix 3:1")).message,
              HasSubstr("'mix 3:1' is a kernel of CPUs"));
  EXPECT_EQ(plan_error("bandwidth", typed("--on gpu:0 --stores nt --kernels copy")).subject,
            "--kernels");
  EXPECT_THAT(plan_error("latency", typed("--on gpus --pages 2M")).message,
              HasSubstr("no choice of pages"));
  EXPECT_THAT(plan_error("latency", typed("--on gpus --memory gpu:7")).message,
              HasSubstr("no GPU 7"));
  EXPECT_EQ(plan_error("bandwidth", typed("--on gpus --size 700B")).subject, "--size");
  EXPECT_EQ(plan_error("latency", typed("--on gpus --size 64B")).subject, "--size");
  EXPECT_EQ(plan_error("latency", {"--gpu-loads", "l2"}).subject, "--gpu-loads");
  EXPECT_EQ(plan_error("bandwidth", {"--together"}).subject, "--together");
}

}  // namespace
}  // namespace numatlas::gpu_test
