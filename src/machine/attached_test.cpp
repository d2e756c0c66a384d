// What people attach to reports: texts of lstopo, numactl and lscpu, folders of gathered files, and
// XML whose words are guesses.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "base/test_tree.h"
#include "machine/hwloc_messages.h"
#include "machine/source.h"

namespace numatlas {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using testing::cpus;
using ::testing::HasSubstr;
using ::testing::Not;
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

TEST(NumactlText, NodesSizesAndDistances) {
  const Machine machine = machine_of(R"($ numactl -H
available: 3 nodes (0,2,4)
node 0 cpus: 0 1 8
node 0 size: 1024 MB
node 0 free: 512 MB
node 2 cpus: 2 3
node 2 size: 0 MB
node 2 free: 0 MB
node 4 cpus:
node 4 size: 2048 MB
node 4 free: 1 MB
node distances:
node   0   2   4
  0:  10  21  17
  2:  21  10  28
  4:  17  28  10)");
  ASSERT_EQ(machine.nodes.size(), 3U);
  EXPECT_EQ(machine.find_node(NodeId{0})->cpus, cpus("0-1,8"));
  EXPECT_EQ(machine.find_node(NodeId{0})->memory_free, Bytes{512 * mib});
  EXPECT_EQ(machine.find_node(NodeId{2})->memory_total, Bytes{0});
  EXPECT_TRUE(machine.find_node(NodeId{4})->cpus.empty());
  EXPECT_EQ(machine.find_node(NodeId{4})->distance,
            (std::map<int, int>{{0, 17}, {2, 28}, {4, 10}}));
  EXPECT_EQ(machine.find_cpu(CpuId{3})->node, NodeId{2});
  EXPECT_EQ(machine.usable_cpus(), cpus("0-3,8"));
  EXPECT_EQ(machine.hypervisor, std::nullopt);
  for (const char* part : {"cores", "gpus", "memory_limit", "hypervisor", "huge_pages"})
    EXPECT_TRUE(machine.unread.contains(part)) << part;
  EXPECT_THAT(machine.notes.back(), AllOf(HasSubstr("caches"), Not(HasSubstr("distances"))));
  const auto again = machine_from_json(to_json(machine));
  ASSERT_TRUE(again) << full_text(again.error());
  EXPECT_EQ(*again, machine);
}

TEST(NumactlText, AnUnknownSizeIsNotNone) {
  const Machine machine =
      machine_of("available: 1 nodes (0)\nnode 0 cpus: 0 1\nnode 0 size: <not available>\n");
  EXPECT_EQ(machine.nodes.at(0).memory_total, std::nullopt);
  EXPECT_TRUE(machine.nodes.at(0).may_have_memory());
  EXPECT_EQ(machine.usable_memory_nodes(), NodeSet{NodeId{0}});
}

TEST(LscpuText, NodesWithoutCpusKindsAndCutTexts) {
  const std::string head = "Architecture: aarch64\nCPU(s): 4\nOn-line CPU(s) list: 0-3\n";
  const Machine machine = machine_of(head +
                                     "NUMA node(s): 2\nNUMA node0 CPU(s): 0-3\n"
                                     "NUMA node1 CPU(s):\n");
  ASSERT_EQ(machine.nodes.size(), 2U);
  EXPECT_TRUE(machine.nodes[1].cpus.empty());
  EXPECT_TRUE(machine.nodes[0].may_have_memory()) << "lscpu does not tell how much";
  EXPECT_THAT(error_of(head + "NUMA node(s): 2\nNUMA node0 CPU(s): 0-3\n"),
              HasSubstr("counts 2 NUMA nodes, but describes 1"));
  const Machine mixed = machine_of(head +
                                   "Model name: Cortex-A55\nModel name: Cortex-A76\n"
                                   "L1d cache: 192 KiB (4 instances)\n");
  EXPECT_EQ(mixed.cpu_model, "Cortex-A55 + Cortex-A76");
  EXPECT_TRUE(mixed.caches.empty()) << "a sum over two kinds is nobody's size";
}

constexpr const char* lscpu = R"(Architecture:            aarch64
  CPU op-mode(s):        32-bit, 64-bit
CPU(s):                  4
  On-line CPU(s) list:   0-3
Vendor ID:               ARM
  Model name:            Neoverse-N1
    Thread(s) per core:  1
    Socket(s):           1
Caches (sum of all):
  L1d:                   256 KiB (4 instances)
L2 cache:                4 MiB (4 instances)
L3 cache:                64 MiB (2 instances)
NUMA:
  NUMA node(s):          2
  NUMA node0 CPU(s):     0,1
  NUMA node1 CPU(s):     2,3)";

