#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "benchmarks/test_plan.h"
#include "record/labels.h"

namespace numatlas::faults_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr const char* faults_machine = "numa:2(memory=34359738368) l3:1(size=16777216) core:2 pu:1";

std::vector<std::string> fault_names(const testing::Words& words) {
  return testing::names_and_skips_of(testing::sure_plan("faults", words, faults_machine));
}

TEST(FaultsPlan, KindsOfPagesCallsAndThreads) {
  EXPECT_THAT(fault_names({"--pages", "base,thp", "--how", "touch,madvise", "--threads", "1,4"}),
              ElementsAre("touch base 1 thread", "touch base 4 threads", "madvise base 1 thread",
                          "madvise base 4 threads", "touch thp 1 thread", "touch thp 4 threads",
                          "madvise thp 1 thread", "madvise thp 4 threads"));
  EXPECT_EQ(fault_names({"--how", "touch"}).size(), 3U) << "1, 2 and 4 of four cores";
}

TEST(FaultsPlan, NodesInTurn) {
  const auto plan = testing::sure_plan(
      "faults", {"--how", "touch", "--threads", "2", "--nodes", "all"}, faults_machine);
  ASSERT_EQ(plan.size(), 2U);
  EXPECT_EQ(plan[1].head.name, "touch base 2 threads node 1");
  for (const Flow& flow : plan[1].scenario.flows) {
    EXPECT_EQ(flow.region.placement.text(), "bind:1");
    EXPECT_FALSE(flow.shares) << "each has memory of its own";
  }
  const auto missing = testing::plan_on("faults", {"--nodes", "0,5"}, faults_machine);
  ASSERT_FALSE(missing);
  EXPECT_THAT(full_text(missing.error()), HasSubstr("--nodes: this machine has no NUMA node 5"));
  const auto both =
      testing::plan_on("faults", {"--nodes", "0", "--memory", "bind:1"}, faults_machine);
  ASSERT_FALSE(both);
  EXPECT_THAT(full_text(both.error()), HasSubstr("--nodes and --memory"));
}

TEST(FaultsPlan, SizesAreWholeSteps) {
  const auto size_of = [](const testing::Words& more) {
    testing::Words words{"--how", "touch", "--threads", "1"};
    words.insert(words.end(), more.begin(), more.end());
    return testing::sure_plan("faults", words, faults_machine).front().head.size;
  };
  EXPECT_EQ(size_of({}), Bytes{64 * mib});
  EXPECT_EQ(size_of({"--size", "5MiB"}), Bytes{4 * mib});
  EXPECT_EQ(size_of({"--pages", "1G"}), Bytes{gib}) << "a page at least";
  const auto small = testing::plan_on("faults", {"--size", "1MiB"}, faults_machine);
  ASSERT_FALSE(small);
  EXPECT_THAT(full_text(small.error()), HasSubstr("--size: 1 MiB are less than a step of 2 MiB"));
}

TEST(FaultsPlan, RefusesWhatWouldMeasureSomethingElse) {
  const auto refused = [](const testing::Words& words) {
    const auto plan = testing::plan_on("faults", words, faults_machine);
    return plan ? "" : full_text(plan.error());
  };
  EXPECT_THAT(refused({"--serial"}), HasSubstr("--serial: faults measures its threads together"));
  EXPECT_THAT(refused({"--cpus", "0", "--threads", "2"}), HasSubstr("two workers are on CPU 0"));
}

/// As measured: each thread takes so many seconds for a page.
Case faults_of(const Benchmark& benchmark, std::vector<double> seconds) {
  Case one;
  one.kernel = "fault";
  one.pages = "base";
  one.labels = {{"how", "touch"},
                {"node", "local"},
                {"threads", std::to_string(seconds.size())},
                {"page", "4KiB"}};
  for (std::size_t i = 0; i < seconds.size(); ++i) {
    FlowResult flow;
    flow.worker = static_cast<int>(i);
    flow.stop = "converged";
    flow.figures = {{"fault_time", "s", seconds[i], summarize(std::vector<double>{seconds[i]})},
                    {"faults_per_page", "cost", 0.5, std::nullopt}};
    for (Figure& figure : benchmark.figures.of_flow(flow, one)) flow.figures.push_back(figure);
    one.flows.push_back(flow);
  }
  one.figures = benchmark.figures.totals(one, {});
  return one;
}

TEST(FaultsFacts, RatesAreSumsAndWhatThreadsGain) {
  const auto run = parse_run("faults", {"--dry-run"});
  ASSERT_TRUE(run);
  const Benchmark& benchmark = run->benchmark;
  RunReport report;
  report.hosts = {"alpha"};
  report.complete = true;
  report.workers = {{0, 0, 0, {CpuId{0}}, NodeId{0}, ""}, {0, 1, 0, {CpuId{1}}, NodeId{0}, ""}};
  report.cases = {faults_of(benchmark, {1e-6}), faults_of(benchmark, {2e-6, 1e-6})};
  EXPECT_NEAR(estimate_of(report.cases[1], "touch_rate_sum")->value, 1.5 * 4096e6, 1);
  EXPECT_NEAR(estimate_of(report.cases[1], "faults_sum")->value, 0.75e6, 1e-3);
  const auto facts = benchmark.shown.facts(report);
  ASSERT_EQ(facts.size(), 2U);
  EXPECT_EQ(facts[0].key, "first_touch_rate");
  EXPECT_NEAR(facts[0].estimate.value, 4096e6, 1);
  EXPECT_EQ(facts[1].key, "first_touch_threads_times");
  EXPECT_NEAR(facts[1].estimate.value, 1.5, 1e-9);
  EXPECT_THAT(testing::tables_of(benchmark, report), HasSubstr("0.500"));
}

}  // namespace
}  // namespace numatlas::faults_test
