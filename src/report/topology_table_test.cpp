#include "report/topology_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <sstream>

#include "base/test_data.h"
#include "machine/source.h"

namespace numatlas {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

const std::string data = test_data() + "/topologies/";

Machine recorded(const std::string& spec) {
  auto machine = read_recorded_machine(spec);
  EXPECT_TRUE(machine) << full_text(machine.error());
  return machine.value_or(Machine{});
}

TEST(TopologyTable, ThousandCpusStayReadable) {
  const Machine machine = recorded("package:8 [numa(memory=512GiB)] l3:8(size=32MiB) core:8 pu:2");
  std::istringstream lines(topology_table(machine));
  int count = 0;
  for (std::string line; std::getline(lines, line); ++count) {
    // The names of the test's files may be long.
    if (!line.starts_with("recorded")) {
      EXPECT_LE(line.size(), 100U) << line;
    }
  }
  EXPECT_LT(count, 60);
  const std::string full = topology_table(machine, true);
  EXPECT_GT(std::count(full.begin(), full.end(), '\n'), 1024);
  EXPECT_THAT(full, HasSubstr("  1023  511      1       7    7     yes\n"));
}

TEST(TopologyTable, ModulesThatAreAlikeInOneLine) {
  Machine machine = recorded("numa:1 core:2 pu:1");
  EXPECT_THAT(topology_table(machine), Not(HasSubstr("Memory modules")));
  const MemorySlot module{"A0", "0", "A", Bytes{32 * gib}, "DDR5", 5600e6, 4800e6, 64};
  auto& slots = machine.memory_slots.slots;
  slots.assign(4, module);
  slots[1].channel = "B";
  slots[2].channel = "C";
  slots[3].channel = "D";
  slots[3].size = Bytes{0};
  EXPECT_THAT(topology_table(machine), HasSubstr("\nMemory modules\n"
                                                 "  number   size type rated MT/s runs at MT/s\n"
                                                 "       3 32 GiB DDR5       5600         4800\n"
                                                 "  1 of 4 slots empty\n"
                                                 "  all channels together: at most 115.2 GB/s\n"));
}

TEST(TopologyTable, CpusWithGapsAreCut) {
  Machine machine = recorded("numa:2 core:256 pu:1");
  CpuSet odd;
  for (int id = 1; id < 512; id += 2) odd.insert(CpuId{id});
  machine.allowance.affinity = odd;
  const std::string text = topology_table(machine);
  EXPECT_THAT(text, HasSubstr(",... (256)"));
  EXPECT_THAT(text, HasSubstr("cpuset      0-511 (512)"));
}

/// What is known of no GPU has no column.
TEST(TopologyTable, GpusLinksAndWhoSharesOne) {
  Machine machine = recorded(data + "two-sockets-four-gpus.json");
  for (Gpu& gpu : machine.gpus) {
    gpu.index.reset();
    gpu.memory.reset();
    gpu.name.clear();
  }
  machine.gpus[0].path[0].link.speed = 2.5e9;
  machine.gpus[1].path[2].link = {16e9, 16e9, 8, 8};
  machine.gpus[2].path.clear();
  machine.gpus[3].memory_node = NodeId{2};
  const std::string text = topology_table(machine);
  EXPECT_THAT(text, Not(HasSubstr("name\n")));
  EXPECT_THAT(text, HasSubstr("  PCI address  vendor device node driver link                 path "
                              "GB/s memory node\n"));
  EXPECT_THAT(text, HasSubstr("    0 nvidia Gen1 x16 of Gen5 x16      63.0           -\n"));
  EXPECT_THAT(text, HasSubstr("    0 nvidia Gen5 x16                  15.8           -\n"));
  EXPECT_THAT(text, HasSubstr("    1 nvidia -                            -           -\n"));
  EXPECT_THAT(text, HasSubstr("    1 nvidia Gen5 x16                     -           2\n"));
  EXPECT_THAT(text, HasSubstr("  GPUs 0000:18:00.0, 0000:19:00.0 share the link at 0000:16:00.0"));
}

TEST(TopologyTable, WarningsLimitsDevicesAndNotes) {
  Machine machine = recorded("core:2 pu:1");
  machine.hypervisor = "";
  machine.settings = {{"smt", "active", "f", "shared caches"}, {"swap", "none", "f", ""}};
  machine.allowance.memory_limit = Bytes{2 * gib};
  machine.allowance.memory_limit_source = "/cg/memory.max";
  machine.allowance.other_limits = {{Limit::Of::processes, 60, 58, {}, {}, "/cg/pids.max"},
                                    {Limit::Of::cpu_time, 100, {}, {}, {}, "ulimit -t"},
                                    {Limit::Of::file_size, mib, {}, {}, {}, "ulimit -f"}};
  machine.allowance.cpu_quota = 1.5;
  machine.allowance.cpu_quota_source = "/cg/cpu.max";
  machine.isolated_cpus = CpuSet{CpuId{1}};
  machine.gpus = {{"0000:41:00.0", "AMD", "0x740c", NodeId{0}, "amdgpu"}};
  machine.persistent_memory = {{"dax0.0", "devdax", Bytes{gib}, std::nullopt, NodeId{3}}};
  machine.notes = {"something is hidden"};
  machine.nodes[0].huge_pages = {{Bytes{2 * mib}, 16, 12}, {Bytes{gib}, 0, 0}};
  const std::string text = topology_table(machine);
  EXPECT_THAT(text, HasSubstr("  ! smt  active shared caches\n    swap none\n"));
  EXPECT_THAT(text, HasSubstr("memory limit  2 GiB, - used (/cg/memory.max)\n"));
  EXPECT_THAT(text, HasSubstr("  processes     60, 58 used (/cg/pids.max)\n"));
  EXPECT_THAT(text, HasSubstr("  CPU time      100 s (ulimit -t)\n"));
  EXPECT_THAT(text, HasSubstr("  size of files 1 MiB (ulimit -f)\n"));
  EXPECT_THAT(text, HasSubstr("CPU quota     1.5 CPUs on average (/cg/cpu.max)\n"));
  EXPECT_THAT(text, HasSubstr("    isolated    1 (1) (isolcpus; --cpus isolated takes them)\n"));
  EXPECT_THAT(text, HasSubstr("0000:41:00.0 AMD    0x740c    0 amdgpu\n"));
  EXPECT_THAT(text, HasSubstr("dax0.0 devdax 1 GiB         -       3\n"));
  EXPECT_THAT(text, HasSubstr("2 MiB 12/16\n"));
  EXPECT_THAT(text, HasSubstr("something is hidden\n"));
  EXPECT_THAT(text, HasSubstr("virtual     no\n"));
  EXPECT_THAT(text, Not(HasSubstr("Distances")));
}

TEST(TopologyTable, MemorySideCaches) {
  Machine machine = recorded("numa:2(memory=1073741824) core:1 pu:1");
  EXPECT_THAT(topology_table(machine), Not(HasSubstr("memory-side cache")));
  machine.nodes[1].side_caches = {{1, Bytes{64 * gib}, {}}};
  const std::string text = topology_table(machine);
  EXPECT_THAT(text, HasSubstr("memory-side cache"));
  EXPECT_THAT(text, HasSubstr("64 GiB none\n"));
}

}  // namespace
}  // namespace numatlas
