#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/units.h"
#include "benchmarks/latency/facts.h"
#include "benchmarks/parse.h"
#include "benchmarks/test_plan.h"
#include "machine/source.h"
#include "record/labels.h"

namespace numatlas::latency_test {
namespace {

using Words = std::vector<std::string>;

constexpr const char* two_nodes = "numa:2 l3:1(size=16777216) core:2 pu:1";

/// The plan of `numatlas latency WORDS` for two workers, or as many as the words say.
Expected<testing::Plan> try_plan(Words words) {
  if (std::ranges::find(words, "--threads") == words.end())
    words.insert(words.end(), {"--threads", "2"});
  words.insert(words.end(), {"--cpus", "0-3"});
  return testing::plan_on("latency", words, two_nodes);
}

testing::Plan plan(const Words& words) {
  auto planned = try_plan(words);
  EXPECT_TRUE(planned);
  return *std::move(planned);
}

TEST(LatencyPlan, SamePlanEveryTimeAndEveryWorkerItsOwnOrder) {
  const auto seeds = [](const Words& words) {
    std::vector<std::uint64_t> found;
    for (const auto& planned : plan(words)) {
      for (const Flow& flow : planned.scenario.flows) found.push_back(flow.kernel.seed);
    }
    return found;
  };
  const auto one = seeds({"--size", "1-8"});
  EXPECT_EQ(one, seeds({"--size", "1-8"}));
  EXPECT_NE(one, seeds(testing::typed("--size 1-8 --seed 9")));
  for (std::size_t i = 0; i + 1 < one.size(); i += 2) EXPECT_NE(one[i], one[i + 1]);
}

TEST(LatencyPlan, WarmUpFollowsTheCachesAndProofTheSize) {
  const auto planned = plan({"--size", "1,16,64"});
  const auto flow = [&](std::size_t i) { return planned[i].scenario.flows[0]; };
  EXPECT_EQ(flow(0).warm_up, Bytes{2 * mib});
  EXPECT_EQ(flow(1).warm_up, Bytes{32 * mib});
  EXPECT_EQ(flow(2).warm_up, Bytes{32 * mib});
  EXPECT_TRUE(flow(0).kernel.as<ChaseParameters>().verify_full);
  EXPECT_FALSE(flow(1).kernel.as<ChaseParameters>().verify_full);
  EXPECT_TRUE(plan(testing::typed("--size 64 --verify full"))[0]
                  .scenario.flows[0]
                  .kernel.as<ChaseParameters>()
                  .verify_full);
}

TEST(LatencyPlan, OptionsReachTheFlows) {
  const auto planned =
      plan(testing::typed("--size 64 --order page-local --stride 128 --memory bind:1 --time 3s"));
  const PlannedCase& planned_case = planned.at(0);
  const Flow& flow = planned_case.scenario.flows.at(0);
  EXPECT_EQ(flow.kernel.as<ChaseParameters>().order, ChainOrder::page_local);
  EXPECT_EQ(flow.kernel.as<ChaseParameters>().stride, Bytes{128});
  EXPECT_EQ(flow.region.placement.text(), "bind:1");
  EXPECT_EQ(planned_case.head.order, "page-local");
  EXPECT_EQ(planned_case.head.stride, Bytes{128});
  EXPECT_EQ(planned_case.scenario.stop.time, std::chrono::seconds(3));
}

/// A case of so many chains whose loads take `ns`.
Case case_of(int chains, double ns, const std::string& level) {
  Case one;
  one.size = Bytes{256 * mib};
  one.pages = "thp";
  one.labels = {{"chains", std::to_string(chains)}};
  FlowResult flow;
  flow.kernel = "chase";
  flow.level = level;
  flow.stride = Bytes{64};
  flow.figures = {{"latency", "s", Estimate(ns * 1e-9), std::nullopt}};
  for (const Figure& figure : parse_run("latency", {})->benchmark.figures.of_flow(flow, one))
    flow.figures.push_back(figure);
  one.flows = {flow};
  return one;
}

/// A point of one flow at this stride whose loads take `ns`.
Case point_at(Bytes stride, double ns) {
  Case one = case_of(1, ns, "memory");
  one.labels.clear();
  one.stride = stride;
  return one;
}

TEST(Latency, SaysWhatTheLargestSizeTakesAtEachStride) {
  RunReport report = testing::one_worker();
  report.cases = {point_at(Bytes{64}, 100), point_at(Bytes{256}, 107)};
  const auto run = parse_run("latency", {"--stride", "64,256"});
  ASSERT_TRUE(run) << full_text(run.error());
  run->benchmark.figures.conclude(report);
  EXPECT_FALSE(estimate_of(report.cases[1], "tlb_cost")) << "the pages are the same";
  const auto facts = run->benchmark.shown.facts(report);
  ASSERT_EQ(facts.size(), 2U) << "the latency of memory is that of the first stride";
  EXPECT_DOUBLE_EQ(facts[0].estimate.value, 100e-9);
  EXPECT_EQ(facts[1].key, "stride_latency");
  EXPECT_DOUBLE_EQ(facts[1].estimate.value, 107e-9);
  EXPECT_EQ(where_of(facts[1], "stride"), "256B");
}

TEST(Chains, LoadsInFlightAreThoseOfLittlesLaw) {
  RunReport report = testing::one_worker();
  // From 8 chains on no more are open at once.
  report.cases = {case_of(8, 100, "memory"), case_of(1, 100, "memory"), case_of(16, 195, "memory"),
                  case_of(32, 396, "memory")};
  add_against({loads_in_flight}, report);
  EXPECT_DOUBLE_EQ(estimate_of(report.cases[0], "loads_in_flight")->value, 8);
  EXPECT_DOUBLE_EQ(estimate_of(report.cases[1], "loads_in_flight")->value, 1);
  EXPECT_NEAR(estimate_of(report.cases[2], "loads_in_flight")->value, 8.2, 0.01);
  EXPECT_DOUBLE_EQ(estimate_of(report.cases[0], "chains_bandwidth")->value, 5.12e9);
  const auto facts = latency_facts(report);
  ASSERT_EQ(facts.size(), 2U);
  EXPECT_EQ(facts[0].key, "loads_in_flight");
  EXPECT_NEAR(facts[0].estimate.value, 8.2, 0.01);
  EXPECT_EQ(where_of(facts[1], "chains"), "8") << "the fewest that nearly reach it";
  EXPECT_DOUBLE_EQ(facts[1].estimate.value, 5.12e9);
}

/// As measured: a chase of memory among so many threads.
Case among_threads(int threads, double seconds) {
  Case one;
  one.size = Bytes{gib};
  one.pages = "thp";
  one.labels = {{"threads", std::to_string(threads)}};
  FlowResult flow;
  flow.level = "memory";
  flow.figures = {{"latency", "s", Estimate(seconds), std::nullopt}};
  one.flows = {flow};
  return one;
}

TEST(Threads, TheFewestAreIdleAndTheOthersAreSaidBeside) {
  RunReport report = testing::one_worker();
  report.cases = {among_threads(1, 100e-9), among_threads(8, 140e-9)};
  const auto facts = latency_facts(report);
  ASSERT_EQ(facts.size(), 2U);
  EXPECT_EQ(facts[0].key, "memory_latency");
  EXPECT_DOUBLE_EQ(facts[0].estimate.value, 100e-9);
  EXPECT_EQ(facts[1].key, "threads_latency");
  EXPECT_DOUBLE_EQ(facts[1].estimate.value, 140e-9);
  EXPECT_EQ(facts[1].line, "{} with 8 threads");
}

TEST(Chains, WithoutOneChainAloneNothingIsSaidOfLoadsInFlight) {
  RunReport report = testing::one_worker();
  report.cases = {case_of(4, 100, "memory"), case_of(8, 110, "memory")};
  add_against({loads_in_flight}, report);
  EXPECT_FALSE(estimate_of(report.cases[0], "loads_in_flight"));
  EXPECT_TRUE(latency_facts(report).empty());
  report.cases = {case_of(1, 10, "L3"), case_of(8, 12, "L3")};
  add_against({loads_in_flight}, report);
  EXPECT_TRUE(estimate_of(report.cases[1], "loads_in_flight"));
  EXPECT_TRUE(latency_facts(report).empty()) << "a cache's are no misses of memory";
}

/// A run of one worker under an L3 that `cpus` CPUs share, with these sizes in MiB, levels and ns.
struct Measured {
  double mib;
  std::string level;
  double ns;
};
RunReport ladder_of(const std::vector<Measured>& points, int cpus = 16) {
  RunReport report;
  report.hosts = {"alpha"};
  Machine machine;
  machine.hypervisor = "";
  CpuSet all;
  for (int cpu = 0; cpu < cpus; ++cpu) {
    machine.cpus.push_back({CpuId{cpu}, cpu, 0, NodeId{0}, 0});
    all.insert(CpuId{cpu});
  }
  machine.caches = {{3, "unified", Bytes{512 * mib}, Bytes{64}, all}};
  report.machines = {machine};
  report.workers.resize(1);
  report.workers[0].cpus = {CpuId{0}};
  report.workers[0].cpu_node = NodeId{0};
  for (const Measured& one : points) {
    Case result = point_at(Bytes{64}, one.ns);
    result.size = Bytes{static_cast<std::uint64_t>(one.mib * static_cast<double>(mib))};
    result.flows.front().level = one.level;
    report.cases.push_back(result);
  }
  return report;
}

std::vector<std::string> told_of(const RunReport& report) {
  std::vector<std::string> told;
  for (const Fact& fact : latency_facts(report))
    told.push_back(fmt::format("{} {:.4g}: {}", fact.key, fact.estimate.value, fact.line));
  return told;
}

TEST(Latency, ACachesLatencyIsThatOfItsPlateau) {
  using ::testing::Contains;
  const std::vector<Measured> ladder{{4, "L3", 17},   {8, "L3", 20},        {16, "L3", 21},
                                     {32, "L3", 22},  {64, "L3", 23},       {128, "L3", 60},
                                     {256, "L3", 95}, {1024, "memory", 100}};
  const char* const l3 = "cache_latency 2.1e-08: L3 {} (16 MiB)";
  EXPECT_THAT(told_of(ladder_of(ladder)), Contains(l3));
  // Fewer sizes give the same, or one beside it.
  EXPECT_THAT(told_of(ladder_of({ladder[1], ladder[3], ladder[5], ladder[7]})),
              Contains("cache_latency 2e-08: L3 {} (8 MiB)"));
  EXPECT_THAT(told_of(ladder_of({ladder[2], ladder[7]})),
              Contains("cache_latency 2.1e-08: L3 {} (at 16 MiB only)"));
}

TEST(Latency, WithoutAPlateauACachesLatencyIsARangeWithItsReason) {
  using ::testing::Contains;
  using ::testing::ElementsAre;
  const std::vector<Measured> rising{
      {4, "L3", 20}, {16, "L3", 40}, {64, "L3", 70}, {256, "L3", 105}, {1024, "memory", 110}};
  EXPECT_THAT(told_of(ladder_of(rising)),
              Contains("cache_latency_highest 1.05e-07: L3 20.0 to {}, no plateau: shared by 16 "
                       "CPUs"));
  EXPECT_THAT(told_of(ladder_of(rising)), Contains("cache_latency_lowest 2e-08: "));
  RunReport guest = ladder_of(rising);
  guest.machines[0].hypervisor = "KVM";
  EXPECT_THAT(told_of(guest), Contains("cache_latency_highest 1.05e-07: L3 20.0 to {}, no plateau: "
                                       "a virtual machine may have a part of it"));
  EXPECT_THAT(told_of(ladder_of({{256, "L3", 164}, {1024, "memory", 170}})),
              Contains("cache_latency_highest 1.64e-07: L3 {}, no plateau: about as slow as what "
                       "lies beyond it"));
  EXPECT_THAT(
      told_of(ladder_of({{4, "L3", 17},
                         {16, "L3", 164},
                         {64, "L3", 166},
                         {256, "L3", 170},
                         {1024, "memory", 400}})),
      Contains("cache_latency_highest 1.7e-07: L3 17.0 to {}, no plateau: shared by 16 CPUs"))
      << "what follows the part that it has is not its own";
  EXPECT_THAT(told_of(ladder_of({{4, "L3", 20}, {8, "L3", 21}})),
              ElementsAre("cache_latency 2e-08: L3 {} (4 MiB, thp pages)"))
      << "nothing else says the pages";
}

TEST(Latency, UnlikeMemoriesAreToldApart) {
  RunReport report = ladder_of({{1024, "memory", 97}});
  report.machines[0].nodes.resize(2);
  report.machines[0].nodes[0].id = NodeId{0};
  report.machines[0].nodes[0].cpus = {CpuId{0}, CpuId{1}};
  report.machines[0].nodes[1].id = NodeId{2};
  report.machines[0].nodes[1].kind = "cxl";
  report.workers.push_back(report.workers[0]);
  Case& one = report.cases[0];
  one.flows.push_back(case_of(1, 137, "memory").flows.front());
  one.flows[1].worker = 1;
  one.flows[0].residency.pages_by_node = {{0, 100}};
  one.flows[1].residency.pages_by_node = {{2, 100}};
  EXPECT_THAT(told_of(report),
              ::testing::ElementsAre("memory_latency 9.7e-08: local: memory {} (1 GiB, thp pages)",
                                     "memory_latency 1.37e-07: CXL: memory {} (1 GiB, thp pages)"));
  EXPECT_EQ(where_of(latency_facts(report)[1], "place"), "CXL");
}

TEST(LatencyPlan, WithoutOptionsItIsALadder) {
  const auto names = [](const Words& words) {
    const auto planned = testing::sure_plan(
        "latency", words,
        "numa:1(memory=34359738368) l3:1(size=33554432) l2:2(size=1048576) l1d:1(size=49152) pu:1");
    std::vector<std::string> sizes;
    for (const PlannedCase& one : planned) sizes.push_back(compact_text(one.head.size));
    return sizes;
  };
  using ::testing::ElementsAre;
  EXPECT_THAT(names({}),
              ElementsAre("4KiB", "24KiB", "128KiB", "512KiB", "2MiB", "4MiB", "16MiB", "256MiB"));
  EXPECT_THAT(names({"--cpus", "0,1"}), ElementsAre("256MiB")) << "several workers";
  EXPECT_THAT(names({"--chains", "2"}), ElementsAre("256MiB"));
  EXPECT_THAT(names({"--tail"}), ElementsAre("256MiB"));
  EXPECT_THAT(names({"--stride", "8192"}),
              ElementsAre("24KiB", "128KiB", "512KiB", "2MiB", "4MiB", "16MiB", "256MiB"))
      << "no size of one node of the chain";
}

/// What a survey says of the cache that a machine does not list, of sizes that are past the others.
std::vector<std::string> unlisted_words(
    const std::vector<std::pair<std::uint64_t, double>>& mib_and_ns) {
  RunReport report = testing::one_worker();
  for (const auto& [size, ns] : mib_and_ns) {
    Case one = point_at(Bytes{64}, ns);
    one.size = Bytes{size * mib};
    report.cases.push_back(one);
  }
  const auto run = parse_run("latency", {});
  run->benchmark.figures.conclude(report);
  std::vector<std::string> words;
  for (const Fact& fact : run->benchmark.shown.facts(report)) {
    if (where_of(fact, "level") == "unlisted cache")
      words.push_back(fmt::format("{} {:g}", fact.key, fact.estimate.value));
  }
  return words;
}

TEST(Latency, ACacheThatIsNotListedShows) {
  EXPECT_THAT(unlisted_words({{16, 40}, {32, 41}, {64, 43}, {128, 85}, {1024, 120}}),
              ::testing::ElementsAre("cache_latency 4.1e-08", "cache_capacity 6.71089e+07"));
  EXPECT_THAT(unlisted_words({{40, 23}, {64, 50}, {128, 75}, {256, 88}, {1024, 97}}),
              ::testing::IsEmpty())
      << "loads from a cache of 32 MiB at 15 ns and from memory at 100";
  EXPECT_THAT(unlisted_words({{64, 95}, {128, 97}, {1024, 100}}), ::testing::IsEmpty());
  EXPECT_THAT(unlisted_words({{1024, 100}}), ::testing::IsEmpty());
}

}  // namespace
}  // namespace numatlas::latency_test
