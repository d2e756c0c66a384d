#include "record/headline.h"

#include <cstddef>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "record/test_report.h"

namespace numatlas {
namespace {

using ::testing::ElementsAre;

Fact fact(const char* key, double value, const char* line, double part = 0.01, Unit unit = "s") {
  return {key,
          {},
          "of node 0",
          unit,
          numatlas::testing::with_interval(value, value * (1 - part), value * (1 + part)),
          "Turns",
          line};
}

Headline of(std::vector<Fact> facts, const Machine& machine = {}) {
  RunReport report;
  report.machines = {machine};
  report.facts = std::move(facts);
  const std::vector<Headline> all = headlines_of(std::span(&report, 1), false);
  EXPECT_EQ(all.size(), 1U);
  return all.front();
}

TEST(Headline, TellsTheFactInFrontAndTheOthersBesideIt) {
  Fact first = fact("turn_rate", 3e-9, "to the left {} (1 MiB, huge pages)");
  first.heading = "Turns, all CPUs, 1 MiB";
  first.where = {{"gpu", "1"}, {"level", "L2"}};
  Fact other = fact("other", 4e-9, "a miss {}");
  other.heading = first.heading;
  other.estimate.method = Method::within;
  const Headline one = of({first, other});
  EXPECT_EQ(one.head, "Turns, all CPUs");
  EXPECT_EQ(one.name, "turn rate, gpu 1, level L2");
  EXPECT_EQ(one.text, "3.00 ns");
  EXPECT_EQ(one.spread, "±1.0 %");
  EXPECT_EQ(one.brief, "to the left (1 MiB)");
  EXPECT_EQ(one.beside, "a miss 4.00 ns ±1.0 %*");
  EXPECT_EQ(one.claim, "3.00 ns; of node 0; 95 % interval 2.97 ns to 3.03 ns");
  EXPECT_EQ(one.claim, claim_text(first));
  EXPECT_EQ(claim_text(other),
            "4.00 ns; of node 0; 95 % interval 3.96 ns to 4.04 ns; of too few visits to cover "
            "changes between them");
  EXPECT_FALSE(one.doubted);
}

TEST(Headline, AClaimLeavesOutWhatTheFigureHas) {
  EXPECT_EQ(figure_text(fact("turn", 1e-7, "{}", 0.6)), "100 ns (40.0 to 160)");
  EXPECT_EQ(claim_text(fact("turn", 1e-7, "{}", 0.6)), "100 ns; of node 0");
  EXPECT_EQ(claim_text(fact("turn", 1e-7, "{}", 1)), "0.00 to 200 ns; of node 0");
  EXPECT_EQ(claim_text(fact("share", 2, "{}", 0.1, "1")), "2.00 times; of node 0");
}

TEST(Headline, ItsHeadHasNoSizesAndPages) {
  const auto head = [](const char* heading) {
    Fact one = fact("turn", 1e-7, "{}");
    one.heading = heading;
    return of({one}).head;
  };
  EXPECT_EQ(head("Turns, all CPUs, 1 MiB, thp pages"), "Turns, all CPUs");
  EXPECT_EQ(head("Turns, thp pages"), "Turns");
  EXPECT_EQ(head("Turns, 1 MiB, by hand"), "Turns, by hand");
  EXPECT_EQ(head("Turns"), "Turns");
}

TEST(Headline, SaysInALineWhatItIsOf) {
  const auto brief = [](const char* line) { return of({fact("turn", 1e-7, line)}).brief; };
  EXPECT_EQ(brief("{}"), "");
  EXPECT_EQ(brief("{} at the peak"), "at the peak");
  EXPECT_EQ(brief("{} (copies, 2 CPUs)"), "copies");
  EXPECT_EQ(brief("best {} (triad)"), "best (triad)");
  EXPECT_EQ(brief("node 0: {} idle"), "node 0: 100 ns idle");
}

TEST(Headline, AKneeStandsBesideTheLatencyAtThePeak) {
  const Headline one = of({fact("loaded_latency_idle", 1e-7, "node 0: {} idle"),
                           fact("loaded_latency_peak", 3e-7, "{} at the peak"),
                           fact("loaded_no_knee", 1.36e11, "no knee up to {}", 0, "B/s")});
  EXPECT_EQ(one.text, "300 ns");
  EXPECT_EQ(one.brief, "at the peak; no knee up to 136 GB/s ±<0.1 %");
}

TEST(Headline, CellsHaveTheMiddleOfTheNearestMemoryAndTheEndsOfEachClass) {
  Machine machine;
  machine.nodes.resize(3);
  for (int id = 0; id < 3; ++id) machine.nodes[static_cast<std::size_t>(id)].id = NodeId{id};
  machine.nodes[0].cpus = {CpuId{0}};
  machine.nodes[1].cpus = {CpuId{1}};
  machine.nodes[2].kind = "cxl";
  const auto cell = [](const char* cpus, const char* memory, double value) {
    Fact one = fact("matrix_latency", value, "");
    one.where = {{"cpu_node", cpus}, {"memory_node", memory}};
    return one;
  };
  const Headline one = of({cell("0", "2", 3e-7), cell("0", "1", 2e-7), cell("0", "0", 1.1e-7),
                           cell("1", "1", 1e-7), cell("1", "0", 2.1e-7)},
                          machine);
  EXPECT_EQ(one.text, "100 ns");
  EXPECT_EQ(one.beside, "local 100 to 110 ns, remote 200 to 210 ns, CXL 300 ns ±1.0 %");
  EXPECT_EQ(one.brief, one.beside);
  EXPECT_EQ(of({cell("0", "0", 1e-7)}, machine).beside, "");
}

TEST(Headline, WhatIsUnknownStandsOnlyWhereNothingElseDoes) {
  const Fact vague = fact("a", 3e-9, "{} first", 1), known = fact("b", 4e-9, "{} second");
  const Headline one = of({vague, known});
  EXPECT_EQ(one.key, "b");
  EXPECT_EQ(one.beside, "");
  const Headline only = of({vague});
  EXPECT_EQ(only.text, "0.00 to 6.00 ns");
  EXPECT_EQ(only.spread, "");
  EXPECT_TRUE(only.doubted);
}

TEST(Headline, OfAnUnreliableRunIsDoubted) {
  std::vector<RunReport> reports(2);
  for (RunReport& report : reports) report.facts = {fact("a", 3e-9, "{}")};
  reports[1].facts[0].heading = "Others";
  reports[1].trust = "unreliable";
  const auto doubted = [&](bool all) {
    std::vector<bool> found;
    for (const Headline& one : headlines_of(reports, all)) found.push_back(one.doubted);
    return found;
  };
  EXPECT_THAT(doubted(false), ElementsAre(false, true));
  EXPECT_THAT(doubted(true), ElementsAre(true, true));
}

}  // namespace
}  // namespace numatlas
