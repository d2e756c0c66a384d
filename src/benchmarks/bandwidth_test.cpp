// What the bandwidth benchmark computes over all workers.
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "benchmarks/best_share.h"
#include "benchmarks/parse.h"
#include "benchmarks/test_plan.h"
#include "run/metrics.h"

namespace numatlas {
namespace {

using ::testing::HasSubstr;
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

RunReport report_of(ScenarioResult point) {
  RunReport report;
  report.isa = "AVX9";
  report.hosts = {"host"};
  report.workers.resize(2);
  point.size = Bytes{mib};
  point.pages = "base";
  point.kernel = "copy";
  point.stores = "regular";
  report.scenarios = {std::move(point)};
  report.complete = true;
  return report;
}

TEST(BandwidthTotals, AllBytesOverTheCommonTime) {
  ScenarioResult point;
  // Turn by turn on one CPU: each worker alone seems twice as fast as both are together.
  point.flows = {moved(0, 2.0, {8e9, 0}), moved(1, 2.0, {0, 4e9})};
  const auto totals = sums_of(point, report_of(point));
  ASSERT_EQ(totals.size(), 2u);
  EXPECT_EQ(totals[0].key, "bandwidth_sum");
  EXPECT_DOUBLE_EQ(*totals[0].value(), 6e9);
  EXPECT_DOUBLE_EQ(totals[0].summary->min, 4e9);
  EXPECT_DOUBLE_EQ(totals[0].summary->max, 8e9);
  EXPECT_DOUBLE_EQ(*totals[1].value(), 9e9) << "with the lines that stores fetch";
}

TEST(PeakShare, IsOfTheHighestSumOfMemory) {
  RunReport report = report_of({});
  const auto add = [&](double sum, const char* level) {
    ScenarioResult one;
    one.figures = {{"bandwidth_sum", "B/s", Estimate(sum), std::nullopt}};
    one.flows = {moved(0, 1.0, {sum})};
    one.flows[0].level = level;
    report.scenarios.push_back(one);
  };
  report.scenarios.clear();
  add(10e9, "memory");
  add(90e9, "L2");
  add(40e9, "memory");
  add_best_shares(report);
  EXPECT_DOUBLE_EQ(*find_total(report.scenarios[0], "best_share")->value(), 0.25);
  EXPECT_EQ(find_total(report.scenarios[1], "best_share"), nullptr) << "a cache's is no memory's";
  EXPECT_DOUBLE_EQ(*find_total(report.scenarios[2], "best_share")->value(), 1);
}

TEST(BandwidthTotals, NoSumWhereNothingWasTogether) {
  ScenarioResult point;
  point.flows = {moved(0, 1.0, {1e9}), moved(1, 0.0, {})};
  EXPECT_THAT(sums_of(point, report_of(point)), IsEmpty());
  point.flows = {moved(0, 1.0, {1e9}), moved(1, 1.0, {1e9})};
  RunReport serial = report_of(point);
  serial.serial = true;
  EXPECT_THAT(sums_of(point, serial), IsEmpty());
}

TEST(BandwidthTable, SaysWhatWasCounted) {
  ScenarioResult point;
  point.flows = {moved(0, 1.0, {1e9}), moved(1, 1.0, {2e9})};
  RunReport report = report_of(point);
  report.scenarios[0].figures = sums_of(report.scenarios[0], report);
  const auto run = parse_run("bandwidth", {});
  const std::string text = testing::tables_of(*run->benchmark, report);
  EXPECT_THAT(text, HasSubstr("kernels: AVX9"));
  EXPECT_THAT(text, HasSubstr("copy    regular  1MiB         memory  - -> -  2"));
  EXPECT_THAT(text, HasSubstr("3.00"));
  EXPECT_THAT(text, HasSubstr("4.50")) << "moved, with what the stores read first";
  for (FlowResult& flow : report.scenarios[0].flows) flow.level = "L2";
  report.scenarios[0].figures = sums_of(report.scenarios[0], report);
  EXPECT_THAT(testing::tables_of(*run->benchmark, report), ::testing::Not(HasSubstr("4.50")));
}

}  // namespace
}  // namespace numatlas
