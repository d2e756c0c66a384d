#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "advise/launch.h"

namespace numatlas {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const std::vector<std::string> program{"./prog", "a b"};

std::vector<std::string> lines(const Launch& launch, const Candidate& candidate) {
  std::vector<std::string> all;
  for (const ReadyLine& ready : ready_lines(launch, candidate, program)) all.push_back(ready.line);
  return all;
}

TEST(Launch, NoneIsTheProgramItself) {
  const auto launch = parse_launch("none", 0);
  ASSERT_TRUE(launch);
  EXPECT_EQ(command_of(*launch, {}, program, "numatlas"), program);
  EXPECT_EQ(parse_launch("none", 2).error().subject, "--ranks");
  EXPECT_EQ(parse_launch("ssh host", 2).error().subject, "--launcher");
  EXPECT_EQ(parse_launch("srun", 0).error().subject, "--launcher");
}

TEST(Launch, RanksBecomeTheProgramThroughExec) {
  Candidate candidate;
  candidate.rank_options = {"--cpus", "0/1"};
  candidate.layout.environment = {{"A", "b"}};
  const Launch slurm{LauncherKind::srun, {"srun", "--exact"}, 2};
  EXPECT_THAT(lines(slurm, candidate),
              ElementsAre("srun --exact -n 2 --cpu-bind=none --mem-bind=none numatlas exec --cpus "
                          "0/1 -- env A=b ./prog 'a b'"));
  const Launch open_mpi{LauncherKind::open_mpi, {"mpirun"}, 2};
  EXPECT_THAT(lines(open_mpi, candidate),
              ElementsAre("mpirun -n 2 --bind-to none numatlas exec --cpus 0/1 -- env A=b ./prog "
                          "'a b'"));
  // As it is: the launcher binds as it always does.
  EXPECT_THAT(lines(open_mpi, {}), ElementsAre("mpirun -n 2 ./prog 'a b'"));
}

TEST(Launch, LeavesTheLaunchersBindingWhereOnlyPagesAreAskedFor) {
  Candidate candidate;
  candidate.layout.pages = PageKind::thp;
  const Launch slurm{LauncherKind::srun, {"srun"}, 2};
  EXPECT_THAT(lines(slurm, candidate),
              ElementsAre("srun -n 2 numatlas exec --pages thp -- ./prog 'a b'"));
  candidate.layout.cpus = CpuSet{CpuId{0}};
  EXPECT_THAT(
      lines(slurm, candidate),
      ElementsAre("srun -n 2 --cpu-bind=none --mem-bind=none numatlas exec --cpus 0 --pages "
                  "thp -- ./prog 'a b'"));
}

TEST(ReadyLines, AreOfEveryToolThatCanDoIt) {
  Candidate candidate;
  EXPECT_THAT(lines({}, candidate), IsEmpty());
  candidate.layout.pages = PageKind::thp;
  EXPECT_THAT(lines({}, candidate),
              ElementsAre("numatlas exec --pages thp -- ./prog 'a b'",
                          "env GLIBC_TUNABLES=glibc.malloc.hugetlb=1 ./prog 'a b'"));
  candidate.layout.memory = MemoryPlacement{MemoryMode::bind, {{NodeId{1}, 1}}};
  EXPECT_THAT(lines({}, candidate),
              ElementsAre("numatlas exec --memory bind:1 --pages thp -- ./prog 'a b'",
                          "numactl --membind=1 env GLIBC_TUNABLES=glibc.malloc.hugetlb=1 ./prog "
                          "'a b'"));
  candidate.layout.pages = PageKind::base;
  EXPECT_THAT(lines({}, candidate),
              ElementsAre("numatlas exec --memory bind:1 --pages base -- ./prog 'a b'"));
}

}  // namespace
}  // namespace numatlas
