#include "benchmarks/stream/summary.h"

#include <gtest/gtest.h>

#include "analysis/test_hosts.h"

namespace numatlas::hosts_summary_test {
namespace {

using testing::even_hosts;
using testing::pass;
using testing::passes;
using testing::passes_of;

TEST(HostsSummary, RowsOfEvenHosts) {
  const auto rows = kernel_rows(even_hosts(3));
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

TEST(HostsSummary, TheFirstRoundIsLeftOut) {
  RunReport run = even_hosts(2, 3);
  passes(run, 0, 1)[0].node = 99;
  EXPECT_DOUBLE_EQ(kernel_rows(run)[0]->host.maximum, 0.25);
  // Unless there is no other.
  for (std::size_t host = 0; host < 2; ++host) passes(run, 0, host).resize(1);
  EXPECT_DOUBLE_EQ(kernel_rows(run)[0]->host.maximum, 99);
}

/// Host i is i % slower than the first.
RunReport uneven_hosts(std::size_t hosts) {
  RunReport run = even_hosts(hosts);
  for (std::size_t i = 0; i < hosts; ++i)
    testing::slow_down(run, i, 1 / (1 - 0.01 * static_cast<double>(i)));
  return run;
}

TEST(HostsSummary, TheIntervalOverHostsIsOfHostsNotOfRounds) {
  // Hosts differ; rounds of a host do not. However many rounds there are, few hosts say little.
  for (const std::size_t hosts : {2U, 3U, 5U}) {
    const KernelRows triad = *kernel_rows(uneven_hosts(hosts))[1];
    EXPECT_EQ(triad.host.median->n, hosts);
    EXPECT_FALSE(triad.host.median->low) << hosts;
    EXPECT_FALSE(triad.process.median->low) << hosts;
  }
  const Estimate six = *kernel_rows(uneven_hosts(6))[1]->host.median;
  EXPECT_DOUBLE_EQ(six.value, 12e9 * 0.975);
  // Of 6 values the weight of the second is 0.3571 (Hettmansperger and Sheather, gamma = 0.95).
  EXPECT_NEAR(*six.low, 12e9 * (0.95 + 0.01 * 5 / 14), 1e3);
  EXPECT_NEAR(*six.high, 12e9 * (1 - 0.01 * 5 / 14), 1e3);
}

TEST(HostsSummary, TheIntervalOfOneHostIsOfItsRounds) {
  RunReport run = even_hosts(1);
  passes(run, 1, 0)[4].node = 0.75;
  const Estimate median = *kernel_rows(run)[1]->host.median;
  EXPECT_EQ(median.n, 9u);
  EXPECT_DOUBLE_EQ(median.value, 12e9);
  EXPECT_DOUBLE_EQ(*median.low, 8e9);
  EXPECT_DOUBLE_EQ(*median.high, 12e9);
}

TEST(HostsSummary, HostsWithUnlikeNumbersOfProcesses) {
  RunReport run = even_hosts(2);
  run.host_rows[1].processes = 1;
  for (std::vector<PassTimes>& rounds : passes_of(run, 1))
    for (PassTimes& one : rounds) one = pass(0.25, 1, 4);
  const KernelRows copy = *kernel_rows(run)[0];
  EXPECT_DOUBLE_EQ(copy.host.maximum_rate, 16e9);
  EXPECT_DOUBLE_EQ(copy.host.minimum_rate, 4e9);
  EXPECT_DOUBLE_EQ(copy.process.average, 0.21875);  // of five processes
  EXPECT_DOUBLE_EQ(copy.host.average_rate, 10e9);
}

TEST(HostsSummary, KernelsThatNobodyFinished) {
  RunReport run = even_hosts(2);
  for (std::size_t host = 0; host < 2; ++host) passes(run, 1, host).clear();
  const auto rows = kernel_rows(run);
  EXPECT_TRUE(rows[0].has_value());
  EXPECT_FALSE(rows[1].has_value());
  EXPECT_FALSE(bandwidth_of(rates_of(run, run.cases[1], 0, {})).estimate);
  EXPECT_EQ(finished_rounds(run), 0u);
  EXPECT_EQ(finished_rounds(even_hosts(2, 7)), 7u);
  EXPECT_EQ(finished_rounds(RunReport{}), 0u);
}

TEST(HostsSummary, AHostsRate) {
  RunReport run = even_hosts(1, 4);
  passes(run, 0, 0)[2].node = 0.5;
  const Figure rate = bandwidth_of(rates_of(run, run.cases[0], 0, passes(run, 0, 0)));
  EXPECT_DOUBLE_EQ(*rate.value(), 16e9);
  EXPECT_DOUBLE_EQ(rate.summary->min, 8e9);
}

TEST(HostsSummary, NamesHostsWhoseWorkersDidNotRunTogether) {
  RunReport run = even_hosts(3);
  EXPECT_EQ(overlap_warning(run), "");
  for (std::vector<PassTimes>& rounds : passes_of(run, 1)) {
    for (PassTimes& pass : rounds) pass.overlap = 0.5;
  }
  EXPECT_TRUE(overlap_warning(run).ends_with(": cn01 50 %")) << overlap_warning(run);
}

}  // namespace
}  // namespace numatlas::hosts_summary_test
