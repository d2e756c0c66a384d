#include "placement/residency.h"
#include "base/tree.h"
#include "placement/test_page_nodes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <sstream>

#include "placement/mappings.h"
#include "placement/test_machines.h"

namespace numatlas {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const std::size_t base_page = kernel::page_size();

TEST(Smaps, LaterAndOlderKernels) {
  std::istringstream file(
      "7f0000000000-7f0000200000 rw-p 00000000 00:00 0 \n"
      "Size:               2048 kB\nKernelPageSize:        4 kB\nMMUPageSize:  4 kB\n"
      "Rss:                1024 kB\nAnonHugePages:       512 kB\nNewKey: words\n"
      "VmFlags: rd wr mr\n"
      "ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0  [vsyscall]\n"
      "Rss: 0 kB\nbroken line without colon\nAnonHugePages: x kB\n");
  const std::vector<Mapping> seen = read_smaps(file);
  ASSERT_EQ(seen.size(), 2u);
  EXPECT_EQ(seen[0].start, 0x7f0000000000u);
  EXPECT_EQ(seen[0].end, 0x7f0000200000u);
  EXPECT_EQ(seen[0].page_size, 4096u);
  EXPECT_EQ(seen[0].resident, 1024 * kib);
  EXPECT_EQ(seen[0].anonymous_huge, 512 * kib);
  EXPECT_EQ(seen[1].page_size, 0u);
  EXPECT_EQ(seen[1].anonymous_huge, 0u);
}

TEST(NumaMaps, GroupsAsNumastatDoes) {
  std::istringstream file(
      "00400000 default file=/usr/bin/my\\040heap mapped=10 N0=10 kernelpagesize_kB=4\n"
      "01000000 default heap anon=5 dirty=5 N0=3 N1=2 kernelpagesize_kB=4\n"
      "2aaaaaa00000 bind:1 file=/anon_hugepage\\040(deleted) huge anon=3 dirty=3 N1=3 "
      "kernelpagesize_kB=2048\n"
      "7ffc00000000 default stack anon=3 dirty=3 N2=3 kernelpagesize_kB=4\n"
      "7ffc10000000 default stack:1234 anon=1 N0=1 kernelpagesize_kB=4\n"
      "7ffc20000000 default\n"
      "not a line\n");
  const auto memory = sum_numa_maps(file, NodeSet{NodeId{0}, NodeId{1}});
  EXPECT_THAT(memory.nodes, ElementsAre(NodeId{0}, NodeId{1}, NodeId{2}));
  ASSERT_EQ(memory.rows.size(), 4u);
  const auto row = [&](std::size_t index, const char* name) {
    EXPECT_EQ(memory.rows[index].name, name);
    std::vector<std::uint64_t> bytes;
    for (Bytes value : memory.rows[index].by_node) bytes.push_back(value.value);
    return bytes;
  };
  EXPECT_THAT(row(0, "Huge"), ElementsAre(0, 6 * mib, 0));
  EXPECT_THAT(row(1, "Heap"), ElementsAre(12 * kib, 8 * kib, 0));
  EXPECT_THAT(row(2, "Stack"), ElementsAre(4 * kib, 0, 12 * kib));
  EXPECT_THAT(row(3, "Private"), ElementsAre(40 * kib, 0, 0));
}

TEST(ProcessMemory, OwnAndMissingProcess) {
  if (access("/proc/self/numa_maps", R_OK) != 0) GTEST_SKIP() << "no numa_maps here";
  const auto own = read_process_memory(0, NodeSet{NodeId{0}});
  ASSERT_TRUE(own) << full_text(own.error());
  EXPECT_EQ(own->pid, getpid());
  EXPECT_THAT(own->command, HasSubstr("test_placement"));
  std::uint64_t sum = 0;
  for (const auto& row : own->rows) {
    for (Bytes bytes : row.by_node) sum += bytes.value;
  }
  EXPECT_GT(sum, 100 * kib);
  // Above the largest number that Linux gives to a process (2^22).
  EXPECT_THAT(full_text(read_process_memory(1 << 23, {}).error()), HasSubstr("no process 8388608"));
}

TEST(ProcessMemory, KernelWithoutNuma) {
  testing::CallsGuard guard;
  running_system() = Tree("/nonexistent");
  EXPECT_FALSE(read_process_memory(0, {}));
}

TEST(PagesMoved, AreThoseThatArrivedElsewhere) {
  Residency before, after;
  before.pages_by_node = {{0, 80}, {1, 20}};
  before.pages_asked = before.pages_total = 100;
  after = before;
  EXPECT_EQ(pages_moved(before, after), 0U);
  after.pages_by_node = {{0, 50}, {1, 25}, {2, 25}};
  EXPECT_EQ(pages_moved(before, after), 30U);
  after.pages_total = 1000;
  EXPECT_EQ(pages_moved(before, after), 300U) << "of a sample";
  EXPECT_EQ(pages_moved(before, {}), 0U) << "not observed";
  EXPECT_EQ(pages_moved({}, after), 0U) << "not observed";
}

TEST(ResidencyText, Pages) {
  Residency seen;
  EXPECT_EQ(seen.page_text(), "unknown");
  seen.page_size = Bytes{4096};
  EXPECT_EQ(seen.page_text(), "4 KiB");
  seen.thp_fraction = 0.37;
  EXPECT_EQ(seen.page_text(), "4 KiB + 37 % THP");
  seen.thp_fraction = 1;
  EXPECT_EQ(seen.page_text(), "2 MiB THP");
  seen.page_size = Bytes{64 * kib};
  EXPECT_EQ(seen.page_text(), "512 MiB THP");
  seen.thp_fraction = 0;
  EXPECT_EQ(seen.page_text(), "64 KiB");
  seen.page_size = Bytes{2 * mib};
  EXPECT_EQ(seen.page_text(), "2 MiB");
}

TEST(ResidencyText, NodesAndFractions) {
  Residency seen;
  EXPECT_FALSE(seen.main_node());
  EXPECT_FALSE(seen.fraction_on(NodeSet{NodeId{0}}));
  seen.pages_by_node = {{0, 1}, {3, 3}};
  EXPECT_EQ(seen.main_node(), NodeId{3});
  EXPECT_DOUBLE_EQ(*seen.fraction_on(NodeSet{NodeId{3}}), 0.75);
  EXPECT_DOUBLE_EQ(*seen.fraction_on(NodeSet{NodeId{1}}), 0);
}

struct Mapped {
  explicit Mapped(std::size_t count) : bytes(count) {
    start = static_cast<std::byte*>(mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
    madvise(start, bytes, MADV_NOHUGEPAGE);
  }
  ~Mapped() { munmap(start, bytes); }
  Mapped(const Mapped&) = delete;
  Mapped& operator=(const Mapped&) = delete;
  std::byte* start;
  std::size_t bytes;
};

TEST(Observe, TouchedAndUntouchedPages) {
  if (!kernel::allowed_nodes()) GTEST_SKIP() << "NUMA calls are refused here";
  Mapped mapped(100 * base_page);
  std::memset(mapped.start, 1, 30 * base_page);
  const Residency seen = observe(mapped.start, mapped.bytes);
  EXPECT_EQ(seen.problem, "");
  EXPECT_EQ(seen.pages_total, 100u);
  EXPECT_EQ(seen.pages_asked, 100u);
  EXPECT_EQ(seen.untouched, 70u);
  EXPECT_EQ(seen.pages_by_node.at(seen.main_node()->value), 30u);
  EXPECT_EQ(seen.page_size, Bytes{base_page});
  EXPECT_DOUBLE_EQ(*seen.thp_fraction, 0);
  const auto nodes = testing::page_nodes(mapped.start, mapped.bytes, base_page, 31);
  ASSERT_EQ(nodes.size(), 31u);
  EXPECT_GE(nodes[29], 0);
  EXPECT_EQ(nodes[30], -ENOENT);
}

TEST(Observe, RangeThatStartsAndEndsInsideAPage) {
  if (!kernel::allowed_nodes()) GTEST_SKIP() << "NUMA calls are refused here";
  Mapped mapped(4 * base_page);
  std::memset(mapped.start, 1, mapped.bytes);
  const Residency seen = observe(mapped.start + base_page - 1, base_page + 2);
  EXPECT_EQ(seen.pages_total, 3u);
  EXPECT_EQ(observe(mapped.start, 0).pages_total, 0u);
}

TEST(Observe, SampleOfALargeInterleavedRangeSeesBothNodes) {
  testing::CallsGuard guard;
  kernel::calls().move_pages = [](int, unsigned long count, void** pages, const int*, int* status,
                                  int) {
    EXPECT_LE(count, 1u << 14);
    for (unsigned long i = 0; i < count; ++i) {
      status[i] = static_cast<int>(reinterpret_cast<std::uintptr_t>(pages[i]) / base_page % 2);
    }
    return 0L;
  };
  Mapped mapped((std::size_t{1} << 21) * base_page);
  const Residency seen = observe(mapped.start, mapped.bytes);
  EXPECT_EQ(seen.pages_total, std::size_t{1} << 21);
  EXPECT_EQ(seen.pages_asked, std::size_t{1} << 16);
  EXPECT_NEAR(*seen.fraction_on(NodeSet{NodeId{0}}), 0.5, 0.01);
}

TEST(Observe, RefusedCallIsSaid) {
  testing::CallsGuard guard;
  kernel::calls().move_pages = [](int, unsigned long, void**, const int*, int*, int) {
    errno = EPERM;
    return -1L;
  };
  running_system() = Tree("/nonexistent");
  Mapped mapped(4 * base_page);
  const Residency seen = observe(mapped.start, mapped.bytes);
  EXPECT_THAT(seen.problem,
              AllOf(HasSubstr("smaps cannot be read"), HasSubstr("move_pages: Operation not")));
  EXPECT_FALSE(seen.page_size);
  EXPECT_FALSE(seen.main_node());
  EXPECT_TRUE(testing::page_nodes(mapped.start, mapped.bytes, base_page, 4).empty());
}

}  // namespace
}  // namespace numatlas
