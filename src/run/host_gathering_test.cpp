#include "run/host_gathering.h"

#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "comm/comm.h"
#include "machine/source.h"

namespace numatlas {
namespace {

Sample sample(std::int64_t start, std::int64_t end) { return {start, end - start}; }

TEST(ReducePass, AProcessIsItsThreadsTogether) {
  // Rank 4: two threads, 1.0 to 3.5 s in all; rank 7: one, 1.5 to 3.0 s.
  const Sample workers[] = {sample(1'000'000'000, 3'000'000'000),
                            sample(1'200'000'000, 3'500'000'000),
                            sample(1'500'000'000, 3'000'000'000)};
  const int ranks[] = {4, 4, 7};
  const PassTimes times = reduce_pass(workers, ranks);
  EXPECT_DOUBLE_EQ(times.slowest, 2.5);
  EXPECT_DOUBLE_EQ(times.node, 2.5);
  EXPECT_DOUBLE_EQ(times.start, 1.0);
  EXPECT_EQ(times.slowest_rank, 4);
  EXPECT_DOUBLE_EQ(times.fastest, 1.5);
  EXPECT_DOUBLE_EQ(times.sum, 4.0);
  // All three ran from 1.5 to 3.0 s, of the 2.5 s.
  EXPECT_DOUBLE_EQ(times.overlap, 0.6);
  EXPECT_EQ(process_passes(workers, ranks), (std::vector<ProcessPass>{{0, 2.5}, {0.5, 1.5}}));
}

TEST(ReducePass, OnesThatRanInTurnDoNotOverlap) {
  const Sample workers[] = {sample(0, 100), sample(200, 300)};
  const int ranks[] = {0, 1};
  const PassTimes times = reduce_pass(workers, ranks);
  EXPECT_EQ(times.overlap, 0);
  // Not the longest of them: the host was at work from the first to the last.
  EXPECT_DOUBLE_EQ(times.node, 300e-9);
  EXPECT_DOUBLE_EQ(times.slowest, 100e-9);
  EXPECT_EQ(reduce_pass({}, {}), PassTimes{});
}

TEST(HostKind, SomeMemoryMoreOrLessIsAlike) {
  HostKind a;
  a.memory = Bytes{503 * gib};
  HostKind b = a;
  b.memory = Bytes{504 * gib};
  EXPECT_TRUE(alike(a, b));
  b.memory = Bytes{472 * gib};  // a DIMM is missing
  EXPECT_FALSE(alike(a, b));
  b = a;
  b.os = "another";
  EXPECT_FALSE(alike(a, b));
}

TEST(HostGathering, KeepsPassesByCase) {
  RunReport run;
  run.cases.resize(2);
  const auto comm = make_single_comm();
  HostGathering gathering(*comm, run);
  HostRow host;
  host.first_rank = 3;
  host.processes = host.workers = 1;
  host.placement = "node 0: 8 pages";
  host.identity.boot = "3f9a62";
  const Machine machine = *read_recorded_machine("numa:1 core:2 pu:1");
  ASSERT_TRUE(
      gathering.meet("cn1", host, kind_of(machine, 1, 1), {{"setting", "", "odd"}}, machine));
  EXPECT_EQ(run.hosts, std::vector<std::string>{"cn1"});
  EXPECT_EQ(run.host_rows, std::vector<HostRow>{host});
  ASSERT_EQ(run.machines.size(), 1u);
  const PassTimes first[] = {{.slowest = 2, .fastest = 1, .sum = 3, .slowest_rank = 3},
                             {.slowest = 4, .fastest = 4, .sum = 8, .slowest_rank = 4}};
  ASSERT_TRUE(gathering.add_round(0, first));
  const PassTimes only_triad[] = {{.slowest = 5, .fastest = 5, .sum = 5, .slowest_rank = 3}};
  ASSERT_TRUE(gathering.add_round(1, only_triad));
  const auto totals = [&](std::size_t one) { return run.cases[one].host_totals.at(0); };
  EXPECT_EQ(totals(0).passes, std::vector<PassTimes>{first[0]});
  EXPECT_EQ(totals(1).passes, (std::vector<PassTimes>{first[1], only_triad[0]}));
  const CpuUse use{2.5, 64, 30.0, 1.5, 0.25, ""};
  ASSERT_TRUE(gathering.add_cpu_use(use));
  EXPECT_EQ(run.cpu_use, std::vector<CpuUse>{use});
  ASSERT_TRUE(gathering.add_warnings({{"placement", "", "later"}}));
  EXPECT_EQ(gathering.warnings(),
            (std::vector<Warning>{{"setting", "", "odd"}, {"placement", "", "later"}}));
  ASSERT_TRUE(gathering.add_processes({{{3, {0, 0}, {1, 2}}}, {{3, {1, 0}, {3, 4}}}}));
  EXPECT_EQ(totals(1).processes, (std::vector<ProcessPasses>{{3, {1, 0}, {3, 4}}}));
  gathering.run_again();
  ASSERT_TRUE(gathering.add_round(0, first));
  EXPECT_EQ(totals(0).again, std::vector<PassTimes>{first[0]});
  EXPECT_EQ(totals(0).passes.size(), 1u);
}

/// Another host's words, as the group would bring them.
class TwoHosts final : public Group {
 public:
  int rank() const override { return 0; }
  int size() const override { return 2; }
  Expected<void> barrier() override { return {}; }
  Expected<std::vector<std::string>> all_gather(const std::string& mine) override {
    return gather(mine);
  }
  Expected<std::vector<std::string>> gather(const std::string& mine) override {
    std::string other = mine;
    if (const auto at = other.find("cn1"); at != std::string::npos) other.replace(at, 3, "cn2");
    if (const auto at = other.find("odd 1"); at != std::string::npos) other.replace(at, 5, "odd 2");
    return std::vector<std::string>{mine, other.find("cn2") == std::string::npos ? "" : other};
  }
  Expected<std::string> broadcast(const std::string& from_root) override { return from_root; }
  Expected<std::uint64_t> largest(std::uint64_t mine) override { return mine; }
};

TEST(HostGathering, WhatAllHostsSayNamesNone) {
  RunReport run;
  TwoHosts group;
  HostGathering gathering(group, run);
  HostRow host;
  host.processes = host.workers = 1;
  const Machine machine = *read_recorded_machine("numa:1 core:2 pu:1");
  ASSERT_TRUE(gathering.meet("cn1", host, kind_of(machine, 1, 1),
                             {{"setting", "", "same"}, {"setting", "", "odd 1"}}, machine));
  EXPECT_EQ(run.machines.size(), 1u) << "of one kind";
  EXPECT_EQ(gathering.warnings(), (std::vector<Warning>{{"setting", "", "same"},
                                                        {"setting", "cn1", "odd 1"},
                                                        {"setting", "cn2", "odd 2"}}));
}

}  // namespace
}  // namespace numatlas