TEST(LscpuText, WhatItCountsAndWhatItDoesNotSay) {
  const Machine machine = machine_of(lscpu);
  EXPECT_EQ(machine.arch, "aarch64");
  EXPECT_EQ(machine.cpu_model, "Neoverse-N1");
  EXPECT_EQ(machine.find_node(NodeId{1})->cpus, cpus("2-3"));
  EXPECT_EQ(machine.find_node(NodeId{1})->memory_total, std::nullopt);
  EXPECT_EQ(machine.usable_memory_nodes(), testing::nodes("0-1")) << "of unknown size";
  ASSERT_NE(machine.cache_of(CpuId{3}, 2), nullptr);
  EXPECT_EQ(machine.cache_of(CpuId{3}, 2)->size, Bytes{mib});
  EXPECT_EQ(machine.cache_of(CpuId{3}, 2)->cpus, cpus("3"));
  ASSERT_NE(machine.cache_of(CpuId{3}, 1), nullptr);
  EXPECT_EQ(machine.cache_of(CpuId{3}, 1)->size, Bytes{64 * kib});
  EXPECT_EQ(machine.cache_of(CpuId{3}, 3), nullptr) << "of which CPUs, it does not say";
  EXPECT_THAT(machine.notes.front(), HasSubstr("L3 cache: 64 MiB (2 instances)"));
  EXPECT_EQ(machine.hypervisor, std::nullopt) << "only x86 has a flag for it";
}

/// `lscpu` with one part replaced.
std::string changed(std::string text, const std::string& from, const std::string& to) {
  return text.replace(text.find(from), from.size(), to);
}

TEST(LscpuText, NodesWithoutCpusAndKindsOfCores) {
  const Machine far =
      machine_of(changed(lscpu, "(s):          2", "(s):          3") + "\n  NUMA node2 CPU(s):\n");
  ASSERT_EQ(far.nodes.size(), 3U);
  EXPECT_TRUE(far.find_node(NodeId{2})->cpus.empty());
  const Machine kinds =
      machine_of(changed(lscpu, "  Model name:            Neoverse-N1",
                         "  Model name:            Cortex-X925\n  Model name: Cortex-A725"));
  EXPECT_EQ(kinds.cpu_model, "Cortex-X925 + Cortex-A725");
  EXPECT_EQ(kinds.cache_of(CpuId{3}, 1), nullptr) << "a mean of unlike caches";
  EXPECT_EQ(kinds.cache_of(CpuId{3}, 2), nullptr);
  EXPECT_THAT(kinds.notes, Contains(HasSubstr("L2 cache: 4 MiB (4 instances); the cores differ")));
  // Two of 48 KiB and two of 32 KiB, of which the processor's one name says nothing.
  const Machine hybrid = machine_of(changed(lscpu, "256 KiB", "160 KiB"));
  EXPECT_EQ(hybrid.cache_of(CpuId{3}, 1), nullptr);
  EXPECT_EQ(hybrid.cache_of(CpuId{3}, 2), nullptr);
}

TEST(LscpuText, CutOnesAreRefusedOrNoted) {
  const std::string text = lscpu;
  EXPECT_THAT(error_of(text.substr(0, text.find("  NUMA node1"))),
              HasSubstr("counts 2 NUMA nodes, but describes 1"));
  EXPECT_THAT(error_of(text.substr(0, text.size() - 2)), HasSubstr("has the CPUs 3 in no NUMA"));
  EXPECT_THAT(error_of(text.substr(0, text.find("  On-line"))), HasSubstr("names no CPU"));
  const Machine without = machine_of(text.substr(0, text.find("NUMA:")));
  EXPECT_THAT(without.notes, Contains(HasSubstr("names no NUMA node")));
  const Machine fewer = machine_of(text.substr(0, text.find("-3\nVendor")));
  EXPECT_THAT(fewer.notes, Contains(HasSubstr("counts 4 CPUs, but lists 1 as on-line")));
}

