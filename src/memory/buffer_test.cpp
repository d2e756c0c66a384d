#include "memory/buffer.h"
#include "base/test_tree.h"
#include "base/tree.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>

#include "memory/pools.h"
#include "memory/source.h"
#include "placement/test_machines.h"

namespace numatlas {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

Region region(Bytes bytes, const std::string& memory = "inherit", PageKind pages = PageKind::base,
              const std::string& source = "") {
  Region region;
  region.bytes = bytes;
  region.placement = parse_memory_spec(memory)->single;
  region.pages = pages;
  if (!source.empty()) region.placement.source = source;
  return region;
}

Error error_of(const Region& region) {
  const auto buffer = allocate(region);
  EXPECT_FALSE(buffer);
  return buffer ? Error{} : buffer.error();
}

/// A folder that stands for / while a test runs.
class FakeRoot : public testing::RecordedTree {
 public:
  FakeRoot() { running_system() = Tree(root()); }
  void pool(int node, int total, int free) const {
    const std::string folder =
        "/sys/devices/system/node/node" + std::to_string(node) + "/hugepages/hugepages-2048kB/";
    file(folder + "nr_hugepages", std::to_string(total));
    file(folder + "free_hugepages", std::to_string(free));
  }

 private:
  testing::CallsGuard guard_;
};

TEST(Allocate, BasePagesAreUntouchedAndStaySmall) {
  const auto buffer = allocate(region(Bytes{4 * mib + 100}));
  ASSERT_TRUE(buffer) << full_text(buffer.error());
  EXPECT_EQ((*buffer)->bytes(), 4 * mib + 100);
  EXPECT_EQ((*buffer)->policy().mechanism, "inherited");
  if (!kernel::allowed_nodes()) GTEST_SKIP() << "NUMA calls are refused here";
  Residency seen = (*buffer)->residency();
  EXPECT_EQ(seen.untouched, seen.pages_total);
  std::memset((*buffer)->data(), 1, (*buffer)->bytes());
  seen = (*buffer)->residency();
  EXPECT_EQ(seen.untouched, 0u);
  EXPECT_EQ(seen.pages_total, (4 * mib + 100) / kernel::page_size() + 1);
  EXPECT_EQ(seen.page_text(), to_text(Bytes{kernel::page_size()}));
}

TEST(Allocate, BoundToANode) {
  const auto allowed = kernel::allowed_nodes();
  if (!allowed) GTEST_SKIP() << "NUMA calls are refused here";
  const NodeId node = allowed->front();
  const auto buffer = allocate(region(Bytes{mib}, "bind:" + std::to_string(node.value)));
  ASSERT_TRUE(buffer) << full_text(buffer.error());
  std::memset((*buffer)->data(), 1, mib);
  EXPECT_DOUBLE_EQ(*(*buffer)->residency().fraction_on(NodeSet{node}), 1.0);
}

TEST(Allocate, TransparentHugePages) {
  if (thp_problem()) GTEST_SKIP() << full_text(*thp_problem());
  // One where they have 512 MiB.
  const std::uint64_t pages = thp_size() <= 2 * mib ? 8 : 1;
  const auto buffer = allocate(region(Bytes{pages * thp_size() - 100}, "inherit", PageKind::thp));
  ASSERT_TRUE(buffer) << full_text(buffer.error());
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>((*buffer)->data()) % thp_size(), 0u);
  std::memset((*buffer)->data(), 1, (*buffer)->bytes());
  const Residency seen = (*buffer)->residency();
  if (*seen.thp_fraction == 0) GTEST_SKIP() << "the kernel found no free huge page";
  EXPECT_THAT(seen.page_text(), HasSubstr("THP"));
}

TEST(Allocate, HugePagesOfThePool) {
  const NodeId first = running_nodes().nodes.front().id;
  if (const auto problem =
          page_kind_problem(PageKind::huge_2m, running_nodes(), NodeSet{first}, Bytes{6 * mib}))
    GTEST_SKIP() << full_text(*problem);
  const std::string node = std::to_string(first.value);
  for (const std::string& memory : {"bind:" + node, "weighted:" + node + "=5"}) {
    const auto buffer = allocate(region(Bytes{5 * mib}, memory, PageKind::huge_2m));
    ASSERT_TRUE(buffer) << full_text(buffer.error());
    std::memset((*buffer)->data(), 1, (*buffer)->bytes());
    const Residency seen = (*buffer)->residency();
    EXPECT_EQ(seen.page_text(), "2 MiB");
    EXPECT_EQ(seen.pages_total, 3u);
    EXPECT_EQ(seen.pages_by_node.at(first.value), 3u);
  }
}

