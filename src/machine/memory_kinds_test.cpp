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

using ::testing::HasSubstr;

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
  Machine read() const {
    const auto machine = read_live_machine(root());
    EXPECT_TRUE(machine) << full_text(machine.error());
    return machine.value_or(Machine{});
  }
};

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

TEST(MemorySideCaches, OfASnapshotAreChecked) {
  Machine machine = FourNodes().read();
  machine.nodes[1].side_caches = {{1, Bytes{64 * gib}, Bytes{64}}, {2, Bytes{gib}, std::nullopt}};
  EXPECT_EQ(machine.find_node(NodeId{0})->side_cache(), Bytes{});
  EXPECT_EQ(machine.find_node(NodeId{1})->side_cache(), Bytes{64 * gib});
  nlohmann::json broken = to_json(machine);
  broken["nodes"][1]["memory_side_caches"][0]["size"] = -1;
  const auto refused = machine_from_json(broken);
  ASSERT_FALSE(refused);
  EXPECT_THAT(full_text(refused.error()), HasSubstr("nodes[1].memory_side_caches[0].size"));
}

}  // namespace
}  // namespace numatlas
