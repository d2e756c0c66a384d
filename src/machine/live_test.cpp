// The machine that the test runs on, and recorded trees.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/test_tree.h"
#include "base/tree.h"
#include "machine/identity.h"
#include "machine/source.h"

namespace numatlas {
namespace {

using ::testing::HasSubstr;
using testing::RecordedTree;

using testing::cpus;
using testing::nodes;

const Setting* setting(const Machine& machine, const std::string& name) {
  for (const Setting& found : machine.settings) {
    if (found.name == name) return &found;
  }
  return nullptr;
}

TEST(Live, AgreesWithSysfsAndProc) {
  const auto machine = read_live_machine();
  ASSERT_TRUE(machine) << full_text(machine.error());
  const Tree tree("");
  EXPECT_TRUE(machine->is_live());
  if (const auto online = tree.list<CpuId>("/sys/devices/system/cpu/online")) {
    EXPECT_EQ(machine->all_cpus(), *online);
  }
  if (const auto online = tree.list<NodeId>("/sys/devices/system/node/online")) {
    NodeSet found;
    for (const NumaNode& node : machine->nodes) found.insert(node.id);
    EXPECT_EQ(found, *online);
    for (const NumaNode& node : machine->nodes) {
      const auto own =
          tree.list<CpuId>(fmt::format("/sys/devices/system/node/node{}/cpulist", node.id.value));
      EXPECT_EQ(node.cpus, *own);
      EXPECT_EQ(node.distance.at(node.id.value), 10);
    }
  }
  const auto status = tree.text("/proc/self/status");
  EXPECT_EQ(to_list(machine->allowance.affinity), value_of(*status, "Cpus_allowed_list"));
  EXPECT_FALSE(machine->usable_cpus().empty());
  EXPECT_FALSE(machine->usable_memory_nodes().empty());
  EXPECT_EQ(machine->page_size, Bytes{static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE))});
  for (const NumaNode& node : machine->nodes) {
    if (node.has_memory()) {
      EXPECT_LE(*node.memory_free, *node.memory_total);
    }
  }
}

/// Two sockets of two CPUs (nodes 0 and 2), a CXL node 5 and an empty node 8.
void write_cxl_machine(const RecordedTree& tree) {
  tree.cpus(4, 2);
  const std::string node = "/sys/devices/system/node";
  tree.file(node + "/online", "0,2,5,8");
  tree.file(node + "/possible", "0-15");
  tree.file(node + "/has_cpu", "0,2");
  tree.file(node + "/has_memory", "0,2,5");
  tree.node(0, "0-1", 0x3, 1024, "10 21 24 99");
  tree.node(2, "2-3", 0xc, 2048, "21 10 14 99");
  tree.node(5, "", 0, 4096, "24 14 10 99");
  tree.node(8, "", 0, -1, "99 99 99 10");
  const std::string access0 = node + "/node5/access0/initiators";
  tree.file(access0 + "/read_bandwidth", "1");
  const std::string access1 = node + "/node5/access1/initiators";
  tree.file(access1 + "/read_bandwidth", "40000");
  tree.file(access1 + "/write_bandwidth", "0");
  tree.file(access1 + "/read_latency", "250");
  tree.file(access1 + "/node2/x", "");
  tree.file(node + "/node0/access0/initiators/read_latency", "90");
  const std::string pools = node + "/node2/hugepages/hugepages-";
  tree.file(pools + "2048kB/nr_hugepages", "16");
  tree.file(pools + "2048kB/free_hugepages", "12");
  tree.file(pools + "1048576kB/nr_hugepages", "2");
  tree.file(pools + "1048576kB/free_hugepages", "0");
  const std::string tiers = "/sys/devices/virtual/memory_tiering/memory_tier";
  tree.file(tiers + "4/nodelist", "0,2");
  tree.file(tiers + "22/nodelist", "5");
  tree.file("/proc/cpuinfo",
            "processor\t: 0\nvendor_id\t: GenuineIntel\nmodel name\t: Xeon X\n"
            "flags\t\t: fpu sse2");
}

