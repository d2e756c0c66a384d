// Memory of several kinds: what nodes without CPUs are, and caches in front of memory.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/test_tree.h"
#include "machine/source.h"
#include "machine/sysfs_nodes.h"

namespace numatlas {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// Two nodes with two CPUs each and, near them in turn, nodes 2 and 3 without CPUs.
class FourNodes : public testing::RecordedTree {
 public:
  FourNodes() {
    cpus(4, 2);
    file("/sys/devices/system/node/online", "0-3");
    node(0, "0-1", 0x3, 8 << 20, "10 21 13 23");
    node(1, "2-3", 0xc, 8 << 20, "21 10 23 13");
    node(2, "", 0, 4 << 20, "13 23 10 23");
    node(3, "", 0, 4 << 20, "23 13 23 10");
  }
  void bandwidth(int id, const char* initiator, const char* megabytes) const {
    const std::string folder =
        fmt::format("/sys/devices/system/node/node{}/access1/initiators", id);
    file(folder + "/read_bandwidth", megabytes);
    file(folder + "/" + initiator + "/cpulist", "");
  }
  Machine read() const {
    const auto machine = read_live_machine(root());
    EXPECT_TRUE(machine) << full_text(machine.error());
    return machine.value_or(Machine{});
  }
};

TEST(MemoryKinds, StackedMemoryOfAXeonMaxInFlatMode) {
  const FourNodes tree;
  tree.file("/proc/cpuinfo", "model name : Intel(R) Xeon(R) CPU Max 9468");
  const Machine machine = tree.read();
  EXPECT_EQ(machine.find_node(NodeId{0})->kind, "dram");
  EXPECT_EQ(machine.find_node(NodeId{2})->kind, "hbm");
  EXPECT_EQ(machine.find_node(NodeId{3})->kind, "hbm");
  EXPECT_EQ(machine.ordinary_memory_nodes(), testing::nodes("0-3"));
}

TEST(MemoryKinds, ByTheBandwidthThatTheFirmwareClaims) {
  const FourNodes tree;
  tree.bandwidth(0, "node0", "100000");
  tree.bandwidth(1, "node1", "100000");
  tree.bandwidth(2, "node0", "300000");
  tree.bandwidth(3, "node1", "30000");
  const Machine machine = tree.read();
  EXPECT_EQ(machine.find_node(NodeId{2})->kind, "hbm");
  EXPECT_EQ(machine.find_node(NodeId{3})->kind, "") << "slow and far: not known what";
}

TEST(MemoryKinds, MemoryOfGpusWhoseDriverIsHidden) {
  Machine machine = FourNodes().read();
  machine.arch = "aarch64";
  Gpu gpu;
  gpu.vendor = "NVIDIA";
  machine.gpus = {gpu};
  name_distant_memory(machine);
  EXPECT_EQ(machine.find_node(NodeId{2})->kind, "gpu");
  EXPECT_EQ(machine.find_node(NodeId{0})->kind, "dram");
  EXPECT_EQ(machine.ordinary_memory_nodes(), testing::nodes("0-1"));
  EXPECT_EQ(machine.usable_memory_nodes(), testing::nodes("0-3"));
  Machine x86 = FourNodes().read();
  x86.arch = "x86_64";
  x86.gpus = {gpu};
  name_distant_memory(x86);
  EXPECT_EQ(x86.find_node(NodeId{2})->kind, "") << "behind PCIe a GPU's memory is no node";
}

TEST(MemorySideCaches, AreReadAndKeptInSnapshots) {
  const FourNodes tree;
  const std::string cache = "/sys/devices/system/node/node1/memory_side_cache/";
  tree.file(cache + "index1/size", "68719476736");
  tree.file(cache + "index1/line_size", "64");
  tree.file(cache + "index2/size", "1073741824");
  const Machine machine = tree.read();
  EXPECT_THAT(machine.find_node(NodeId{0})->side_caches, IsEmpty());
  EXPECT_EQ(machine.find_node(NodeId{0})->side_cache(), Bytes{});
  EXPECT_THAT(machine.find_node(NodeId{1})->side_caches,
              ElementsAre(MemorySideCache{1, Bytes{64 * gib}, Bytes{64}},
                          MemorySideCache{2, Bytes{gib}, std::nullopt}));
  EXPECT_EQ(machine.find_node(NodeId{1})->side_cache(), Bytes{64 * gib});
  const auto again = machine_from_json(to_json(machine));
  ASSERT_TRUE(again) << full_text(again.error());
  EXPECT_EQ(*again, machine);
  nlohmann::json broken = to_json(machine);
  broken["nodes"][1]["memory_side_caches"][0]["size"] = -1;
  const auto refused = machine_from_json(broken);
  ASSERT_FALSE(refused);
  EXPECT_THAT(full_text(refused.error()), HasSubstr("nodes[1].memory_side_caches[0].size"));
}

TEST(MemorySideCaches, OfAXeonMaxAreBeforeDram) {
  const FourNodes tree;
  for (int id = 0; id < 4; ++id)
    tree.file(fmt::format("/sys/devices/system/node/node{}/memory_side_cache/index1/size", id),
              "1073741824");
  EXPECT_EQ(tree.read().find_node(NodeId{0})->kind, "") << "DRAM before what nobody names";
  tree.file("/proc/cpuinfo", "model name : Intel(R) Xeon(R) CPU Max 9468");
  EXPECT_EQ(tree.read().find_node(NodeId{0})->kind, "dram");
}

}  // namespace
}  // namespace numatlas
