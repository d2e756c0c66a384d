#include "run/file_flows.h"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "machine/source.h"
#include "memory/source.h"

namespace numatlas {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

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
    const auto file =
        parse_scenarios("[[scenario]]\nname = \"one\"\n[[scenario.flow]]\n" + flows, "f.toml");
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

TEST_F(FileFlows, CopiesOfGpusAreFilledInAsTransferHasThem) {
  options_.pages = {PageKind::thp};
  machines_[0].gpus.emplace_back().index = 3;
  layout_.workers[1].placement.memory = parse_memory_spec("bind:1")->single;
  const auto made = scenario(
      "cpu = 1\nkernel = \"device copy\"\nsize = \"64KiB\"\nmemory = \"gpu:3\"\n"
      "[[scenario.flow]]\ncpu = 2\nkernel = \"device copy\"\nsize = \"1GiB\"\n"
      "memory = \"bind:0\"\npages = \"base\"\nsource = { memory = \"gpu:3\" }\n"
      "[[scenario.flow]]\ncpu = 3\nkernel = \"device chase\"\nsize = \"1MiB\"\ngpu = 3\n");
  ASSERT_TRUE(made) << full_text(made.error());
  const Flow& in = made->flows[0];
  EXPECT_EQ(in.region.placement.text(), "gpu:3");
  EXPECT_EQ(in.region.pages, PageKind::base);
  ASSERT_TRUE(in.source);
  EXPECT_EQ(in.source->placement.text(), "bind:1");
  EXPECT_EQ(in.source->bytes, Bytes{64 * kib});
  EXPECT_EQ(in.source->pages, PageKind::thp);
  EXPECT_EQ(in.kernel.as<DeviceCopyParameters>(),
            (DeviceCopyParameters{{3, Pinning::pinned}, 0, 64, Bytes{64 * kib}}));
  EXPECT_EQ(in.kernel.seed, 2u);
  EXPECT_EQ(in.warm_up, Bytes{1 * mib});
  const Flow& out = made->flows[1];
  EXPECT_EQ(out.region.placement.text(), "bind:0");
  EXPECT_EQ(out.region.pages, PageKind::base);
  EXPECT_EQ(out.source->placement.text(), "gpu:3");
  EXPECT_EQ(out.source->pages, PageKind::base);
  EXPECT_EQ(out.kernel.as<DeviceCopyParameters>().copies, 1u);
  EXPECT_EQ(out.warm_up, Bytes{2 * gib});
  const Flow& chase = made->flows[2];
  EXPECT_EQ(chase.kernel.as<DeviceChaseParameters>().gpu, 3);
  EXPECT_EQ(chase.kernel.as<DeviceChaseParameters>().loads, 4096u);
  EXPECT_EQ(chase.region.pages, PageKind::thp);
  EXPECT_EQ(chase.warm_up, Bytes{mib});
  EXPECT_FALSE(chase.source);
}

TEST_F(FileFlows, GpusThatAreNotThereAreToldWithTheirPlace) {
  machines_[0].gpus.emplace_back().index = 0;
  machines_[0].gpus.emplace_back();  // none of its driver's
  const auto told = [&](const std::string& flow) {
    const auto made = scenario("cpu = 1\nsize = \"1MiB\"\n" + flow);
    EXPECT_FALSE(made) << flow;
    return made ? Error{} : made.error();
  };
  const Error to = told("kernel = \"device copy\"\nmemory = \"gpu:1\"\n");
  EXPECT_EQ(to.kind, ErrorKind::unavailable);
  EXPECT_EQ(full_text(to), "f.toml:7:1: memory: no GPU 1; available: 0");
  EXPECT_THAT(full_hint(to), HasSubstr("CUDA_VISIBLE_DEVICES"));
  EXPECT_EQ(full_text(told("kernel = \"device copy\"\nmemory = \"gpu:0\"\n"
                           "source = { memory = \"gpu:2\" }\n")),
            "f.toml:8:12: memory: no GPU 2; available: 0");
  EXPECT_EQ(full_text(told("kernel = \"device copy\"\nmemory = \"gpu:4\"\n"
                           "source = { memory = \"gpu:0\" }\n")),
            "f.toml:7:1: memory: no GPU 4; available: 0");
  EXPECT_EQ(full_text(told("kernel = \"device chase\"\ngpu = 9\n")),
            "f.toml:7:1: gpu: no GPU 9; available: 0");
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

TEST_F(FileFlows, NodesThatAreNotThereAreToldWithTheirPlace) {
  const auto made = scenario("cpu = 1\nkernel = \"read\"\nsize = \"1MiB\"\nmemory = \"bind:5\"\n");
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().kind, ErrorKind::unavailable);
  EXPECT_EQ(full_text(made.error()),
            "f.toml:7:1: memory: this machine has no NUMA node 5; its nodes are 0-1");
  const auto source = scenario(
      "cpu = 1\nkernel = \"copy\"\nsize = \"1MiB\"\nsource = { size = \"1MiB\", memory = "
      "\"bind:6\" }\n");
  ASSERT_FALSE(source);
  EXPECT_THAT(full_text(source.error()), HasSubstr("f.toml:7:27: memory: this machine has no"));
}

}  // namespace
}  // namespace numatlas
