#include <cstddef>
#include <string>
#include <vector>

#include "fleet/summary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text.h"
#include "fleet/test_fleet.h"

namespace numatlas {
namespace {

using ::testing::_;
using testing::add_noise;
using ::testing::ElementsAre;
using testing::even_fleet;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::scale;
using testing::slow_down;

TEST(SlowNodes, EqualHostsAreNotSlow) {
  const SlowReport report = find_slow(even_fleet(46));
  EXPECT_THAT(report.hosts, IsEmpty());
  EXPECT_THAT(report.not_judged, IsEmpty());
  EXPECT_EQ(report.judged, 46u);
}

TEST(SlowNodes, ASlowOneAmongNoiseIsFoundAndToldOf) {
  Fleet fleet = even_fleet(46);
  add_noise(fleet, 0.01, 7);
  scale(fleet.hosts[17].rounds[1], 1 / 0.88);
  scale(fleet.hosts[17].rounds[0], 1 / 0.92);
  const SlowReport report = find_slow(fleet);
  ASSERT_EQ(report.hosts.size(), 1u);
  const SlowHost& slow = report.hosts[0];
  EXPECT_EQ(slow.host, 17u);
  ASSERT_EQ(slow.kernels.size(), 2u);
  EXPECT_EQ(slow.kernels[0].kernel, 1u);
  EXPECT_NEAR(slow.kernels[0].drop, 0.12, 0.01);
  EXPECT_NEAR(slow.kernels[1].drop, 0.08, 0.01);
  EXPECT_EQ(slow.kernels[0].rounds, 9u);
  EXPECT_EQ(slow.kernels[0].slow_rounds, 9u);
  const std::string text = to_text(fleet, slow);
  EXPECT_THAT(text, ::testing::MatchesRegex("cn17: triad 1[0-9] % below the median of 46 nodes, "
                                            "[0-9.]+ MAD, every round; also copy [0-9.]+ %"));
}

TEST(SlowNodes, WordsOfTheIssue) {
  Fleet fleet = even_fleet(46);
  fleet.hosts[17].name = "cn17";
  SlowHost slow{17, 46, {{1, 0, 0, 0.12, 9.3, 9, 9}, {0, 0, 0, 0.11, 8, 9, 9}}};
  EXPECT_EQ(to_text(fleet, slow),
            "cn17: triad 12 % below the median of 46 nodes, 9.3 MAD, every round; also copy 11 %");
  slow.kernels.resize(1);
  slow.kernels[0].slow_rounds = 7;
  slow.verdict = Verdict::confirmed;
  EXPECT_EQ(to_text(fleet, slow),
            "cn17: triad 12 % below the median of 46 nodes, 9.3 MAD, 7 of 9 rounds; confirmed by a "
            "second run");
}

TEST(SlowNodes, FastOnesAreNobodysTrouble) {
  Fleet fleet = even_fleet(20);
  slow_down(fleet.hosts[3], 0.5);
  EXPECT_THAT(find_slow(fleet).hosts, IsEmpty());
}

TEST(SlowNodes, EachConditionIsNeeded) {
  Fleet fleet = even_fleet(20);
  slow_down(fleet.hosts[3], 1 / 0.951);  // 4.9 %, and many deviations
  ASSERT_EQ(find_slow(fleet).hosts.size(), 1u);
  EXPECT_THAT(find_slow(fleet).hosts[0].kernels, IsEmpty());
  EXPECT_EQ(find_slow(fleet, {6, 0.04}).hosts[0].kernels.size(), 2u);
  slow_down(fleet.hosts[3], 0.951 / 0.9);  // 10 %, over a floor of 0.5 %: 20 deviations
  EXPECT_EQ(find_slow(fleet).hosts[0].kernels.size(), 2u);
  EXPECT_THAT(find_slow(fleet, {21, 0.05}).hosts[0].kernels, IsEmpty());
  // Half of its rounds are as good as the others'.
  for (std::size_t round = 1; round < 6; ++round)
    for (auto& rounds : fleet.hosts[3].rounds) rounds[round] = fleet.hosts[2].rounds[0][0];
  EXPECT_THAT(find_slow(fleet).hosts, IsEmpty());
}

TEST(SlowNodes, AllKernelsTogetherShowWhatNoneShowsByItself) {
  Fleet fleet = even_fleet(46);
  add_noise(fleet, 0.005, 7);
  slow_down(fleet.hosts[17], 1 / 0.97);
  const SlowReport report = find_slow(fleet);
  ASSERT_EQ(report.hosts.size(), 1u);
  const SlowHost& slow = report.hosts[0];
  EXPECT_EQ(slow.host, 17u);
  EXPECT_THAT(slow.kernels, IsEmpty());
  EXPECT_NEAR(slow.together->drop, 0.03, 0.005);
  EXPECT_EQ(slow.together->rounds, 9u);
  EXPECT_THAT(to_text(fleet, slow),
              ::testing::MatchesRegex("cn17: all kernels together [0-9.]+ % below the median of 46 "
                                      "nodes, [0-9.]+ MAD, every round"));
  EXPECT_THAT(find_slow(fleet, {6, 0.05, 0.04}).hosts, IsEmpty());
  // A fault of one kernel is that kernel's.
  Fleet other = even_fleet(46);
  add_noise(other, 0.005, 7);
  scale(other.hosts[17].rounds[0], 1.03);
  EXPECT_THAT(find_slow(other).hosts, IsEmpty());
  // Rounds of other times are no rounds together.
  PeerInput apart = peers_in(fleet);
  for (auto& rates : apart.rates)
    for (auto& rate : rates) rate->run = 0;
  EXPECT_THAT(judge_peers(apart, {}).hosts, IsEmpty());
}

TEST(SlowNodes, AFewBadRoundsAreNotAllKernelsTogether) {
  Fleet fleet = even_fleet(46);
  add_noise(fleet, 0.001, 7);
  for (auto& rounds : fleet.hosts[17].rounds)
    for (std::size_t round = 1; round < 5; ++round) rounds[round].node *= 1.04;
  EXPECT_THAT(find_slow(fleet).hosts, IsEmpty());
  for (auto& rounds : fleet.hosts[17].rounds)
    for (std::size_t round = 5; round < 7; ++round) rounds[round].node *= 1.04;
  EXPECT_THAT(find_slow(fleet).hosts, IsEmpty())
      << "the third-best of nine rounds is as the others'";
  for (auto& rounds : fleet.hosts[17].rounds) rounds[7].node *= 1.04;
  EXPECT_EQ(find_slow(fleet).hosts.size(), 1u);
}

TEST(SlowNodes, ARetestConfirmsAllKernelsTogetherOrNot) {
  Fleet fleet = even_fleet(46);
  add_noise(fleet, 0.002, 7);
  slow_down(fleet.hosts[3], 1.03);
  slow_down(fleet.hosts[6], 1.03);
  fleet.retest = Retest{{fleet.hosts[3], fleet.hosts[6], fleet.hosts[0], fleet.hosts[1]}};
  slow_down(fleet.retest->hosts[1], 1 / 1.03);
  const SlowReport report = find_slow(fleet);
  ASSERT_EQ(report.hosts.size(), 2u);
  for (const SlowHost& slow : report.hosts)
    EXPECT_EQ(slow.verdict, slow.host == 3 ? Verdict::confirmed : Verdict::not_confirmed);
}

TEST(SlowNodes, AFleetThatDriftsTogetherHidesNobody) {
  Fleet fleet = even_fleet(20);
  for (FleetHost& host : fleet.hosts)
    for (auto& rounds : host.rounds)
      for (std::size_t round = 0; round < rounds.size(); ++round)
        rounds[round].node *= 1 + 0.05 * static_cast<double>(round);
  EXPECT_THAT(find_slow(fleet).hosts, IsEmpty());
  slow_down(fleet.hosts[9], 1.1);
  const SlowReport report = find_slow(fleet);
  ASSERT_EQ(report.hosts.size(), 1u);
  EXPECT_EQ(report.hosts[0].kernels[0].slow_rounds, 9u);
}

TEST(SlowNodes, UnlikeHostsAreNotCompared) {
  Fleet fleet = even_fleet(10);
  HostKind old = fleet.kinds[0];
  old.cpu_model = "old";
  fleet.kinds.push_back(old);
  for (std::size_t i = 6; i < 10; ++i) {
    fleet.hosts[i].kind = 1;
    slow_down(fleet.hosts[i], 3);
  }
  EXPECT_THAT(find_slow(fleet).hosts, IsEmpty());
  slow_down(fleet.hosts[8], 1.2);
  const SlowReport report = find_slow(fleet);
  ASSERT_EQ(report.hosts.size(), 1u);
  EXPECT_EQ(report.hosts[0].host, 8u);
  EXPECT_EQ(report.hosts[0].peers, 4u);
}

TEST(SlowNodes, TooFewOfAKindAreNotJudgedAndItIsSaid) {
  Fleet fleet = even_fleet(5);
  HostKind other = fleet.kinds[0];
  other.os = "Linux 6.6";
  fleet.kinds.push_back(other);
  fleet.hosts[1].kind = fleet.hosts[4].kind = 1;
  slow_down(fleet.hosts[4], 2);
  fleet.hosts[2].rounds = {{}, {}};
  const SlowReport report = find_slow(fleet);
  EXPECT_THAT(report.hosts, IsEmpty());
  EXPECT_EQ(report.judged, 0u);
  ASSERT_EQ(report.not_judged.size(), 3u);
  EXPECT_EQ(report.unjudged, (std::vector<std::size_t>{0, 1, 2, 3, 4}));
  EXPECT_EQ(report.not_judged[0], "cn02: it has no figure that can be compared");
  EXPECT_THAT(report.not_judged[1], HasSubstr("cn00, cn03: only 2 of this kind (AMD EPYC 7742"));
  EXPECT_THAT(report.not_judged[2], HasSubstr("cn01, cn04: only 2 of this kind"));
  EXPECT_THAT(report.not_judged[2], HasSubstr("at least 3 are required"));
}

TEST(SlowNodes, FewRoundsAreJudgedByTheirRangeAndMarked) {
  Fleet fleet = even_fleet(10, 5);
  slow_down(fleet.hosts[2], 1.25);
  SlowReport report = find_slow(fleet);
  ASSERT_EQ(report.hosts.size(), 1u);
  EXPECT_EQ(report.hosts[0].kernels[0].evidence, Evidence::range);
  EXPECT_THAT(to_text(fleet, report.hosts[0]),
              HasSubstr("in each of 4 rounds, which are too few to be certain"));
  for (auto& rounds : fleet.hosts[2].rounds) rounds[3] = fleet.hosts[1].rounds[0][3];
  EXPECT_THAT(find_slow(fleet).hosts, IsEmpty());
  Fleet one = even_fleet(10, 1);
  slow_down(one.hosts[2], 1.25);
  report = find_slow(one);
  ASSERT_EQ(report.hosts.size(), 1u);
  EXPECT_EQ(report.hosts[0].kernels[0].evidence, Evidence::none);
}

TEST(SlowNodes, ByAveragesWhereThereAreNoRounds) {
  Fleet fleet = even_fleet(10);
  for (FleetHost& host : fleet.hosts) {
    host.rounds.clear();
    host.summaries = {HostSummary{0.2, 0.25, 0.3}, HostSummary{0.4, 0.5, 0.6}};
  }
  EXPECT_THAT(find_slow(fleet).hosts, IsEmpty());
  fleet.hosts[7].summaries[1]->average = 0.5;
  const SlowReport report = find_slow(fleet);
  ASSERT_EQ(report.hosts.size(), 1u);
  EXPECT_EQ(to_text(fleet, report.hosts[0]),
            "cn07: triad 20 % below the median of 10 nodes, 40.0 MAD, by averages, which a single "
            "bad round can change");
}

TEST(SlowNodes, TheWorstStandsFirst) {
  Fleet fleet = even_fleet(30);
  slow_down(fleet.hosts[4], 1.1);
  slow_down(fleet.hosts[20], 1.5);
  slow_down(fleet.hosts[11], 1.2);
  std::vector<std::size_t> order;
  for (const SlowHost& slow : find_slow(fleet).hosts) order.push_back(slow.host);
  EXPECT_THAT(order, ElementsAre(20, 11, 4));
}

TEST(SlowNodes, ARetestConfirmsOrNot) {
  Fleet fleet = even_fleet(10);
  slow_down(fleet.hosts[3], 1.2);
  slow_down(fleet.hosts[6], 1.2);
  slow_down(fleet.hosts[8], 1.2);
  fleet.retest = Retest{{fleet.hosts[3], fleet.hosts[6], fleet.hosts[0], fleet.hosts[1]}};
  slow_down(fleet.retest->hosts[1], 1 / 1.2);
  const SlowReport report = find_slow(fleet);
  ASSERT_EQ(report.hosts.size(), 3u);
  for (const SlowHost& slow : report.hosts) {
    EXPECT_EQ(slow.verdict, slow.host == 3   ? Verdict::confirmed
                            : slow.host == 6 ? Verdict::not_confirmed
                                             : Verdict::suspected);
  }
  EXPECT_EQ(report.slow(), 2u);
}

TEST(SlowNodes, WhoIsRunAgain) {
  Fleet fleet = even_fleet(8);
  for (std::size_t i = 0; i < 8; ++i) slow_down(fleet.hosts[i], 1 + 0.001 * static_cast<double>(i));
  slow_down(fleet.hosts[6], 1.5);
  // The median lies between hosts 3 and 4; three healthy ones.
  EXPECT_THAT(hosts_to_retest(peers_in(fleet), find_slow(fleet)), ElementsAre(3, 4, _, 6));
  EXPECT_THAT(hosts_to_retest(peers_in(even_fleet(8)), find_slow(even_fleet(8))), IsEmpty());
}

TEST(SlowNodes, NamesAreFew) {
  EXPECT_EQ(names_text({"a", "b"}), "a, b");
  EXPECT_EQ(names_text({"a", "b", "c", "d"}), "a, b, c, d");
  EXPECT_EQ(names_text({"a", "b", "c", "d", "e"}), "a, b, c and 2 more");
}

}  // namespace
}  // namespace numatlas