void write_devices(const RecordedTree& tree) {
  const std::string region = "/sys/devices/platform/ACPI0017:00/root0/decoder0.0/region0";
  tree.file(region + "/dax_region0/dax0.0/size", "4194304");
  tree.file(region + "/dax_region0/dax0.0/target_node", "5");
  tree.file(region + "/dax_region0/dax0.0/numa_node", "2");
  tree.file("/sys/bus/dax/drivers/kmem/x", "");
  tree.link(region + "/dax_region0/dax0.0/driver", tree.root() + "/sys/bus/dax/drivers/kmem");
  tree.link("/sys/bus/dax/devices/dax0.0", tree.root() + region + "/dax_region0/dax0.0");
  tree.file("/sys/block/pmem1/size", "2048");
  tree.file("/sys/block/pmem1/device/numa_node", "0");
  tree.file("/sys/block/pmem1/device/target_node", "-1");
  tree.file("/sys/block/pmem2/size", "4096");
  tree.file("/sys/block/pmem2/queue/dax", "0");
  // The first CXL device is behind region0 above, the second one behind nothing.
  const std::string root = "/sys/devices/platform/ACPI0017:00/root0/port1/endpoint";
  for (const auto& [device, endpoint, mapped] :
       {std::array{"mem0", "2", "0x400000"}, std::array{"mem1", "3", "0x0"}}) {
    const std::string memory = fmt::format("/sys/devices/pci0000:0c/{}", device);
    tree.file(memory + "/ram/size", "0x400000");
    tree.file(memory + "/pmem/size", "0x200000");
    tree.file(memory + "/numa_node", "2");
    tree.file(fmt::format("{}{}/decoder{}.0/size", root, endpoint, endpoint), mapped);
    tree.link(fmt::format("{}{}/uport", root, endpoint), tree.root() + memory);
    const std::string bus = "/sys/bus/cxl/devices/";
    tree.link(bus + device, tree.root() + memory);
    tree.link(bus + "endpoint" + endpoint, tree.root() + root + endpoint);
  }
  const auto pci = [&](const char* address, const char* kind, const char* vendor, int node) {
    const std::string folder = fmt::format("/sys/bus/pci/devices/{}", address);
    tree.file(folder + "/class", kind);
    tree.file(folder + "/vendor", vendor);
    tree.file(folder + "/device", "0x2330");
    tree.file(folder + "/numa_node", fmt::format("{}", node));
  };
  pci("0000:41:00.0", "0x030200", "0x10de", 2);
  pci("0000:c1:00.0", "0x120000", "0x1002", -1);
  pci("0000:00:02.0", "0x030000", "0x1234", 0);  // emulated VGA
  pci("0000:00:0b.0", "0x120000", "0x8086", 0);  // an inference unit
  pci("0000:03:00.0", "0x020000", "0x10de", 0);  // a network card
}

TEST(RecordedTree, NodesWithoutCpusEmptyAndSparse) {
  const RecordedTree tree;
  write_cxl_machine(tree);
  const auto machine = read_live_machine(tree.root());
  ASSERT_TRUE(machine) << full_text(machine.error());
  EXPECT_FALSE(machine->is_live());
  ASSERT_EQ(machine->nodes.size(), 4U);
  const NumaNode& cxl = *machine->find_node(NodeId{5});
  EXPECT_TRUE(cxl.cpus.empty());
  EXPECT_EQ(cxl.memory_total, Bytes{4096 * kib});
  EXPECT_EQ(cxl.memory_free, Bytes{2048 * kib});
  EXPECT_EQ(cxl.distance, (std::map<int, int>{{0, 24}, {2, 14}, {5, 10}, {8, 99}}));
  EXPECT_EQ(cxl.memory_tier, 22);
  const NumaNode& empty = *machine->find_node(NodeId{8});
  EXPECT_FALSE(empty.has_memory());
  EXPECT_EQ(empty.memory_total, Bytes{0}) << "has_memory says that it has none";
  EXPECT_EQ(empty.memory_tier, std::nullopt);
  EXPECT_EQ(machine->find_cpu(CpuId{3})->node, NodeId{2});
  EXPECT_EQ(machine->find_cpu(CpuId{3})->package, 1);
  EXPECT_EQ(machine->nodes_of(cpus("0,2-3")), nodes("0,2"));
  EXPECT_EQ(machine->usable_memory_nodes(), nodes("0,2,5"));
  EXPECT_EQ(machine->find_node(NodeId{1}), nullptr);
  EXPECT_EQ(machine->arch, "x86_64");
  EXPECT_EQ(machine->hypervisor, "") << "x86 flags without 'hypervisor'";
}

