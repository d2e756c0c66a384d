// What people attach to reports: folders of gathered files, and XML whose words are guesses.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>

#include "base/test_tree.h"
#include "machine/hwloc_messages.h"
#include "machine/source.h"

namespace numatlas {
namespace {

using ::testing::AllOf;
using testing::cpus;
using ::testing::HasSubstr;
using testing::RecordedTree;

Expected<Machine> read_attached(const std::string& content) {
  const RecordedTree tree;
  tree.file("/attached", content);
  return read_recorded_machine(tree.root() + "/attached");
}

Machine machine_of(const std::string& content) {
  const auto machine = read_attached(content);
  EXPECT_TRUE(machine) << full_text(machine.error());
  return machine.value_or(Machine{});
}

std::string error_of(const std::string& content) {
  const auto machine = read_attached(content);
  EXPECT_FALSE(machine);
  return machine ? "" : with_hint(full_text(machine.error()), machine.error());
}

TEST(Attached, WhatIsNotReadSaysWhichFormIs) {
  for (const char* other : {"hello", "BZh91AY&SY", "available: 2 nodes (0-1)\n"})
    EXPECT_THAT(error_of(other),
                AllOf(HasSubstr("neither a JSON snapshot nor hwloc XML"),
                      HasSubstr("topology --format json"), HasSubstr("hwloc-gather-topology")));
}

TEST(Attached, AFolderOfGatheredFiles) {
  const RecordedTree tree;
  const std::string top = "/node7";
  for (const char* file : {"online", "possible", "present"})
    tree.file(top + "/sys/devices/system/cpu/" + file, "0");
  tree.file(top + "/sys/devices/system/cpu/cpu0/topology/core_cpus", "1");
  tree.file(top + "/sys/devices/system/cpu/cpu0/topology/core_id", "0");
  tree.file(top + "/sys/devices/system/cpu/cpu0/topology/physical_package_id", "0");
  tree.file(top + "/proc/cpuinfo", "processor : 0\ncpu : POWER9, altivec supported");
  for (const std::string& folder : {tree.root(), tree.root() + top}) {
    const auto machine = read_recorded_machine(folder);
    ASSERT_TRUE(machine) << full_text(machine.error());
    EXPECT_EQ(machine->source, folder);
    EXPECT_FALSE(machine->is_live());
    EXPECT_EQ(machine->cpu_model, "POWER9");
    EXPECT_THAT(machine->unread.at("gpus"), HasSubstr("/sys/bus/pci"));
    for (const char* part : {"memory_limit", "cpu_quota", "isolated_cpus", "persistent_memory"})
      EXPECT_TRUE(machine->unread.contains(part)) << part;
  }
}

/// Two nodes, with words for their memory, of one processor; devices at the end of the package.
std::string xml(const std::string& model, const std::string& near, const std::string& far,
                const std::string& devices = "") {
  const std::string sets =
      R"(cpuset="0x1" complete_cpuset="0x1" nodeset="0x3" complete_nodeset="0x3")";
  const auto node = [](int id, const std::string& word) {
    return fmt::format(
        R"(<object type="NUMANode" subtype="{}" os_index="{}" cpuset="0x1" complete_cpuset="0x1" )"
        R"(nodeset="0x{}" complete_nodeset="0x{}" gp_index="{}" local_memory="1073741824"/>)",
        word, id, id + 1, id + 1, id + 10);
  };
  return R"(<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE topology SYSTEM "hwloc2.dtd">
<topology version="2.0">
<object type="Machine" os_index="0" )" +
         sets + R"( allowed_cpuset="0x1" allowed_nodeset="0x3" gp_index="1">
<object type="Package" os_index="0" )" +
         sets + R"( gp_index="2"><info name="CPUModel" value=")" + model + "\"/>" + node(0, near) +
         node(1, far) + R"(<object type="Core" os_index="0" )" + sets +
         R"( gp_index="3"><object type="PU" os_index="0" )" + sets + R"( gp_index="4"/></object>)" +
         devices + "</object></object></topology>\n";
}

