#include "survey/summary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <sstream>
#include <utility>

#include "base/terminal.h"
#include "benchmarks/parse.h"
#include "machine/source.h"
#include "record/labels.h"
#include "report/view_text.h"

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

Case latency_cell(const char* cpus, const char* memory, double seconds, double width) {
  Case one;
  one.name = "latency";
  one.labels = {{"cpu_node", cpus}, {"memory_node", memory}};
  one.flows = {measured(0, "latency", seconds, width)};
  return one;
}

RunReport matrix_of(std::vector<Case> cases) {
  RunReport report;
  report.command = "matrix";
  report.cases = std::move(cases);
  report.facts = parse_run("matrix", {})->benchmark.shown.facts(report);
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
  Case cached = latency_cell("0", "0", 10e-9, 0.01);
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
  EXPECT_THAT(
      summary_of({one, other}).warnings,
      ElementsAre(HasSubstr("used 1.0 of 2 CPUs; run again when it is quiet (and 1 more)")));
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

int lines_within(const std::string& text, std::size_t columns) {
  std::istringstream lines(text);
  int count = 0;
  for (std::string line; std::getline(lines, line); ++count)
    EXPECT_LE(width_of_text(line), columns) << line;
  return count;
}

TEST(SurveySummary, TextFitsAScreen) {
  const auto machine = read_recorded_machine("numa:8 core:4 pu:2");
  std::vector<Case> cases;
  for (int row = 0; row < 8; ++row) {
    for (int column = 0; column < 8; ++column)
      cases.push_back(latency_cell(std::to_string(row).c_str(), std::to_string(column).c_str(),
                                   (100 + row + column) * 1e-9, 0.01));
  }
  RunReport others;
  for (int heading = 0; heading < 16; ++heading)
    for (int i = 0; i < 4; ++i)
      others.facts.push_back({"key",
                              {},
                              "words",
                              "s",
                              Estimate(1e-9),
                              "Heading " + std::to_string(heading),
                              "of part " + std::to_string(i) + " {} (CPUs 0 and 1, same L3)"});
  SurveyFrame frame;
  frame.skipped = {{"transfer", "no GPU can be used: this machine has none"}};
  frame.doubts = {std::string(50, 'a') + " " + std::string(50, 'b'), "more"};
  frame.files = {"report: survey.json has all results, NAME.txt a benchmark's tables"};
  const std::string text = summary_text(*machine, summary_of({matrix_of(cases), others}), frame);
  EXPECT_LE(lines_within(text, 80), 25) << text;
  EXPECT_THAT(text, HasSubstr("Memory latency  local 100 to 114 ns, remote 101 to 113 ns\n"));
  EXPECT_THAT(text, HasSubstr("Also measured   Heading "));
  EXPECT_THAT(text, HasSubstr("Heading 15\n"));
  EXPECT_THAT(text, HasSubstr("; 1 more\n"));
  EXPECT_THAT(text, HasSubstr("Not measured    transfer\n"));
}

TEST(SurveySummary, WhatIsNotKnownIsSaidToBeWhereNothingElseIs) {
  const auto machine = read_recorded_machine("numa:1 core:1 pu:1");
  RunReport report;
  Estimate vague = 1e-9;
  vague.low = 0;
  vague.high = 3e-9;
  report.facts = {{"a", {}, "words", "s", vague, "Atomics", "one CPU {}"},
                  {"a", {}, "words", "s", vague, "Atomics", "all CPUs {}"},
                  {"c", {}, "words", "s", vague, "Memory latency, one CPU alone", ""},
                  {"b", {}, "words", "s", vague, "TLB", "a reach {}"},
                  {"b", {}, "words", "s", Estimate(2e-9), "TLB", "a miss {}"},
                  {"b", {}, "words", "s", vague, "TLB", "another miss {}"}};
  const std::string text = summary_text(*machine, summary_of({report}), {});
  EXPECT_THAT(text,
              HasSubstr("Atomics         one CPU 0.00 to 3.00 ns; it was measured too seldom, "
                        "or with too\n                much variation\n"));
  EXPECT_THAT(text, HasSubstr("Memory latency  0.00 to 3.00 ns; it was"));
  EXPECT_THAT(text, HasSubstr("TLB             a miss 2.00 ns\n"));
}

TEST(SurveySummary, WhatCannotBeTrustedIsSaidFirstAndStandsInBrackets) {
  const auto machine = read_recorded_machine("numa:1 core:1 pu:1");
  RunReport report;
  report.hosts = {"a"};
  report.cpu_use = {CpuUse{10, 2, 1.0, 1.2, 0.0, ""}};
  report.facts = {{"b", {}, "words", "s", Estimate(2e-9), "TLB", "a miss {}"}};
  const std::string text = summary_text(*machine, summary_of({report}), {});
  EXPECT_THAT(text, StartsWith("UNRELIABLE: other programs used 1.2 of 2 CPUs; run again when"));
  EXPECT_THAT(text, HasSubstr("TLB             (a miss 2.00 ns)\n"));
}

TEST(SurveySummary, NothingMeasuredIsSaid) {
  const auto machine = read_recorded_machine("numa:1 core:1 pu:1");
  SurveyFrame frame;
  frame.stopped = "interrupted";
  const std::string text = summary_text(*machine, {}, frame);
  EXPECT_THAT(text, HasSubstr("No results to summarize."));
  EXPECT_THAT(text, StartsWith("INCOMPLETE: interrupted\n"));
}

TEST(SurveySummary, FactsOfOneHeadingStandInOneLine) {
  RunReport report;
  report.facts = {{"a", {}, "words", "s", Estimate(1e-9), "Idle latency", "L1 {}"},
                  {"b", {}, "words", "1", Estimate(1.5), "Remote", "latency at worst {} that"},
                  {"c", {}, "not shown", "s", Estimate(7e-9)},
                  {"d", {}, "words", "B/s", Estimate(2e9), "Idle latency", "memory {}"}};
  const auto machine = read_recorded_machine("numa:1 core:1 pu:1");
  const std::string text = summary_text(*machine, summary_of({report}), {});
  EXPECT_THAT(text, HasSubstr("Idle latency    L1 1.00 ns; memory 2.00 GB/s\n"));
  EXPECT_THAT(text, HasSubstr("Remote          latency at worst 1.50 times that\n"));
  EXPECT_THAT(text, Not(HasSubstr("7.00")));
}

}  // namespace
}  // namespace numatlas
