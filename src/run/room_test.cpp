#include "run/room.h"

#include <gmock/gmock.h>

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <utility>

#include "base/test_data.h"
#include "benchmarks/test_plan.h"

namespace numatlas {
namespace {

const std::string topologies = test_data() + "/topologies/";

/// Two nodes of 1 GiB with two CPUs each.
testing::Prepared small_machine() {
  return *testing::prepare("matrix", {}, "numa:2(memory=1073741824) core:2 pu:1");
}

TEST(Room, HalfOfANodeIsLeft) {
  const testing::Prepared small = small_machine();
  const auto size = [&](std::size_t regions, double part = default_room) {
    return size_with_room(small.input(), Bytes{256 * mib},
                          flows_on_node(std::vector<int>(regions, 0), NodeId{1}), part);
  };
  EXPECT_EQ(size(1), Bytes{256 * mib}) << "no more than asked for";
  EXPECT_EQ(size(2), Bytes{256 * mib});
  EXPECT_EQ(size(3), Bytes{128 * mib}) << "a power of two";
  EXPECT_EQ(size(2, 0.25), Bytes{128 * mib});
  EXPECT_EQ(size(5000), Bytes{mib}) << "the least";
}

TEST(Room, PartsSourcesAndTheFirstToucherCount) {
  const testing::Prepared small = small_machine();
  Flow flow;
  flow.worker = 0;
  const auto size = [&] { return size_with_room(small.input(), Bytes{gib}, {flow}); };
  EXPECT_EQ(size(), Bytes{512 * mib}) << "local";
  flow.region.placement = {MemoryMode::weighted, {{NodeId{0}, 3}, {NodeId{1}, 1}}};
  EXPECT_EQ(size(), Bytes{512 * mib}) << "3/4 of it: 682 MiB";
  flow.region.placement = {MemoryMode::interleave, {{NodeId{0}, 1}, {NodeId{1}, 1}}};
  EXPECT_EQ(size(), Bytes{gib}) << "half on each";
  flow.source = flow.region;
  EXPECT_EQ(size(), Bytes{512 * mib});
  Flow other;
  other.worker = 2;
  other.first_touch = 0;
  EXPECT_EQ(size_with_room(small.input(), Bytes{gib}, {other, other}), Bytes{256 * mib});
}

TEST(Room, FileCacheCountsAsFree) {
  testing::Prepared full = small_machine();
  full.machines[0].nodes[1].memory_free = Bytes{100 * mib};
  const auto size = [&] {
    return size_with_room(full.input(), Bytes{gib}, flows_on_node({0}, NodeId{1}));
  };
  EXPECT_EQ(size(), Bytes{32 * mib});
  full.machines[0].nodes[1].memory_cache = Bytes{900 * mib};
  EXPECT_EQ(size(), Bytes{256 * mib});
}

TEST(Room, UnderTheLimitOfTheControlGroup) {
  testing::Prepared limited = small_machine();
  Allowance& allowance = limited.machines[0].allowance;
  allowance.memory_limit = Bytes{300 * mib};
  const auto size = [&] {
    return size_with_room(limited.input(), Bytes{gib}, flows_on_node({0}, NodeId{1}));
  };
  EXPECT_EQ(size(), Bytes{128 * mib});
  allowance.memory_used = Bytes{250 * mib};
  EXPECT_EQ(size(), Bytes{16 * mib});
  allowance.memory_cache = Bytes{250 * mib};
  EXPECT_EQ(size(), Bytes{128 * mib});
}

TEST(Room, OfAllHostsTheOneWithLeast) {
  testing::Prepared two = small_machine();
  two.machines.push_back(two.machines.front());
  two.machines.back().nodes[1].memory_free = Bytes{512 * mib};
  two.layout.hosts = {"alpha", "beta"};
  for (std::size_t i = 0; i < 4; ++i) {
    two.layout.workers.push_back(two.layout.workers[i]);
    two.layout.workers.back().host = 1;
  }
  EXPECT_EQ(size_with_room(two.input(), Bytes{gib}, flows_on_node({0}, NodeId{1})),
            Bytes{512 * mib});
  EXPECT_EQ(size_with_room(two.input(), Bytes{gib}, flows_on_node({0, 4}, NodeId{1})),
            Bytes{256 * mib});
}

/// The sizes of all regions of a plan, in MiB.
std::set<std::uint64_t> sizes_of(const testing::Plan& plan) {
  std::set<std::uint64_t> sizes;
  for (const PlannedCase& planned : plan) {
    for (const Flow& flow : planned.scenario.flows) sizes.insert(flow.region.bytes.value / mib);
  }
  return sizes;
}

TEST(Room, DefaultSizesOfAPlanAreOneSizeWhereNodesAreAlike) {
  using Sizes = std::set<std::uint64_t>;
  const auto sizes = [&](const char* command, const char* machine) {
    return sizes_of(testing::sure_plan(command, {}, topologies + machine));
  };
  EXPECT_EQ(sizes("copy", "knl-flat.json"), Sizes{16}) << "512 regions in 16 GiB";
  EXPECT_EQ(sizes("weights", "knl-flat.json"), Sizes{32});
  EXPECT_EQ(sizes("copy", "guest-four-nodes.json"), Sizes{16});
  EXPECT_EQ(sizes("weights", "guest-four-nodes.json"), Sizes{8});
  EXPECT_EQ(sizes("touch", "guest-four-nodes.json"), Sizes{16});
  EXPECT_EQ(sizes("bandwidth", "guest-four-nodes.json"), (Sizes{32, 64})) << "all CPUs, one";
  EXPECT_EQ(*sizes("latency", "guest-four-nodes.json").rbegin(), 64U);
  EXPECT_EQ(*sizes("latency", "epyc-7a53.json").rbegin(), 256U);
  EXPECT_EQ(sizes("bandwidth", "epyc-7a53.json"), (Sizes{16, 128}));
  EXPECT_EQ(sizes("copy", "epyc-7a53.json"), Sizes{16}) << "256 MiB of caches, 64 cores";
  for (const char* command : {"weights", "touch"})
    EXPECT_EQ(sizes(command, "epyc-7a53.json"), Sizes{256});
  for (const char* command : {"bandwidth", "copy", "latency", "weights", "touch"}) {
    EXPECT_EQ(sizes_of(testing::sure_plan(command, {"--size", "4096"},
                                          topologies + "guest-four-nodes.json")),
              Sizes{4096})
        << "what was asked for is not changed";
  }
}

/// The tables of a guest show 16 MiB, whatever its host has; those of an Arm system only caches of
/// cores.
TEST(Room, DefaultSizesExceedCachesThatAreNotListed) {
  for (const char* command : {"bandwidth", "copy", "latency", "matrix"}) {
    for (const bool is_virtual : {false, true}) {
      auto machine = read_recorded_machine("numa:1(memory=68719476736) l2:1(size=1048576) pu:1");
      ASSERT_TRUE(machine);
      EXPECT_LE(*sizes_of(testing::sure_plan(command, {}, *machine)).rbegin(), 256U) << command;
      machine->arch = is_virtual ? "x86_64" : "aarch64";
      if (is_virtual) machine->hypervisor = "kvm";
      EXPECT_EQ(*sizes_of(testing::sure_plan(command, {}, *machine)).rbegin(), 1024U) << command;
    }
  }
}

TEST(Room, TheChaseAndTheLoadersShareASmallNode) {
  const auto plan = testing::sure_plan("loaded", {"--pairs", "0:1", "--kernels", "read"},
                                       topologies + "guest-pmem.json");
  EXPECT_EQ(sizes_of(plan), std::set<std::uint64_t>{32}) << "133 MiB are free";
}

TEST(Room, DefaultSizesExceedLargeLastLevelCaches) {
  const char* machine = "numa:1(memory=274877906944) l3:1(size=503316480) core:4 pu:1";
  using Sizes = std::set<std::uint64_t>;
  EXPECT_EQ(*sizes_of(testing::sure_plan("latency", {}, machine)).rbegin(), 1920U);
  EXPECT_EQ(sizes_of(testing::sure_plan("bandwidth", {}, machine)), (Sizes{480, 1920}));
  EXPECT_EQ(sizes_of(testing::sure_plan("copy", {}, machine)), Sizes{480});
}

TEST(Room, DefaultSizesExceedMemorySideCaches) {
  auto machine =
      read_recorded_machine("numa:2(memory=549755813888) l3:1(size=104857600) core:4 pu:1");
  ASSERT_TRUE(machine);
  for (NumaNode& node : machine->nodes) node.side_caches = {{1, Bytes{64 * gib}, {}}};
  const auto largest = [&](const char* command, testing::Words words) {
    return *sizes_of(testing::sure_plan(command, std::move(words), *machine)).rbegin();
  };
  EXPECT_EQ(largest("latency", {}), 128 * kib);
  EXPECT_EQ(largest("touch", {}), 128 * kib);
  EXPECT_EQ(largest("bandwidth", {}), 128 * kib) << "of one worker";
  EXPECT_EQ(largest("bandwidth", {"--kernels", "read"}), 32 * kib) << "256 GiB over eight workers";
  EXPECT_EQ(largest("matrix", {"--only", "latency"}), 128 * kib);
  EXPECT_EQ(largest("weights", {}), 32 * kib);
  EXPECT_EQ(largest("latency", {"--ignore-side-caches"}), 400U);
  EXPECT_EQ(largest("bandwidth", {"--ignore-side-caches"}), 400U);
  Machine one = *machine;  // of which only the second node has a cache
  one.nodes[0].side_caches.clear();
  for (const char* command : {"latency", "bandwidth", "copy"})
    EXPECT_EQ(*sizes_of(testing::sure_plan(command, {"--cpus", "0-7"}, one)).begin(),
              command == std::string("latency") ? 400U : 100U)
        << command;
  EXPECT_EQ(*sizes_of(testing::sure_plan("bandwidth", {}, one)).rbegin(), 32 * kib);
  machine->nodes[0].memory_free = Bytes{96 * gib};
  EXPECT_EQ(largest("latency", {"--cpus", "0"}), 32 * kib) << "what has room";
}

}  // namespace
}  // namespace numatlas