TEST(NumactlText, CutOnesAreRefusedOrNoted) {
  const std::string text = R"(available: 2 nodes (0-1)
node 0 cpus: 0 1
node 0 size: 1000 MB
node 0 free: 900 MB
node 1 cpus: 2 3
node 1 size: <not available>
node 1 free: <not available>
node distances:
node   0   1
  0:  10  21
  1:  21  10
)";
  const Machine whole = machine_of(text);
  EXPECT_EQ(whole.usable_memory_nodes(), testing::nodes("0-1"));
  EXPECT_THAT(whole.notes.back(), AllOf(HasSubstr("memory of node 1, free memory of node 1, "),
                                        Not(HasSubstr("distances"))));
  EXPECT_THAT(error_of(text.substr(0, text.find("node 1"))),
              HasSubstr("counts 2 nodes, but describes 1"));
  EXPECT_THAT(machine_of(text.substr(0, text.find("  1:"))).notes.back(),
              HasSubstr("distances of node 1"));
}

TEST(LscpuJson, FlatAndNested) {
  const char* flat = R"({"lscpu": [{"field": "Architecture:", "data": "x86_64"},
    {"field": "On-line CPU(s) list:", "data": "0-3"}, {"field": "Thread(s) per core:", "data": "2"},
    {"field": "Flags:", "data": "fpu sse2"}, {"field": "NUMA node0 CPU(s):", "data": "0-3"}]})";
  const Machine threads = machine_of(flat);
  EXPECT_EQ(threads.hypervisor, "");
  EXPECT_TRUE(threads.unread.contains("cores"));
  const char* nested = R"({"lscpu": [{"field": "CPU(s):", "data": "2", "children": [
    {"field": "On-line CPU(s) list:", "data": "0,1"}]}, {"field": "NUMA:", "data": null, "children":
    [{"field": "NUMA node0 CPU(s):", "data": "0,1"}]}]})";
  EXPECT_EQ(machine_of(nested).find_node(NodeId{0})->cpus, cpus("0-1"));
  EXPECT_THAT(error_of(R"({"lscpu": [1, {"field": 2}]})"), HasSubstr("attached'"));
  EXPECT_THAT(error_of(R"({"lscpu": [{"field": "L3 cache:", "data": "32K"}]})"),
              HasSubstr("names no CPU"));
}

TEST(LstopoText, NodesBesideWhatTheyAreNear) {
  const Machine machine = machine_of(R"(Machine (96GB total)
  Package L#0
    NUMANode L#0 (P#0 64GB)
    NUMANode(HBM) L#1 (P#2 32GB)
    L3 L#0 (16MB)
      L2 L#0 (512KB) + L1d L#0 (32KB) + L1i L#0 (64KB) + Core L#0
        PU L#0 (P#0)
        PU L#1 (P#4)
      L2 L#1 (512KB) + L1d L#1 (32KB) + L1i L#1 (64KB) + Core L#1 + PU L#2 (P#1)
  Package L#1
    NUMANode L#2 (P#1)
    L3 L#1 (16MB) + Core L#2 + PU L#3 (P#2)
  HostBridge
    PCI 01:00.0 (3D)
      CoProc(CUDA) "cuda0")");
  EXPECT_EQ(machine.find_node(NodeId{0})->cpus, cpus("0-1,4"));
  EXPECT_TRUE(machine.find_node(NodeId{2})->cpus.empty());
  EXPECT_EQ(machine.find_node(NodeId{2})->memory_total, Bytes{32 * gib});
  EXPECT_EQ(machine.find_node(NodeId{1})->memory_total, Bytes{0}) << "no size beside others";
  EXPECT_EQ(machine.find_node(NodeId{2})->kind, "hbm");
  EXPECT_EQ(machine.find_cpu(CpuId{4})->core, machine.find_cpu(CpuId{0})->core);
  EXPECT_EQ(machine.find_cpu(CpuId{4})->smt_index, 1);
  EXPECT_EQ(machine.find_cpu(CpuId{2})->package, 1);
  EXPECT_EQ(machine.cache_of(CpuId{4}, 1)->size, Bytes{32 * kib});
  EXPECT_EQ(machine.last_level_cache_of(CpuId{1})->cpus, cpus("0-1,4"));
  EXPECT_THAT(machine.unread.at("gpus"), HasSubstr("not read"));
}

