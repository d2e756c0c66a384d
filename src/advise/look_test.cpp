#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/resource.h>
#include <sys/time.h>

#include <sstream>
#include <string>
#include <vector>

#include "advise/look.h"
#include "machine/source.h"
#include "placement/policy.h"

namespace numatlas {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

Machine one_node() { return *read_recorded_machine("numa:1(memory=34359738368) core:2 pu:1"); }

Look look_of(const std::string& line) {
  auto look = look_at({{"sh", "-c", line}, {}, "/dev/null"}, thread_affinity(), one_node());
  EXPECT_TRUE(look);
  return *look;
}

double own_cpu_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  double sum = 0;
  for (const timeval& part : {usage.ru_utime, usage.ru_stime})
    sum += static_cast<double>(part.tv_sec) + static_cast<double>(part.tv_usec) * 1e-6;
  return sum;
}

TEST(Rollup, CountsHugePagesOfEachKind) {
  std::istringstream file(
      "55d0-7ffc ---p 00000000 00:00 0   [rollup]\n"
      "Rss:              20480 kB\nPss:              10240 kB\nPss_Anon: 1 kB\nAnonHugePages:     "
      "4096 kB\nShmemPmdMapped:    2048 kB\n"
      "Shared_Hugetlb:        0 kB\nPrivate_Hugetlb:   6144 kB\n");
  ProcessState state;
  read_rollup(file, state);
  EXPECT_EQ(state.resident.value, 16384 * kib);  // Pss leaves the pool's pages out
  EXPECT_EQ(state.huge.value, 12288 * kib);
}

TEST(Look, SeesProcessesMemoryAndItsNode) {
  const Look look = look_of("sleep 0.5 & wait");
  EXPECT_EQ(look.processes, 2);
  EXPECT_EQ(look.threads, 1);
  EXPECT_FALSE(look.openmp);
  EXPECT_FALSE(look.own_cpus);
  ASSERT_NE(look.fullest(), nullptr);
  EXPECT_GT(look.fullest()->total().value, 100 * kib);
  EXPECT_THAT(look.node_shares(), ElementsAre(testing::Pair(0, 1.0)));
}

TEST(Look, TellsWhoSetsItsOwnAffinity) {
  const auto look =
      look_at({{"taskset", "-c", "0", "sleep", "0.4"}}, thread_affinity(), one_node());
  ASSERT_TRUE(look && look->run.good());
  if (look->cpus_at_start.size() < 2) GTEST_SKIP() << "one CPU";
  ASSERT_TRUE(look->own_cpus);
  EXPECT_THAT(sentences_of(*look, one_node()),
              Contains(HasSubstr("its own CPU affinity (CPUs 0)")));
}

TEST(Look, TakesLessThanTwoPercentOfACpu) {
#if defined(NUMATLAS_ADDRESS_SANITIZER) || defined(NUMATLAS_THREAD_SANITIZER)
  GTEST_SKIP() << "what a sanitizer takes is not the program's";
#endif
  const double before = own_cpu_seconds();
  const Look look = look_of("sleep 3");
  EXPECT_LT(own_cpu_seconds() - before, 0.02 * look.run.seconds);
}

TEST(Look, SamplesYoungProgramsMoreOften) {
  using Seconds = std::chrono::duration<double>;
  const Seconds taken{0.001};
  EXPECT_DOUBLE_EQ(pause_between_samples(taken, Seconds{0}).count(), 0.05);   // 2 %
  EXPECT_DOUBLE_EQ(pause_between_samples(taken, Seconds{0.1}).count(), 0.1);  // twice as old
  EXPECT_DOUBLE_EQ(pause_between_samples(taken, Seconds{10}).count(), 0.2);   // 0.5 %
}

TEST(Sentences, SayWhatWasSeen) {
  Look look;
  look.run.seconds = 10;
  look.run.user_seconds = 9;
  look.run.system_seconds = 1;
  look.run.minor_faults = 100;
  look.run.left_processes = true;
  look.threads = 4;
  look.samples = {{0.1, {{0, Bytes{gib}}}, Bytes{}},
                  {0.3, {{0, Bytes{3 * gib}}, {1, Bytes{gib}}}, Bytes{2 * gib}}};
  EXPECT_THAT(
      sentences_of(look, one_node()),
      ElementsAre("10 s, 1.0 of 2 CPUs busy, 4 threads",
                  "4 GiB of memory at most, 75 % on node 0, 25 % on node 1, 50 % in huge pages",
                  "100 page faults; 10 % of its CPU time in the system",
                  HasSubstr("left processes behind")));
  look.samples.clear();
  EXPECT_FALSE(look.huge_share());
  EXPECT_THAT(sentences_of(look, one_node()), Not(Contains(HasSubstr("huge pages"))));
}

}  // namespace
}  // namespace numatlas
