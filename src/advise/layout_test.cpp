#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "advise/layout.h"
#include "base/program.h"

namespace numatlas {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

ProgramLayout laid_out() {
  ProgramLayout layout;
  layout.cpus = CpuSet{CpuId{0}, CpuId{1}, CpuId{4}};
  layout.memory = MemoryPlacement{MemoryMode::bind, {{NodeId{0}, 1}, {NodeId{2}, 1}}};
  layout.pages = PageKind::thp;
  layout.environment = {{"OMP_PLACES", "cores"}};
  return layout;
}

std::vector<std::string> lines(const ProgramLayout& layout) {
  return ready_lines(layout, {"./prog", "a b"});
}

TEST(ReadyLines, AreOfExecAndNumactlForCpusAndMemory) {
  ProgramLayout layout = laid_out();
  EXPECT_THAT(lines(layout),
              ElementsAre("numatlas exec --cpus 0-1,4 --memory bind:0,2 --pages thp -- env "
                          "OMP_PLACES=cores ./prog 'a b'",
                          "numactl --physcpubind=0-1,4 --membind=0,2 env OMP_PLACES=cores "
                          "GLIBC_TUNABLES=glibc.malloc.hugetlb=1 ./prog 'a b'"));
  layout.pages.reset();
  layout.memory->mode = MemoryMode::prefer;
  EXPECT_THAT(lines(layout), Contains(StartsWith("numactl --physcpubind=0-1,4 --preferred-many=0,2 "
                                                 "env OMP_PLACES=cores ./prog")));
  layout.memory = MemoryPlacement{MemoryMode::inherit, {}};
  EXPECT_EQ(lines(layout).size(), 1U);
}

TEST(ReadyLines, AreOfEveryToolThatCanDoIt) {
  ProgramLayout layout;
  EXPECT_THAT(lines(layout), IsEmpty());
  layout.pages = PageKind::thp;
  EXPECT_THAT(lines(layout), ElementsAre("numatlas exec --pages thp -- ./prog 'a b'",
                                         "env GLIBC_TUNABLES=glibc.malloc.hugetlb=1 ./prog 'a b'"));
  layout.memory = MemoryPlacement{MemoryMode::bind, {{NodeId{1}, 1}}};
  EXPECT_THAT(lines(layout),
              ElementsAre("numatlas exec --memory bind:1 --pages thp -- ./prog 'a b'",
                          "numactl --membind=1 env GLIBC_TUNABLES=glibc.malloc.hugetlb=1 ./prog "
                          "'a b'"));
  layout.pages = PageKind::base;
  EXPECT_THAT(lines(layout),
              ElementsAre("numatlas exec --memory bind:1 --pages base -- ./prog 'a b'"));
}

TEST(ReadyLines, AreOfVariablesOnlyWhereTheyAskForAllOfIt) {
  ProgramLayout layout;
  layout.environment = {{"OMP_NUM_THREADS", "4"}};
  EXPECT_THAT(lines(layout), ElementsAre("env OMP_NUM_THREADS=4 ./prog 'a b'"));
  layout.pages = PageKind::huge_2m;
  EXPECT_THAT(lines(layout),
              Contains("env OMP_NUM_THREADS=4 GLIBC_TUNABLES=glibc.malloc.hugetlb=2097152 ./prog "
                       "'a b'"));
  layout.pages = PageKind::base;  // takes a system call
  EXPECT_THAT(lines(layout), ElementsAre(StartsWith("numatlas exec --pages base -- env OMP")));
}

TEST(ReadyLines, KeepWhatTheVariablesSayNow) {
  ASSERT_EQ(setenv("GLIBC_TUNABLES", "glibc.malloc.arena_max=1:glibc.malloc.hugetlb=2", 1), 0);
  ProgramLayout layout;
  layout.pages = PageKind::thp;
  const auto all = lines(layout);
  unsetenv("GLIBC_TUNABLES");
  EXPECT_THAT(all, Contains(HasSubstr("env GLIBC_TUNABLES=glibc.malloc.arena_max=1:"
                                      "glibc.malloc.hugetlb=1 ./prog")));
}

TEST(ProgramLayout, IsInForceInTheProgram) {
  ProgramLayout layout;
  layout.cpus = CpuSet{CpuId{0}};
  layout.pages = PageKind::thp;
  layout.environment = {{"A", "b"}};
  ProgramRequest request{
      {"sh", "-c", "grep Cpus_allowed_list /proc/self/status; echo $GLIBC_TUNABLES $A"}};
  request.prepare = [&] { return put_in_force(layout); };
  request.output = ProgramOutput::kept;
  const auto run = run_program(request);
  ASSERT_TRUE(run);
  EXPECT_EQ(run->output, "Cpus_allowed_list:\t0\nglibc.malloc.hugetlb=1 b\n");
}

TEST(ProgramLayout, WhatCannotBePutInForceIsAnError) {
  ProgramLayout layout;
  layout.cpus = CpuSet{CpuId{100000}};
  const auto run =
      run_program({.words = {"true"}, .prepare = [&] { return put_in_force(layout); }});
  ASSERT_FALSE(run);
  EXPECT_EQ(run.error().subject, "--cpus");
  EXPECT_EQ(run.error().kind, ErrorKind::unavailable);
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
