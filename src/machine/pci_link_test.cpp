// PCIe links: pure functions, recorded trees, and what is nonsense in one.
#include "machine/pci_link.h"

#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/test_tree.h"
#include "machine/pci.h"
#include "machine/source.h"

namespace numatlas {
namespace {

using testing::RecordedTree;

PciLink lanes(double gigatransfers, int width) {
  return {gigatransfers * 1e9, gigatransfers * 1e9, width, width};
}

TEST(PciLink, RatesAfterLineCoding) {
  EXPECT_DOUBLE_EQ(link_rate(2.5e9, 16).value(), 4e9);
  EXPECT_DOUBLE_EQ(link_rate(5e9, 16).value(), 8e9);
  EXPECT_NEAR(link_rate(8e9, 16).value(), 15.75e9, 0.01e9);
  EXPECT_NEAR(link_rate(16e9, 16).value(), 31.5e9, 0.01e9);
  EXPECT_NEAR(link_rate(32e9, 16).value(), 63.0e9, 0.02e9);
  EXPECT_DOUBLE_EQ(link_rate(64e9, 16).value(), 121e9);
  EXPECT_DOUBLE_EQ(link_rate(128e9, 16).value(), 242e9);
  EXPECT_DOUBLE_EQ(link_rate(5e9, 1).value(), 0.5e9);
  EXPECT_EQ(link_rate(17e9, 16), std::nullopt);
  EXPECT_EQ(link_rate(0, 16), std::nullopt);
  EXPECT_EQ(link_rate(16e9, 0), std::nullopt);
}

TEST(PciLink, Text) {
  EXPECT_EQ(link_text({32e9, 32e9, 16, 16}), "Gen5 x16");
  EXPECT_EQ(link_text({16e9, 32e9, 8, 16}), "Gen4 x8 of Gen5 x16");
  EXPECT_EQ(link_text({2.5e9, 16e9, 16, 16}), "Gen1 x16 of Gen4 x16");
  EXPECT_EQ(link_text({16e9, std::nullopt, 4, std::nullopt}), "Gen4 x4");
  EXPECT_EQ(link_text({std::nullopt, 64e9, std::nullopt, 8}), "up to Gen6 x8");
  EXPECT_EQ(link_text({8e9, std::nullopt, std::nullopt, std::nullopt}), "Gen3");
  EXPECT_EQ(link_text({std::nullopt, std::nullopt, 2, std::nullopt}), "x2");
  EXPECT_EQ(link_text({24e9, std::nullopt, 2, std::nullopt}), "24 GT/s x2");
  EXPECT_EQ(link_text({}), "");
}

Gpu gpu_with(std::vector<PciStep> path) {
  Gpu gpu;
  gpu.pci_address = path.empty() ? "" : path.front().pci_address;
  gpu.path = std::move(path);
  return gpu;
}

TEST(PathLimit, IsTheLesserOfEachLinksEnds) {
  EXPECT_EQ(path_limit(gpu_with({})), std::nullopt);
  EXPECT_EQ(path_limit(gpu_with({{"g", {}}, {"r", {}}})), std::nullopt);
  EXPECT_EQ(path_limit(gpu_with({{"g", lanes(16, 8)}})), link_rate(16e9, 8)) << "no upper end";
  // A fast card in a slow slot, by speed and by width from different ends.
  PciLink card{8e9, 32e9, 4, 8};
  PciLink slot{8e9, 8e9, 4, 16};
  EXPECT_EQ(path_limit(gpu_with({{"g", card}, {"r", slot}})), link_rate(8e9, 8));
  EXPECT_EQ(path_limit(gpu_with({{"g", {}}, {"r", slot}})), link_rate(8e9, 16)) << "a VF";
}

/// An idle link must not show as a limit, and the switch's inner step is no link.
TEST(PathLimit, LooksAtEachLinkAndNotAtWhatItRunsAtNow) {
  const PciLink idle{2.5e9, 32e9, 16, 16};
  const auto path = [&](const PciLink& upstream, const PciLink& root) {
    return gpu_with({{"g", idle}, {"down", idle}, {"up", upstream}, {"root", root}});
  };
  EXPECT_EQ(path_limit(path(idle, idle)), link_rate(32e9, 16));
  EXPECT_EQ(path_limit(path(lanes(16, 16), lanes(32, 16))), link_rate(16e9, 16));
  EXPECT_EQ(path_limit(path(lanes(32, 16), lanes(32, 8))), link_rate(32e9, 16))
      << "it runs x16, so that the end that says x8 cannot be right";
  EXPECT_EQ(path_limit(path({32e9, 32e9, 8, 16}, lanes(32, 8))), link_rate(32e9, 8));
  EXPECT_EQ(path_limit(path({}, {})), link_rate(32e9, 16)) << "the link that is known";
}

TEST(PathLimit, MadeUpRootPortOfAVirtualMachine) {
  const auto gpu = gpu_with({{"g", lanes(16, 16)}, {"root", {16e9, 2.5e9, 16, 1}}});
  EXPECT_EQ(path_limit(gpu), link_rate(16e9, 16));
}

TEST(PathLimit, NoneWhereTheMemoryIsANode) {
  Gpu gpu = gpu_with({{"g", lanes(2.5, 1)}});
  EXPECT_TRUE(path_limit(gpu));
  gpu.memory_node = NodeId{1};
  EXPECT_EQ(path_limit(gpu), std::nullopt);
  Machine machine;
  gpu.path.push_back({"root", lanes(2.5, 1)});
  machine.gpus = {gpu, gpu, gpu};
  EXPECT_TRUE(shared_ports(machine).empty());
  machine.gpus[1].memory_node.reset();
  machine.gpus[2].memory_node.reset();
  EXPECT_THAT(shared_ports(machine),
              ::testing::ElementsAre(SharedPort{"root", {1, 2}, link_rate(2.5e9, 1)}));
}

TEST(SharedPorts, SwitchBehindASwitch) {
  const PciLink wide = lanes(32, 16);
  const PciLink narrow = lanes(32, 8);
  const auto behind = [&](const char* gpu, const char* down, const char* inner) {
    return gpu_with({{gpu, wide},
                     {down, wide},
                     {inner, wide},
                     {fmt::format("{}-above", inner), wide},
                     {"outer", narrow},
                     {"root", wide}});
  };
  Machine machine;
  EXPECT_TRUE(shared_ports(machine).empty());
  machine.gpus = {behind("g0", "d0", "s0"),
                  behind("g1", "d1", "s1"),
                  behind("g2", "d2", "s0"),
                  gpu_with({{"g3", wide}, {"root3", wide}}),
                  gpu_with({}),
                  gpu_with({})};
  // The inner switch's own link is wide, but the narrow one above is on the way of both.
  EXPECT_THAT(shared_ports(machine),
              ::testing::ElementsAre(SharedPort{"s0", {0, 2}, link_rate(32e9, 8)},
                                     SharedPort{"outer", {0, 1, 2}, link_rate(32e9, 8)}));
}

TEST(SharedPorts, TwoFunctionsOfACardShareItsSlot) {
  Machine machine;
  machine.gpus = {gpu_with({{"3b:00.0", lanes(16, 16)}, {"root", lanes(16, 8)}}),
                  gpu_with({{"3b:00.4", {}}, {"root", lanes(16, 8)}})};
  machine.gpus[0].path[0].link.width = 8;
  EXPECT_THAT(shared_ports(machine),
              ::testing::ElementsAre(SharedPort{"root", {0, 1}, link_rate(16e9, 8)}));
}

/// The files of a link; "" leaves one out.
struct LinkFiles {
  std::string speed, width, max_speed, max_width;
};
const LinkFiles gen5{"32.0 GT/s PCIe", "16", "32.0 GT/s PCIe", "16"};

/// A machine of two sockets with a node each, and PCI devices as sysfs nests them.
class PciTree : public RecordedTree {
 public:
  PciTree() {
    cpus(4, 2);
    node(0, "0-1", 0x3, 1024, "10 21");
    node(1, "2-3", 0xc, 1024, "21 10");
    for (const char* name : {"online", "possible", "has_cpu", "has_memory"}) {
      file(fmt::format("/sys/devices/system/node/{}", name), "0-1");
    }
  }
  /// `way` is the folder below /sys/devices, from the root bus to the device.
  void device(const std::string& way, const char* pci_class, const char* vendor, int node,
              const LinkFiles& link_files) const {
    const std::string folder = "/sys/devices/" + way;
    file(folder + "/class", pci_class);
    file(folder + "/vendor", vendor);
    file(folder + "/device", "0x2330");
    file(folder + "/numa_node", fmt::format("{}", node));
    const auto fact = [&](const char* name, const std::string& content) {
      if (!content.empty()) file(folder + "/" + name, content);
    };
    fact("current_link_speed", link_files.speed);
    fact("current_link_width", link_files.width);
    fact("max_link_speed", link_files.max_speed);
    fact("max_link_width", link_files.max_width);
    link("/sys/bus/pci/devices/" + way.substr(way.rfind('/') + 1), root() + folder);
  }
  void bridge(const std::string& way, const LinkFiles& link_files) const {
    device(way, "0x060400", "0x10b5", 0, link_files);
  }
  void gpu(const std::string& way, const LinkFiles& link_files, int node = 0) const {
    device(way, "0x030200", "0x10de", node, link_files);
  }
  std::vector<Gpu> gpus() const {
    const auto machine = read_live_machine(root());
    EXPECT_TRUE(machine) << full_text(machine.error());
    return machine ? machine->gpus : std::vector<Gpu>{};
  }
};

TEST(PciTree, GpusOfTwoSocketsAndOneOfUnknownNode) {
  const PciTree tree;
  for (const auto& [bus, node] : {std::pair("3", 0), std::pair("9", 1), std::pair("c", -1)}) {
    const std::string port = fmt::format("pci0000:{0}a/0000:{0}a:01.0", bus);
    tree.bridge(port, {"16.0 GT/s PCIe", "16", "16.0 GT/s PCIe", "16"});
    tree.gpu(fmt::format("{}/0000:{}b:00.0", port, bus),
             {"2.5 GT/s PCIe", "16", "32.0 GT/s PCIe", "16"}, node);
  }
  const auto gpus = tree.gpus();
  ASSERT_EQ(gpus.size(), 3U);
  EXPECT_EQ(gpus[0].node, NodeId{0});
  EXPECT_EQ(gpus[1].node, NodeId{1});
  EXPECT_EQ(gpus[2].node, std::nullopt) << "though its bridge has one";
  const std::vector<PciStep> expected{{"0000:9b:00.0", {2.5e9, 32e9, 16, 16}},
                                      {"0000:9a:01.0", {16e9, 16e9, 16, 16}}};
  EXPECT_EQ(gpus[1].path, expected);
  EXPECT_EQ(path_limit(gpus[1]), link_rate(16e9, 16));
  Machine machine;
  machine.gpus = gpus;
  EXPECT_TRUE(shared_ports(machine).empty());
}

TEST(PciTree, NarrowUpstreamLinkOfASwitch) {
  const PciTree tree;
  const LinkFiles narrow{"32.0 GT/s PCIe", "8", "32.0 GT/s PCIe", "8"};
  const std::string root = "pci0000:15/0000:15:01.0";
  tree.bridge(root, {"32.0 GT/s PCIe", "8", "32.0 GT/s PCIe", "16"});
  tree.bridge(root + "/0000:16:00.0", narrow);
  for (const char* way : {"/0000:17:00.0/0000:18:00.0", "/0000:17:01.0/0000:19:00.0"}) {
    const std::string inside = root + "/0000:16:00.0" + way;
    tree.bridge(inside.substr(0, inside.rfind('/')), gen5);
    tree.gpu(inside, gen5);
  }
  Machine machine;
  machine.gpus = tree.gpus();
  ASSERT_EQ(machine.gpus.size(), 2U);
  ASSERT_EQ(machine.gpus[1].path.size(), 4U);
  EXPECT_EQ(machine.gpus[1].path[1].pci_address, "0000:17:01.0");
  EXPECT_EQ(machine.gpus[1].path[3].pci_address, "0000:15:01.0");
  EXPECT_EQ(link_text(machine.gpus[0].path.front().link), "Gen5 x16");
  EXPECT_EQ(path_limit(machine.gpus[0]), link_rate(32e9, 8));
  EXPECT_THAT(shared_ports(machine),
              ::testing::ElementsAre(SharedPort{"0000:16:00.0", {0, 1}, link_rate(32e9, 8)}));
}

TEST(PciTree, ClockOfAGpuByItsMonitor) {
  const RecordedTree tree;
  const std::string device = "/sys/bus/pci/devices/0000:45:00.0/hwmon/";
  tree.file(device + "hwmon3/name", "amdgpu");
  EXPECT_EQ(gpu_frequency(Tree(tree.root()), "0000:45:00.0"), std::nullopt);
  tree.file(device + "hwmon3/freq1_input", "2100000000");
  tree.file(device + "hwmon3/freq2_input", "1600000000");
  EXPECT_EQ(gpu_frequency(Tree(tree.root()), "0000:45:00.0"), 2.1e9);
  EXPECT_EQ(gpu_frequency(Tree(tree.root()), "0000:46:00.0"), std::nullopt);
}

TEST(PciTree, VirtualMachineWithoutLinkFiles) {
  const PciTree tree;
  tree.gpu("pci0000:00/0000:00:05.0", {}, -1);
  const auto gpus = tree.gpus();
  ASSERT_EQ(gpus.size(), 1U);
  EXPECT_TRUE(gpus[0].path.empty());
  EXPECT_EQ(path_limit(gpus[0]), std::nullopt);
  EXPECT_EQ(read_link(Tree(tree.root()), "0000:00:05.0"), std::nullopt);
  EXPECT_EQ(read_link(Tree(tree.root()), "0000:00:06.0"), std::nullopt) << "not there";
}

TEST(PciTree, VirtualFunctionHasThePortsLink) {
  const PciTree tree;
  tree.bridge("pci0000:3a/0000:3a:01.0", gen5);
  tree.gpu("pci0000:3a/0000:3a:01.0/0000:3b:00.4", {"Unknown", "0", "Unknown", "0"});
  const auto gpus = tree.gpus();
  ASSERT_EQ(gpus.size(), 1U);
  ASSERT_EQ(gpus[0].path.size(), 2U);
  EXPECT_EQ(gpus[0].path[0].link, PciLink{});
  EXPECT_EQ(path_limit(gpus[0]), link_rate(32e9, 16));
}

TEST(PciTree, NonsenseInTheLinkFilesIsUnknown) {
  for (const char* speed :
       {"Unknown", "Unknown speed", "fast", "-8.0 GT/s PCIe", "0 GT/s", "nan GT/s", "inf GT/s",
        "1e300 GT/s", "99999 GT/s", "16.0", "16.0 Gb/s", " GT/s"}) {
    const PciTree tree;
    tree.gpu("pci0000:3a/0000:3b:00.0", {speed, "16", "8 GT/s", "16"});
    const auto found = read_link(Tree(tree.root()), "0000:3b:00.0");
    EXPECT_EQ(found, (PciLink{std::nullopt, 8e9, 16, 16})) << speed;
  }
  for (const char* width : {"0", "255", "-4", "33", "x16", "16.0", "99999999999999999999"}) {
    const PciTree tree;
    tree.gpu("pci0000:3a/0000:3b:00.0", {"64.0 GT/s PCIe", width, "64.0 GT/s PCIe", width});
    const auto found = read_link(Tree(tree.root()), "0000:3b:00.0");
    EXPECT_EQ(found, (PciLink{64e9, 64e9, std::nullopt, std::nullopt})) << width;
  }
}

}  // namespace
}  // namespace numatlas
