#include <cstddef>
#include <string>
#include <vector>

#include "benchmarks/stream/summary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/test_hosts.h"
#include "base/text.h"

namespace numatlas::slow_nodes_test {
namespace {

Judged find_slow(const RunReport& run, const SlowRule& rule = {}) { return judge_hosts(run, rule); }

std::vector<Case> findings(const Judged& judged) {
  std::vector<Case> all;
  for (const auto& [host, one] : judged.findings) all.push_back(one);
  return all;
}

/// Kernels in which hosts are slow by themselves.
std::vector<std::string> kernels(const Judged& judged) {
  std::vector<std::string> all;
  for (const Case& one : findings(judged))
    if (!label_of(one, "metric").empty()) all.push_back(label_of(one, "case"));
  return all;
}

/// Of its findings: against whom, and what says so.
std::string evidence_of(const Judged& judged) {
  std::string text;
  for (const Case& one : findings(judged))
    text += (text.empty() ? "" : "|") + label_of(one, "against") + ", " + label_of(one, "evidence");
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

TEST(SlowNodes, ASlowOneAmongNoiseIsFoundAndToldOf) {
  RunReport run = even_hosts(46);
  add_noise(run, 0.01, 7);
  scale(passes(run, 1, 17), 1 / 0.88);
  scale(passes(run, 0, 17), 1 / 0.92);
  const Judged judged = find_slow(run);
  EXPECT_THAT(judged.slow_hosts(), ElementsAre(17));
  EXPECT_THAT(kernels(judged), ElementsAre("triad", "copy"));
  EXPECT_NEAR(change_of(judged.findings[0].second), -0.12, 0.01);
  EXPECT_NEAR(change_of(judged.findings[1].second), -0.08, 0.01);
  EXPECT_EQ(evidence_of(judged), "46 hosts, every round|46 hosts, every round");
}

TEST(SlowNodes, FastOnesAreNobodysTrouble) {
  RunReport run = even_hosts(20);
  slow_down(run, 3, 0.5);
  EXPECT_THAT(find_slow(run).findings, IsEmpty());
}

TEST(SlowNodes, EachConditionIsNeeded) {
  RunReport run = even_hosts(20);
  slow_down(run, 3, 1 / 0.951);  // 4.9 %, and many deviations
  EXPECT_THAT(find_slow(run).slow_hosts(), ElementsAre(3));
  EXPECT_THAT(kernels(find_slow(run)), IsEmpty());
  EXPECT_EQ(kernels(find_slow(run, {6, 0.04})).size(), 2u);
  slow_down(run, 3, 0.951 / 0.9);  // 10 %, over a floor of 0.5 %: 20 deviations
  EXPECT_EQ(kernels(find_slow(run)).size(), 2u);
  EXPECT_THAT(kernels(find_slow(run, {21, 0.05})), IsEmpty());
  // Half of its rounds are as good as the others'.
  for (std::size_t round = 1; round < 6; ++round)
    for (std::vector<PassTimes>& rounds : passes_of(run, 3)) rounds[round] = passes(run, 0, 2)[0];
  EXPECT_THAT(find_slow(run).findings, IsEmpty());
}

TEST(SlowNodes, AllKernelsTogetherShowWhatNoneShowsByItself) {
  RunReport run = even_hosts(46);
  add_noise(run, 0.005, 7);
  slow_down(run, 17, 1 / 0.97);
  const Judged judged = find_slow(run);
  EXPECT_THAT(judged.slow_hosts(), ElementsAre(17));
  EXPECT_THAT(kernels(judged), IsEmpty());
  EXPECT_NEAR(change_of(judged.findings[0].second), -0.03, 0.005);
  EXPECT_EQ(evidence_of(judged), "46 hosts, 9 of 9 rounds");
  EXPECT_THAT(find_slow(run, {6, 0.05, 0.04}).findings, IsEmpty());
  // A fault of one kernel is that kernel's.
  RunReport other = even_hosts(46);
  add_noise(other, 0.005, 7);
  scale(passes(other, 0, 17), 1.03);
  EXPECT_THAT(find_slow(other).findings, IsEmpty());
  // Rounds of other times are no rounds together.
  const std::vector<Rows> apart(46, rows_of(run));
  std::vector<HostRows> hosts;
  for (std::size_t i = 0; i < apart.size(); ++i) hosts.push_back(hosts_of(apart[i])[i]);
  EXPECT_THAT(judge_peers(hosts, {}).findings, IsEmpty());
}

TEST(SlowNodes, AFewBadRoundsAreNotAllKernelsTogether) {
  RunReport run = even_hosts(46);
  add_noise(run, 0.001, 7);
  for (std::vector<PassTimes>& rounds : passes_of(run, 17))
    for (std::size_t round = 1; round < 5; ++round) rounds[round].node *= 1.04;
  EXPECT_THAT(find_slow(run).findings, IsEmpty());
  for (std::vector<PassTimes>& rounds : passes_of(run, 17))
    for (std::size_t round = 5; round < 7; ++round) rounds[round].node *= 1.04;
  EXPECT_THAT(find_slow(run).findings, IsEmpty())
      << "the third-best of nine rounds is as the others'";
  for (std::vector<PassTimes>& rounds : passes_of(run, 17)) rounds[7].node *= 1.04;
  EXPECT_EQ(find_slow(run).slow_hosts().size(), 1u);
}

TEST(SlowNodes, ARetestConfirmsAllKernelsTogetherOrNot) {
  RunReport run = even_hosts(46);
  add_noise(run, 0.002, 7);
  slow_down(run, 3, 1.03);
  slow_down(run, 6, 1.03);
  run_again(run, {3, 6, 0, 1});
  slow_down_again(run, 6, 1 / 1.03);
  const Judged judged = find_slow(run);
  EXPECT_THAT(judged.slow_hosts(), ElementsAre(3));
  EXPECT_EQ(judged.findings.size(), 2u);
}

TEST(SlowNodes, AFleetThatDriftsTogetherHidesNobody) {
  RunReport run = even_hosts(20);
  for (std::size_t host = 0; host < 20; ++host)
    for (std::vector<PassTimes>& rounds : passes_of(run, host))
      for (std::size_t round = 0; round < rounds.size(); ++round)
        rounds[round].node *= 1 + 0.05 * static_cast<double>(round);
  EXPECT_THAT(find_slow(run).findings, IsEmpty());
  slow_down(run, 9, 1.1);
  EXPECT_THAT(find_slow(run).slow_hosts(), ElementsAre(9));
  EXPECT_EQ(evidence_of(find_slow(run)), "20 hosts, every round|20 hosts, every round");
}

TEST(SlowNodes, UnlikeHostsAreNotCompared) {
  RunReport run = even_hosts(10);
  change_kind(run, {6, 7, 8, 9});
  for (std::size_t i = 6; i < 10; ++i) slow_down(run, i, 3);
  EXPECT_THAT(find_slow(run).findings, IsEmpty());
  slow_down(run, 8, 1.2);
  EXPECT_THAT(find_slow(run).slow_hosts(), ElementsAre(8));
  EXPECT_THAT(evidence_of(find_slow(run)), ::testing::StartsWith("4 hosts, "));
}

TEST(SlowNodes, TooFewOfAKindAreNotJudgedAndItIsSaid) {
  RunReport run = even_hosts(5);
  change_kind(run, {1, 4});
  slow_down(run, 4, 2);
  for (std::vector<PassTimes>& rounds : passes_of(run, 2)) rounds.clear();
  const Judged judged = find_slow(run);
  EXPECT_THAT(judged.findings, IsEmpty());
  EXPECT_EQ(judged.unjudged.size(), 5u);
  const std::vector<std::string> texts = unjudged_texts(run.hosts, judged);
  ASSERT_EQ(texts.size(), 3u);
  EXPECT_EQ(texts[0], "cn02: it has no figure that can be compared");
  EXPECT_THAT(texts[1], HasSubstr("cn00, cn03: only 2 of this kind (AMD EPYC 7742"));
  EXPECT_THAT(texts[2], HasSubstr("cn01, cn04: only 2 of this kind"));
  EXPECT_THAT(texts[2], HasSubstr("at least 3 are required"));
}

TEST(SlowNodes, FewRoundsAreJudgedByTheirRangeAndMarked) {
  RunReport run = even_hosts(10, 5);
  slow_down(run, 2, 1.25);
  EXPECT_THAT(find_slow(run).slow_hosts(), ElementsAre(2));
  EXPECT_THAT(evidence_of(find_slow(run)),
              HasSubstr("in each of 4 rounds, which are too few to be certain"));
  for (std::vector<PassTimes>& rounds : passes_of(run, 2)) rounds[3] = passes(run, 0, 1)[3];
  EXPECT_THAT(find_slow(run).findings, IsEmpty());
  RunReport one = even_hosts(10, 1);
  slow_down(one, 2, 1.25);
  EXPECT_THAT(find_slow(one).slow_hosts(), ElementsAre(2));
  EXPECT_THAT(evidence_of(find_slow(one)), HasSubstr("in the only round"));
}

TEST(SlowNodes, ByAveragesWhereThereAreNoRounds) {
  Rows rows = rows_of(even_hosts(10));
  for (Row& row : rows.rows) row.rounds.clear();
  EXPECT_THAT(judge_peers(hosts_of(rows), {}).findings, IsEmpty());
  for (Row& row : rows.rows)
    if (row.host == 7U && row.name == "triad") row.estimate->value *= 0.8;
  EXPECT_EQ(evidence_of(judge_peers(hosts_of(rows), {})),
            "10 hosts, by averages, which a single bad round can change");
}

TEST(SlowNodes, TheWorstStandsFirst) {
  RunReport run = even_hosts(30);
  slow_down(run, 4, 1.1);
  slow_down(run, 20, 1.5);
  slow_down(run, 11, 1.2);
  EXPECT_THAT(find_slow(run).slow_hosts(), ElementsAre(20, 11, 4));
}

TEST(SlowNodes, ARetestConfirmsOrNot) {
  RunReport run = even_hosts(10);
  slow_down(run, 3, 1.2);
  slow_down(run, 6, 1.2);
  slow_down(run, 8, 1.2);
  run_again(run, {3, 6, 0, 1});
  slow_down_again(run, 6, 1 / 1.2);
  const Judged judged = find_slow(run);
  EXPECT_THAT(judged.slow_hosts(), ElementsAre(3, 8));
  for (const auto& [host, one] : judged.findings) {
    EXPECT_EQ(label_of(one, "finding"), host == 6 ? finding::cleared : finding::slow);
    EXPECT_EQ(label_of(one, "evidence"), host == 3   ? "every round; confirmed by a second run"
                                         : host == 6 ? "every round; not confirmed by a second run"
                                                     : "every round");
  }
}

TEST(SlowNodes, WhoIsRunAgain) {
  RunReport run = even_hosts(8);
  for (std::size_t i = 0; i < 8; ++i) slow_down(run, i, 1 + 0.001 * static_cast<double>(i));
  slow_down(run, 6, 1.5);
  // The median lies between hosts 3 and 4; three healthy ones.
  const Rows rows = rows_of(run), even = rows_of(even_hosts(8));
  EXPECT_THAT(hosts_to_retest(hosts_of(rows), {}), ElementsAre(3, 4, _, 6));
  EXPECT_THAT(hosts_to_retest(hosts_of(even), {}), IsEmpty());
}

}  // namespace
}  // namespace numatlas::slow_nodes_test
