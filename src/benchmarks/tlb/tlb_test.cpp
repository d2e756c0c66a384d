#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "benchmarks/test_plan.h"
#include "benchmarks/tlb/tlb.h"
#include "record/labels.h"

namespace numatlas::tlb_test {
namespace {

using benchmark_tlb::tlb_levels;
using benchmark_tlb::TlbLevel;
using benchmark_tlb::TlbPoint;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr const char* tlb_machine = "numa:1(memory=34359738368) l3:1(size=16777216) core:2 pu:1";

std::vector<TlbPoint> tlb_points(const std::vector<std::pair<int, double>>& costs_ns) {
  std::vector<TlbPoint> points;
  for (const auto& [pages, ns] : costs_ns) points.push_back({pages, ns * 1e-9});
  return points;
}

/// Where the levels end, in pages.
std::vector<int> level_ends(const std::vector<TlbPoint>& points) {
  std::vector<int> ends;
  for (const TlbLevel& level : tlb_levels(points)) ends.push_back(points[level.last].pages);
  return ends;
}

TEST(TlbLevels, TwoLevelsAndAWalkWhoseCostGrows) {
  // 64 and 2048 entries, 7 cycles, then walks that miss one cache after the other; some noise.
  const auto points =
      tlb_points({{8, 0.0},   {12, 0.1},  {16, -0.1},  {24, 0.0},   {32, 0.1},   {48, 0.05},
                  {64, 0.2},  {96, 2.1},  {128, 2.4},  {192, 2.3},  {256, 2.5},  {384, 2.4},
                  {512, 2.6}, {768, 2.4}, {1024, 2.5}, {1536, 2.8}, {2048, 3.1}, {3072, 9.0},
                  {4096, 11}, {6144, 13}, {8192, 16},  {12288, 19}, {16384, 22}});
  EXPECT_THAT(level_ends(points), ElementsAre(64, 2048));
  const auto levels = tlb_levels(points);
  EXPECT_NEAR(points[levels[0].typical].cost, 2.45e-9, 0.1e-9);
  EXPECT_NEAR(points[levels[1].typical].cost, 16e-9, 3.1e-9);
}

TEST(TlbLevels, OneLevelWhereOnlyOneStepShows) {
  EXPECT_THAT(level_ends(tlb_points({{2, 0}, {3, 0.2}, {4, 0.1}, {6, 25}, {8, 26}, {12, 25}})),
              ElementsAre(4));
}

TEST(TlbLevels, WhatMissesTheFirstLevelFromTheStartEndsTheSecond) {
  const auto points = tlb_points({{8, 1.9}, {12, 1.8}, {16, 1.9}, {24, 2.0}, {32, 48}, {48, 49}});
  const auto levels = tlb_levels(points);
  ASSERT_EQ(levels.size(), 1u);
  EXPECT_EQ(levels[0].number, 2);
  EXPECT_EQ(points[levels[0].last].pages, 24);
  EXPECT_EQ(tlb_levels(tlb_points({{8, 0.5}, {12, 0.6}, {16, 0.4}, {24, 25}, {32, 26}, {48, 25}}))
                .at(0)
                .number,
            1);
}

TEST(TlbLevels, AFirstRunThatBeginsWithoutCostsEndsTheFirstLevel) {
  // Measured on a busy virtual machine with an EPYC: one step at 64 pages, then the slope of nested
  // page walks, and an outlier at 512.
  const auto points = tlb_points(
      {{8, -0.01},    {12, 0.01},    {16, -0.03},   {24, 0.01},      {32, -0.06},    {48, -0.09},
       {64, -0.13},   {96, 2.10},    {128, 2.19},   {192, 2.17},     {256, 2.16},    {384, 2.08},
       {512, 0.68},   {768, 2.59},   {1024, 2.36},  {1536, 3.95},    {2048, 7.17},   {3072, 18.12},
       {4096, 23.04}, {6144, 26.55}, {8192, 65.57}, {12288, 185.86}, {16384, 177.45}});
  const auto levels = tlb_levels(points);
  ASSERT_EQ(levels.size(), 2u);
  EXPECT_EQ(levels[0].number, 1);
  EXPECT_EQ(points[levels[0].last].pages, 64);
  EXPECT_NEAR(points[levels[0].typical].cost, 2.2e-9, 0.1e-9);
  EXPECT_EQ(points[levels[1].last].pages, 2048);
}

TEST(TlbLevels, NoiseAndTooFewPointsAreNoLevels) {
  EXPECT_THAT(level_ends(tlb_points({{8, 0.1}, {16, 0.4}, {32, -0.2}, {64, 0.3}, {128, 0.5}})),
              ElementsAre());
  EXPECT_THAT(level_ends(tlb_points({{8, 0}, {16, 30}, {32, 30}})), ElementsAre());
  EXPECT_THAT(level_ends({}), ElementsAre());
  // One outlier is no level.
  EXPECT_THAT(level_ends(tlb_points({{8, 0}, {16, 0}, {32, 0}, {64, 0}, {128, 0}, {256, 9}})),
              ElementsAre());
}

TEST(TlbPlan, DefaultsEndWhereMemoryEnds) {
  const auto last = [](const char* machine) {
    int most = 0;
    for (const auto& planned : testing::sure_plan("tlb", {"--pages", "thp"}, machine)) {
      if (!label_of(planned.head, "page_kind").empty() && !planned.skip)
        most = std::max(most, std::stoi(label_of(planned.head, "page_count")));
    }
    return most;
  };
  EXPECT_EQ(last(tlb_machine), 3072);
  EXPECT_LE(last("numa:1(memory=1073741824) core:1 pu:1"), 256) << "half of 1 GiB";
}

TEST(TlbPlan, PagesAreThoseOfTheMachine) {
  // As a 64-bit Arm kernel with base pages of 64 KiB has them.
  Machine machine = read_recorded_machine("numa:1(memory=1099511627776) core:1 pu:1").value();
  machine.page_size = Bytes{64 * kib};
  for (const auto& planned :
       testing::sure_plan("tlb", testing::typed("--pages base,thp --page-counts 8,16"), machine)) {
    const std::string kind = label_of(planned.head, "page_kind");
    if (kind.empty()) continue;
    const Bytes page{kind == "base" ? 64 * kib : 512 * mib};
    EXPECT_EQ(planned.head.stride, Bytes{page.value + 64}) << planned.head.name;
    if (label_of(planned.head, "page_count") != "16") continue;
    EXPECT_EQ(label_of(planned.head, "reach"), kind == "base" ? "1MiB" : "8GiB");
  }
}

TEST(TlbPlan, PackedLinesLieInBasePagesWhereAHugeOneHasNoRoom) {
  const auto packed_pages = [](Bytes base_page) {
    Machine machine = read_recorded_machine("numa:1(memory=536870912) core:1 pu:1").value();
    machine.page_size = base_page;
    return testing::sure_plan("tlb", testing::typed("--pages base --page-counts 8"), machine)
        .back()
        .head.pages;
  };
  EXPECT_EQ(packed_pages(Bytes{4 * kib}), "thp");
  EXPECT_EQ(packed_pages(Bytes{64 * kib}), "base");
}

TEST(TlbPlan, APageSizeThatIsNotThereIsOneSkipWithItsReason) {
  const auto plan = testing::sure_plan("tlb", {"--pages", "base,1G"}, tlb_machine);
  int skipped = 0;
  for (const auto& planned : plan) {
    if (!planned.skip) continue;
    ++skipped;
    EXPECT_EQ(planned.head.name, "1G pages");
    EXPECT_EQ(planned.scenario.name, planned.head.name);
    EXPECT_THAT(full_text(*planned.skip), HasSubstr("1"));
  }
  EXPECT_EQ(skipped, 1);
}

Case tlb_case(const std::string& kind, int pages, double ns) {
  Case one;
  one.pages = kind.empty() ? "thp" : kind;
  one.stride = Bytes{kind.empty() ? 64U : 4160U};
  one.labels = {{"page_count", std::to_string(pages)},
                {"lines", kind.empty() ? "packed" : "one per page"}};
  if (!kind.empty()) {
    one.labels.emplace_back("page_kind", kind);
    one.labels.emplace_back("reach", "some");
  }
  FlowResult flow;
  flow.kernel = "chase";
  flow.level = "L1";
  flow.figures = {{"latency", "s", Estimate(ns * 1e-9), std::nullopt}};
  one.flows = {flow};
  return one;
}

/// A miss costs 3 ns from 96 pages on.
RunReport step_at_64_pages() {
  RunReport report = testing::one_worker();
  for (const int pages : {16, 32, 64, 96, 128, 192}) {
    report.cases.push_back(tlb_case("base", pages, pages <= 64 ? 1.5 : 4.5));
    report.cases.push_back(tlb_case("", pages, 1.5));
  }
  return report;
}

TEST(TlbReport, ACostThatMayBeFarLessThanNothingIsNoPoint) {
  RunReport report = step_at_64_pages();
  // The last two: packed lines that something else held up.
  Estimate& disturbed = *report.cases.back().flows[0].figures[0].estimate;
  disturbed = Estimate(90e-9);
  disturbed.low = 10e-9;
  disturbed.high = 170e-9;
  disturbed.method = Method::visits;
  const auto run = parse_run("tlb", {});
  run->benchmark.figures.conclude(report);
  const auto facts = run->benchmark.shown.facts(report);
  ASSERT_EQ(facts.size(), 2U);
  EXPECT_DOUBLE_EQ(facts[0].estimate.value, 64 * 4096);
}

}  // namespace
}  // namespace numatlas::tlb_test
