// What the bandwidth benchmark computes over all workers.
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "benchmarks/common.h"
#include "benchmarks/parse.h"
#include "benchmarks/test_plan.h"
#include "run/metrics.h"

namespace numatlas {
namespace {

using ::testing::IsEmpty;

/// A worker that moved these bytes in each stretch, in a time together of so many seconds.
FlowResult moved(int worker, double together, std::vector<double> bytes) {
  FlowResult flow;
  flow.worker = worker;
  flow.kernel = "copy";
  flow.together = together;
  flow.stretch_bytes = std::move(bytes);
  flow.figures = {{"bandwidth", "B/s", 4e9, std::nullopt}, {"traffic", "B/s", 6e9, std::nullopt}};
  flow.level = "memory";
  return flow;
}

RunReport report_of(Case one) {
  RunReport report;
  report.isa = "AVX9";
  report.hosts = {"host"};
  report.workers.resize(2);
  one.size = Bytes{mib};
  one.pages = "base";
  one.kernel = "copy";
  one.stores = "regular";
  report.cases = {std::move(one)};
  report.complete = true;
  return report;
}

TEST(BandwidthTotals, AllBytesOverTheCommonTime) {
  Case one;
  // VisitBlock by turn on one CPU: each worker alone seems twice as fast as both are together.
  one.flows = {moved(0, 2.0, {8e9, 0}), moved(1, 2.0, {0, 4e9})};
  const auto totals = sums_of(one, report_of(one));
  ASSERT_EQ(totals.size(), 2u);
  EXPECT_EQ(totals[0].key, "bandwidth_sum");
  EXPECT_DOUBLE_EQ(*totals[0].value(), 6e9);
  EXPECT_DOUBLE_EQ(totals[0].summary->min, 4e9);
  EXPECT_DOUBLE_EQ(totals[0].summary->max, 8e9);
  EXPECT_DOUBLE_EQ(*totals[1].value(), 9e9) << "with the lines that stores fetch";
}

/// Node 0 has one CPU and hardly any free memory, the others four CPUs each.
Machine with_an_assistant_core() {
  auto machine = read_recorded_machine("numa:3(memory=17179869184) l2:1(size=8388608) core:4 pu:1");
  EXPECT_TRUE(machine);
  machine->hypervisor = "";
  machine->arch = "x86_64";
  machine->nodes[0].cpus = {CpuId{0}};
  machine->nodes[0].memory_total = Bytes{700 * mib};
  machine->nodes[0].memory_free = Bytes{22 * mib};
  std::erase_if(machine->cpus, [](const Cpu& cpu) { return cpu.id.value > 0 && cpu.id.value < 4; });
  machine->allowance.affinity = machine->allowance.cpuset = machine->all_cpus();
  return *machine;
}

TEST(BandwidthPlan, ASmallNodeDoesNotSetTheSizeOfAll) {
  const Machine machine = with_an_assistant_core();
  const auto plan = testing::sure_plan("bandwidth", {"--kernels", "read"}, machine);
  ASSERT_EQ(plan.size(), 1U);
  EXPECT_EQ(plan[0].head.size, Bytes{16 * mib});
  EXPECT_EQ(plan[0].scenario.flows.size(), 8U) << "without CPU 0, whose memory fits its cache";
  const auto named =
      testing::sure_plan("bandwidth", testing::typed("--kernels read --cpus 0"), machine);
  ASSERT_EQ(named.size(), 1U);
  EXPECT_EQ(named[0].scenario.flows.size(), 1U);
  EXPECT_EQ(named[0].head.size, Bytes{8 * mib});
  const auto serial = testing::sure_plan("latency", {"--cpus", "0,4"}, machine);
  ASSERT_EQ(serial.size(), 1U);
  EXPECT_EQ(serial[0].scenario.flows[0].region.bytes, Bytes{8 * mib});
  EXPECT_EQ(serial[0].scenario.flows[1].region.bytes, Bytes{256 * mib});
}

TEST(BandwidthPlan, WithoutOptionsOneCpuAndAllReadCopyAndAddProducts) {
  constexpr const char* machine = "numa:2 core:4 pu:1";
  const auto plan = testing::sure_plan("bandwidth", {}, machine);
  std::vector<std::pair<std::string, std::size_t>> cases;
  for (const PlannedCase& planned : plan)
    cases.emplace_back(planned.head.kernel, planned.scenario.flows.size());
  using Case = std::pair<std::string, std::size_t>;
  EXPECT_THAT(cases, ::testing::ElementsAre(Case("read", 1), Case("read", 8), Case("copy", 1),
                                            Case("copy", 8), Case("triad", 1), Case("triad", 8)));
  EXPECT_EQ(testing::sure_plan("bandwidth", {"--kernels", "read"}, machine).size(), 1U);
  EXPECT_EQ(testing::sure_plan("bandwidth", {"--threads", "2"}, machine).size(), 3U);
  EXPECT_EQ(testing::sure_plan("bandwidth", {}, "numa:1 core:1 pu:1").size(), 3U);
}

TEST(BandwidthFacts, HowManyCpusAreEnough) {
  RunReport report;
  report.hosts = {"alpha"};
  const auto add = [&](std::size_t cpus, double rate) {
    Case one;
    one.kernel = "triad";
    one.pages = "base";
    for (std::size_t i = 0; i < cpus; ++i) {
      FlowResult flow;
      flow.worker = static_cast<int>(i);
      flow.kernel = "triad";
      flow.memory = "local";
      flow.level = "memory";
      one.flows.push_back(flow);
    }
    one.figures = {{"bandwidth_sum", "B/s", rate, std::nullopt}};
    report.cases.push_back(one);
  };
  for (int cpu = 0; cpu < 8; ++cpu) {
    WorkerRow worker;
    worker.cpus = {CpuId{cpu}};
    report.workers.push_back(worker);
  }
  const auto parsed = parse_run("bandwidth", {});
  ASSERT_TRUE(parsed);
  const auto enough = [&]() -> std::string {
    for (const Fact& fact : parsed->benchmark.shown.facts(report))
      if (fact.key == "enough_bandwidth") return fact.line;
    return "";
  };
  add(1, 10e9);
  add(8, 50e9);
  EXPECT_EQ(enough(), "") << "of one and all the number between is not known";
  add(2, 20e9);
  add(4, 46e9);
  EXPECT_EQ(enough(), "90 % of the best from 4 CPUs ({})");
}

TEST(PeakShare, IsOfTheHighestSumOfMemory) {
  RunReport report = report_of({});
  const auto add = [&](double sum, const char* level) {
    Case one;
    one.figures = {{"bandwidth_sum", "B/s", Estimate(sum), std::nullopt}};
    one.flows = {moved(0, 1.0, {sum})};
    one.flows[0].level = level;
    report.cases.push_back(one);
  };
  report.cases.clear();
  add(10e9, "memory");
  add(90e9, "L2");
  add(40e9, "memory");
  add_best_shares(report);
  EXPECT_DOUBLE_EQ(*find_total(report.cases[0], "best_share")->value(), 0.25);
  EXPECT_EQ(find_total(report.cases[1], "best_share"), nullptr) << "a cache's is no memory's";
  EXPECT_DOUBLE_EQ(*find_total(report.cases[2], "best_share")->value(), 1);
}

TEST(BandwidthTotals, NoSumWhereNothingWasTogether) {
  Case one;
  one.flows = {moved(0, 1.0, {1e9}), moved(1, 0.0, {})};
  EXPECT_THAT(sums_of(one, report_of(one)), IsEmpty());
  one.flows = {moved(0, 1.0, {1e9}), moved(1, 1.0, {1e9})};
  RunReport serial = report_of(one);
  serial.serial = true;
  EXPECT_THAT(sums_of(one, serial), IsEmpty());
}

}  // namespace
}  // namespace numatlas
