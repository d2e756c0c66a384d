#include "fleet/gathering.h"

#include <cstdint>

#include <gtest/gtest.h>

#include "comm/comm.h"
#include "fleet/fleet.h"
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

TEST(FleetGathering, KeepsRoundsByKernel) {
  RunReport run;
  Fleet& fleet = run.fleet.emplace();
  fleet.kernels = {{"copy", "memory", "regular", 10, 20}, {"triad", "memory", "regular", 30, 40}};
  const auto comm = make_single_comm();
  FleetGathering gathering(*comm, run);
  FleetHost host;
  host.name = "cn1";
  host.first_rank = 3;
  host.placement = "node 0: 8 pages";
  host.warnings = {{"setting", "", "odd"}};
  const Machine machine = *read_recorded_machine("numa:1 core:2 pu:1");
  HostKind kind;
  kind.cpu_model = "A";
  kind.processes = kind.workers = 1;
  ASSERT_TRUE(gathering.meet(host, kind, machine));
  ASSERT_EQ(fleet.hosts.size(), 1u);
  EXPECT_EQ(fleet.hosts[0].name, "cn1");
  EXPECT_EQ(run.hosts, std::vector<std::string>{"cn1"});
  EXPECT_EQ(fleet.hosts[0].first_rank, 3);
  EXPECT_EQ(fleet.kinds, std::vector<HostKind>{kind});
  ASSERT_EQ(run.machines.size(), 1u);
  const PassTimes first[] = {{.slowest = 2, .fastest = 1, .sum = 3, .slowest_rank = 3},
                             {.slowest = 4, .fastest = 4, .sum = 8, .slowest_rank = 4}};
  ASSERT_TRUE(gathering.add_round(0, first));
  const PassTimes only_triad[] = {{.slowest = 5, .fastest = 5, .sum = 5, .slowest_rank = 3}};
  ASSERT_TRUE(gathering.add_round(1, only_triad));
  ASSERT_EQ(fleet.hosts[0].rounds.size(), 2u);
  EXPECT_EQ(fleet.hosts[0].rounds[0], std::vector<PassTimes>{first[0]});
  EXPECT_EQ(fleet.hosts[0].rounds[1], (std::vector<PassTimes>{first[1], only_triad[0]}));
  EXPECT_TRUE(fleet.hosts[0].processes.empty());
  const CpuUse use{2.5, 64, 30.0, 1.5, 0.25, ""};
  ASSERT_TRUE(gathering.add_cpu_use(use));
  EXPECT_EQ(fleet.hosts[0].cpu_use, use);
  ASSERT_TRUE(gathering.add_warnings({{"placement", "", "later"}}));
  EXPECT_EQ(fleet.hosts[0].warnings,
            (std::vector<Warning>{{"setting", "", "odd"}, {"placement", "", "later"}}));
  ASSERT_TRUE(gathering.add_processes({{3, {{0, 0}, {1, 0}}, {{1, 2}, {3, 4}}}}));
  EXPECT_EQ(fleet.hosts[0].processes,
            (std::vector<ProcessRounds>{{3, {{0, 0}, {1, 0}}, {{1, 2}, {3, 4}}}}));
}

}  // namespace
}  // namespace numatlas
