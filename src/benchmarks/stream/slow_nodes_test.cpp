#include <cstddef>
#include <string>
#include <vector>

#include "benchmarks/stream/summary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/findings.h"
#include "analysis/test_hosts.h"
#include "base/text.h"

namespace numatlas::slow_nodes_test {
namespace {

SlowReport find_slow(const RunReport& run, const SlowRule& rule = {}) {
  return judge_peers(peers_in(run), rule);
}

/// Of its findings: against whom, and what says so.
std::string evidence_of(const SlowHost& slow) {
  std::string text;
  for (const Finding& one : findings_of(
           slow, "stream", [](const SlowKernel& one) { return finding_of(one, "", "", "B/s"); }))
    text += (text.empty() ? "" : "|") + one.against + ", " + one.evidence;
  return text;
}

using ::testing::_;
using testing::add_noise;
using testing::change_kind;
using ::testing::ElementsAre;
using testing::even_hosts;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::passes;
using testing::passes_of;
using testing::run_again;
using testing::scale;
using testing::slow_down;
using testing::slow_down_again;

TEST(SlowNodes, EqualHostsAreNotSlow) {
  const SlowReport report = find_slow(even_hosts(46));
  EXPECT_THAT(report.hosts, IsEmpty());
  EXPECT_THAT(report.not_judged, IsEmpty());
  EXPECT_EQ(report.judged, 46u);
}

TEST(SlowNodes, ASlowOneAmongNoiseIsFoundAndToldOf) {
  RunReport run = even_hosts(46);
  add_noise(run, 0.01, 7);
  scale(passes(run, 1, 17), 1 / 0.88);
  scale(passes(run, 0, 17), 1 / 0.92);
  const SlowReport report = find_slow(run);
  ASSERT_EQ(report.hosts.size(), 1u);
  const SlowHost& slow = report.hosts[0];
  EXPECT_EQ(slow.host, 17u);
  ASSERT_EQ(slow.kernels.size(), 2u);
  EXPECT_EQ(slow.kernels[0].kernel, 1u);
  EXPECT_NEAR(slow.kernels[0].drop, 0.12, 0.01);
  EXPECT_NEAR(slow.kernels[1].drop, 0.08, 0.01);
  EXPECT_EQ(slow.kernels[0].rounds, 9u);
  EXPECT_EQ(slow.kernels[0].slow_rounds, 9u);
  EXPECT_EQ(evidence_of(slow), "46 hosts, every round|46 hosts, every round");
}

TEST(SlowNodes, WordsOfWhatIsKnown) {
  SlowHost slow{17, 46, {{1, 0, 0, 0.12, 9.3, 9, 7}}};
  slow.verdict = Verdict::confirmed;
  EXPECT_EQ(evidence_of(slow), "46 hosts, 7 of 9 rounds; confirmed by a second run");
  slow.verdict = Verdict::not_confirmed;
  EXPECT_EQ(evidence_of(slow), "46 hosts, 7 of 9 rounds; not confirmed by a second run");
  EXPECT_EQ(findings_of(slow, "stream",
                        [](const SlowKernel& one) { return finding_of(one, "", "", "B/s"); })[0]
                .verdict,
            Finding::cleared);
}

TEST(SlowNodes, FastOnesAreNobodysTrouble) {
  RunReport run = even_hosts(20);
  slow_down(run, 3, 0.5);
  EXPECT_THAT(find_slow(run).hosts, IsEmpty());
}

TEST(SlowNodes, EachConditionIsNeeded) {
  RunReport run = even_hosts(20);
  slow_down(run, 3, 1 / 0.951);  // 4.9 %, and many deviations
  ASSERT_EQ(find_slow(run).hosts.size(), 1u);
  EXPECT_THAT(find_slow(run).hosts[0].kernels, IsEmpty());
  EXPECT_EQ(find_slow(run, {6, 0.04}).hosts[0].kernels.size(), 2u);
  slow_down(run, 3, 0.951 / 0.9);  // 10 %, over a floor of 0.5 %: 20 deviations
  EXPECT_EQ(find_slow(run).hosts[0].kernels.size(), 2u);
  EXPECT_THAT(find_slow(run, {21, 0.05}).hosts[0].kernels, IsEmpty());
  // Half of its rounds are as good as the others'.
  for (std::size_t round = 1; round < 6; ++round)
    for (std::vector<PassTimes>& rounds : passes_of(run, 3)) rounds[round] = passes(run, 0, 2)[0];
  EXPECT_THAT(find_slow(run).hosts, IsEmpty());
}

TEST(SlowNodes, AllKernelsTogetherShowWhatNoneShowsByItself) {
  RunReport run = even_hosts(46);
  add_noise(run, 0.005, 7);
  slow_down(run, 17, 1 / 0.97);
  const SlowReport report = find_slow(run);
  ASSERT_EQ(report.hosts.size(), 1u);
  const SlowHost& slow = report.hosts[0];
  EXPECT_EQ(slow.host, 17u);
  EXPECT_THAT(slow.kernels, IsEmpty());
  EXPECT_NEAR(slow.together->drop, 0.03, 0.005);
  EXPECT_EQ(slow.together->rounds, 9u);
  EXPECT_EQ(evidence_of(slow), "46 hosts, 9 of 9 rounds");
  EXPECT_THAT(find_slow(run, {6, 0.05, 0.04}).hosts, IsEmpty());
  // A fault of one kernel is that kernel's.
  RunReport other = even_hosts(46);
  add_noise(other, 0.005, 7);
  scale(passes(other, 0, 17), 1.03);
  EXPECT_THAT(find_slow(other).hosts, IsEmpty());
  // Rounds of other times are no rounds together.
  PeerInput apart = peers_in(run);
  for (auto& rates : apart.rates)
    for (auto& rate : rates) rate->run = 0;
  EXPECT_THAT(judge_peers(apart, {}).hosts, IsEmpty());
}

TEST(SlowNodes, AFewBadRoundsAreNotAllKernelsTogether) {
  RunReport run = even_hosts(46);
  add_noise(run, 0.001, 7);
  for (std::vector<PassTimes>& rounds : passes_of(run, 17))
    for (std::size_t round = 1; round < 5; ++round) rounds[round].node *= 1.04;
  EXPECT_THAT(find_slow(run).hosts, IsEmpty());
  for (std::vector<PassTimes>& rounds : passes_of(run, 17))
    for (std::size_t round = 5; round < 7; ++round) rounds[round].node *= 1.04;
  EXPECT_THAT(find_slow(run).hosts, IsEmpty()) << "the third-best of nine rounds is as the others'";
  for (std::vector<PassTimes>& rounds : passes_of(run, 17)) rounds[7].node *= 1.04;
  EXPECT_EQ(find_slow(run).hosts.size(), 1u);
}

TEST(SlowNodes, ARetestConfirmsAllKernelsTogetherOrNot) {
  RunReport run = even_hosts(46);
  add_noise(run, 0.002, 7);
  slow_down(run, 3, 1.03);
  slow_down(run, 6, 1.03);
  run_again(run, {3, 6, 0, 1});
  slow_down_again(run, 6, 1 / 1.03);
  const SlowReport report = find_slow(run);
  ASSERT_EQ(report.hosts.size(), 2u);
  for (const SlowHost& slow : report.hosts)
    EXPECT_EQ(slow.verdict, slow.host == 3 ? Verdict::confirmed : Verdict::not_confirmed);
}

TEST(SlowNodes, AFleetThatDriftsTogetherHidesNobody) {
  RunReport run = even_hosts(20);
  for (std::size_t host = 0; host < 20; ++host)
    for (std::vector<PassTimes>& rounds : passes_of(run, host))
      for (std::size_t round = 0; round < rounds.size(); ++round)
        rounds[round].node *= 1 + 0.05 * static_cast<double>(round);
  EXPECT_THAT(find_slow(run).hosts, IsEmpty());
  slow_down(run, 9, 1.1);
  const SlowReport report = find_slow(run);
  ASSERT_EQ(report.hosts.size(), 1u);
  EXPECT_EQ(report.hosts[0].kernels[0].slow_rounds, 9u);
}

TEST(SlowNodes, UnlikeHostsAreNotCompared) {
  RunReport run = even_hosts(10);
  change_kind(run, {6, 7, 8, 9});
  for (std::size_t i = 6; i < 10; ++i) slow_down(run, i, 3);
  EXPECT_THAT(find_slow(run).hosts, IsEmpty());
  slow_down(run, 8, 1.2);
  const SlowReport report = find_slow(run);
  ASSERT_EQ(report.hosts.size(), 1u);
  EXPECT_EQ(report.hosts[0].host, 8u);
  EXPECT_EQ(report.hosts[0].peers, 4u);
}

TEST(SlowNodes, TooFewOfAKindAreNotJudgedAndItIsSaid) {
  RunReport run = even_hosts(5);
  change_kind(run, {1, 4});
  slow_down(run, 4, 2);
  for (std::vector<PassTimes>& rounds : passes_of(run, 2)) rounds.clear();
  const SlowReport report = find_slow(run);
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
  RunReport run = even_hosts(10, 5);
  slow_down(run, 2, 1.25);
  SlowReport report = find_slow(run);
  ASSERT_EQ(report.hosts.size(), 1u);
  EXPECT_EQ(report.hosts[0].kernels[0].evidence, Evidence::range);
  EXPECT_THAT(evidence_of(report.hosts[0]),
              HasSubstr("in each of 4 rounds, which are too few to be certain"));
  for (std::vector<PassTimes>& rounds : passes_of(run, 2)) rounds[3] = passes(run, 0, 1)[3];
  EXPECT_THAT(find_slow(run).hosts, IsEmpty());
  RunReport one = even_hosts(10, 1);
  slow_down(one, 2, 1.25);
  report = find_slow(one);
  ASSERT_EQ(report.hosts.size(), 1u);
  EXPECT_EQ(report.hosts[0].kernels[0].evidence, Evidence::none);
}

TEST(SlowNodes, ByAveragesWhereThereAreNoRounds) {
  PeerInput peers = peers_in(even_hosts(10));
  for (auto& rates : peers.rates)
    for (auto& rate : rates) rate->rounds.clear();
  EXPECT_THAT(judge_peers(peers, {}).hosts, IsEmpty());
  peers.rates[1][7]->rate *= 0.8;
  const SlowReport report = judge_peers(peers, {});
  ASSERT_EQ(report.hosts.size(), 1u);
  EXPECT_EQ(evidence_of(report.hosts[0]),
            "10 hosts, by averages, which a single bad round can change");
}

TEST(SlowNodes, TheWorstStandsFirst) {
  RunReport run = even_hosts(30);
  slow_down(run, 4, 1.1);
  slow_down(run, 20, 1.5);
  slow_down(run, 11, 1.2);
  std::vector<std::size_t> order;
  for (const SlowHost& slow : find_slow(run).hosts) order.push_back(slow.host);
  EXPECT_THAT(order, ElementsAre(20, 11, 4));
}

TEST(SlowNodes, ARetestConfirmsOrNot) {
  RunReport run = even_hosts(10);
  slow_down(run, 3, 1.2);
  slow_down(run, 6, 1.2);
  slow_down(run, 8, 1.2);
  run_again(run, {3, 6, 0, 1});
  slow_down_again(run, 6, 1 / 1.2);
  const SlowReport report = find_slow(run);
  ASSERT_EQ(report.hosts.size(), 3u);
  for (const SlowHost& slow : report.hosts) {
    EXPECT_EQ(slow.verdict, slow.host == 3   ? Verdict::confirmed
                            : slow.host == 6 ? Verdict::not_confirmed
                                             : Verdict::suspected);
  }
  EXPECT_EQ(report.slow(), 2u);
}

TEST(SlowNodes, WhoIsRunAgain) {
  RunReport run = even_hosts(8);
  for (std::size_t i = 0; i < 8; ++i) slow_down(run, i, 1 + 0.001 * static_cast<double>(i));
  slow_down(run, 6, 1.5);
  // The median lies between hosts 3 and 4; three healthy ones.
  EXPECT_THAT(hosts_to_retest(peers_in(run), find_slow(run)), ElementsAre(3, 4, _, 6));
  EXPECT_THAT(hosts_to_retest(peers_in(even_hosts(8)), find_slow(even_hosts(8))), IsEmpty());
}

TEST(SlowNodes, NamesAreFew) {
  EXPECT_EQ(names_text({"a", "b"}), "a, b");
  EXPECT_EQ(names_text({"a", "b", "c", "d"}), "a, b, c, d");
  EXPECT_EQ(names_text({"a", "b", "c", "d", "e"}), "a, b, c and 2 more");
}

}  // namespace
}  // namespace numatlas::slow_nodes_test