TEST(Allocate, EmptyPoolOfTheBoundNode) {
  FakeRoot root;
  root.file("/sys/devices/system/node/online", "0-1");
  root.pool(0, 100, 80);
  root.pool(1, 10, 4);
  const Error error = error_of(region(Bytes{20 * mib}, "bind:1", PageKind::huge_2m));
  EXPECT_EQ(error.kind, ErrorKind::resource);
  EXPECT_THAT(full_text(error),
              AllOf(HasSubstr("pages 2M: 10 pages of 2 MiB are needed on node 1, 4 are free"),
                    HasSubstr("node 0: 100 total, 80 free"), HasSubstr("node 1: 10 total")));
  EXPECT_THAT(full_hint(error),
              HasSubstr("echo 16 > /sys/devices/system/node/node1/hugepages/hugepages-2048kB/nr"));
  const Error anywhere = error_of(region(Bytes{gib}, "local", PageKind::huge_2m));
  EXPECT_THAT(full_hint(anywhere), HasSubstr("sysctl vm.nr_hugepages=538"));  // 110 + (512 - 84)
  const Error giant = error_of(region(Bytes{gib}, "local", PageKind::huge_1g));
  EXPECT_EQ(giant.kind, ErrorKind::unavailable);
  EXPECT_THAT(full_text(giant), HasSubstr("pages 1G: this machine offers no huge pages of 1 GiB"));
}

TEST(Allocate, ThpSwitchedOff) {
  FakeRoot root;
  const std::string folder = "/sys/kernel/mm/transparent_hugepage/";
  EXPECT_THAT(full_text(error_of(region(Bytes{mib}, "local", PageKind::thp))),
              HasSubstr("has no transparent huge pages"));
  root.file(folder + "enabled", "always madvise [never]");
  const Error off = error_of(region(Bytes{mib}, "local", PageKind::thp));
  EXPECT_EQ(off.kind, ErrorKind::unavailable);
  EXPECT_THAT(full_text(off), HasSubstr("/sys/kernel/mm/transparent_hugepage/enabled is 'never'"));
  EXPECT_THAT(full_hint(off),
              HasSubstr("echo madvise > /sys/kernel/mm/transparent_hugepage/enabled"));
  // By their size, which follows from that of base pages: 2048 kB, or 524288 kB.
  const std::string own = "hugepages-" + std::to_string(thp_size() / kib) + "kB/enabled";
  root.file(folder + own, "always [madvise] inherit never");
  EXPECT_FALSE(thp_problem());
  root.file(folder + "enabled", "[always] madvise never");
  root.file(folder + own, "always madvise inherit [never]");
  ASSERT_TRUE(thp_problem());
  EXPECT_THAT(full_text(*thp_problem()), HasSubstr(own + " is 'never'"));
}

TEST(Allocate, Refusals) {
  EXPECT_EQ(error_of(region(Bytes{0})).kind, ErrorKind::usage);
  const Error huge = error_of(region(Bytes{10 * 1024 * 1024 * gib}));
  EXPECT_EQ(huge.kind, ErrorKind::resource);
  EXPECT_THAT(full_text(huge), HasSubstr("size: mmap of 10 PiB failed"));
  EXPECT_EQ(error_of(region(Bytes{~std::uint64_t{0}})).kind, ErrorKind::resource);
}

TEST(Allocate, RefusedPolicyLeavesNothingMapped) {
  testing::CallsGuard guard;
  kernel::calls().mbind = [](void*, unsigned long, int, const unsigned long*, unsigned long,
                             unsigned) {
    errno = ENOMEM;  // with one node a policy that is forbidden is not needed
    return -1L;
  };
  const Error error = error_of(region(Bytes{mib}, "bind:0"));
  EXPECT_EQ(error.kind, ErrorKind::resource);
  EXPECT_THAT(full_text(error), HasSubstr("--memory"));
}

TEST(NullSource, ReportsThePlacementAsMet) {
  const auto weighted =
      allocate(region(Bytes{10 * 4 * kib}, "weighted:0=3,2=1", PageKind::base, "null"));
  ASSERT_TRUE(weighted);
  EXPECT_EQ((*weighted)->data(), nullptr);
  const Residency seen = (*weighted)->residency();
  EXPECT_EQ(seen.pages_by_node, (std::map<int, std::size_t>{{0, 8}, {2, 2}}));
  EXPECT_EQ(seen.page_text(), "4 KiB");

  Region local = region(Bytes{5 * mib}, "local", PageKind::huge_2m, "null");
  EXPECT_FALSE((*allocate(local))->residency().main_node());
  EXPECT_NE((*allocate(local))->residency().problem, "");
  local.local_node = NodeId{3};
  EXPECT_EQ((*allocate(local))->residency().pages_by_node, (std::map<int, std::size_t>{{3, 3}}));
  const auto thp = allocate(region(Bytes{gib}, "bind:1,2", PageKind::thp, "null"));
  EXPECT_EQ((*thp)->residency().main_node(), NodeId{1});
  EXPECT_EQ((*thp)->residency().page_text(), "2 MiB THP");
}

}  // namespace
}  // namespace numatlas
