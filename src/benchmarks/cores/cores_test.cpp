#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "benchmarks/cores/cores.h"
#include "benchmarks/test_plan.h"
#include "report/reporter.h"
#include "report/view_text.h"

namespace numatlas::cores_test {
namespace {

using benchmark_cores::spread_cores;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Two nodes, each with two L3 of two cores with two threads: CPUs 0,1 are a core, 0-3 an L3.
constexpr const char* two_by_two = "numa:2(memory=34359738368) l3:2(size=16777216) core:2 pu:2";

Expected<testing::Plan> cores_plan(const testing::Words& words,
                                   const std::string& machine = two_by_two) {
  return testing::plan_on("cores", words, machine);
}

TEST(CoresPlan, AsManyAsTheTimeHasRoomFor) {
  // 0.3 s are ten points: 10 pairs of 5 CPUs; two and two, then what has a pair of one node but not
  // of one cache, and a hardware thread.
  const auto plan = cores_plan(testing::typed("--method cas --time 300ms"));
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->size(), 15u) << "6 CPUs";
  EXPECT_EQ(cores_plan(testing::typed("--method cas --time 300ms --cpus cores"))->size(), 28u)
      << "named ones are all measured";
}

TEST(CoresPlan, ThreadsAreTheFirstCpus) {
  const auto names = [](const testing::Words& words) {
    const auto plan = cores_plan(words);
    std::vector<std::string> found;
    for (const PlannedCase& planned : *plan) found.push_back(planned.head.name);
    return found;
  };
  EXPECT_THAT(names(testing::typed("--method cas --threads 3")),
              ElementsAre("cas CPUs 0,2", "cas CPUs 0,4", "cas CPUs 2,4"));
  EXPECT_THAT(names(testing::typed("--method cas --threads 2 --cpus 9,8,4")),
              ElementsAre("cas CPUs 9,8"));
  EXPECT_EQ(names(testing::typed("--method cas --threads 9")).size(), 36u)
      << "after the cores their other hardware threads";
  const auto one = cores_plan({"--threads", "1"});
  ASSERT_FALSE(one);
  EXPECT_EQ(one.error().kind, ErrorKind::usage);
  EXPECT_THAT(full_text(one.error()), HasSubstr("--threads: one CPU is not a pair"));
}

TEST(CoresPlan, LinesHaveRoomAndBothSidesKnowThem) {
  const auto plan = cores_plan(testing::typed("--cpus 0,8 --method cas --lines 40"));
  ASSERT_TRUE(plan);
  const Scenario& scenario = plan->front().scenario;
  EXPECT_EQ(scenario.flows[0].kernel.as<PingPongParameters>().lines, 40U);
  EXPECT_EQ(scenario.flows[1].kernel.as<PingPongParameters>().lines, 40U);
  EXPECT_EQ(scenario.flows[0].region.bytes, Bytes{3 * 4096}) << "40 lines, 256 bytes apart";
  EXPECT_EQ(label_of(plan->front().head, "lines"), "40");
  EXPECT_EQ(label_of(cores_plan({})->front().head, "lines"), "");
  for (const char* lines : {"0", "4097", "many"}) {
    const auto bad = cores_plan({"--lines", lines});
    ASSERT_FALSE(bad) << lines;
    EXPECT_THAT(full_text(bad.error()), HasSubstr("--lines"));
  }
}

TEST(SpreadCores, EachNearnessAndEachTwoKindsHowEverFew) {
  auto machine = read_recorded_machine(two_by_two);
  ASSERT_TRUE(machine);
  const std::vector<CpuId> cores{CpuId{0}, CpuId{2},  CpuId{4},  CpuId{6},
                                 CpuId{8}, CpuId{10}, CpuId{12}, CpuId{14}};
  // One cache, one node, another node.
  EXPECT_THAT(spread_cores(*machine, cores, 2),
              ElementsAre(CpuId{0}, CpuId{2}, CpuId{4}, CpuId{8}));
  machine->cpu_kinds = {{"performance", "", {}, {CpuId{12}, CpuId{13}, CpuId{14}, CpuId{15}}},
                        {"efficiency", "", {}, machine->all_cpus()}};
  machine->cpu_kinds[1].cpus = machine->all_cpus() - machine->cpu_kinds[0].cpus;
  EXPECT_THAT(spread_cores(*machine, cores, 2),
              ElementsAre(CpuId{0}, CpuId{2}, CpuId{4}, CpuId{8}, CpuId{12}, CpuId{14}));
}

RunReport report_of_pairs(int cpus) {
  RunReport report;
  report.hosts = {"alpha"};
  report.complete = true;
  for (int i = 0; i < cpus; ++i) report.workers.push_back({0, i, 0, {CpuId{i}}, NodeId{0}, ""});
  for (int i = 0; i < cpus; ++i) {
    for (int j = i + 1; j < cpus; ++j) {
      Case one;
      one.kernel = "cas";
      one.labels = {{"first_cpu", std::to_string(i)},
                    {"second_cpu", std::to_string(j)},
                    {"nearness", j == i + 1 ? "same core" : "other node"}};
      FlowResult asks, answers;
      Estimate latency = (i + 10.0 * j) * 1e-9;
      latency.low = latency.value * (1 - 0.001 * j);
      latency.high = latency.value * (1 + 0.001 * j);
      asks.figures = {{"core_to_core", "s", latency, std::nullopt}};
      asks.stop = answers.stop = "converged";
      answers.load = true;
      one.flows = {asks, answers};
      report.cases.push_back(one);
    }
  }
  return report;
}

std::string csv_of(RunReport report) {
  report.views = parse_run("cores", {})->benchmark.shown.views(report);
  return first_table_csv(report);
}

std::string table_of(const RunReport& report) {
  std::string text;
  for (const View& view : parse_run("cores", {})->benchmark.shown.views(report))
    text += view_text(report, view);
  return text;
}

TEST(CoresCsv, IsTheSquareBelowTheDiagonalOrWhole) {
  RunReport report = report_of_pairs(3);
  EXPECT_EQ(csv_of(report), ",,\n10,,\n20,21,\n");
  // Measured the other way round as well, one nanosecond longer.
  const auto once = report.cases;
  for (Case one : once) {
    std::swap(one.labels[0].second, one.labels[1].second);
    one.flows[0].figures[0].estimate = one.flows[0].figures[0].estimate->value + 1e-9;
    report.cases.push_back(one);
  }
  for (Case& one : report.cases) {
    one.labels.emplace_back("directions", "both");
    one.labels.emplace_back("home", "first");
  }
  EXPECT_EQ(csv_of(report), ",10,20\n11,,21\n21,22,\n");
  const std::string text = table_of(report);
  EXPECT_THAT(text, HasSubstr("0     -  10.0 ±0.1 %  20.0 ±0.2 %\n"
                              "1  11.0            -  21.0 ±0.2 %\n"));
  EXPECT_THAT(text, HasSubstr("home of the line: first"));
}

}  // namespace
}  // namespace numatlas::cores_test
