#include "run/file_flows.h"

#include <chrono>
#include <cstdint>
#include <string>

#include <gtest/gtest.h>

#include "machine/source.h"
#include "memory/source.h"

namespace numatlas {
namespace {

class FileFlows : public ::testing::Test {
 protected:
  FileFlows() {
    machines_ = {*read_recorded_machine(
        "numa:2(memory=34359738368) l3:1(size=16777216) l2:2(size=1048576) core:1 pu:2")};
    options_.pages = {PageKind::base};
    layout_.hosts = {"host"};
    for (int cpu = 0; cpu < 4; ++cpu) add_worker(cpu);
  }
  void add_worker(int cpu) {
    WorkerPlacement place;
    place.thread = static_cast<int>(layout_.workers.size());
    place.cpu = CpuId{cpu};
    place.cpus = {CpuId{cpu}};
    layout_.workers.push_back({0, 0, place});
  }
  PlanInput input() const { return {options_, layout_, machines_, options_.pages}; }
  Expected<Scenario> scenario(const std::string& flows) const {
    const auto file = parse_scenarios("[[scenario]]\nname = \"one\"\n[[scenario.flow]]\n" + flows,
                                      "f.toml", &machines_.front());
    if (!file) return fail(file.error());
    return scenario_of(file->scenarios.front(), input());
  }
  static Flow chase(int worker) {
    Flow flow;
    flow.worker = worker;
    flow.region.bytes = Bytes{mib};
    flow.kernel.seed = 1 + static_cast<std::uint64_t>(worker);
    flow.kernel.as<ChaseParameters>().verify_full = true;
    flow.warm_up = Bytes{2 * mib};
    return flow;
  }

  RunOptions options_;
  Layout layout_;
  std::vector<Machine> machines_;
};

TEST_F(FileFlows, LeftOutKeysAreThoseOfTheOptionsAndTheMachine) {
  options_.seed = 5;
  options_.pages = {PageKind::thp};
  options_.stop.time = std::chrono::milliseconds(50);
  layout_.workers[1].placement.memory = parse_memory_spec("bind:1")->single;
  const auto made = scenario("cpus = \"1,3\"\nkernel = \"chase\"\nsize = \"1MiB\"\n");
  ASSERT_TRUE(made) << full_text(made.error());
  Flow flow = chase(1);
  flow.kernel.seed = 6;
  flow.kernel.as<ChaseParameters>().page = Bytes{2 * mib};
  flow.region.pages = PageKind::thp;
  flow.region.placement = layout_.workers[1].placement.memory;
  ASSERT_EQ(made->flows.size(), 2u);
  EXPECT_EQ(made->flows[0], flow);
  flow.worker = 3;
  flow.kernel.seed = 8;
  flow.region.placement = {};
  EXPECT_EQ(made->flows[1], flow);
  EXPECT_EQ(made->stop.time, std::chrono::milliseconds(50));
}

TEST_F(FileFlows, NodesAndSeedsGoByTheCpu) {
  const auto made = scenario(
      "cpus = \"2,0\"\nkernel = \"chase\"\nsize = \"1MiB\"\nmemory = \"each:1,0\"\nseed = 40\n");
  ASSERT_TRUE(made) << full_text(made.error());
  EXPECT_EQ(made->flows[0].worker, 2);
  EXPECT_EQ(made->flows[0].region.placement.text(), "bind:1");
  EXPECT_EQ(made->flows[0].kernel.seed, 40u);
  EXPECT_EQ(made->flows[1].worker, 0);
  EXPECT_EQ(made->flows[1].region.placement.text(), "bind:0");
  EXPECT_EQ(made->flows[1].kernel.seed, 41u);
}

TEST_F(FileFlows, SharedMemoryAndItsChainAreTheOwners) {
  const auto made = scenario(
      "cpu = 1\nkernel = \"chase\"\nshares = 3\n[[scenario.flow]]\ncpu = 3\nkernel = \"chase\"\n"
      "size = \"4MiB\"\nmemory = \"bind:1\"\nfirst_touch = 1\norder = \"sequential\"\n");
  ASSERT_TRUE(made) << full_text(made.error());
  const Flow& shares = made->flows[0];
  const Flow& owner = made->flows[1];
  EXPECT_EQ(shares.shares, 1);
  EXPECT_EQ(shares.region, owner.region);
  EXPECT_EQ(*shares.kernel.find<ChainSpec>(), *owner.kernel.find<ChainSpec>());
  EXPECT_EQ(shares.warm_up, Bytes{0});
  EXPECT_FALSE(shares.kernel.as<ChaseParameters>().verify_full);  // the owner's proof is for both
  EXPECT_TRUE(owner.kernel.as<ChaseParameters>().verify_full);
  EXPECT_EQ(owner.first_touch, 1);
  EXPECT_EQ(owner.region.bytes, Bytes{4 * mib});
}

TEST_F(FileFlows, SizesLeftOutArePastTheCaches) {
  const auto made = scenario(
      "cpu = 0\nkernel = \"chase\"\n[[scenario.flow]]\ncpu = 1\nkernel = \"copy\"\nsource = { "
      "memory "
      "= \"bind:0\" }\n[[scenario.flow]]\ncpu = 2\nkernel = \"cas\"\n[[scenario.flow]]\ncpu = 3\n"
      "kernel = \"cas answer\"\nshares = 2\n");
  ASSERT_TRUE(made) << full_text(made.error());
  EXPECT_GE(made->flows[0].region.bytes, Bytes{256 * mib});
  EXPECT_GE(made->flows[1].region.bytes, Bytes{16 * mib});
  EXPECT_EQ(made->flows[1].source->bytes, made->flows[1].region.bytes);
  EXPECT_EQ(made->flows[2].region.bytes, Bytes{4 * kib});
}

TEST_F(FileFlows, FlowsAlikeAreOneInTheirText) {
  const std::string text =
      "chase cpu:3 mem:1 size:1MiB pages:thp order:sequential + read cpu:0-1 mem:local size:2MiB "
      "role:load rate:1.5GB/s + copy cpu:2 mem:0 size:1MiB touch:3 stores:nt from:1";
  const auto file = parse_flows(text, &machines_.front());
  ASSERT_TRUE(file) << full_text(file.error());
  EXPECT_EQ(
      flows_text(scenario_of(file->scenarios.front(), input()), layout_),
      "chase cpu:3 mem:1 size:1MiB pages:thp order:sequential + read cpu:0-1 mem:local "
      "size:2MiB role:load rate:1.5GB/s + copy cpu:2 mem:0 size:1MiB touch:3 stores:nt from:1");
}

}  // namespace
}  // namespace numatlas
