// What claims say of too few, too uncertain or foreign figures: neither confirmed nor contradicted.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "audit/claim.h"
#include "audit/test_figures.h"

namespace numatlas {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using enum ClaimOutcome;

/// L3 of 160 MiB, L2 of 2 MiB; the ladder knows one size of each.
Figures short_ladder() {
  Figures figures;
  figures.machine = recorded("cxl-tiers.json");
  figures.size("L2", mib, 4);
  figures.size("L3", 96 * mib, 20);
  figures.size("memory", 1024 * mib, 100);
  for (const auto& [level, ns] : {std::pair("L2", 4.0), std::pair("L3", 20.0)})
    figures.add(
        "latency",
        {"cache_latency", {{"level", level}, {"pages", "base"}}, "", "s", about_value(ns * 1e-9)});
  return figures;
}

Estimate ends_at(double low, std::optional<double> high) {
  Estimate held = low;
  held.low = low;
  held.high = high;
  return held;
}

TEST(CachesClaim, ItTakesTwoSizesUpToTheClaim) {
  Figures figures = short_ladder();
  const ClaimVerdict few = figures.judge(caches_claim, "L3");
  EXPECT_EQ(few.outcome, not_measurable);
  EXPECT_THAT(few.reason, HasSubstr("it holds 1 of the sizes measured, the largest 96 MiB"));
  EXPECT_THAT(few.reason, HasSubstr("--time"));
  EXPECT_EQ(figures.judge(caches_claim, "L1").outcome, not_measurable);
  figures.size("L3", 64 * mib, 20);
  const ClaimVerdict two = figures.judge(caches_claim, "L3");
  EXPECT_EQ(two.outcome, confirmed);
  EXPECT_THAT(two.found, HasSubstr("it holds all 2 sizes measured, up to 96 MiB"));
}

TEST(ThreeAnswers, OtherProgramsContradictNothing) {
  Figures figures = short_ladder();
  figures.add("latency",
              {"cache_capacity", {{"level", "L3"}, {"pages", "base"}}, "", "B", ends_at(mib, mib)});
  std::vector<ClaimVerdict> verdicts{figures.judge(caches_claim, "L3")};
  ASSERT_EQ(verdicts.front().outcome, contradicted);
  ClaimVerdict setting;  // read, not measured
  setting.outcome = contradicted;
  verdicts.push_back(setting);
  CpuUse use{.seconds = 10, .cpus = 2, .own = 1.0, .others = 0.01, .stolen = 0.0, .reason = ""};
  figures.reports.front().cpu_use = {use};
  spare_disturbed(verdicts, figures.reports);
  EXPECT_EQ(verdicts.front().outcome, contradicted) << "an idle machine";
  figures.reports.front().cpu_use.front().others = 1.9;
  spare_disturbed(verdicts, figures.reports);
  EXPECT_EQ(verdicts.front().outcome, not_measurable);
  EXPECT_THAT(verdicts.front().reason, HasSubstr("other programs used 1.9 of 2 CPUs"));
  EXPECT_THAT(verdicts.front().reason, HasSubstr("run again when it is quiet"));
  EXPECT_EQ(verdicts.back().outcome, contradicted);
}

TEST(CachesClaim, TwoSmallSizesConfirmNothing) {
  Figures figures = short_ladder();
  figures.reports.back().cases[1].size = Bytes{32 * mib};
  figures.size("L3", 64 * mib, 20);
  EXPECT_EQ(figures.judge(caches_claim, "L3").outcome, not_measurable);
}

TEST(CachesClaim, NothingBeyondItWasMeasured) {
  Figures figures = short_ladder();
  figures.size("L3", 64 * mib, 20);
  figures.reports.back().cases[2].status = Status::failed;  // memory
  const ClaimVerdict verdict = figures.judge(caches_claim, "L3");
  EXPECT_EQ(verdict.outcome, not_measurable);
  EXPECT_THAT(verdict.reason, HasSubstr("none beyond it"));
}

// A guest that shows 480 MiB and gets 16: only the smallest size says what a hit costs.
TEST(CachesClaim, TheSizesBeginAtTwiceTheCacheBefore) {
  const auto machine = read_recorded_machine(
      "numa:1(memory=64GiB) l3:1(size=480MiB) l2:2(size=2MiB) l1d:1(size=48KiB) core:1 pu:1");
  ASSERT_TRUE(machine) << full_text(machine.error());
  const std::string sizes = "," + caches_claim.words(*machine)[1] + ",";
  EXPECT_THAT(sizes, HasSubstr(",4MiB,"));
  EXPECT_THAT(sizes, HasSubstr(",300MiB,"));
  EXPECT_THAT(sizes, HasSubstr(",960MiB,1920MiB,")) << "just past the last one";
}

// Its misses of the TLB make 1 GiB slower than what lies just past a cache, of which a guest has
// little.
TEST(CachesClaim, ItsLargestSizeIsAsSlowAsWhatLiesJustPastIt) {
  Figures figures = short_ladder();
  figures.size("L3", 64 * mib, 80);
  figures.reports.back().cases[1] = figures.reports.back().cases.back();
  figures.reports.back().cases[1].size = Bytes{96 * mib};
  EXPECT_EQ(figures.judge(caches_claim, "L3").outcome, confirmed);
  figures.size("memory", 320 * mib, 82);
  const ClaimVerdict verdict = figures.judge(caches_claim, "L3");
  EXPECT_EQ(verdict.outcome, not_measurable);
  EXPECT_THAT(verdict.reason, HasSubstr("at 96 MiB it takes 80.0 ns"));
  EXPECT_THAT(verdict.reason, HasSubstr("about as long as 320 MiB, which lies beyond it (82.0 ns"));
}

TEST(CachesClaim, ACacheAsSlowAsWhatLiesBeyondIt) {
  Figures figures = short_ladder();
  figures.reports.back().facts.pop_back();  // no size of L3 has a latency of its own
  EXPECT_THAT(figures.judge(caches_claim, "L3").reason, HasSubstr("no figure of it"));
  figures.size("L3", 64 * mib, 70);
  const ClaimVerdict verdict = figures.judge(caches_claim, "L3");
  EXPECT_EQ(verdict.outcome, not_measurable);
  EXPECT_THAT(verdict.reason, HasSubstr("at 64 MiB, the smallest size measured, it takes 70.0 ns"));
  EXPECT_THAT(verdict.reason, HasSubstr("about as long as 1 GiB, which lies beyond it (100 ns"));
}

TEST(CachesClaim, ACacheThatEndsEarly) {
  Figures figures = short_ladder();
  const std::vector<std::pair<std::string, std::string>> where{{"level", "L3"}, {"pages", "base"}};
  figures.add("latency", {"cache_capacity", where, "", "B", ends_at(16.0 * mib, 32.0 * mib)});
  const ClaimVerdict verdict = figures.judge(caches_claim, "L3");
  EXPECT_EQ(verdict.outcome, contradicted);
  EXPECT_THAT(verdict.found, HasSubstr("16 MiB to 32 MiB"));
  Fact& end = figures.reports.back().facts.back();
  end.estimate = ends_at(16.0 * mib, {});
  EXPECT_EQ(figures.judge(caches_claim, "L3").outcome, not_measurable);
  // Somewhere between half of it and all.
  end.estimate = ends_at(80.0 * mib, 160.0 * mib);
  EXPECT_EQ(figures.judge(caches_claim, "L3").outcome, not_measurable);
}

TEST(ThreeAnswers, AShareAtItsLimit) {
  ClaimVerdict verdict;
  verdict.claimed_value = 0.6;
  const auto outcome = [&](double gb, double width) {
    const Fact fact{"peak", {}, "read", "B/s", about_value(gb * 1e9, width)};
    return judged_share(verdict, fact, 100e9, "").outcome;
  };
  EXPECT_EQ(outcome(65, 0.02), confirmed);
  EXPECT_EQ(outcome(50, 0.02), contradicted);
  EXPECT_EQ(outcome(62, 0.2), not_measurable);
  EXPECT_EQ(outcome(55, 0.2), not_measurable);
}

TEST(ThreeAnswers, CpusThatAreAboutAsNear) {
  Figures figures;
  figures.machine = recorded("cxl-tiers.json");
  const auto outcome = [&](double other, double width) {
    figures.reports.clear();
    figures.cell(0, 2, 255, 0, width);
    figures.cell(1, 2, other, 0, width);
    return figures.judge(hmat_claim, "node 2 access class").outcome;
  };
  EXPECT_EQ(outcome(400, 0.02), confirmed);
  EXPECT_EQ(outcome(255, 0.02), confirmed);
  EXPECT_EQ(outcome(150, 0.02), contradicted);
  EXPECT_EQ(outcome(255, 0.2), not_measurable);
  EXPECT_EQ(outcome(200, 0.2), not_measurable);
}

TEST(ThreeAnswers, TheNearestNodeOfAGpu) {
  Figures figures;
  figures.machine = recorded("two-sockets-four-gpus.json");
  const auto outcome = [&](double other, double width) {
    figures.reports.clear();
    for (const auto& [memory, gb] : {std::pair("bind:0", 25.0), std::pair("bind:1", other)})
      figures.add("transfer", {"gpu_copy_rate",
                               {{"gpu", "0"}, {"memory", memory}, {"direction", "h2d"}},
                               "copies",
                               "B/s",
                               about_value(gb * 1e9, width)});
    return figures.judge(links_claim, "gpu 0 node").outcome;
  };
  EXPECT_EQ(outcome(20, 0.02), confirmed);
  EXPECT_EQ(outcome(50, 0.02), contradicted);
  EXPECT_EQ(outcome(27, 0.2), not_measurable);
}

/// Weights that the kernel has, and better ones, in a report of `numatlas weights`.
TEST(ThreeAnswers, WeightsThatMayBeBetter) {
  Figures figures;
  figures.machine = recorded("cxl-tiers.json");
  figures.machine.settings = {{"interleave_weights", "0=4,1=1", "", ""}};
  const auto outcome = [&](double gb, double width) {
    RunReport report;
    report.command = "weights";
    for (const auto& [weights, rate] : {std::pair("0=4,1=1", 100.0), std::pair("0=2,1=1", gb)}) {
      Case& one = report.cases.emplace_back();
      one.labels = {{"weights", weights}, {"round", "1"}};
      one.figures = {{"bandwidth_sum", "B/s", about_value(rate * 1e9, width), std::nullopt}};
    }
    figures.reports = {report};
    return figures.judge(weights_claim, "kernel").outcome;
  };
  EXPECT_EQ(outcome(104, 0.01), confirmed);
  EXPECT_EQ(outcome(130, 0.01), contradicted);
  EXPECT_EQ(outcome(112, 0.1), not_measurable);
}

}  // namespace
}  // namespace numatlas
