#include "run/levels.h"

#include <cstddef>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "machine/cache_share.h"
#include "machine/source.h"

namespace numatlas {
namespace {

/// CPU 0 with 32 KiB, 1 MiB and 16 MiB of data caches; CPU 1 with the first only.
Machine machine() {
  Machine m;
  m.caches = {{1, "data", Bytes{32 * kib}, Bytes{64}, {CpuId{0}}},
              {1, "data", Bytes{32 * kib}, Bytes{64}, {CpuId{1}}},
              {1, "instruction", Bytes{64 * mib}, Bytes{64}, {CpuId{0}}},
              {2, "unified", Bytes{mib}, Bytes{64}, {CpuId{0}}},
              {3, "unified", Bytes{16 * mib}, Bytes{64}, {CpuId{0}}}};
  return m;
}

Flow flow_of(std::uint64_t bytes, std::uint64_t stride = 64) {
  Flow flow;
  flow.region.bytes = Bytes{bytes};
  flow.kernel.as<ChaseParameters>().stride = Bytes{stride};
  return flow;
}

/// A flow on this CPU, whose memory lies on this node where one is named.
struct Placed {
  int cpu = -1;
  std::uint64_t bytes = 0;
  int node = -1;
};

/// The level of the first of some flows that run together. A CPU is on its own node, if any.
std::string level_on(const Machine& machine, const std::vector<Placed>& flows) {
  Layout layout;
  Scenario scenario;
  for (const Placed& one : flows) {
    Worker& worker = layout.workers.emplace_back();
    if (one.cpu >= 0) worker.placement.cpus = {CpuId{one.cpu}};
    if (const Cpu* const cpu = machine.find_cpu(CpuId{one.cpu}))
      worker.placement.cpu_node = cpu->node;
    Flow& flow = scenario.flows.emplace_back(flow_of(one.bytes));
    flow.worker = static_cast<int>(scenario.flows.size()) - 1;
    if (one.node >= 0) flow.region.placement = {MemoryMode::bind, {{NodeId{one.node}, 1}}};
  }
  return level_of_flow(machine, layout, scenario, scenario.flows.front());
}
std::string level_of(const std::vector<Placed>& flows) { return level_on(machine(), flows); }

TEST(Levels, NearestCacheThatHoldsTheSize) {
  EXPECT_EQ(level_of({{0, 64}}), "L1");
  EXPECT_EQ(level_of({{0, 32 * kib}}), "L1");
  EXPECT_EQ(level_of({{0, 33 * kib}}), "L2");
  EXPECT_EQ(level_of({{0, 16 * mib}}), "L3");
  EXPECT_EQ(level_of({{0, 17 * mib}}), "memory");
  EXPECT_EQ(level_of({{1, 64 * kib}}), "memory");
}

TEST(Levels, TablesAreNotAlwaysBelieved) {
  Machine m = machine();
  const CpuSet cpus{CpuId{0}};
  EXPECT_EQ(unlisted_caches(m, cpus), Bytes{});
  m.arch = "x86_64";
  m.hypervisor = "";
  EXPECT_EQ(unlisted_caches(m, cpus), Bytes{});
  EXPECT_EQ(unlisted_caches(m, {CpuId{7}}), Bytes{gib}) << "no cache is listed";
  m.hypervisor = "kvm";
  EXPECT_EQ(unlisted_caches(m, cpus), Bytes{gib});
  m.hypervisor = "";
  m.arch = "aarch64";
  EXPECT_EQ(unlisted_caches(m, cpus), Bytes{gib}) << "a cache of the system";
}

TEST(Levels, WorkersUnderOneCacheShareIt) {
  EXPECT_EQ(level_of({{0, 20 * kib}, {0, 20 * kib}}), "L2");
  EXPECT_EQ(level_of({{0, 10 * mib}, {0, 10 * mib}}), "memory");
  EXPECT_EQ(level_of({{0, 10 * mib}, {1, 10 * mib}}), "L3") << "CPU 1 has none of it";
}

TEST(Levels, OfSharedMemoryIsItsOwners) {
  Layout layout;
  Worker worker;
  worker.placement.cpus = {CpuId{0}};
  layout.workers = {worker, worker};
  Scenario scenario{"shared", {flow_of(64 * mib), flow_of(64 * mib)}, {}};
  scenario.flows[1].worker = 1;
  scenario.flows[1].shares = 0;
  for (const Flow& flow : scenario.flows)
    EXPECT_EQ(level_of_flow(machine(), layout, scenario, flow), "memory");
  for (Flow& flow : scenario.flows) flow.region.bytes = Bytes{16 * kib};
  for (const Flow& flow : scenario.flows)
    EXPECT_EQ(level_of_flow(machine(), layout, scenario, flow), "L1") << "it is there once";
}

TEST(Levels, UnknownIsSaid) {
  EXPECT_EQ(level_of({{-1, 64}}), "-");
  EXPECT_EQ(level_of({{9, 64}}), "-");
  EXPECT_EQ(last_level_cache_bytes(machine(), {CpuId{9}}), Bytes{64 * mib});
}

TEST(Levels, WarmUpReachesTheSteadyState) {
  const Machine m = machine();
  const CpuSet cpu{CpuId{0}};
  // Within the caches two whole passes.
  EXPECT_EQ(warm_up_bytes(m, cpu, flow_of(48 * kib)), Bytes{96 * kib});
  EXPECT_EQ(warm_up_bytes(m, cpu, flow_of(16 * mib)), Bytes{32 * mib});
  // Beyond: what fills the last level twice, but no more than a pass.
  EXPECT_EQ(warm_up_bytes(m, cpu, flow_of(gib)), Bytes{32 * mib});
  EXPECT_EQ(warm_up_bytes(m, cpu, flow_of(20 * mib)), Bytes{20 * mib});
  // Accesses of 8 bytes at random bring a line each.
  Flow random = flow_of(gib);
  random.kernel = KernelSpec{RandomParameters{.access = Access::update, .bytes = 8}};
  EXPECT_EQ(warm_up_bytes(m, cpu, random), Bytes{4 * mib});
  random.kernel = KernelSpec{RandomParameters{.access = Access::update, .bytes = 128}};
  EXPECT_EQ(warm_up_bytes(m, cpu, random), Bytes{32 * mib});
}

TEST(Levels, ChainsWhoseWalkTakesMillisecondsAreWalkedWhole) {
  EXPECT_TRUE(is_walked_whole(flow_of(4 * mib)));
  EXPECT_FALSE(is_walked_whole(flow_of(5 * mib)));
  EXPECT_TRUE(is_walked_whole(flow_of(5 * mib, 128))) << "touches half of its lines";
}

TEST(Levels, OnlyTheLinesOfALongStrideFillCaches) {
  EXPECT_EQ(touched_bytes(flow_of(mib)), Bytes{mib});
  EXPECT_EQ(touched_bytes(flow_of(mib, 8)), Bytes{mib});
  EXPECT_EQ(touched_bytes(flow_of(mib, 4096)), Bytes{16 * kib});
  const Machine m = machine();
  const CpuSet cpu{CpuId{0}};
  // 64 MiB at a page a node are 1 MiB of lines: two passes.
  EXPECT_EQ(warm_up_bytes(m, cpu, flow_of(64 * mib, 4096)), Bytes{128 * mib});
  // 4 GiB at a page a node are 64 MiB of lines: half of them fill 16 MiB twice.
  EXPECT_EQ(warm_up_bytes(m, cpu, flow_of(4 * gib, 4096)), Bytes{2 * gib});
}

/// Node 0 with CPUs 0 and 1 under a cache of 100 MiB, node 1 with CPU 2, 480 MiB; before each 4
/// GiB.
Machine with_side_caches() {
  Machine m;
  m.arch = "x86_64";
  m.hypervisor = "";
  m.caches = {{3, "unified", Bytes{100 * mib}, {}, {CpuId{0}, CpuId{1}}},
              {3, "unified", Bytes{480 * mib}, {}, {CpuId{2}}}};
  m.cpus = {{CpuId{0}, 0, 0, NodeId{0}, 0}};
  for (int id : {0, 1}) {
    NumaNode& node = m.nodes.emplace_back();
    node.id = NodeId{id};
    node.side_caches = {{1, Bytes{4 * gib}, {}}};
  }
  return m;
}

TEST(PastAllCaches, OfTheCpusAndBesideTheMemory) {
  Machine m = with_side_caches();
  const CpuSet two{CpuId{0}, CpuId{1}}, all{CpuId{0}, CpuId{1}, CpuId{2}};
  EXPECT_EQ(past_all_caches(m, two, {}), Bytes{400 * mib}) << "they share one";
  EXPECT_EQ(past_all_caches(m, all, {}), Bytes{4 * 580 * mib});
  EXPECT_EQ(past_all_caches(m, two, {NodeId{0}}), Bytes{8 * gib});
  EXPECT_EQ(past_all_caches(m, two, {NodeId{0}, NodeId{1}}), Bytes{16 * gib});
  m.hypervisor = "kvm";
  EXPECT_EQ(past_all_caches(m, two, {}), Bytes{gib});
  EXPECT_EQ(past_all_caches(m, {CpuId{9}}, {}), Bytes{gib}) << "none is listed";
}

TEST(Levels, MemoryThatLiesInTheCacheBeforeIt) {
  const Machine m = with_side_caches();
  EXPECT_EQ(level_on(m, {{0, 80 * mib, 0}}), "L3");
  EXPECT_EQ(level_on(m, {{0, 450 * mib, 0}}), "memory-side cache");
  EXPECT_EQ(level_on(m, {{0, 450 * mib}}), "memory-side cache") << "where it is first touched";
  EXPECT_EQ(level_on(m, {{0, 3 * gib, 1}, {0, 3 * gib, 1}}), "memory") << "both on one node";
  EXPECT_EQ(level_on(m, {{0, 5 * gib, 0}}), "memory");
  EXPECT_EQ(level_on(m, {{0, 450 * mib, 7}}), "memory") << "no such node";
}

/// As a Xeon 6980P with SNC3: an L3 for the CPUs of three nodes, and another socket's.
Machine with_clusters() {
  Machine m;
  m.hypervisor = "";
  m.arch = "x86_64";
  m.nodes.resize(5);
  m.caches = {{3, "unified", Bytes{504 * mib}, Bytes{64}, {CpuId{0}, CpuId{1}, CpuId{2}}},
              {3, "unified", Bytes{504 * mib}, Bytes{64}, {CpuId{3}}}};
  for (int id = 0; id < 4; ++id) {
    m.nodes[static_cast<std::size_t>(id)].id = NodeId{id};
    m.nodes[static_cast<std::size_t>(id)].cpus = {CpuId{id}};
    m.cpus.push_back({CpuId{id}, id, id / 3, NodeId{id}, 0});
  }
  m.nodes[4].id = NodeId{4};  // without CPUs
  return m;
}

TEST(Levels, NodesThatShareACacheEachHaveAPartOfIt) {
  const Machine m = with_clusters();
  EXPECT_EQ(cache_share(m, m.caches[0], NodeId{1}), Bytes{168 * mib});
  EXPECT_EQ(cache_share(m, m.caches[0], NodeId{3}), Bytes{504 * mib}) << "of the other socket";
  EXPECT_EQ(cache_share(m, m.caches[0], NodeId{4}), Bytes{168 * mib});
  EXPECT_EQ(cache_share(m, m.caches[1], NodeId{3}), Bytes{504 * mib}) << "nobody shares it";
  EXPECT_EQ(own_cache_share(m, m.caches[0], CpuId{2}), Bytes{168 * mib});

  EXPECT_EQ(level_on(m, {{0, 160 * mib}}), "L3");
  EXPECT_EQ(level_on(m, {{0, 192 * mib}}), "memory");
  EXPECT_EQ(level_on(m, {{3, 192 * mib}}), "L3") << "it has all of its cache";
  EXPECT_EQ(level_on(m, {{0, 160 * mib}, {1, 160 * mib}, {2, 160 * mib}}), "L3");
  EXPECT_EQ(level_on(m, {{0, 160 * mib}, {0, 160 * mib}}), "memory") << "both on one node";

  EXPECT_EQ(last_level_caches(m, {CpuId{0}}), Bytes{168 * mib});
  EXPECT_EQ(last_level_caches(m, {CpuId{0}}, {NodeId{3}}), Bytes{504 * mib});
  EXPECT_EQ(last_level_caches(m, {CpuId{0}, CpuId{1}, CpuId{2}, CpuId{3}}), Bytes{1008 * mib});
  EXPECT_EQ(past_all_caches(m, {CpuId{0}}, {NodeId{0}}), Bytes{672 * mib});
}

}  // namespace
}  // namespace numatlas