TEST(RecordedTree, AnEmptyFolderOfNodesIsAnErrorAndNoAbort) {
  const RecordedTree tree;
  tree.cpus(2, 2);
  EXPECT_TRUE(read_live_machine(tree.root())) << "a kernel without NUMA";
  std::filesystem::create_directories(tree.root() + "/sys/devices/system/node");
  const auto machine = read_live_machine(tree.root());
  ASSERT_FALSE(machine);
  EXPECT_EQ(machine.error().kind, ErrorKind::unavailable);
  EXPECT_THAT(full_text(machine.error()), HasSubstr("/sys/devices/system/node has no NUMA node"));
}

TEST(RecordedTree, HmatPrefersCpusAndConvertsUnits) {
  const RecordedTree tree;
  write_cxl_machine(tree);
  const auto machine = read_live_machine(tree.root());
  ASSERT_TRUE(machine);
  const auto& hmat = machine->find_node(NodeId{5})->hmat;
  ASSERT_TRUE(hmat);
  EXPECT_DOUBLE_EQ(*hmat->read_bandwidth, 40e9);
  EXPECT_DOUBLE_EQ(*hmat->read_latency, 250e-9);
  EXPECT_EQ(hmat->write_bandwidth, std::nullopt) << "0 is 'the firmware does not say'";
  EXPECT_EQ(hmat->initiators, nodes("2"));
  ASSERT_TRUE(machine->find_node(NodeId{0})->hmat) << "access0 where there is no access1";
  EXPECT_EQ(machine->find_node(NodeId{2})->hmat, std::nullopt);
}

TEST(RecordedTree, HugePagePools) {
  const RecordedTree tree;
  write_cxl_machine(tree);
  const auto machine = read_live_machine(tree.root());
  ASSERT_TRUE(machine);
  const std::vector<HugePagePool> expected{{Bytes{2 * mib}, 16, 12}, {Bytes{gib}, 2, 0}};
  EXPECT_EQ(machine->find_node(NodeId{2})->huge_pages, expected);
}

TEST(RecordedTree, DevicesAndKinds) {
  const RecordedTree tree;
  write_cxl_machine(tree);
  write_devices(tree);
  const auto machine = read_live_machine(tree.root());
  ASSERT_TRUE(machine);
  ASSERT_EQ(machine->gpus.size(), 2U) << "no VGA, inference unit or network card";
  EXPECT_EQ(machine->gpus[0].vendor, "NVIDIA");
  EXPECT_EQ(machine->gpus[0].device_id, "0x2330");
  EXPECT_EQ(machine->gpus[0].node, NodeId{2});
  EXPECT_EQ(machine->gpus[1].vendor, "AMD");
  EXPECT_EQ(machine->gpus[1].node, std::nullopt);
  ASSERT_EQ(machine->persistent_memory.size(), 4U);
  EXPECT_EQ(machine->persistent_memory[0],
            (PersistentMemory{"pmem1", "fsdax", Bytes{mib}, NodeId{0}, std::nullopt}));
  EXPECT_EQ(machine->persistent_memory[1].mode, "raw") << "the kernel has no pages for it";
  EXPECT_EQ(machine->persistent_memory[2],
            (PersistentMemory{"dax0.0", "system-ram", Bytes{4 * mib}, NodeId{2}, NodeId{5}}));
  EXPECT_EQ(machine->persistent_memory[3],
            (PersistentMemory{"mem1", "unused", Bytes{6 * mib}, NodeId{2}, std::nullopt}))
      << "mem0 is dax0.0 already";
  EXPECT_EQ(machine->find_node(NodeId{5})->kind, "cxl");
  EXPECT_EQ(machine->find_node(NodeId{0})->kind, "dram");
  EXPECT_EQ(machine->find_node(NodeId{8})->kind, "");
}

TEST(RecordedTree, MemoryAddedToANodeWithCpusShowsInItsKind) {
  const RecordedTree tree;
  write_cxl_machine(tree);
  write_devices(tree);
  tree.file("/sys/bus/dax/devices/dax0.0/target_node", "2");
  const auto machine = read_live_machine(tree.root());
  ASSERT_TRUE(machine);
  EXPECT_EQ(machine->find_node(NodeId{2})->kind, "dram+cxl");
}

