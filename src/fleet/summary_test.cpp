#include "fleet/summary.h"

#include <gtest/gtest.h>

#include "fleet/test_fleet.h"

namespace numatlas {
namespace {

using testing::even_fleet;
using testing::pass;

TEST(FleetSummary, RowsOfEvenHosts) {
  const auto rows = rows_of(even_fleet(3));
  ASSERT_EQ(rows.size(), 2u);
  const KernelRows& triad = *rows[1];
  EXPECT_DOUBLE_EQ(triad.process.average, 0.4375);
  EXPECT_DOUBLE_EQ(triad.process.minimum, 0.375);
  EXPECT_DOUBLE_EQ(triad.process.maximum, 0.5);
  EXPECT_DOUBLE_EQ(triad.process.average_rate, 1.5e9 / 0.4375);
  EXPECT_DOUBLE_EQ(triad.process.maximum_rate, 1.5e9 / 0.375);
  EXPECT_DOUBLE_EQ(triad.process.minimum_rate, 3e9);
  EXPECT_EQ(triad.process.slowest_rank, 3);
  EXPECT_DOUBLE_EQ(triad.host.average, 0.5);
  EXPECT_DOUBLE_EQ(triad.host.average_rate, 12e9);
  EXPECT_DOUBLE_EQ(triad.host.minimum_rate, 12e9);
  EXPECT_EQ(triad.host.median->n, 3u);
  EXPECT_DOUBLE_EQ(triad.summed_rate, 6e9 / 0.4375);
}

TEST(FleetSummary, TheFirstRoundIsLeftOut) {
  Fleet fleet = even_fleet(2, 3);
  fleet.hosts[1].rounds[0][0].node = 99;
  EXPECT_DOUBLE_EQ(rows_of(fleet)[0]->host.maximum, 0.25);
  // Unless there is no other.
  for (FleetHost& host : fleet.hosts) host.rounds[0].resize(1);
  EXPECT_DOUBLE_EQ(rows_of(fleet)[0]->host.maximum, 99);
}

/// Host i is i % slower than the first.
Fleet uneven_fleet(std::size_t hosts) {
  Fleet fleet = even_fleet(hosts);
  for (std::size_t i = 0; i < hosts; ++i)
    testing::slow_down(fleet.hosts[i], 1 / (1 - 0.01 * static_cast<double>(i)));
  return fleet;
}

TEST(FleetSummary, TheIntervalOverHostsIsOfHostsNotOfRounds) {
  // Hosts differ; rounds of a host do not. However many rounds there are, few hosts say little.
  for (const std::size_t hosts : {2U, 3U, 5U}) {
    const KernelRows triad = *rows_of(uneven_fleet(hosts))[1];
    EXPECT_EQ(triad.host.median->n, hosts);
    EXPECT_FALSE(triad.host.median->low) << hosts;
    EXPECT_FALSE(triad.process.median->low) << hosts;
  }
  const Estimate six = *rows_of(uneven_fleet(6))[1]->host.median;
  EXPECT_DOUBLE_EQ(six.value, 12e9 * 0.975);
  // Of 6 values the weight of the second is 0.3571 (Hettmansperger and Sheather, gamma = 0.95).
  EXPECT_NEAR(*six.low, 12e9 * (0.95 + 0.01 * 5 / 14), 1e3);
  EXPECT_NEAR(*six.high, 12e9 * (1 - 0.01 * 5 / 14), 1e3);
}

TEST(FleetSummary, TheIntervalOfOneHostIsOfItsRounds) {
  Fleet fleet = even_fleet(1);
  fleet.hosts[0].rounds[1][4].node = 0.75;
  const Estimate median = *rows_of(fleet)[1]->host.median;
  EXPECT_EQ(median.n, 9u);
  EXPECT_DOUBLE_EQ(median.value, 12e9);
  EXPECT_DOUBLE_EQ(*median.low, 8e9);
  EXPECT_DOUBLE_EQ(*median.high, 12e9);
}

TEST(FleetSummary, TheSlowestIsNamed) {
  Fleet fleet = even_fleet(5);
  fleet.hosts[3].rounds[0][4] = pass(0.5, 4, 14);
  const KernelRows copy = *rows_of(fleet)[0];
  EXPECT_EQ(copy.process.slowest_host, 3u);
  EXPECT_EQ(copy.process.slowest_rank, 14);
  EXPECT_EQ(copy.host.slowest_host, 3u);
  EXPECT_DOUBLE_EQ(copy.host.minimum_rate, 8e9);
}

TEST(FleetSummary, HostsWithUnlikeNumbersOfProcesses) {
  Fleet fleet = even_fleet(2);
  HostKind small = fleet.kinds[0];
  small.processes = 1;
  fleet.kinds.push_back(small);
  fleet.hosts[1].kind = 1;
  for (auto& rounds : fleet.hosts[1].rounds)
    for (PassTimes& one : rounds) one = pass(0.25, 1, 4);
  const KernelRows copy = *rows_of(fleet)[0];
  EXPECT_DOUBLE_EQ(copy.host.maximum_rate, 16e9);
  EXPECT_DOUBLE_EQ(copy.host.minimum_rate, 4e9);
  EXPECT_DOUBLE_EQ(copy.process.average, 0.21875);  // of five processes
  EXPECT_DOUBLE_EQ(copy.host.average_rate, 10e9);
}

TEST(FleetSummary, KernelsThatNobodyFinished) {
  Fleet fleet = even_fleet(2);
  for (FleetHost& host : fleet.hosts) host.rounds[1].clear();
  const auto rows = rows_of(fleet);
  EXPECT_TRUE(rows[0].has_value());
  EXPECT_FALSE(rows[1].has_value());
  EXPECT_FALSE(times_of(fleet, fleet.hosts[0], 1).has_value());
  EXPECT_EQ(finished_rounds(fleet), 0u);
  EXPECT_EQ(finished_rounds(even_fleet(2, 7)), 7u);
  EXPECT_EQ(finished_rounds(Fleet{}), 0u);
}

TEST(FleetSummary, AHostByItsAveragesAlone) {
  Fleet fleet = even_fleet(1);
  fleet.hosts[0].rounds.clear();
  fleet.hosts[0].summaries = {HostSummary{0.2, 0.25, 0.5}, std::nullopt};
  const auto times = times_of(fleet, fleet.hosts[0], 0);
  ASSERT_TRUE(times);
  EXPECT_DOUBLE_EQ(times->rate, 20e9);
  EXPECT_FALSE(times->rates);
  EXPECT_FALSE(times_of(fleet, fleet.hosts[0], 1));
  const KernelRows copy = *rows_of(fleet)[0];
  EXPECT_FALSE(copy.processes_known);
  EXPECT_DOUBLE_EQ(copy.process.average, 0.2);
  EXPECT_DOUBLE_EQ(copy.process.maximum, 0) << "that of the node is not a process's";
  EXPECT_DOUBLE_EQ(copy.host.minimum_rate, 8e9);
  EXPECT_DOUBLE_EQ(copy.host.maximum_rate, 16e9);
  EXPECT_DOUBLE_EQ(copy.summed_rate, 20e9);  // over the maximum, as E's
}

TEST(FleetSummary, AHostsTimes) {
  Fleet fleet = even_fleet(1, 4);
  fleet.hosts[0].rounds[0][2].node = 0.5;
  const auto times = times_of(fleet, fleet.hosts[0], 0);
  EXPECT_DOUBLE_EQ(times->average, 1.0 / 3);
  EXPECT_DOUBLE_EQ(times->rate, 16e9);
  EXPECT_DOUBLE_EQ(times->rates->min, 8e9);
  EXPECT_DOUBLE_EQ(times->process_average, 0.25 * 0.875);
}

TEST(FleetSummary, NamesHostsWhoseWorkersDidNotRunTogether) {
  Fleet fleet = even_fleet(3);
  EXPECT_EQ(overlap_warning(fleet), "");
  for (auto& rounds : fleet.hosts[1].rounds) {
    for (PassTimes& pass : rounds) pass.overlap = 0.5;
  }
  EXPECT_TRUE(overlap_warning(fleet).ends_with(": cn01 50 %")) << overlap_warning(fleet);
}

TEST(FleetSummary, NamesHostsWhereSomethingElseRan) {
  Fleet fleet = even_fleet(3);
  EXPECT_EQ(disturbance_warning(fleet), "");
  for (FleetHost& host : fleet.hosts) host.cpu_use = CpuUse{2, 2, 1.0, 0.0, 0.0, ""};
  EXPECT_EQ(disturbance_warning(fleet), "");
  fleet.hosts[1].cpu_use->others = 1.0;
  EXPECT_EQ(disturbance_warning(fleet),
            "on cn01, other programs used 1.0 of 2 CPUs; run again when it is quiet");
}

TEST(FleetSummary, HowFarApartHostsBegan) {
  Fleet fleet = even_fleet(3);
  EXPECT_DOUBLE_EQ(start_spread(fleet)->seconds, 0);
  for (auto& rounds : fleet.hosts[1].rounds) {
    for (PassTimes& pass : rounds) pass.start = 0.026;
  }
  EXPECT_DOUBLE_EQ(start_spread(fleet)->seconds, 0.025);
  // Of copy 10 %, of triad 5 %: as many rounds of each.
  EXPECT_DOUBLE_EQ(start_spread(fleet)->part, 0.075);
  fleet.clock_error = 0.001;
  EXPECT_DOUBLE_EQ(start_spread(fleet)->seconds, 0.027) << "either of two clocks may be off";
  fleet.hosts.pop_back();
  EXPECT_DOUBLE_EQ(start_spread(fleet)->seconds, 0.026) << "rank 0's is not";
  fleet = even_fleet(3);
  EXPECT_FALSE(start_spread(even_fleet(1)));
  fleet.hosts[2].rounds.clear();
  EXPECT_FALSE(start_spread(fleet));
}

}  // namespace
}  // namespace numatlas
