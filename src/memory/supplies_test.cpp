#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "base/test_folder.h"
#include "base/tree.h"
#include "memory/buffer.h"
#include "memory/source.h"
#include "placement/test_machines.h"

namespace numatlas {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

Region region(std::uint64_t bytes, const std::string& memory, PageKind pages = PageKind::base) {
  Region region;
  region.bytes = Bytes{bytes};
  region.placement = parse_memory_spec(memory)->single;
  region.pages = pages;
  return region;
}

/// Nodes 0 and 1 with 64 GiB, node 2 with 8 GiB free.
Machine three_nodes() { return testing::build({{0, {{0}}}, {1, {{1}}}, {2, {}, Bytes{8 * gib}}}); }

std::string problem(const std::vector<Region>& regions, const Machine& machine) {
  const auto fits = check_fits(regions, machine);
  if (!fits) {
    EXPECT_EQ(fits.error().kind, ErrorKind::resource);
  }
  return fits ? "" : full_text(fits.error());
}

TEST(CheckFits, TenPebibytes) {
  const std::uint64_t huge = 10 * 1024 * 1024 * gib;
  for (const char* memory : {"local", "bind:0", "interleave:0,1", "weighted:0=3,1=1", "prefer:2"}) {
    EXPECT_THAT(problem({region(huge / 2, memory), region(huge / 2, memory)}, three_nodes()),
                AllOf(HasSubstr("size: 2 workers request 10 PiB"),
                      HasSubstr("free on node 0: 64 GiB"), HasSubstr("free on node 2: 8 GiB")))
        << memory;
  }
  // Sums do not wrap round.
  const std::uint64_t most = ~std::uint64_t{0} / 2 + 1;
  EXPECT_NE(problem({region(most, "local"), region(most, "local")}, three_nodes()), "");
}

TEST(CheckFits, BoundRegionsShareTheirNode) {
  EXPECT_EQ(problem({region(30 * gib, "bind:0"), region(30 * gib, "bind:0")}, three_nodes()), "");
  EXPECT_THAT(
      problem({region(30 * gib, "bind:0"), region(33 * gib, "bind:0")}, three_nodes()),
      HasSubstr(
          "2 workers request 63 GiB, but 62.7 GiB is available on node 0 (1.3 GiB reserved)"));
  EXPECT_EQ(problem({region(60 * gib, "bind:0,2"), region(4 * gib, "bind:2")}, three_nodes()), "");
  EXPECT_THAT(
      problem({region(66 * gib, "bind:0,2"), region(6 * gib, "bind:2")}, three_nodes()),
      AllOf(HasSubstr("2 workers request 72 GiB, but "), HasSubstr(" is available on node 0,2 ")));
}

TEST(CheckFits, SharesOfInterleaveAndWeights) {
  EXPECT_EQ(problem({region(15 * gib, "interleave:0,2")}, three_nodes()), "");
  EXPECT_THAT(problem({region(17 * gib, "interleave:0,2")}, three_nodes()),
              HasSubstr("8.5 GiB of it on node 2"));
  EXPECT_EQ(problem({region(28 * gib, "weighted:0=3,2=1")}, three_nodes()), "");
  EXPECT_THAT(
      problem({region(28 * gib, "weighted:0=3,2=1"), region(2 * gib, "bind:2")}, three_nodes()),
      HasSubstr("9 GiB of it on node 2"));
}

TEST(CheckFits, LocalMayLieAnywhereThatIsAllowed) {
  EXPECT_EQ(problem({region(100 * gib, "local")}, three_nodes()), "");
  Machine machine = three_nodes();
  machine.allowance.memory_nodes = NodeSet{NodeId{2}};
  EXPECT_THAT(problem({region(9 * gib, "local")}, machine),
              AllOf(HasSubstr("on node"), HasSubstr("8 GiB")));
}

TEST(CheckFits, LimitOfTheCgroup) {
  Machine machine = three_nodes();
  machine.allowance.memory_limit = Bytes{10 * gib};
  machine.allowance.memory_used = Bytes{6 * gib};
  machine.allowance.memory_limit_source = "/sys/fs/cgroup/job/memory.max";
  EXPECT_EQ(problem({region(3 * gib, "local")}, machine), "");
  EXPECT_THAT(problem({region(2 * gib, "bind:0"), region(2 * gib, "bind:1")}, machine),
              AllOf(HasSubstr("is available under the limit of the cgroup"),
                    HasSubstr("limit of the cgroup: 10 GiB with 6 GiB used "
                              "(/sys/fs/cgroup/job/memory.max)")));
  machine.allowance.memory_used = Bytes{11 * gib};
  EXPECT_NE(problem({region(mib, "local")}, machine), "");
}

TEST(CheckFits, LiveFiguresCountCacheThatCanBeDropped) {
  testing::CallsGuard guard;
  const testing::TestFolder folder;
  const std::filesystem::path& root = folder.path();
  const auto node = root / "sys/devices/system/node/node0";
  const auto group = root / "sys/fs/cgroup/job";
  std::filesystem::create_directories(node);
  std::filesystem::create_directories(group);
  std::ofstream(node / "meminfo") << "Node 0 MemTotal:       67108864 kB\n"
                                     "Node 0 MemFree:         1048576 kB\n"
                                     "Node 0 Active(file):    2097152 kB\n"
                                     "Node 0 Inactive(file):  3145728 kB\n";
  std::filesystem::create_directories(root / "proc/self");
  std::ofstream(root / "proc/self/cgroup") << "0::/job\n";
  std::ofstream(group / "memory.max") << "max\n";
  std::ofstream(group / "memory.high") << 8 * gib << '\n';
  std::ofstream(group / "memory.current") << 7 * gib << '\n';
  std::ofstream(group / "memory.stat")
      << "anon 5\nactive_file " << 4 * gib << "\ninactive_file " << gib << "\n";
  running_system() = Tree(root);
  Machine machine = testing::build({{0, {{0}}}});
  machine.source = "live";
  EXPECT_EQ(problem({region(5 * gib, "bind:0")}, machine), "");
  EXPECT_THAT(problem({region(6 * gib, "bind:0")}, machine),
              AllOf(HasSubstr("free on node 0: 6 GiB (5 GiB of it file cache that can be dropped)"),
                    HasSubstr("limit of the cgroup: 8 GiB with 2 GiB used "
                              "(/sys/fs/cgroup/job/memory.high)")));
}

TEST(CheckFits, PoolsAreTheirOwnMemory) {
  Machine machine = three_nodes();
  machine.nodes[0].huge_pages = {{Bytes{2 * mib}, 600, 512}};
  machine.nodes[1].huge_pages = {{Bytes{2 * mib}, 100, 100}};
  // Not from the memory that is free: a limit of next to nothing does not matter.
  machine.allowance.memory_limit = Bytes{mib};
  EXPECT_EQ(problem({region(gib, "bind:0", PageKind::huge_2m)}, machine), "");
  EXPECT_THAT(problem({region(gib, "bind:0", PageKind::huge_2m),
                       region(2 * mib, "bind:0", PageKind::huge_2m)},
                      machine),
              HasSubstr("pages 2M: 513 pages of 2 MiB are needed on node 0, 512 are free"));
  EXPECT_THAT(problem({region(2 * gib, "local", PageKind::huge_2m)}, machine),
              HasSubstr("1024 pages of 2 MiB are needed, 612 are free"));
  EXPECT_EQ(check_fits({region(gib, "local", PageKind::huge_1g)}, machine).error().kind,
            ErrorKind::unavailable);
}

TEST(CheckFits, EachPoolMustHoldItsShare) {
  Machine machine = three_nodes();
  machine.nodes[0].huge_pages = {{Bytes{2 * mib}, 1000, 1000}};
  machine.nodes[1].huge_pages = {{Bytes{2 * mib}, 200, 200}};
  EXPECT_EQ(problem({region(800 * mib, "interleave:0,1", PageKind::huge_2m)}, machine), "");
  EXPECT_THAT(problem({region(gib, "interleave:0,1", PageKind::huge_2m)}, machine),
              HasSubstr("256 pages of 2 MiB are needed on node 1, 200 are free"));
  EXPECT_EQ(problem({region(gib, "weighted:0=4,1=1", PageKind::huge_2m)}, machine), "");
  EXPECT_THAT(problem({region(802 * mib, "bind:0,1", PageKind::huge_2m),
                       region(1600 * mib, "bind:0", PageKind::huge_2m)},
                      machine),
              HasSubstr("1201 pages of 2 MiB are needed on node 0-1, 1200 are free"));
}

TEST(CheckFits, NothingKnownNothingRefusedButTheAddressSpace) {
  Machine machine;
  machine.source = "test";
  EXPECT_EQ(problem({region(gib, "local")}, machine), "");
  EXPECT_THAT(
      problem({region(std::uint64_t{1} << 50, "local")}, machine),
      HasSubstr("size: 1 worker requests 1 PiB, but 128 TiB is available in the address space"));
}

TEST(CheckFits, TransparentHugePagesAreTakenWhole) {
  Machine machine = three_nodes();
  const std::vector<Region> twenty(20, region(mib, "bind:2", PageKind::thp));
  machine.page_size = Bytes{4 * kib};
  EXPECT_EQ(problem(twenty, machine), "");
  machine.page_size = Bytes{64 * kib};
  EXPECT_THAT(problem(twenty, machine), HasSubstr("20 workers request 10 GiB, but "));
  EXPECT_EQ(problem(std::vector<Region>(20, region(mib, "bind:2")), machine), "");
  const std::uint64_t most = ~std::uint64_t{0};
  EXPECT_NE(problem({region(most, "local", PageKind::thp)}, machine), "");
}

TEST(CheckFits, LimitsOfTheShellAreThoseOfEachProcess) {
  Machine machine = three_nodes();
  const std::vector<Region> some{region(700 * mib, "local")};
  for (const auto of : {Limit::Of::address_space, Limit::Of::data}) {
    machine.allowance.other_limits = {{of, gib, 200 * mib, {}, {}, "ulimit -v"}};
    EXPECT_TRUE(check_fits(std::vector<ProcessDemand>{{some}, {some}}, machine));
    const auto two = check_fits(std::vector<ProcessDemand>{{{some[0], some[0]}}}, machine);
    ASSERT_FALSE(two);
    EXPECT_EQ(two.error().subject, "size");
    EXPECT_THAT(two.error().message,
                AllOf(HasSubstr("2 workers request 1.4 GiB, but 760 MiB is available under the "
                                "limit of "),
                      HasSubstr(": 1 GiB with 200 MiB used (ulimit -v)")));
    const auto threads = check_fits(std::vector<ProcessDemand>{{some, 16}}, machine);
    ASSERT_FALSE(threads);
    EXPECT_THAT(threads.error().message, HasSubstr("; stacks of threads to start: 128 MiB"));
  }
}

TEST(CheckFits, WhatTheControlGroupAllowsOfAPool) {
  Machine machine = three_nodes();
  machine.nodes[0].huge_pages = {{Bytes{2 * mib}, 600, 512}};
  const std::string file = "/sys/fs/cgroup/pod/hugetlb.2MB.max";
  machine.allowance.other_limits = {
      {Limit::Of::huge_pages, 8 * mib, 2 * mib, {}, Bytes{2 * mib}, file}};
  EXPECT_EQ(problem({region(6 * mib, "local", PageKind::huge_2m)}, machine), "");
  EXPECT_EQ(problem({region(8 * mib, "local", PageKind::huge_2m)}, machine),
            "pages 2M: 4 pages of 2 MiB are needed, the control group allows 3 (limit of pages of "
            "2 MiB: 8 MiB with 2 MiB used (" +
                file + "))");
  machine.allowance.other_limits.front().most = 0;
  EXPECT_THAT(page_kind_problem(PageKind::huge_2m, machine, {}, Bytes{2 * mib})->message,
              HasSubstr("the control group allows none (limit of pages of 2 MiB: 0 B"));
  EXPECT_EQ(problem({region(8 * mib, "local")}, machine), "");
}

std::vector<Bytes> sizes(std::vector<Region> regions, const Machine& machine, Bytes size) {
  return sizes_with_room({{std::move(regions)}}, machine, size, 0.5);
}

TEST(SizesWithRoom, FollowThePoolsThatThePagesComeFrom) {
  Machine machine = three_nodes();
  for (NumaNode& node : machine.nodes) node.memory_free = Bytes{gib};
  const Region one = region(1, "bind:0", PageKind::huge_1g), base = region(1, "bind:0");
  EXPECT_EQ(sizes({one}, machine, Bytes{8 * gib}), std::vector{Bytes{512 * mib}}) << "no pool";
  machine.nodes[0].huge_pages = {{Bytes{gib}, 376, 40}};
  EXPECT_EQ(sizes({one}, machine, Bytes{8 * gib}), std::vector{Bytes{8 * gib}});
  EXPECT_EQ(sizes({one}, machine, Bytes{64 * gib}), std::vector{Bytes{32 * gib}});
  EXPECT_EQ(sizes(std::vector<Region>(41, one), machine, Bytes{64 * gib}).back(), Bytes{gib});
  EXPECT_EQ(sizes({one, base}, machine, Bytes{8 * gib}),
            (std::vector{Bytes{8 * gib}, Bytes{512 * mib}}));
}

TEST(SizesWithRoom, FollowTheLimitsOfTheShell) {
  Machine machine = three_nodes();
  machine.allowance.other_limits = {
      {Limit::Of::address_space, 600 * mib, 80 * mib, {}, {}, "ulimit -v"}};
  EXPECT_EQ(sizes({region(1, "local")}, machine, Bytes{gib}), std::vector{Bytes{256 * mib}});
  EXPECT_EQ(sizes({region(1, "local"), region(1, "bind:1")}, machine, Bytes{gib}),
            std::vector<Bytes>(2, Bytes{128 * mib}));
}

TEST(CheckFits, NullRegionsTakeNothing) {
  Region null = region(std::uint64_t{1} << 50, "bind:2");
  null.placement.source = "null";
  EXPECT_EQ(problem({null}, three_nodes()), "");
}

TEST(BestPages, AreHugeWhereTheRecordSaysSoAndTheyAreSmallEnough) {
  Machine machine = three_nodes();
  EXPECT_EQ(best_pages(machine).kind, PageKind::base);
  EXPECT_THAT(best_pages(machine).why_base, HasSubstr("says nothing"));
  machine.settings = {
      {"thp_enabled", "madvise", "/sys/kernel/mm/transparent_hugepage/enabled", ""}};
  EXPECT_EQ(best_pages(machine).kind, PageKind::thp);
  EXPECT_EQ(best_pages(machine).why_base, "");
  machine.page_size = Bytes{64 * kib};
  EXPECT_THAT(best_pages(machine).why_base, HasSubstr("512 MiB"));
  machine.page_size = Bytes{16 * kib};
  EXPECT_EQ(best_pages(machine).kind, PageKind::thp);
  machine.settings.front().value = "never";
  EXPECT_EQ(best_pages(machine).kind, PageKind::base);
  EXPECT_THAT(best_pages(machine).why_base, HasSubstr("'never'"));
}

}  // namespace
}  // namespace numatlas