TEST(RecordedTree, HypervisorThatHidesItself) {
  const RecordedTree tree;
  write_cxl_machine(tree);
  tree.file("/sys/class/dmi/id/sys_vendor", "QEMU");
  EXPECT_NE(read_live_machine(tree.root())->hypervisor, "");
  // Sold as bare metal too, under the same vendor.
  tree.file("/sys/class/dmi/id/sys_vendor", "Google");
  tree.file("/sys/class/dmi/id/product_name", "Google Compute Engine");
  EXPECT_EQ(read_live_machine(tree.root())->hypervisor, "");
}

TEST(RecordedTree, CgroupV2SmallestLimitOfAllAncestors) {
  const RecordedTree tree;
  write_cxl_machine(tree);
  tree.file("/proc/self/status", "Cpus_allowed_list:\t0-2\nMems_allowed_list:\t2,5-8");
  tree.file("/proc/self/cgroup", "0::/slurm/job/step");
  const std::string top = "/sys/fs/cgroup";
  tree.file(top + "/slurm/job/step/memory.max", "max");
  tree.file(top + "/slurm/job/step/cpuset.cpus.effective", "1-3");
  tree.file(top + "/slurm/job/memory.max", "1048576");
  tree.file(top + "/slurm/job/memory.current", "4096");
  tree.file(top + "/slurm/memory.max", "9048576");
  const auto machine = read_live_machine(tree.root());
  ASSERT_TRUE(machine);
  const Allowance& allowance = machine->allowance;
  EXPECT_EQ(allowance.affinity, cpus("0-2"));
  EXPECT_EQ(allowance.cpuset, cpus("1-3"));
  EXPECT_EQ(machine->usable_cpus(), cpus("1-2"));
  EXPECT_EQ(allowance.memory_nodes, nodes("2,5,8"));
  EXPECT_EQ(machine->usable_memory_nodes(), nodes("2,5"));
  EXPECT_EQ(allowance.memory_limit, Bytes{mib});
  EXPECT_EQ(allowance.memory_used, Bytes{4096});
  EXPECT_EQ(allowance.memory_limit_source, "/sys/fs/cgroup/slurm/job/memory.max");
}

TEST(RecordedTree, CgroupV1WithMountInAContainer) {
  const RecordedTree tree;
  write_cxl_machine(tree);
  tree.file("/proc/self/cgroup", "4:cpuset:/docker/abc\n3:cpu,memory:/docker/abc/sub\n0::/");
  tree.file("/proc/self/mountinfo",
            "31 23 0:28 /docker/abc /sys/fs/cgroup/mem rw - cgroup cgroup rw,memory\n"
            "32 23 0:29 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset");
  tree.file("/sys/fs/cgroup/mem/sub/memory.limit_in_bytes", "9223372036854771712");
  tree.file("/sys/fs/cgroup/mem/memory.limit_in_bytes", "2097152");
  tree.file("/sys/fs/cgroup/mem/memory.usage_in_bytes", "1");
  tree.file("/sys/fs/cgroup/cpuset/docker/abc/cpuset.cpus", "3");
  const auto machine = read_live_machine(tree.root());
  ASSERT_TRUE(machine);
  EXPECT_EQ(machine->allowance.memory_limit, Bytes{2 * mib});
  EXPECT_EQ(machine->allowance.memory_limit_source, "/sys/fs/cgroup/mem/memory.limit_in_bytes");
  EXPECT_EQ(machine->allowance.cpuset, cpus("3"));
}

TEST(RecordedTree, CpuQuotaIsTheLeastOfAllGroups) {
  const RecordedTree tree;
  write_cxl_machine(tree);
  tree.file("/proc/self/cgroup", "0::/kubepods/pod/app");
  const std::string top = "/sys/fs/cgroup/kubepods";
  tree.file(top + "/pod/app/cpu.max", "max 100000");
  tree.file(top + "/pod/cpu.max", "150000 100000");
  tree.file(top + "/cpu.max", "400000 100000");
  const auto machine = read_live_machine(tree.root());
  ASSERT_TRUE(machine);
  EXPECT_DOUBLE_EQ(machine->allowance.cpu_quota.value_or(0), 1.5);
  EXPECT_EQ(machine->allowance.cpu_quota_source, top + "/pod/cpu.max");
  const auto copy = machine_from_json(to_json(*machine));
  ASSERT_TRUE(copy) << full_text(copy.error());
  EXPECT_EQ(*copy, *machine);
}

