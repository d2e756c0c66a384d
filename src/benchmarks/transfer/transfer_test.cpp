#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/test_data.h"
#include "benchmarks/test_plan.h"
#include "benchmarks/transfer/device_totals.h"
#include "memory/source.h"
#include "run/device_flows.h"

namespace numatlas::transfer_test {
using namespace numatlas::testing;
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

/// Nodes 0 and 1 with 8 CPUs and two GPUs each, node 2 without CPUs.
const std::string four_gpus = test_data() + "/topologies/two-sockets-four-gpus.json";

Error plan_error(const Words& words) {
  const auto plan = plan_on("transfer", words, four_gpus);
  return plan ? Error{} : plan.error();
}

TEST(TransferPlan, SmallCopiesAreTimedTogetherOnlyWhereTheyAreQueued) {
  const Words common{"--gpus", "0", "--direction", "h2d", "--memory", "bind:0"};
  Words words = common;
  words.insert(words.end(), {"--measure", "copies", "--size", "4KiB"});
  const auto queued = sure_plan("transfer", words, four_gpus);
  EXPECT_EQ(queued.at(0).scenario.flows.at(0).kernel.as<DeviceCopyParameters>().copies, 1024U);
  words = common;
  words.insert(words.end(), {"--measure", "latency", "--latency-size", "4KiB"});
  const auto alone = sure_plan("transfer", words, four_gpus);
  EXPECT_EQ(alone.at(0).scenario.flows.at(0).kernel.as<DeviceCopyParameters>().copies, 1U);
  EXPECT_EQ(alone.at(0).scenario.flows.at(0).kernel.as<DeviceCopyParameters>().depth, 1);
}

TEST(TransferPlan, ErrorsOfSizeNameTheOptionOfTheMeasurement) {
  const auto option = [](const char* measure) {
    return sure_plan("transfer", {"--measure", measure, "--gpus", "1"}, four_gpus)
        .at(0)
        .size_option.value_or("the benchmark's");
  };
  EXPECT_EQ(option("chase"), "--chase-size");
  EXPECT_EQ(option("latency"), "--latency-size");
  EXPECT_EQ(option("copies"), "the benchmark's");
}

TEST(TransferPlan, PeersAreAllOrderedPairs) {
  const Plan plan =
      sure_plan("transfer", typed("--measure peer --gpus 0,1,3 --size 64"), four_gpus);
  EXPECT_THAT(names_of(plan),
              ElementsAre("gpu 0 -> gpu 1 64MiB", "gpu 0 -> gpu 3 64MiB", "gpu 1 -> gpu 0 64MiB",
                          "gpu 1 -> gpu 3 64MiB", "gpu 3 -> gpu 0 64MiB", "gpu 3 -> gpu 1 64MiB"));
  EXPECT_EQ(plan[1].scenario.flows.at(0).region.placement.text(), "gpu:3");
}

TEST(TransferPlan, RefusesWhatIsNotThere) {
  EXPECT_EQ(plan_error({"--gpus", "4"}).kind, ErrorKind::unavailable);
  EXPECT_THAT(full_text(plan_error({"--gpus", "4"})), HasSubstr("--gpus: no GPU 4; available: 0"));
  EXPECT_THAT(full_text(plan_error({"--gpus", "x"})), HasSubstr("--gpus: 'x'"));
  EXPECT_THAT(full_text(plan_error(typed("--measure peer --gpus 1"))),
              HasSubstr("--measure peer: copies between GPUs require two"));
  EXPECT_THAT(full_text(plan_error({"--memory", "each:0,1"})), HasSubstr("--memory"));
  EXPECT_THAT(full_text(plan_error({"--pin", "glued"})), HasSubstr("--pin"));
  EXPECT_THAT(full_text(plan_error({"--size", "24"})), "");
  EXPECT_THAT(full_text(plan_error({"--size", "100B"})),
              HasSubstr("--size: 100 B is not a multiple"));
  EXPECT_THAT(full_text(plan_error({"--direction", "up"})), HasSubstr("--direction"));
  EXPECT_THAT(full_text(plan_error({"--caller", "near,far"})),
              HasSubstr("--caller: 'near,far' is not one of near, far, memory"));
}

TEST(TransferPlan, DefaultSizeFitsSmallNodes) {
  auto machine = read_recorded_machine(four_gpus);
  ASSERT_TRUE(machine);
  for (NumaNode& node : machine->nodes) {
    node.memory_free = Bytes{300 * mib};
    node.memory_cache.reset();
  }
  const Plan plan = sure_plan("transfer", {"--measure", "copies"}, *machine);
  EXPECT_EQ(plan[0].head.size, Bytes{64 * mib}) << "both directions have a region each";
  EXPECT_THAT(sure_plan("transfer", typed("--measure copies --size 512"), *machine)[0].head.size,
              Bytes{512 * mib});
}

NodeId caller_node(const Words& words, int gpu, const std::string& memory, Caller where) {
  const auto prepared = prepare("transfer", words, four_gpus);
  EXPECT_TRUE(prepared);
  const PlanInput input = prepared->input();
  const auto worker = caller_for(input, 0, *find_gpu(input.machines[0], gpu),
                                 parse_memory_spec(memory)->single, where, {});
  EXPECT_TRUE(worker);
  return input.layout.workers[static_cast<std::size_t>(*worker)].placement.cpu_node;
}

TEST(TransferCallers, NearFarAndBesideTheMemory) {
  EXPECT_EQ(caller_node({}, 0, "bind:1", Caller::near), NodeId{0});
  EXPECT_EQ(caller_node({}, 3, "bind:0", Caller::near), NodeId{1});
  EXPECT_EQ(caller_node({}, 3, "bind:1", Caller::far), NodeId{0});
  EXPECT_EQ(caller_node({}, 0, "bind:1", Caller::memory), NodeId{1});
}

TEST(TransferCallers, AnyCpuWhereTheNodeHasNoneOfThese) {
  EXPECT_EQ(caller_node({"--cpus", "node:0"}, 3, "bind:1", Caller::near), NodeId{0});
}

TEST(TransferCallers, EveryFlowHasAWorkerOfItsOwn) {
  const auto prepared = prepare("transfer", {"--cpus", "0,1", "--together"}, four_gpus);
  ASSERT_TRUE(prepared);
  EXPECT_EQ(prepared->layout.workers.size(), 8U) << "two a GPU";
  const auto few =
      plan_on("transfer", typed("--cpus 0,1 --threads 2 --together --measure copies"), four_gpus);
  ASSERT_TRUE(few);
  EXPECT_THAT(full_text(few->front().skip.value()), HasSubstr("--threads"));
  EXPECT_TRUE(few->front().scenario.flows.empty());
}

TEST(TransferOverlap, IsAPartOfTheTimeWithAnythingUnderWay) {
  const Steps turns{{0, 10}, {20, 10}, {40, 10}}, whole{{0, 30}}, late{{100, 10}}, none;
  const auto of = [](const Steps& a, const Steps& b) { return overlap_of({&a, &b}).value_or(-1); };
  EXPECT_DOUBLE_EQ(of({{0, 10}, {10, 10}, {20, 10}}, {{5, 10}, {15, 10}, {25, 10}}), 1);
  EXPECT_DOUBLE_EQ(of(turns, {{10, 10}, {30, 10}, {50, 10}}), 0);
  // Both from 10 to 15 and from 20 to 30, one from 15 to 20.
  EXPECT_DOUBLE_EQ(of(whole, {{10, 5}, {20, 10}}), 0.75);
  EXPECT_FALSE(overlap_of({&whole})) << "needs two";
  EXPECT_DOUBLE_EQ(of(whole, late), -1) << "no time in common";
  EXPECT_DOUBLE_EQ(of(whole, none), -1);
}

/// A point of two copies, 1 GB/s each by the GPUs' clocks, with these steps.
RunReport report_of(const Steps& a, const Steps& b, double aggregate) {
  RunReport report;
  report.hosts = {"alpha"};
  report.workers.resize(2);
  Case one;
  one.name = "p";
  for (const Steps* steps : {&a, &b}) {
    FlowResult flow;
    flow.worker = static_cast<int>(one.flows.size());
    flow.kernel = DeviceCopyParameters::name();
    flow.figures = {{"event_bandwidth", "B/s", 1e9, {}}};
    flow.gpu = GpuResult{};
    flow.gpu->direction = "h2d";
    flow.gpu->steps = *steps;
    one.flows.push_back(flow);
  }
  one.figures = {{"bandwidth_sum", "B/s", aggregate, {}}};
  for (const Figure& metric : device_totals(one, report)) one.figures.push_back(metric);
  report.cases = {one};
  return report;
}

TEST(TransferOverlap, WarnsOfCopiesThatTookTurns) {
  const RunReport turns = report_of({{0, 10}, {20, 10}}, {{10, 10}, {30, 10}}, 1e9);
  EXPECT_THAT(counted(device_warnings(turns)),
              ElementsAre(AllOf(HasSubstr("p: the copies took turns"), HasSubstr("2.00 GB/s"),
                                HasSubstr("1.00 GB/s"), HasSubstr("0 %"))));
  const RunReport together = report_of({{0, 10}, {10, 10}}, {{0, 10}, {10, 10}}, 1.95e9);
  EXPECT_THAT(counted(device_warnings(together)), ElementsAre());
}

// They pause in between, and how two start in the same microsecond their clocks do not tell.
TEST(TransferOverlap, CopiesThatAreWaitedForTakeTurnsOnlyWhereThatIsSeen) {
  const auto warnings = [](double clock_error, const Steps& late) {
    RunReport report = report_of({{0, 10}, {20, 10}}, late, 0.5e9);
    Case& result = report.cases[0];
    result.figures.resize(1);
    for (FlowResult& flow : result.flows) {
      flow.figures = {{"copy_latency", "s", 1e-8, {}}};
      flow.gpu->clock_error = clock_error;
    }
    for (const Figure& one : device_totals(result, report)) result.figures.push_back(one);
    return counted(device_warnings(report));
  };
  EXPECT_THAT(
      warnings(1e-10, {{10, 10}, {30, 10}}),
      ElementsAre("p: the copies took turns (all were under way in 0 % of the time in which "
                  "any was)"));
  EXPECT_THAT(warnings(1e-10, {{1, 10}, {21, 10}}), ElementsAre());
  EXPECT_THAT(warnings(5e-9, {{10, 10}, {30, 10}}), ElementsAre());
}

TEST(TransferWarnings, MemoryThatMoved) {
  RunReport report = report_of({{0, 10}}, {{0, 10}}, 2e9);
  FlowResult& flow = report.cases[0].flows[1];
  flow.source_residency = Residency{};
  flow.source_residency->pages_by_node = {{0, 4}};
  flow.gpu->before_pinning = flow.gpu->after = *flow.source_residency;
  EXPECT_THAT(counted(device_warnings(report)), ElementsAre());
  flow.gpu->after->pages_by_node = {{0, 3}, {1, 1}};
  EXPECT_THAT(counted(device_warnings(report)),
              ElementsAre(AllOf(HasSubstr("p, worker 1: its memory moved"),
                                HasSubstr("at the end 3 on node 0, 1 on node 1"))));
}

TEST(TransferWarnings, BothDirectionsThatGainNothing) {
  RunReport report = report_of({{0, 10}}, {{0, 10}}, 1.9e9);
  Case alone = report.cases[0];
  report.cases[0].labels = {{"measure", "copies"}, {"direction", "both"}};
  alone.labels = {{"measure", "copies"}, {"direction", "h2d"}};
  alone.flows.pop_back();
  alone.figures = {{"bandwidth_sum", "B/s", 1.0e9, {}}};
  report.cases.push_back(alone);
  EXPECT_THAT(counted(device_warnings(report)), ElementsAre());
  report.cases[1].figures[0].estimate = 1.8e9;
  EXPECT_THAT(counted(device_warnings(report)),
              ElementsAre(HasSubstr("hardly more than one alone (1.80")));
}

TEST(TransferPlan, MemoryOfAGpuIsNoHostsSide) {
  const std::string grace = test_data() + "/topologies/grace-gpu-memory.json";
  for (const std::string& name : names_of(sure_plan("transfer", {"--measure", "copies"}, grace)))
    EXPECT_THAT(name, Not(HasSubstr("bind:1 "))) << "node 1 is GPU 0's";
  EXPECT_FALSE(sure_plan("transfer", typed("--measure copies --memory bind:1"), grace).empty());
}

TEST(TransferPlan, TinyCopiesAreNotWarmedUpForEver) {
  const Plan plan =
      sure_plan("transfer", typed("--measure latency --latency-size 64B --gpus 0 --memory bind:0"),
                four_gpus);
  const Flow& flow = plan.at(0).scenario.flows.at(0);
  EXPECT_EQ(flow.warm_up.value / flow.region.bytes.value, 1000U);
}

/// A copy of these GPUs of the recorded machine, each with its link's limit.
std::optional<double> limit_of(const std::vector<std::pair<std::size_t, std::string>>& copies) {
  RunReport report = report_of({{0, 10}}, {{0, 10}}, 1);
  report.workers.resize(copies.size());
  const auto machine = read_recorded_machine(four_gpus);
  EXPECT_TRUE(machine);
  report.machines = {*machine};
  Case& one = report.cases[0];
  const FlowResult any = one.flows[0];
  one.flows.clear();
  for (const auto& [gpu, direction] : copies) {
    FlowResult flow = any;
    flow.worker = static_cast<int>(one.flows.size());
    flow.gpu->pci_address = machine->gpus[gpu].pci_address;
    flow.gpu->direction = direction;
    flow.gpu->link_limit = 63e9;
    one.flows.push_back(flow);
  }
  return link_limit(one, report);
}

TEST(TransferLinks, GpusBehindOneSwitchShareItsLink) {
  EXPECT_DOUBLE_EQ(*limit_of({{2, "h2d"}}), 63e9);
  EXPECT_DOUBLE_EQ(*limit_of({{2, "h2d"}, {2, "d2h"}}), 126e9) << "each direction by itself";
  EXPECT_DOUBLE_EQ(*limit_of({{2, "h2d"}, {3, "h2d"}}), 126e9);
  EXPECT_NEAR(*limit_of({{0, "h2d"}, {1, "h2d"}}), 63e9, 0.1e9);
}

}  // namespace
}  // namespace numatlas::transfer_test