TEST(LstopoText, GuessedKindsAndCutTexts) {
  const std::string text = R"(Machine (96GB total)
  Package L#0
    NUMANode(HBM) L#0 (P#0 64GB)
    NUMANode(CXL-DRAM) L#1 (P#1 32GB)
    Core L#0 + PU L#0 (P#0)
    Core L#1 + PU L#1 (P#1))";
  const Machine machine = machine_of(text);
  EXPECT_EQ(machine.find_node(NodeId{0})->kind, "") << "memory beside CPUs";
  EXPECT_EQ(machine.find_node(NodeId{1})->kind, "cxl");
  EXPECT_THAT(machine.notes.front(), HasSubstr("calls node 0 HBM: a guess"));
  EXPECT_THAT(error_of(text.substr(0, text.find(" + PU L#1"))), HasSubstr("a Core has no CPU"));
  EXPECT_THAT(error_of(changed(text, "96GB", "160GB")), HasSubstr("have 96 GiB of 160 GiB"));
}

TEST(LstopoText, OldFormVerboseFormAndNoNumbers) {
  const Machine old = machine_of(R"(Machine (64GB)
  NUMANode L#0 (P#0 32GB) + Socket L#0 + L3 L#0 (8192KB)
    Core L#0 + PU L#0 (P#0)
  NUMANode L#1 (P#1 32GB) + Socket L#1 + L3 L#1 (8192KB)
    Core L#1 + PU L#1 (P#1))");
  EXPECT_EQ(old.find_node(NodeId{1})->cpus, cpus("1"));
  const Machine verbose = machine_of(R"(Machine (P#0 total=2097152KB Backend=Linux)
  Package L#0 (P#0 CPUVendor=AuthenticAMD CPUModel="AMD EPYC 7302")
    NUMANode L#0 (P#0 local=2097152KB total=2097152KB)
    L3Cache L#0 (P#0 size=8192KB linesize=64 ways=16)
      Core L#0 (P#0)
        PU L#0 (P#0))");
  EXPECT_EQ(verbose.cpu_model, "AMD EPYC 7302");
  EXPECT_EQ(verbose.find_node(NodeId{0})->memory_total, Bytes{2 * gib});
  EXPECT_EQ(verbose.last_level_cache_of(CpuId{0})->size, Bytes{8 * mib});
  EXPECT_THAT(error_of("Machine (1GB)\n  Core L#0 + PU L#0"), HasSubstr("lstopo file.xml"));
  EXPECT_THAT(error_of("Machine (1GB)\n  Core L#0"), HasSubstr("that names no CPU"));
}

TEST(LstopoText, SizesWithAPointAndMemorySideCaches) {
  const Machine machine = machine_of(R"(Machine (127GB total)
  Package L#0
    MemCache L#0 (64GB)
      NUMANode L#0 (P#0 126.5GiB)
    L3 L#0 (1.5MB) + Core L#0 + PU L#0 (P#0))");
  EXPECT_EQ(machine.nodes[0].memory_total, Bytes{126 * gib + 512 * mib});
  EXPECT_EQ(machine.last_level_cache_of(CpuId{0})->size, Bytes{1536 * kib});
  ASSERT_EQ(machine.nodes[0].side_caches.size(), 1U);
  EXPECT_EQ(machine.nodes[0].side_caches[0].size, Bytes{64 * gib});
}

TEST(NumactlText, NodesThatShareCpusAreNoted) {
  const Machine machine = machine_of(R"(available: 2 nodes (0-1)
node 0 cpus: 0 1
node 0 size: 1000 MB
node 0 free: 900 MB
node 1 cpus: 0 1
node 1 size: 1000 MB
node 1 free: 900 MB
node distances:
node   0   1
  0:  10  10
  1:  10  10
)");
  EXPECT_THAT(machine.notes, Contains(HasSubstr("nodes share CPUs")));
}

TEST(Attached, WhatIsNotReadSaysWhichFormIs) {
  EXPECT_THAT(error_of("hello"), AllOf(HasSubstr("numactl -H"), HasSubstr("lstopo file.xml")));
  EXPECT_THAT(error_of("BZh91AY&SY"), AllOf(HasSubstr("is an archive"), HasSubstr("tar -xf")));
  const RecordedTree tree;
  tree.file("/lstopo.xml.gz", "\x1f\x8b compressed");
  const auto compressed = read_recorded_machine(tree.root() + "/lstopo.xml.gz");
  ASSERT_FALSE(compressed);
  EXPECT_THAT(with_hint(full_text(compressed.error()), compressed.error()),
              AllOf(HasSubstr("is compressed"), HasSubstr("gunzip"), Not(HasSubstr("tar"))));
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
