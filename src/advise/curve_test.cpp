#include "advise/curve.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "advise/advice.h"
#include "advise/test_machine.h"
#include "base/test_data.h"
#include "machine/source.h"

namespace numatlas {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

Machine machine_with_cxl() {
  return *read_recorded_machine(test_data() + "/topologies/cxl-tiers.json");
}

Curve curve_on(const Machine& machine) {
  Curve curve = *plan_curve(machine, nullptr);
  curve.peak = 40e9;
  return curve;
}

TEST(Curve, LeavesTheProgramCpusOfItsNode) {
  const Curve curve = curve_on(machine_with_cxl());
  EXPECT_EQ(curve.near, NodeId{0});
  EXPECT_EQ(curve.far, NodeId{2});
  EXPECT_EQ(curve.far_text, "node 2 (CXL)");
  EXPECT_EQ(to_list(curve.load.cpus()), "1,3,5,7,9,11,13,15");
  EXPECT_TRUE((curve.program_cpus & curve.load.cpus()).empty());
  EXPECT_TRUE(curve.program_cpus.contains(CpuId{0}));
  EXPECT_FALSE(curve.program_cpus.contains(CpuId{16})) << "another node's";
}

TEST(Curve, HasLoadsAndPartsOfPages) {
  const Machine machine = machine_with_cxl();
  const Curve curve = curve_on(machine);
  const auto without_weights = [](const MemoryPlacement&) { return std::string("no weights"); };
  std::vector<std::string> tried, left;
  for (const Candidate& one : curve_candidates(curve, machine, {}, without_weights))
    (one.not_tried.empty() ? tried : left)
        .push_back(one.name + (one.layout.memory ? ": " + one.layout.memory->text() : ""));
  EXPECT_THAT(tried, testing::ElementsAre("idle", "load 25%", "load 50%", "load 75%", "load 95%",
                                          "50% on node 2 (CXL): interleave:0,2",
                                          "100% on node 2 (CXL): bind:2"));
  EXPECT_THAT(left, testing::ElementsAre("25% on node 2 (CXL): weighted:0=3,2=1",
                                         "75% on node 2 (CXL): weighted:0=1,2=3"));
  ProgramTraits large;
  large.memory = Bytes{1ULL << 50U};
  EXPECT_EQ(curve_candidates(curve, machine, large, {}).back().not_tried,
            "there is no room for so many of its pages");
}

/// Runs the race of a curve whose points take so many times as long as the program alone.
Advice simulated(const std::vector<double>& truth, std::uint64_t seed,
                 const Disturbance& disturbance = {}) {
  Advice advice;
  advice.program = {"./prog"};
  advice.machine = machine_with_cxl();
  advice.curve = curve_on(advice.machine);
  advice.candidates = curve_candidates(*advice.curve, advice.machine, {}, {});
  advice.tried = advice.candidates.size();
  advice.curve->windows.resize(advice.tried);
  advice.curve->observed.resize(advice.tried);
  for (std::size_t i = 0; i < advice.tried; ++i) {
    advice.curve->windows[i].seconds = 1;
    advice.curve->windows[i].bytes = advice.candidates[i].curve->load * advice.curve->peak;
  }
  RaceRule rule;
  rule.most_finalists = advice.tried;
  rule.least_rounds = rule.most_rounds = 0;
  rule.most_final = 20;
  SimulatedMachine runs(truth, seed, disturbance);
  advice.race = Race(advice.tried, rule, seed).run({[&](std::size_t i) { return runs.run(i); }});
  advice.race.best = std::nullopt;
  return advice;
}

// Idle; loads of 25, 50, 75 and 95 %; 25, 50, 75 and 100 % of the pages.
const std::vector<double> known{1, 1.01, 1.02, 1.10, 1.40, 1.10, 1.25, 1.45, 1.80};

TEST(Curve, FindsTheSlowdownsOfTheSimulatedMachine) {
  int all = 0, within = 0, curves_within = 0;
  constexpr int runs = 100;
  for (int seed = 1; seed <= runs; ++seed) {
    const Advice advice = simulated(known, static_cast<std::uint64_t>(seed));
    int of_this = 0;
    for (std::size_t i = 1; i < known.size(); ++i) {
      const auto& log = advice.race.lanes[i].against_reference;
      ASSERT_TRUE(log && log->low);
      ++all;
      of_this += *log->low <= std::log(known[i]) && std::log(known[i]) <= *log->high ? 1 : 0;
    }
    within += of_this;
    curves_within += of_this + 1 == static_cast<int>(known.size()) ? 1 : 0;
  }
  EXPECT_GE(within, all * 19 / 20);
  EXPECT_GE(curves_within, runs * 9 / 10) << "they hold together";
}

TEST(Curve, SaysWhatIsProved) {
  const Advice advice = simulated(known, 3, {0, 0.001});
  EXPECT_THAT(
      answer_of(advice),
      testing::MatchesRegex("at most [2-4]\\.[0-9] % slower up to a load of 50 %, "
                            "[34][0-9]\\.[0-9] % \\([0-9.]+ to [0-9.]+ %\\) slower under a load "
                            "of 95 %; [78][0-9]\\.[0-9] % \\([0-9.]+ to [0-9.]+ %\\) "
                            "slower with all of its pages on node 2 \\(CXL\\)"));
  const std::string text = advice_text(advice);
  EXPECT_THAT(text, HasSubstr("Under a load on the memory of node 0"));
  EXPECT_THAT(text, HasSubstr("With a part of its pages on node 2 (CXL)"));
  const RunReport report = report_of(advice);
  EXPECT_EQ(report.facts.back().key, "slowdown_of_pages");
}

TEST(Curve, SaysThatNothingSlowsIt) {
  const Advice advice = simulated(std::vector<double>(9, 1.0), 5, {0, 0.001});
  EXPECT_THAT(answer_of(advice), StartsWith("at most "));
  EXPECT_THAT(answer_of(advice), HasSubstr("slower up to a load of 95 %; at most "));
  EXPECT_THAT(answer_of(advice), HasSubstr("slower with up to all of its pages on node 2 (CXL)"));
}

TEST(Curve, SaysHowMuchWasLeftForTheLoad) {
  Advice advice = simulated(known, 3, {0, 0.001});
  LoadWindow& window = advice.curve->windows[4];
  window.bytes = 0.6 * advice.curve->peak;
  EXPECT_THAT(answer_of(advice),
              HasSubstr("under a load of 60 % (37 % short: its 8 CPUs run without a pause: the "
                        "memory is full, or they can do no more)"));
  window.taken = 4;
  EXPECT_THAT(answer_of(advice), HasSubstr("under a load of 60 % (37 % short: its CPUs were taken "
                                           "away for 4.00 of 8.00 s)"));
}

TEST(Curve, SaysThatItIsFaster) {
  std::vector<double> truth(9, 0.88);
  truth[0] = 1;
  const std::string all_faster = answer_of(simulated(truth, 5, {0, 0.001}));
  EXPECT_THAT(all_faster,
              testing::MatchesRegex("at least [0-9.]+ % faster up to a load of 95 %; at least "
                                    "[0-9.]+ % faster with up to all of its pages on .*"));
  truth[1] = 1.2;
  EXPECT_THAT(answer_of(simulated(truth, 5, {0, 0.001})),
              testing::MatchesRegex("1[0-9]\\.[0-9] % \\([0-9.]+ to [0-9.]+ %\\) faster under a "
                                    "load of 95 %; .*"));
}

TEST(Curve, EndsWhereAPointFailed) {
  Advice advice = simulated(std::vector<double>(9, 1.0), 5, {0, 0.001});
  advice.race.lanes[2].failure = "ended with code 1";
  EXPECT_THAT(answer_of(advice), HasSubstr("slower up to a load of 25 %, "));
  EXPECT_THAT(answer_of(advice), HasSubstr("slower under a load of 95 %; "));
  for (std::size_t i = 1; i < advice.tried; ++i) advice.race.lanes[i].failure = "failed";
  EXPECT_EQ(answer_of(advice), "no answer: each run beside the idle ones failed");
}

TEST(Curve, APointThatFailedHasNoInterval) {
  Advice advice = simulated(known, 3, {0, 0.001});
  const auto has_slowdown = [&](std::size_t i) {
    return find_total(report_of(advice).cases[i], "slowdown") != nullptr;
  };
  EXPECT_TRUE(has_slowdown(2));
  advice.race.lanes[2].failure = "ended with exit code 1";
  EXPECT_FALSE(has_slowdown(2));
  advice.race.lanes[3].against_reference->n = 2;
  EXPECT_FALSE(has_slowdown(3));
}

TEST(Curve, ToldOfAProgramThatTakesTheLoadsCpus) {
  const Curve curve = curve_on(machine_with_cxl());
  Look look;
  EXPECT_FALSE(own_cpus_warning(curve, look));
  look.own_cpus = CpuSet{CpuId{0}, CpuId{2}};
  EXPECT_FALSE(own_cpus_warning(curve, look));
  look.own_cpus = CpuSet{CpuId{0}, CpuId{1}};
  const auto warning = own_cpus_warning(curve, look);
  ASSERT_TRUE(warning);
  EXPECT_THAT(warning->text,
              StartsWith("the program binds itself to CPUs 0-1, of which the load takes 1: "));
}

TEST(Curve, IsARecordWithItsTrust) {
  const RunReport report = report_of(simulated(known, 3, {0, 0.001}));
  EXPECT_EQ(report.trust, "trusted");
}

TEST(Curve, NeedsRoomForTheLoad) {
  Machine machine = machine_with_cxl();
  for (NumaNode& node : machine.nodes) {
    node.memory_free = Bytes{16 * mib};
    node.memory_cache = Bytes{};
  }
  const auto curve = plan_curve(machine, nullptr);
  ASSERT_FALSE(curve);
  EXPECT_EQ(curve.error().message, "there is no room for the load on node 0");
}

}  // namespace
}  // namespace numatlas
