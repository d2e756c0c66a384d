// Names of processors and hypervisors where the kernel's words are not x86's, and CPUs that only
// the scheduler knows.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <tuple>

#include "base/test_tree.h"
#include "machine/identity.h"
#include "machine/sha256.h"
#include "machine/sysfs_nodes.h"

namespace numatlas {
namespace {

using testing::cpus;
using ::testing::HasSubstr;
using testing::RecordedTree;

TEST(ModelName, OfOtherArchitectures) {
  EXPECT_EQ(model_name("processor\t: 0\ncpu\t\t: POWER9 (architected), altivec supported\n"),
            "POWER9 (architected)");
  EXPECT_EQ(model_name("processor\t: 0\nModel Name\t\t: Loongson-3A5000\n"), "Loongson-3A5000");
  EXPECT_EQ(model_name("processor\t: 0\nisa : rv64\nuarch : sifive,u74-mc\n"), "sifive,u74-mc");
  EXPECT_EQ(model_name("processor\t: 0\nCPU part : 0xd0c\n"), "");
}

class Hypervisor : public ::testing::Test {
 protected:
  Hypervisor() { tree_.file("/proc/cpuinfo", "processor : 0\nCPU part : 0xd49"); }
  void product(const std::string& vendor, const std::string& name) const {
    tree_.file("/sys/class/dmi/id/sys_vendor", vendor);
    tree_.file("/sys/class/dmi/id/product_name", name);
  }
  Machine read() const {
    Machine machine;
    read_identity(Tree(tree_.root()), machine);
    return machine;
  }
  RecordedTree tree_;
};

TEST_F(Hypervisor, IsUnknownWhereNeitherProcessorNorFirmwareSays) {
  EXPECT_EQ(read().hypervisor, std::nullopt);
  product("Alibaba Cloud", "Alibaba Cloud ECS");
  EXPECT_EQ(read().hypervisor, std::nullopt);
  EXPECT_THAT(read().unread.at("hypervisor"), HasSubstr("'Alibaba Cloud Alibaba Cloud ECS'"));
  tree_.file("/sys/class/dmi/id/chassis_type", "1");
  EXPECT_EQ(read().hypervisor, std::nullopt);
}

TEST_F(Hypervisor, IsNoneInAServersChassis) {
  product("GIGABYTE", "R272-P30-JG");
  tree_.file("/sys/class/dmi/id/chassis_type", "23");
  EXPECT_EQ(read().hypervisor, "");
  EXPECT_FALSE(read().unread.contains("hypervisor"));
}

TEST_F(Hypervisor, WhichCloudSellsIt) {
  for (const auto& [vendor, name, provider] : {std::tuple("Amazon EC2", "m5.large", "aws"),
                                               {"Google", "Google Compute Engine", "gcp"},
                                               {"Google", "Lindar", ""},
                                               {"Alibaba Cloud", "Alibaba Cloud ECS", "alicloud"},
                                               {"Hetzner", "vServer", "hcloud"},
                                               {"UpCloud", "Cloud Server", "upcloud"},
                                               {"Vultr", "VOC", "vultr"},
                                               {"OpenStack Foundation", "OpenStack Nova", ""},
                                               {"Xen", "HVM domU", ""},
                                               {"Microsoft Corporation", "Virtual Machine", ""},
                                               {"", "", ""}}) {
    product(vendor, name);
    EXPECT_EQ(read().identity.provider, provider) << vendor;
  }
  product("Microsoft Corporation", "Virtual Machine");
  tree_.file("/sys/class/dmi/id/chassis_asset_tag", "7783-7084-3265-9085-8269-3286-77");
  EXPECT_EQ(read().identity.provider, "azure");
  product("Xen", "HVM domU");
  tree_.file("/sys/class/dmi/id/bios_version", "4.11.amazon");
  EXPECT_EQ(read().identity.provider, "aws");
}

/// A product may have any name, also one that is another vendor's word.
TEST_F(Hypervisor, TheVendorDecidesBeforeAWordOfTheProduct) {
  const struct {
    const char *vendor, *name;
    std::optional<std::string> hypervisor;
  } rows[] = {{"Amazon EC2", "c7g.metal", ""},
              {"Amazon EC2", "c7g.large", "KVM (Amazon EC2)"},
              {"Amazon EC2", "m8g.metal-48xl", ""},
              {"Amazon EC2", "u7in-16tb.metal-224xl", ""},
              {"Amazon EC2", "m8g.metallic", "KVM (Amazon EC2)"},
              {"Apple Inc.", "Apple Virtualization Generic Platform", "Apple Virtualization"},
              {"QEMU", "lab.metal-48xl", "KVM"},
              {"VMware, Inc.", "test.metal", "VMware"},
              {"Parallels International GmbH.", "Parallels ARM Virtual Machine", "Parallels"},
              {"Microsoft Corporation", "Virtual Machine", "Hyper-V"},
              {"Microsoft Corporation", "a board of its own", std::nullopt},
              {"Hetzner", "vServer", "KVM (Hetzner)"},
              {"Hetzner", "a board of its own", std::nullopt},
              {"Red Hat", "KVM", "KVM"},
              {"Google", "a board of its own", std::nullopt},
              {"Oracle Corporation", "a board of its own", std::nullopt}};
  for (const auto& [vendor, name, hypervisor] : rows) {
    product(vendor, name);
    EXPECT_EQ(read().hypervisor, hypervisor) << vendor << " " << name;
  }
}

/// Whatever DMI says: on x86 the processor tells whether there is a hypervisor.
TEST_F(Hypervisor, OfX86ByTheProcessor) {
  product("Google", "Google Compute Engine");
  tree_.file("/proc/cpuinfo", "processor : 0\nflags : fpu sse2");
  EXPECT_EQ(read().hypervisor, "");
  tree_.file("/proc/cpuinfo", "processor : 0\nflags : fpu sse2 hypervisor");
  EXPECT_EQ(read().hypervisor, "KVM (Google)");
  product("Amazon EC2", "m7i.metal-48xl");
  EXPECT_EQ(read().hypervisor, "unknown");
  product("QEMU", "Standard PC");
  tree_.file("/proc/cpuinfo", "processor : 0\nflags : fpu sse2");
  EXPECT_EQ(read().hypervisor, "KVM") << "it hides itself";
}

TEST(Identity, IsOfWhatTellsMachinesApart) {
  const RecordedTree tree;
  const auto read = [&] {
    Machine machine;
    read_identity(Tree(tree.root()), machine);
    return machine.identity;
  };
  EXPECT_EQ(read(), Identity{});
  tree.file("/etc/machine-id", "0123456789abcdef0123456789abcdef");
  tree.file("/proc/sys/kernel/random/boot_id", "6ba7b810-9dad-11d1-80b4-00c04fd430c8");
  tree.file("/sys/class/dmi/id/product_uuid", "4C4C4544-0042-3510-8051-B4C04F565931");
  tree.file("/sys/class/dmi/id/sys_vendor", "Dell Inc.");
  tree.file("/sys/class/dmi/id/product_name", "PowerEdge R6525");
  const Identity found = read();
  EXPECT_EQ(found.installation, sha256("numatlas 0123456789abcdef0123456789abcdef").substr(0, 16));
  EXPECT_EQ(found.boot, sha256("numatlas 6ba7b8109dad11d180b400c04fd430c8").substr(0, 16));
  EXPECT_EQ(found.firmware, sha256("numatlas 4c4c4544004235108051b4c04f565931").substr(0, 16));
  EXPECT_EQ(found.product, "Dell Inc. PowerEdge R6525");
  // Ids that many machines have, and what is none.
  for (const char* id :
       {"uninitialized", "", "00000000-0000-0000-0000-000000000000",
        "FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF", "03000200-0400-0500-0006-000700080009"}) {
    tree.file("/sys/class/dmi/id/product_uuid", id);
    tree.file("/etc/machine-id", id);
    EXPECT_EQ(read().firmware + read().installation, "") << id;
  }
}

TEST(Affinity, OfCpusThatTheListOfOnlineOnesLeavesOut) {
  const RecordedTree tree;
  tree.cpus(6, 3);
  for (int id = 0; id < 5; ++id) {  // none of CPU 5, as where a container hides its folder
    const std::string cpu = fmt::format("/sys/devices/system/cpu/cpu{}", id);
    tree.file(cpu + "/topology/core_cpus_list", id < 2 ? "0-1" : fmt::format("{}", id));
    tree.file(cpu + "/cache/index3/level", "3");
    tree.file(cpu + "/cache/index3/type", "Unified");
    tree.file(cpu + "/cache/index3/size", "32768K");
    tree.file(cpu + "/cache/index3/shared_cpu_list", id < 3 ? "0-2" : "3-7");
  }
  Machine machine;
  machine.cpus.emplace_back().id = CpuId{0};
  believe_affinity(Tree(tree.root()), cpus("0-5"), machine);
  EXPECT_EQ(machine.all_cpus(), cpus("0-5"));
  EXPECT_EQ(machine.find_cpu(CpuId{1})->core, machine.find_cpu(CpuId{0})->core);
  EXPECT_EQ(machine.find_cpu(CpuId{1})->smt_index, 1);
  EXPECT_EQ(machine.find_cpu(CpuId{4})->package, 1);
  ASSERT_EQ(machine.caches.size(), 2U);
  EXPECT_EQ(machine.caches[1].cpus, cpus("3-5"));
  EXPECT_EQ(machine.caches[1].size, Bytes{32 * mib});
  EXPECT_THAT(machine.notes.back(), HasSubstr("has only CPUs 0, but the scheduler"));
  const Machine before = machine;
  believe_affinity(Tree(tree.root()), cpus("0-3"), machine);
  EXPECT_EQ(machine, before) << "a mask that leaves CPUs out says nothing of the machine";
}

}  // namespace
}  // namespace numatlas
