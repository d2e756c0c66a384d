#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "advise/layout.h"

namespace numatlas {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

ProgramLayout laid_out() {
  ProgramLayout layout;
  layout.cpus = CpuSet{CpuId{0}, CpuId{1}, CpuId{4}};
  layout.memory = MemoryPlacement{MemoryMode::bind, {{NodeId{0}, 1}, {NodeId{2}, 1}}};
  layout.pages = PageKind::thp;
  layout.environment = {{"OMP_PLACES", "cores"}};
  return layout;
}

TEST(ProgramLayout, IsOptionsOfExec) {
  EXPECT_THAT(exec_options(laid_out()),
              ElementsAre("--cpus", "0-1,4", "--memory", "bind:0,2", "--pages", "thp"));
  EXPECT_THAT(exec_options({}), IsEmpty());
}

TEST(ProgramLayout, IsOptionsOfNumactlWhereThereAreSuch) {
  ProgramLayout layout = laid_out();
  EXPECT_THAT(*numactl_options(layout), ElementsAre("--physcpubind=0-1,4", "--membind=0,2"));
  layout.memory->mode = MemoryMode::prefer;
  EXPECT_THAT(*numactl_options(layout), ElementsAre("--physcpubind=0-1,4", "--preferred-many=0,2"));
  layout.memory = MemoryPlacement{MemoryMode::inherit, {}};
  EXPECT_FALSE(numactl_options(layout));
  EXPECT_FALSE(numactl_options({}));
}

TEST(ProgramLayout, IsVariablesOnlyWhereTheyAskForAllOfIt) {
  ProgramLayout layout;
  layout.pages = PageKind::huge_2m;
  layout.environment = {{"OMP_NUM_THREADS", "4"}};
  EXPECT_THAT(*as_environment(layout),
              ElementsAre("OMP_NUM_THREADS=4", "GLIBC_TUNABLES=glibc.malloc.hugetlb=2097152"));
  layout.pages = PageKind::base;  // takes a system call
  EXPECT_FALSE(as_environment(layout));
  EXPECT_FALSE(as_environment(laid_out()));
}

TEST(ProgramLayout, IsVariablesBesideWhatTheySayNow) {
  ASSERT_EQ(setenv("GLIBC_TUNABLES", "glibc.malloc.arena_max=1:glibc.malloc.hugetlb=2", 1), 0);
  ProgramLayout layout;
  layout.pages = PageKind::thp;
  const auto words = as_environment(layout);
  unsetenv("GLIBC_TUNABLES");
  EXPECT_THAT(*words,
              ElementsAre("GLIBC_TUNABLES=glibc.malloc.arena_max=1:glibc.malloc.hugetlb=1"));
}

TEST(Tunables, KeepTheOthers) {
  EXPECT_EQ(tunables_with("", PageKind::thp), "glibc.malloc.hugetlb=1");
  EXPECT_EQ(tunables_with("glibc.malloc.hugetlb=1", PageKind::base), "");
  EXPECT_EQ(
      tunables_with("glibc.malloc.check=3:glibc.malloc.hugetlb=1:glibc.cpu.x=1", PageKind::huge_2m),
      "glibc.malloc.check=3:glibc.cpu.x=1:glibc.malloc.hugetlb=2097152");
}

}  // namespace
}  // namespace numatlas
