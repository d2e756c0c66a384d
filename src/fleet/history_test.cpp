#include "fleet/history.h"

#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fleet/test_fleet.h"

namespace numatlas {
namespace {

using testing::even_fleet;
using ::testing::HasSubstr;
using testing::judged;
using testing::slow_down;

PastRun run_on(Fleet fleet, const std::string& started) {
  RunReport run = judged(std::move(fleet));
  run.started = started;
  return past_run(run);
}

/// So many even runs of five hosts, a day each.
std::vector<PastRun> even_runs(int count) {
  std::vector<PastRun> runs;
  for (int day = 1; day <= count; ++day) {
    Fleet fleet = even_fleet(5);
    for (FleetHost& host : fleet.hosts) slow_down(host, 1 + 0.002 * (day % 3));
    runs.push_back(run_on(fleet, fmt::format("2026-11-{:02}T10:00:00Z", day)));
  }
  return runs;
}

TEST(FleetHistory, WhoFellAgainstItself) {
  Fleet newest = even_fleet(5);
  slow_down(newest.hosts[1], 1.25);
  const History history = history_of(even_runs(6), judged(newest));
  EXPECT_EQ(history.judged, 5u);
  ASSERT_EQ(history.falls.size(), 1u);
  EXPECT_THAT(to_text(newest, history.falls[0]),
              HasSubstr("cn01: copy 20 % below the median of its own 6 earlier runs, "));
  EXPECT_THAT(to_text(newest, history.falls[0]), HasSubstr(", every round; also triad 20 %"));
}

TEST(FleetHistory, AllOfThemMayFall) {
  Fleet newest = even_fleet(5);
  for (FleetHost& host : newest.hosts) slow_down(host, 1.25);
  const SlowReport slow = find_slow(newest);
  EXPECT_TRUE(slow.hosts.empty());
  EXPECT_EQ(history_of(even_runs(3), judged(newest)).falls.size(), 5u);
}

TEST(FleetHistory, TooFewRunsTellNothing) {
  Fleet newest = even_fleet(5);
  slow_down(newest.hosts[1], 1.25);
  const History history = history_of(even_runs(2), judged(newest));
  EXPECT_TRUE(history.falls.empty());
  EXPECT_EQ(history.judged, 0u);
  EXPECT_EQ(history.unjudged.size(), 5u);
}

TEST(FleetHistory, HowOftenEachWasSlow) {
  auto runs = even_runs(3);
  Fleet slow = even_fleet(5);
  slow_down(slow.hosts[2], 1.25);
  runs.push_back(run_on(slow, "2026-11-10T10:00:00Z"));
  slow.hosts.resize(4);
  runs.push_back(run_on(slow, "2026-11-11T10:00:00Z"));
  const Fleet newest = even_fleet(5);
  const History history = history_of(runs, judged(newest));
  EXPECT_EQ(history.hosts.at("cn02").runs, 6u);
  EXPECT_EQ(history.hosts.at("cn02").slow, 2u);
  EXPECT_EQ(history.hosts.at("cn02").last_slow, "2026-11-11T10:00:00Z");
  EXPECT_EQ(history.hosts.at("cn04").runs, 5u);
  EXPECT_EQ(history.hosts.at("cn04").slow, 0u);
  EXPECT_TRUE(history.falls.empty());
}

TEST(FleetHistory, OtherLoadsAreNotCompared) {
  Fleet newest = even_fleet(5);
  slow_down(newest.hosts[1], 1.25);
  const auto falls = [&](const Fleet& fleet) {
    return history_of(even_runs(4), judged(fleet)).falls.size();
  };
  EXPECT_EQ(falls(newest), 1u);
  Fleet other = newest;
  other.kinds[0].workers = 4;
  EXPECT_EQ(falls(other), 0u);
  other = newest;
  for (FleetKernel& kernel : other.kernels) kernel.bytes += 8;
  EXPECT_EQ(falls(other), 0u);
  other = newest;
  for (FleetHost& host : other.hosts) {
    host.rounds.clear();
    host.summaries = {HostSummary{1, 1, 1}, HostSummary{1, 1, 1}};
  }
  EXPECT_EQ(falls(other), 0u);
}

TEST(FleetHistory, WhatElseChangedIsSaid) {
  Fleet newest = even_fleet(5);
  newest.kinds[0].os = "Linux 6.6";
  slow_down(newest.hosts[1], 1.25);
  const History history = history_of(even_runs(4), judged(newest));
  ASSERT_EQ(history.falls.size(), 1u);
  EXPECT_THAT(to_text(newest, history.falls[0]),
              HasSubstr("; since the run before it changed from AMD EPYC 7742, 8 CPUs"));
}

TEST(FleetHistory, RunsOfOtherMemorySayNothing) {
  Fleet newest = even_fleet(5);
  newest.memory = "bind:1";
  slow_down(newest.hosts[1], 1.25);
  EXPECT_TRUE(history_of(even_runs(4), judged(newest)).falls.empty());
}

TEST(FleetHistory, OneRunInTwoFiles) {
  const PastRun rounds = run_on(even_fleet(5), "2026-11-21T10:01:05Z");
  PastRun averages = rounds;
  averages.by_rounds = false;
  averages.started = "2026-11-21T10:01:00Z";
  EXPECT_TRUE(same_run(rounds, averages));
  EXPECT_TRUE(same_run(rounds, rounds));  // a copy of the file
  PastRun other = rounds;
  other.hosts[2].rates[0] = 1;
  EXPECT_FALSE(same_run(rounds, other));
  averages.started = "2026-11-21T10:02:00Z";
  EXPECT_FALSE(same_run(rounds, averages));
}

TEST(FleetHistory, TheSameMinuteOnOtherHostsIsAnotherRun) {
  Fleet rounds = even_fleet(1), averages = even_fleet(1);
  averages.hosts[0].rounds.clear();
  averages.hosts[0].summaries = {HostSummary{0.25, 0.25, 0.25}, HostSummary{0.5, 0.5, 0.5}};
  const auto alike = [&] {
    return same_run(past_run(testing::run_of(rounds)), past_run(testing::run_of(averages)));
  };
  EXPECT_TRUE(alike());
  averages.hosts[0].name = "cn01";
  EXPECT_FALSE(alike());
}

}  // namespace
}  // namespace numatlas