TEST(RecordedTree, CpuQuotaOfVersion1) {
  const RecordedTree tree;
  write_cxl_machine(tree);
  tree.file("/proc/self/cgroup", "4:cpu,cpuacct:/docker/abc");
  tree.file("/proc/self/mountinfo",
            "31 23 0:28 /docker/abc /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct");
  const std::string group = "/sys/fs/cgroup/cpu,cpuacct/";
  tree.file(group + "cpu.cfs_quota_us", "25000");
  tree.file(group + "cpu.cfs_period_us", "50000");
  EXPECT_DOUBLE_EQ(read_live_machine(tree.root())->allowance.cpu_quota.value_or(0), 0.5);
  tree.file(group + "cpu.cfs_quota_us", "-1");
  EXPECT_FALSE(read_live_machine(tree.root())->allowance.cpu_quota);
}

TEST(RecordedTree, IsolatedCpus) {
  const RecordedTree tree;
  write_cxl_machine(tree);
  tree.file("/sys/devices/system/cpu/isolated", "");
  EXPECT_TRUE(read_live_machine(tree.root())->isolated_cpus.empty());
  tree.file("/sys/devices/system/cpu/isolated",
            "2-3,99");  // those that are not online do not count
  const auto machine = read_live_machine(tree.root());
  EXPECT_EQ(machine->isolated_cpus, cpus("2-3"));
  EXPECT_EQ(machine_from_json(to_json(*machine))->isolated_cpus, cpus("2-3"));
}

TEST(RecordedTree, HugeV1LimitIsNoLimit) {
  const RecordedTree tree;
  write_cxl_machine(tree);
  tree.file("/proc/self/cgroup", "3:memory:/");
  tree.file("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712");
  const auto machine = read_live_machine(tree.root());
  ASSERT_TRUE(machine);
  EXPECT_EQ(machine->allowance.memory_limit, std::nullopt);
  EXPECT_EQ(machine->allowance.cpuset, cpus("0-3")) << "no cpuset: everything";
}

TEST(RecordedTree, SettingsThatDisturb) {
  const RecordedTree tree;
  write_cxl_machine(tree);
  tree.file("/proc/sys/kernel/numa_balancing", "1");
  const std::string thp = "/sys/kernel/mm/transparent_hugepage";
  tree.file(thp + "/enabled", "always [madvise] never");
  tree.file(thp + "/defrag", "[always] defer never");
  tree.file(thp + "/hugepages-64kB/enabled", "[always] inherit madvise never");
  tree.file(thp + "/hugepages-32kB/enabled", "always inherit madvise [never]");
  const std::string frequency = "/sys/devices/system/cpu/cpufreq/policy";
  tree.file(frequency + "0/scaling_governor", "performance");
  tree.file(frequency + "0/affected_cpus", "0 1");
  tree.file(frequency + "2/scaling_governor", "powersave");
  tree.file(frequency + "2/affected_cpus", "2 3");
  tree.file("/sys/devices/system/clocksource/clocksource0/current_clocksource", "hpet");
  tree.file("/proc/swaps", "Filename Type Size Used Priority\n/dev/sda2 partition 2048 1024 -2");
  const auto machine = read_live_machine(tree.root());
  ASSERT_TRUE(machine);
  EXPECT_THAT(setting(*machine, "numa_balancing")->warning, HasSubstr("may move pages"));
  EXPECT_EQ(setting(*machine, "thp_enabled")->value, "madvise");
  EXPECT_EQ(setting(*machine, "thp_enabled")->warning, "");
  EXPECT_NE(setting(*machine, "thp_defrag")->warning, "");
  EXPECT_EQ(setting(*machine, "thp_sizes")->value, "64kB=always");
  EXPECT_EQ(setting(*machine, "governor")->value, "mixed: performance (0-1) powersave (2-3)");
  EXPECT_NE(setting(*machine, "governor")->warning, "");
  EXPECT_EQ(setting(*machine, "clocksource")->value, "hpet");
  EXPECT_EQ(setting(*machine, "clocksource")->warning, "") << "by its name alone";
  EXPECT_EQ(setting(*machine, "swap")->value, "1 MiB used of 2 MiB");
  EXPECT_EQ(setting(*machine, "virtual_machine"), nullptr);
}

