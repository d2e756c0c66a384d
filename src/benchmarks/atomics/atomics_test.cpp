#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <vector>

#include "benchmarks/test_plan.h"
#include "record/labels.h"

namespace numatlas::atomics_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr const char* atomics_machine =
    "numa:2(memory=34359738368) l3:1(size=16777216) core:3 pu:2";

TEST(AtomicsPlan, PowersOfTwoAndAllCores) {
  const auto plan = testing::sure_plan("atomics", {"--operation", "fetch-add", "--sharing", "same"},
                                       atomics_machine);
  EXPECT_THAT(testing::names_of(plan),
              ElementsAre("fetch-add same 1 CPU", "fetch-add same 2 CPUs", "fetch-add same 4 CPUs",
                          "fetch-add same 6 CPUs"));
  ASSERT_EQ(plan.size(), 4U);
  const std::vector<Flow>& flows = plan[2].scenario.flows;
  ASSERT_EQ(flows.size(), 4U);
  for (std::size_t i = 0; i < flows.size(); ++i) {
    EXPECT_EQ(flows[i].shares.has_value(), i > 0);
    EXPECT_EQ(flows[i].kernel.as<CounterParameters>().worker, i);
    EXPECT_EQ(flows[i].kernel.as<CounterParameters>().workers, 4U);
    EXPECT_EQ(flows[i].role, Role::measured);
  }
}

TEST(AtomicsPlan, TakesTheNumbersOfCpusThatAreAskedFor) {
  const auto plan_for = [](const testing::Words& words) {
    testing::Words all{"--operation", "compare-exchange", "--sharing", "own"};
    all.insert(all.end(), words.begin(), words.end());
    return testing::names_of(testing::sure_plan("atomics", all, atomics_machine));
  };
  EXPECT_THAT(plan_for({"--threads", "3"}), ElementsAre("compare-exchange own 3 CPUs"));
  EXPECT_THAT(plan_for({"--threads", "2,5"}),
              ElementsAre("compare-exchange own 2 CPUs", "compare-exchange own 5 CPUs"));
  EXPECT_EQ(plan_for({"--threads", "12"}).size(), 1U) << "hardware threads where cores are too few";
}

TEST(AtomicsPlan, HomesAreNodes) {
  const testing::Words words{"--operation", "fetch-add", "--sharing", "same", "--threads", "2"};
  const auto with = [&](const std::string& home) {
    testing::Words all = words;
    all.insert(all.end(), {"--home", home});
    return testing::plan_on("atomics", all, atomics_machine);
  };
  const auto all = with("all");
  ASSERT_TRUE(all);
  ASSERT_EQ(all->size(), 2U);
  EXPECT_EQ((*all)[1].head.name, "fetch-add same 2 CPUs node 1");
  EXPECT_EQ((*all)[1].scenario.flows[1].region.placement.text(), "bind:1");
  EXPECT_THAT(full_text(with("7").error()), HasSubstr("--home: this machine has no NUMA node 7"));
}

TEST(AtomicsPlan, RefusesWhatWouldMeasureSomethingElse) {
  const auto refused = [](const testing::Words& words) {
    const auto plan = testing::plan_on("atomics", words, atomics_machine);
    return plan ? "" : full_text(plan.error());
  };
  EXPECT_THAT(refused({"--cpus", "0", "--threads", "2"}), HasSubstr("two workers are on CPU 0"));
  EXPECT_THAT(refused({"--home", "0", "--memory", "bind:1"}), HasSubstr("--home and --memory"));
  EXPECT_THAT(refused({"--home", "near"}), HasSubstr("'near' is not first, all or a list"));
}

/// As measured: each CPU takes so many seconds for an addition.
Case atomics_point(Sharing sharing, std::vector<double> seconds, const Benchmark& benchmark) {
  Case one;
  one.kernel = "fetch-add";
  one.labels = {{"sharing", name_of(sharing)},
                {"threads", std::to_string(seconds.size())},
                {"home", "first"}};
  for (std::size_t i = 0; i < seconds.size(); ++i) {
    FlowResult flow;
    flow.worker = static_cast<int>(i);
    flow.stop = "converged";
    Estimate time = seconds[i];
    time.low = seconds[i] * 0.99;
    time.high = seconds[i] * 1.01;
    flow.figures = {{"operation_time", "s", time, summarize(std::vector<double>{seconds[i]})}};
    for (Figure& figure : benchmark.figures.of_flow(flow, one)) flow.figures.push_back(figure);
    one.flows.push_back(flow);
  }
  one.figures = benchmark.figures.totals(one, {});
  return one;
}

TEST(AtomicsFacts, SayWhatContentionAndFalseSharingCost) {
  const auto run = parse_run("atomics", {"--dry-run"});
  ASSERT_TRUE(run);
  const Benchmark& benchmark = run->benchmark;
  RunReport report;
  report.hosts = {"alpha"};
  report.complete = true;
  report.workers = {{0, 0, 0, {CpuId{0}}, NodeId{0}, ""}, {0, 1, 0, {CpuId{1}}, NodeId{0}, ""}};
  report.cases = {atomics_point(Sharing::same, {5e-9}, benchmark),
                  atomics_point(Sharing::same, {100e-9, 50e-9}, benchmark),
                  atomics_point(Sharing::neighbours, {40e-9, 40e-9}, benchmark),
                  atomics_point(Sharing::own, {5e-9, 5e-9}, benchmark)};
  const auto facts = benchmark.shown.facts(report);
  ASSERT_EQ(facts.size(), 3U);
  EXPECT_EQ(facts[0].key, "atomic_add_alone");
  EXPECT_DOUBLE_EQ(facts[0].estimate.value, 5e-9);
  EXPECT_EQ(facts[1].key, "atomic_add_contended");
  EXPECT_NEAR(facts[1].estimate.value, 30e6, 1) << "both CPUs' rates";
  EXPECT_NEAR(*facts[1].estimate.high, 30e6 * 1.01, 1e4);
  EXPECT_EQ(facts[2].key, "false_sharing_times");
  EXPECT_NEAR(facts[2].estimate.value, 8, 1e-9);
  const std::string text = testing::tables_of(benchmark, report);
  EXPECT_THAT(
      text,
      HasSubstr(
          "Atomic operations by fetch-add: millions per second (node of the counters: first)"));
  EXPECT_THAT(text, HasSubstr("30.00"));
}

}  // namespace
}  // namespace numatlas::atomics_test