TEST(XmlKinds, GuessesAreNotBelieved) {
  // DRAM beside CPUs is HBM to hwloc because CXL memory is slower.
  const Machine desktop = machine_of(xml("AMD Ryzen Threadripper PRO", "HBM", "DRAM"));
  EXPECT_EQ(desktop.find_node(NodeId{0})->kind, "dram");
  EXPECT_EQ(desktop.find_node(NodeId{0})->cpus, cpus("0"));
  EXPECT_EQ(desktop.find_node(NodeId{1})->kind, "");
  EXPECT_THAT(desktop.notes.front(), HasSubstr("calls node 0 HBM: a guess"));
  const Machine max = machine_of(xml("Intel(R) Xeon(R) CPU Max 9480", "DRAM", "HBM"));
  EXPECT_EQ(max.find_node(NodeId{0})->kind, "dram");
  EXPECT_EQ(max.find_node(NodeId{1})->kind, "hbm");
  EXPECT_EQ(max.notes.size(), 1U);
}

TEST(XmlDevices, GpusAreRead) {
  const Machine machine = machine_of(xml(
      "AMD EPYC", "DRAM", "DRAM",
      R"(<object type="Bridge" gp_index="20" bridge_type="0-1" depth="0" bridge_pci="0000:[00-0f]">)"
      R"(<object type="PCIDev" gp_index="21" pci_busid="0000:01:00.0" )"
      R"(pci_type="0302 [10de:2330] [10de:16c1] a1"/>)"
      R"(<object type="PCIDev" gp_index="22" pci_busid="0000:02:00.0" )"
      R"(pci_type="0200 [8086:1572] [8086:0000] 01"/></object>)"));
  ASSERT_EQ(machine.gpus.size(), 1U);
  EXPECT_EQ(machine.gpus[0].pci_address, "0000:01:00.0");
  EXPECT_EQ(machine.gpus[0].vendor, "NVIDIA");
  EXPECT_EQ(machine.gpus[0].device_id, "0x2330");
  EXPECT_EQ(machine.gpus[0].node, NodeId{0}) << "the one with CPUs";
  EXPECT_EQ(machine.gpus[0].driver, "unknown");
  EXPECT_FALSE(machine.unread.contains("gpus"));
  EXPECT_TRUE(machine_of(xml("AMD EPYC", "DRAM", "DRAM")).unread.contains("gpus"));
}

TEST(XmlVersion, OfANewerHwlocNamesTheCommand) {
  std::string text = xml("AMD EPYC", "DRAM", "DRAM");
  text.replace(text.find("\"2.0\""), 5, "\"9.0\"");
  EXPECT_THAT(error_of(text),
              AllOf(HasSubstr("written by hwloc 9"), HasSubstr("--export-xml-flags")));
}

TEST(HwlocMessages, BecomeOneNote) {
  HwlocMessages messages;
  std::fputs(
      "*****\n* hwloc 2.9 received invalid information.\n*\n* Failed with: x\n"
      "* The following FAQ entry may help:\n*****\n",
      stderr);
  EXPECT_EQ(messages.note(), "libhwloc: hwloc 2.9 received invalid information. Failed with: x");
  EXPECT_EQ(HwlocMessages().note(), "");
}

TEST(HwlocMessages, OfAnAssertionComeOut) {
  EXPECT_DEATH(
      {
        const HwlocMessages messages;
        std::fputs("assertion of libhwloc\n", stderr);
        std::abort();
      },
      "assertion of libhwloc");
}

TEST(HwlocMessages, MoreThanAPipeHoldsDoesNotBlock) {
  HwlocMessages messages;
  const std::string line(1000, 'x');
  for (int i = 0; i < 1000; ++i) std::fputs(line.c_str(), stderr);
  EXPECT_THAT(messages.note(), HasSubstr("xxx..."));
}

}  // namespace
}  // namespace numatlas