/// Kernels whose headers make something else of the word `auto`.
TEST(RecordedTree, InterleaveWeightsAndWhoseTheyAre) {
  for (const char* name : {"auto", "__auto_type"}) {
    const RecordedTree tree;
    tree.cpus(2, 2);
    const std::string folder = "/sys/kernel/mm/mempolicy/weighted_interleave/";
    tree.file(folder + name, "true");
    tree.file(folder + "node0", "5");
    tree.file(folder + "node12", "2");
    const auto machine = read_live_machine(tree.root());
    ASSERT_TRUE(machine);
    EXPECT_EQ(setting(*machine, "interleave_weights")->value, "0=5,12=2");
    ASSERT_NE(setting(*machine, "interleave_auto"), nullptr) << name;
    EXPECT_EQ(setting(*machine, "interleave_auto")->value, "true");
    EXPECT_EQ(setting(*machine, "interleave_auto")->source, folder + name);
  }
}

TEST(RecordedTree, FirmwareAndMicrocode) {
  const RecordedTree tree;
  write_cxl_machine(tree);
  tree.file("/sys/class/dmi/id/sys_vendor", "Maker");
  tree.file("/sys/class/dmi/id/product_name", "Server 9");
  tree.file("/sys/class/dmi/id/bios_version", "1.2");
  tree.file("/sys/class/dmi/id/bios_date", "01/02/2026");
  tree.file("/proc/cpuinfo", "processor\t: 0\nvendor_id\t: GenuineIntel\nmicrocode\t: 0x2b");
  auto machine = read_live_machine(tree.root());
  ASSERT_TRUE(machine);
  EXPECT_EQ(setting(*machine, "product")->value, "Maker Server 9");
  EXPECT_EQ(setting(*machine, "firmware")->value, "1.2 01/02/2026");
  EXPECT_EQ(setting(*machine, "microcode")->value, "0x2b");
  tree.file("/sys/devices/system/cpu/cpu0/microcode/version", "0x2c");
  machine = read_live_machine(tree.root());
  EXPECT_EQ(setting(*machine, "microcode")->value, "0x2c");
}

TEST(RecordedTree, AbsentSettingsAreNotesNotValues) {
  const RecordedTree tree;
  write_cxl_machine(tree);
  const auto machine = read_live_machine(tree.root());
  ASSERT_TRUE(machine);
  EXPECT_EQ(setting(*machine, "numa_balancing"), nullptr);
  EXPECT_THAT(machine->notes, ::testing::Contains(HasSubstr("numa_balancing")));
  EXPECT_EQ(setting(*machine, "governor")->value, "not visible");
  EXPECT_EQ(setting(*machine, "microcode"), nullptr);
  EXPECT_EQ(setting(*machine, "firmware"), nullptr);
}

TEST(RecordedTree, ArmAndVirtualMachine) {
  const RecordedTree tree;
  write_cxl_machine(tree);
  tree.file("/proc/cpuinfo", "processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd4f");
  tree.file("/sys/class/dmi/id/sys_vendor", "QEMU");
  const auto machine = read_live_machine(tree.root());
  ASSERT_TRUE(machine);
  EXPECT_EQ(machine->arch, "aarch64");
  EXPECT_EQ(machine->cpu_model, "Arm Neoverse V2");
  EXPECT_EQ(machine->hypervisor, "KVM");
  EXPECT_NE(setting(*machine, "virtual_machine"), nullptr);
}

TEST(ArmCores, UnknownOnesKeepTheirNumbers) {
  EXPECT_EQ(arm_core_name("0x46", "0x001"), "Fujitsu A64FX");
  EXPECT_EQ(arm_core_name("0x61", "0x7ff"), "Arm implementer 0x61 part 0x7ff");
}

}  // namespace
}  // namespace numatlas
