#include "fleet/merged.h"

#include <optional>
#include <string>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fleet/slow_nodes.h"
#include "fleet/summary.h"
#include "fleet/test_fleet.h"

namespace numatlas {
namespace {

using testing::add_noise;
using ::testing::ElementsAre;
using testing::even_fleet;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::run_of;
using testing::slow_down;

std::vector<const RunReport*> pointers(const std::vector<RunReport>& runs) {
  std::vector<const RunReport*> all;
  for (const RunReport& run : runs) all.push_back(&run);
  return all;
}

/// Each host of a fleet in a run of its own, with so many rounds each.
std::vector<RunReport> run_by_run(const Fleet& fleet) {
  std::vector<RunReport> runs;
  for (const FleetHost& host : fleet.hosts) {
    Fleet run = fleet;
    run.hosts = {host};
    runs.push_back(run_of(std::move(run)));
  }
  return runs;
}

RunReport on_hosts(const std::vector<std::string>& names) {
  Fleet fleet = even_fleet(names.size());
  for (std::size_t i = 0; i < names.size(); ++i) fleet.hosts[i].name = names[i];
  return run_of(fleet);
}

std::vector<std::string> slow_names(const Fleet& fleet) {
  std::vector<std::string> names;
  for (const SlowHost& slow : find_slow(fleet).hosts) names.push_back(fleet.hosts[slow.host].name);
  return names;
}

TEST(MergedFleet, HostsOfRunsOfTheirOwnAreJudgedAgainstEachOther) {
  Fleet fleet = even_fleet(7);
  add_noise(fleet, 0.003, 1);
  slow_down(fleet.hosts[2], 1.25);
  slow_down(fleet.hosts[5], 1.25);
  const std::vector<RunReport> runs = run_by_run(fleet);
  EXPECT_THAT(ages_of(pointers(runs)), ElementsAre(0, 0, 0, 0, 0, 0, 0));
  const Fleet all = *merged(pointers(runs)).fleet;
  EXPECT_EQ(all.hosts.size(), 7U);
  EXPECT_EQ(all.kinds.size(), 1U);
  EXPECT_EQ(all.kernels.size(), 2U);
  EXPECT_EQ(find_slow(all).judged, 7U);
  EXPECT_THAT(slow_names(all), ::testing::UnorderedElementsAre("cn02", "cn05"));
  EXPECT_EQ(start_spread(all), std::nullopt);  // they did not begin together
}

TEST(MergedFleet, ASlowHostWithMoreRoundsThanTheOthersIsFound) {
  Fleet fleet = even_fleet(5, 4);
  std::vector<RunReport> runs = run_by_run(fleet);
  Fleet many = even_fleet(5, 30);
  slow_down(many.hosts[1], 1.25);
  runs[1].fleet->hosts = {many.hosts[1]};
  EXPECT_THAT(slow_names(*merged(pointers(runs)).fleet), ElementsAre("cn01"));
}

TEST(MergedFleet, RunsOfTheSameHostsAreAHistory) {
  const std::vector<RunReport> runs{on_hosts({"a", "b", "c"}), on_hosts({"a", "b"}),
                                    on_hosts({"d"}), on_hosts({"a"}), on_hosts({"b"})};
  EXPECT_THAT(ages_of(pointers(runs)), ElementsAre(2, 1, 0, 0, 0));
}

TEST(MergedFleet, WhatWasAskedForDifferentlyIsNotCompared) {
  std::vector<RunReport> runs = run_by_run(even_fleet(5));
  runs[4].fleet->memory = "bind:1";
  slow_down(runs[4].fleet->hosts[0], 1.25);
  const Fleet all = *merged(pointers(runs)).fleet;
  const SlowReport report = find_slow(all);
  EXPECT_THAT(report.hosts, IsEmpty());
  EXPECT_EQ(report.judged, 4U);
  EXPECT_THAT(report.unjudged, ElementsAre(4));
  EXPECT_THAT(report.not_judged,
              ElementsAre(HasSubstr("cn04: fewer than 3 of this kind (AMD EPYC 7742")));
  EXPECT_EQ(all.memory, "");
}

TEST(MergedFleet, OneRunIsItself) {
  const RunReport run = run_of(even_fleet(3));
  const RunReport* const one = &run;
  EXPECT_EQ(merged({&one, 1}).fleet, run.fleet);
}

}  // namespace
}  // namespace numatlas
