#include "survey/summary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <sstream>
#include <utility>

#include "benchmarks/matrix/facts.h"
#include "machine/source.h"
#include "record/labels.h"

namespace numatlas {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

FlowResult measured(int worker, const char* metric, double value, std::optional<double> width) {
  FlowResult flow;
  flow.worker = worker;
  flow.kernel = "chase";
  flow.level = "memory";
  Estimate estimate = value;
  if (width) {
    estimate.low = value * (1 - *width);
    estimate.high = value * (1 + *width);
  }
  flow.figures = {{metric, "s", estimate, std::nullopt}};
  return flow;
}

ScenarioResult latency_cell(const char* cpus, const char* memory, double seconds, double width) {
  ScenarioResult point;
  point.name = "latency";
  point.labels = {{"cell_cpu_node", cpus}, {"cell_memory_node", memory}};
  point.flows = {measured(0, "latency", seconds, width)};
  return point;
}

RunReport matrix_of(std::vector<ScenarioResult> points) {
  RunReport report;
  report.command = "matrix";
  report.scenarios = std::move(points);
  report.facts = matrix_facts(report);
  return report;
}

const Fact* fact_named(const SurveySummary& summary, const std::string& key) {
  for (const Fact& fact : summary.facts) {
    if (fact.key == key) return &fact;
  }
  return nullptr;
}

TEST(SurveySummary, WorstRemotePenaltyIsAgainstTheSameCpusOwnNode) {
  const auto summary = summary_of(
      {matrix_of({latency_cell("0", "0", 100e-9, 0.01), latency_cell("0", "1", 150e-9, 0.02),
                  latency_cell("1", "0", 170e-9, 0.01), latency_cell("1", "1", 120e-9, 0.01)})});
  const Fact* worst = fact_named(summary, "remote_latency_times");
  ASSERT_NE(worst, nullptr);
  EXPECT_DOUBLE_EQ(worst->estimate.value, 1.5);
  EXPECT_EQ(where_of(*worst, "cpu_node"), "0");
  EXPECT_EQ(where_of(*worst, "memory_node"), "1");
  EXPECT_LT(*worst->estimate.low, 1.5);
  EXPECT_GE(*worst->estimate.high, 150 * 1.02 / (100 * 0.99) - 1e-9);
}

TEST(SurveySummary, CpusWithoutMemoryAreComparedWithTheirNearest) {
  const auto summary = summary_of(
      {matrix_of({latency_cell("1", "0", 100e-9, 0.01), latency_cell("1", "2", 130e-9, 0.01)})});
  const Fact* worst = fact_named(summary, "remote_latency_times");
  ASSERT_NE(worst, nullptr);
  EXPECT_EQ(where_of(*worst, "compared_with_node"), "0");
}

TEST(SurveySummary, OneNodeHasNoRemoteMemory) {
  const auto summary = summary_of({matrix_of({latency_cell("0", "0", 100e-9, 0.01)})});
  EXPECT_NE(fact_named(summary, "matrix_latency"), nullptr);
  EXPECT_EQ(fact_named(summary, "remote_latency_times"), nullptr);
}

TEST(SurveySummary, FiguresOfACacheAreNoneOfMemory) {
  ScenarioResult cached = latency_cell("0", "0", 10e-9, 0.01);
  cached.flows[0].level = "L3";
  EXPECT_EQ(fact_named(summary_of({matrix_of({cached})}), "matrix_latency"), nullptr);
  cached.flows[0].level = "-";
  EXPECT_NE(fact_named(summary_of({matrix_of({cached})}), "matrix_latency"), nullptr)
      << "caches that are unknown are not held against it";
}

TEST(SurveySummary, ANeighbourIsToldOnceForAllBenchmarks) {
  RunReport one = matrix_of({}), other = matrix_of({});
  one.warnings = {
      {"other-processes", "", cpu_use_warning({{"a", CpuUse{2, 2, 1.0, 1.0, 0.0, ""}}})}};
  other.warnings = {
      {"other-processes", "", cpu_use_warning({{"a", CpuUse{2, 2, 1.0, 0.8, 0.0, ""}}})}};
  EXPECT_THAT(summary_of({one, other}).warnings,
              ElementsAre(HasSubstr("used 1.0 of 2 CPUs (and 1 more)")));
}

TEST(SurveySummary, WarningsOnceAndThoseOfPlacementFirst) {
  RunReport one = matrix_of({}), other = matrix_of({});
  one.warnings = {
      {"setting", "", "governor = powersave: clocks change"},
      {"placement", "read node 0 to 1 base, worker 0", "pages on node 0, where bind:1 was asked"}};
  other.warnings = {{"setting", "", "governor = powersave: clocks change"}};
  EXPECT_THAT(summary_of({one, other}).warnings,
              ElementsAre(StartsWith("matrix read node 0 to 1 base, worker 0: pages on"),
                          HasSubstr("governor")));
}

TEST(SurveySummary, TextFitsAScreen) {
  const auto machine = read_recorded_machine("numa:8 core:4 pu:2");
  std::vector<ScenarioResult> points;
  for (int row = 0; row < 8; ++row) {
    for (int column = 0; column < 8; ++column)
      points.push_back(latency_cell(std::to_string(row).c_str(), std::to_string(column).c_str(),
                                    (100 + row + column) * 1e-9, 0.01));
  }
  SurveyFrame frame;
  frame.skipped = {{"transfer", "no GPU can be used: this machine has none"}};
  frame.notes = {std::string(40, 'a') + " " + std::string(40, 'b') + " " + std::string(40, 'c')};
  const std::string text = summary_text(*machine, summary_of({matrix_of(points)}), frame);
  std::istringstream lines(text);
  int count = 0;
  for (std::string line; std::getline(lines, line); ++count) EXPECT_LE(line.size(), 100U) << line;
  EXPECT_LE(count, 40);
  EXPECT_THAT(text, HasSubstr("CPUs of node 7"));
}

TEST(SurveySummary, LargerMatricesAreToldInWords) {
  const auto machine = read_recorded_machine("numa:16 core:1 pu:1");
  std::vector<ScenarioResult> points;
  for (int column = 0; column < 16; ++column)
    points.push_back(
        latency_cell("0", std::to_string(column).c_str(), (100 + column) * 1e-9, 0.01));
  const std::string text = summary_text(*machine, summary_of({matrix_of(points)}), {});
  EXPECT_THAT(text, HasSubstr("lowest 100 ns +-1.0% (CPUs of node 0 to memory of node"));
  EXPECT_THAT(text, HasSubstr("memory of node 15"));
  EXPECT_THAT(text, Not(HasSubstr("memory 7 ")));
}

TEST(SurveySummary, NothingMeasuredIsSaid) {
  const auto machine = read_recorded_machine("numa:1 core:1 pu:1");
  SurveyFrame frame;
  frame.stopped = "interrupted";
  const std::string text = summary_text(*machine, {}, frame);
  EXPECT_THAT(text, HasSubstr("No results to summarize."));
  EXPECT_THAT(text, HasSubstr("interrupted"));
}

TEST(SurveySummary, FactsOfOneHeadingStandInOneLine) {
  RunReport report;
  report.facts = {{"a", {}, "words", "s", Estimate(1e-9), "Idle latency", "L1 {}"},
                  {"b", {}, "words", "1", Estimate(1.5), "Remote", "latency at worst {} that"},
                  {"c", {}, "not shown", "s", Estimate(7e-9)},
                  {"d", {}, "words", "B/s", Estimate(2e9), "Idle latency", "memory {}"}};
  const auto machine = read_recorded_machine("numa:1 core:1 pu:1");
  const std::string text = summary_text(*machine, summary_of({report}), {});
  EXPECT_THAT(text, HasSubstr("Idle latency  L1 1.00 ns; memory 2.00 GB/s\n"));
  EXPECT_THAT(text, HasSubstr("Remote        latency at worst 1.50 times that\n"));
  EXPECT_THAT(text, Not(HasSubstr("7.00")));
}

}  // namespace
}  // namespace numatlas
