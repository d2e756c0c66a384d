#include "run/gathering.h"

#include <algorithm>
#include <cmath>
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
  EXPECT_EQ(times.slowest_rank, 4);
  EXPECT_DOUBLE_EQ(times.fastest, 1.5);
  EXPECT_DOUBLE_EQ(times.sum, 4.0);
  // All three ran from 1.5 to 3.0 s, of the 2.5 s.
  EXPECT_DOUBLE_EQ(times.overlap, 0.6);
  std::vector<ProcessPasses> processes{{4, {}, {}}, {7, {}, {}}};
  add_pass(workers, ranks, processes);
  EXPECT_EQ(processes, (std::vector<ProcessPasses>{{4, {0}, {2.5}}, {7, {0.5}, {1.5}}}));
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

TEST(Sent, HasAllDigits) {
  FlowResult flow;
  flow.address = ~std::uint64_t{0};
  flow.stretch_bytes = {1.0 / 3};
  flow.policy.note = "file \xff";  // names of files are bytes
  const auto read = received<std::vector<FlowResult>>(to_send(std::vector<FlowResult>{flow}));
  ASSERT_TRUE(read) << full_text(read.error());
  ASSERT_EQ(read->size(), 1u);
  EXPECT_EQ(read->front().address, flow.address);
  EXPECT_EQ(read->front().stretch_bytes, flow.stretch_bytes) << "not rounded as in files";
  flow.figures.emplace_back().estimate = std::nan("");
  const auto none = received<FlowResult>(to_send(flow));
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().kind, ErrorKind::internal);
}

TEST(Gathering, FoldsEachHost) {
  const auto comm = make_single_comm();
  const auto most = [](const std::vector<int>& ranks) { return std::ranges::max(ranks) + 0.5; };
  const auto all = gather_by_host(*comm, 7, most);
  ASSERT_TRUE(all);
  EXPECT_EQ(*all, std::vector<double>{7.5});
}

TEST(SaidOnce, WhatAllHostsSayNamesNone) {
  const SaidByHosts said{{0, {"setting", "", "same"}},
                         {0, {"setting", "", "odd 1"}},
                         {1, {"setting", "", "same"}},
                         {1, {"setting", "worker 3", "odd 2"}},
                         {1, {"setting", "worker 3", "odd 2"}}};
  EXPECT_EQ(said_once(said, {"cn1", "cn2"}),
            (std::vector<Warning>{{"setting", "", "same"},
                                  {"setting", "cn1", "odd 1"},
                                  {"setting", "cn2, worker 3", "odd 2"}}));
}

PlacementSeen pages_on(int node, std::uint64_t pages, std::uint64_t asked) {
  Trace trace;
  trace.residency.pages_by_node[node] = asked;
  trace.residency.pages_total = pages;
  trace.residency.pages_asked = asked;
  trace.residency.page_size = Bytes{4096};
  trace.policy.note = "by touch";
  return placement_seen(trace);
}

TEST(PlacementSeen, AddsRanksAndScalesSamples) {
  const PlacementSeen first = pages_on(0, 100, 100), second = pages_on(1, 1000, 10);
  const PlacementSeen all = fold({first, fold({first, second})});
  EXPECT_TRUE(to_text(all).starts_with("800 KiB on node 0, 3.9 MiB on node 1, by a sample (4 KiB"));
  EXPECT_EQ(all.warnings, (std::vector<Warning>{{"placement-method", "", "by touch"}}));
}

TEST(PlacementSeen, ADeviceTellsOfAllPages) {
  Trace trace;
  trace.residency.pages_by_node[2] = trace.residency.pages_total = 100;
  trace.residency.page_size = Bytes{4096};
  trace.residency.told_by = "device";
  EXPECT_EQ(to_text(placement_seen(trace)), "400 KiB on node 2 (4 KiB (node by the device))");
}

TEST(PlacementSeen, SaysWhatIsNotKnown) {
  Trace trace;
  trace.residency.pages_total = trace.residency.pages_asked = 100;
  trace.residency.page_size = Bytes{4096};
  trace.residency.pages_by_node[0] = 50;
  trace.residency.untouched = 10;
  const PlacementSeen seen = placement_seen(trace);
  EXPECT_TRUE(to_text(fold({seen, seen})).starts_with("400 KiB on node 0, 320 KiB not observed"));
  EXPECT_EQ(to_text(fold({})), "not observed");
}

TEST(Hosts, PassesStandByCase) {
  RunReport run;
  run.cases.resize(2);
  const auto comm = make_single_comm();
  const Machine machine = *read_recorded_machine("numa:1 core:2 pu:1");
  HostWords host{"cn1", {}, kind_of(machine, 1, 1), {{"setting", "", "odd"}}};
  host.row.first_rank = 3;
  host.row.processes = host.row.workers = 1;
  host.row.placement = "32 KiB on node 0";
  host.row.identity.boot = "3f9a62";
  HostWords other = host;
  other.name = "cn2";
  SaidByHosts said;
  ASSERT_TRUE(meet_hosts(*comm, {host, other}, machine, run, said));
  EXPECT_EQ(run.hosts, (std::vector<std::string>{"cn1", "cn2"}));
  EXPECT_EQ(run.host_rows, (std::vector<HostRow>{host.row, host.row}));
  EXPECT_EQ(run.machines.size(), 1u) << "of one kind";
  const PassTimes first[] = {{.slowest = 2, .fastest = 1, .sum = 3, .slowest_rank = 3},
                             {.slowest = 4, .fastest = 4, .sum = 8, .slowest_rank = 4}};
  ASSERT_TRUE(add_round(*comm, 0, first, &HostTotals::passes, run));
  const PassTimes only_triad[] = {{.slowest = 5, .fastest = 5, .sum = 5, .slowest_rank = 3}};
  ASSERT_TRUE(add_round(*comm, 1, only_triad, &HostTotals::passes, run));
  const auto totals = [&](std::size_t one) { return run.cases[one].host_totals.at(0); };
  EXPECT_EQ(totals(0).passes, std::vector<PassTimes>{first[0]});
  EXPECT_EQ(totals(1).passes, (std::vector<PassTimes>{first[1], only_triad[0]}));
  ASSERT_TRUE(add_round(*comm, 0, first, &HostTotals::again, run));
  EXPECT_EQ(totals(0).again, std::vector<PassTimes>{first[0]});
  EXPECT_EQ(totals(0).passes.size(), 1u);
  // A later case.
  other.row.placement = "node 1: 8 pages";
  ASSERT_TRUE(meet_hosts(*comm, {host, other}, machine, run, said));
  EXPECT_EQ(run.hosts.size(), 2u);
  EXPECT_EQ(said_once(said, run.hosts),
            (std::vector<Warning>{
                {"setting", "", "odd"},
                {"placement", "cn2", "a later case's memory lay elsewhere: node 1: 8 pages"}}));
}

}  // namespace
}  // namespace numatlas
