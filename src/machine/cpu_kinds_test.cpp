// Kinds of cores, CPUs that several nodes have, and what stands for a machine.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/test_tree.h"
#include "machine/source.h"

namespace numatlas {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::RecordedTree;

using testing::cpus;
using testing::nodes;

std::string cpu_file(int id, const char* file) {
  return fmt::format("/sys/devices/system/cpu/cpu{}/{}", id, file);
}

/// One node that has all CPUs.
void write_node(const RecordedTree& tree, int count) {
  tree.file("/sys/devices/system/node/online", "0");
  tree.node(0, fmt::format("0-{}", count - 1), (1U << count) - 1, 1 << 20, "10");
}

void write_arm(const RecordedTree& tree, const std::vector<const char*>& parts,
               const std::vector<int>& capacities) {
  const auto count = static_cast<int>(parts.size());
  tree.cpus(count, count);
  write_node(tree, count);
  std::string cpuinfo;
  for (int id = 0; id < count; ++id) {
    const auto i = static_cast<std::size_t>(id);
    cpuinfo +=
        fmt::format("processor\t: {}\nCPU implementer\t: 0x41\nCPU part\t: {}\n\n", id, parts[i]);
    if (!capacities.empty()) tree.file(cpu_file(id, "cpu_capacity"), std::to_string(capacities[i]));
  }
  tree.file("/proc/cpuinfo", cpuinfo);
}

std::vector<std::string> names(const Machine& machine) {
  std::vector<std::string> found;
  for (const CpuKind& kind : machine.cpu_kinds)
    found.push_back(fmt::format("{} {}", kind.name, to_list(kind.cpus)));
  return found;
}

TEST(CpuKinds, ArmByPartAndCapacity) {
  RecordedTree tree;
  write_arm(tree, {"0xd87", "0xd87", "0xd85", "0xd85"}, {718, 731, 997, 1024});
  const auto machine = read_live_machine(tree.root());
  ASSERT_TRUE(machine) << full_text(machine.error());
  EXPECT_THAT(names(*machine), ElementsAre("performance 2-3", "efficiency 0-1"));
  EXPECT_EQ(machine->cpu_kinds[0].capacity, 1024);
  EXPECT_EQ(machine->cpu_kinds[1].model, "Arm Cortex-A725");
  EXPECT_EQ(machine->cpu_model, "Arm Cortex-X925 + Arm Cortex-A725");
  // As many of each: the fastest stands for all.
  EXPECT_EQ(machine->representative_of(machine->all_cpus()), CpuId{2});
  const auto again = machine_from_json(to_json(*machine));
  ASSERT_TRUE(again) << full_text(again.error());
  EXPECT_EQ(*again, *machine);
}

TEST(CpuKinds, ThreeHaveNumbersFromTheFastestAndOneIsNone) {
  const auto read = [](const std::vector<const char*>& parts, const std::vector<int>& capacities) {
    RecordedTree tree;
    write_arm(tree, parts, capacities);
    const auto machine = read_live_machine(tree.root());
    EXPECT_TRUE(machine) << full_text(machine.error());
    return machine.value_or(Machine{});
  };
  const Machine three = read({"0xd46", "0xd46", "0xd4d", "0xd4e"}, {300, 300, 800, 1024});
  EXPECT_THAT(names(three), ElementsAre("kind1 3", "kind2 2", "kind3 0-1"));
  EXPECT_EQ(three.representative_of(three.all_cpus()), CpuId{0}) << "most CPUs";
  EXPECT_EQ(three.representative_of(cpus("2-3")), CpuId{3});
  EXPECT_THAT(names(read({"0xd4f", "0xd4f"}, {1024, 1010})), IsEmpty()) << "all are alike";
  EXPECT_THAT(names(read({"0xd05", "0xd0b"}, {})), IsEmpty()) << "nobody knows their capacities";
}

TEST(CpuKinds, HybridByPmu) {
  RecordedTree tree;
  tree.cpus(6, 6);
  write_node(tree, 6);
  tree.file("/proc/cpuinfo", "processor\t: 0\nvendor_id\t: GenuineIntel\nmodel name\t: Ultra");
  tree.file("/sys/devices/cpu_core/cpus", "0-1");
  tree.file("/sys/devices/cpu_atom/cpus", "2-5");
  const auto two = read_live_machine(tree.root());
  ASSERT_TRUE(two) << full_text(two.error());
  EXPECT_THAT(names(*two), ElementsAre("performance 0-1", "efficiency 2-5"));
  tree.file("/sys/devices/cpu_atom/cpus", "2-3");
  tree.file("/sys/devices/cpu_lowpower/cpus", "4-5");
  const auto machine = read_live_machine(tree.root());
  ASSERT_TRUE(machine) << full_text(machine.error());
  EXPECT_THAT(names(*machine), ElementsAre("performance 0-1", "efficiency 2-3", "low-power 4-5"));
  EXPECT_EQ(machine->cpu_model, "Ultra");
}

TEST(SharedCpus, AreOfTheFirstNodeUnlessTheKernelSaysOtherwise) {
  RecordedTree tree;
  tree.cpus(4, 2);
  tree.file("/sys/devices/system/node/online", "0-3");
  // numa=fake=4 on two packages.
  tree.node(0, "0-1", 0x3, 1024, "10 10 20 20");
  tree.node(1, "0-1", 0x3, 1024, "10 10 20 20");
  tree.node(2, "2-3", 0xc, 1024, "20 20 10 10");
  tree.node(3, "2-3", 0xc, 1024, "20 20 10 10");
  tree.file(cpu_file(3, "node3/x"), "");
  const auto machine = read_live_machine(tree.root());
  ASSERT_TRUE(machine) << full_text(machine.error());
  EXPECT_EQ(machine->find_node(NodeId{1})->cpus, cpus("0-1")) << "as Linux says";
  EXPECT_EQ(machine->find_cpu(CpuId{1})->node, NodeId{0});
  EXPECT_EQ(machine->find_cpu(CpuId{2})->node, NodeId{2});
  EXPECT_EQ(machine->find_cpu(CpuId{3})->node, NodeId{3});
  EXPECT_THAT(machine->notes, Contains(HasSubstr("nodes share CPUs (emulated?): CPUs 0-1 of nodes "
                                                 "0-1 count as node 0's, CPUs 2 of nodes 2-3")));
  const auto again = machine_from_json(to_json(*machine));
  ASSERT_TRUE(again) << full_text(again.error());
  EXPECT_EQ(*again, *machine);
}

/// Firmware that gives every node all CPUs, the first one without memory.
TEST(SharedCpus, AreOfANodeWithMemory) {
  RecordedTree tree;
  tree.cpus(2, 2);
  tree.file("/sys/devices/system/node/online", "0-1");
  tree.node(0, "0-1", 0x3, 0, "10 20");
  tree.node(1, "0-1", 0x3, 1024, "20 10");
  const auto machine = read_live_machine(tree.root());
  ASSERT_TRUE(machine) << full_text(machine.error());
  EXPECT_EQ(machine->nodes_of(machine->all_cpus()), nodes("1"));
}

TEST(SharedCpus, OfASnapshotHaveANodeAmongThem) {
  RecordedTree tree;
  tree.cpus(2, 2);
  write_node(tree, 2);
  auto snapshot = to_json(*read_live_machine(tree.root()));
  snapshot["cpus"][1]["node"] = nullptr;
  const auto machine = machine_from_json(snapshot);
  ASSERT_FALSE(machine);
  EXPECT_THAT(full_text(machine.error()),
              HasSubstr("gives node 0 the CPU 1, which 'cpus' puts on none"));
}

/// A64FX: assistant cores on small nodes have the lowest numbers.
TEST(Representative, IsOnAMainNode) {
  RecordedTree tree;
  tree.cpus(20, 20);
  tree.file("/sys/devices/system/node/online", "0-2");
  tree.node(0, "0", 0x1, 1 << 10, "10 20 30");
  tree.node(1, "1-9", 0x3fe, 1 << 20, "20 10 30");
  tree.node(2, "10-19", 0xffc00, 1 << 20, "30 30 10");
  const auto machine = read_live_machine(tree.root());
  ASSERT_TRUE(machine) << full_text(machine.error());
  EXPECT_EQ(machine->representative_of(machine->all_cpus()), CpuId{10});
  EXPECT_EQ(machine->main_nodes(nodes("0-2")), nodes("1-2"));
  EXPECT_EQ(machine->main_nodes(nodes("0")), nodes("0"));
  EXPECT_EQ(machine->representative_of(cpus("0")), CpuId{0});
  EXPECT_EQ(machine->representative_of(CpuSet{}), std::nullopt);
}

TEST(MainNodes, ALargeTierDoesNotHideMemoryBesideCpus) {
  auto machine = read_recorded_machine("numa:2(memory=67108864) core:2 pu:1");
  ASSERT_TRUE(machine);
  machine->nodes[1].cpus = {};
  std::erase_if(machine->cpus, [](const Cpu& cpu) { return cpu.node == NodeId{1}; });
  machine->nodes[0].memory_total = Bytes{62 * gib};
  machine->nodes[1].memory_total = Bytes{1008 * gib};
  EXPECT_EQ(machine->main_nodes(nodes("0-1")), nodes("0-1"));
}

}  // namespace
}  // namespace numatlas
