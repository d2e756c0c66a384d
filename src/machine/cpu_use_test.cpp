// Who used the CPUs: recorded /proc, and a real process that does nothing but spin.
#include "machine/cpu_use.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <thread>

#include "base/test_tree.h"

namespace numatlas {
namespace {

using ::testing::HasSubstr;
using testing::RecordedTree;
using ::testing::StartsWith;

/// Ticks of a second, which is what the files count in.
long ticks() { return ::sysconf(_SC_CLK_TCK); }

/// /proc/stat of two CPUs, and one process of ours with a name that is hard to read.
void record(const RecordedTree& tree, long busy_seconds, long stolen_seconds, long own_seconds) {
  tree.file("/proc/stat",
            fmt::format("cpu  {} 0 {} 12345 678 {} {} {} 99 99\n"
                        "cpu0 1 2 3 4 5 6 7 8 9 10\ncpu1 1 2 3 4 5 6 7 8 9 10\nintr 5 5 5\n"
                        "ctxt 1\nbtime 2\nprocesses 3\n",
                        (busy_seconds - 3) * ticks(), ticks(), ticks(), ticks(),
                        stolen_seconds * ticks()));
  tree.file("/proc/17/stat",
            fmt::format("17 (a) R 9 9) S 1 17 17 0 -1 4194560 1 2 3 4 {} {} 0 0 20",
                        (own_seconds - 1) * ticks(), ticks()));
}

CpuTimes reading(double at, double busy, double own, double stolen = 0) {
  return {at, busy, stolen, own, 2};
}

TEST(CpuUse, IsReadFromProc) {
  const RecordedTree tree;
  record(tree, 100, 7, 30);
  const auto times = read_cpu_times(Tree(tree.root()), {17});
  ASSERT_TRUE(times) << full_text(times.error());
  EXPECT_DOUBLE_EQ(times->busy, 100) << "idle, waiting and the guests' part are not busy";
  EXPECT_DOUBLE_EQ(times->stolen, 7);
  EXPECT_DOUBLE_EQ(times->own, 30);
  EXPECT_EQ(times->cpus, 2);
}

TEST(CpuUse, SaysWhatCannotBeRead) {
  const RecordedTree empty, tree, words;
  const auto message = [](const RecordedTree& from, const std::vector<int>& own) {
    const auto times = read_cpu_times(Tree(from.root()), own);
    return times ? "" : full_text(times.error());
  };
  EXPECT_EQ(message(empty, {}), "/proc/stat cannot be read");
  record(tree, 100, 0, 30);
  EXPECT_EQ(message(tree, {17, 18}), "/proc/18/stat cannot be read");
  words.file("/proc/stat", "cpu what is this\ncpu0 1");
  EXPECT_EQ(message(words, {}), "/proc/stat does not count CPU time");
}

TEST(CpuFrequency, IsWhatTheKernelTells) {
  const RecordedTree tree;
  tree.file("/sys/devices/system/cpu/cpu3/cpufreq/scaling_cur_freq", "2450000\n");
  EXPECT_EQ(cpu_frequency(Tree(tree.root()), CpuId{3}), 2.45e9);
  EXPECT_EQ(cpu_frequency(Tree(tree.root()), CpuId{4}), std::nullopt);
}

TEST(CpuUse, WhatIsNotOursIsOthers) {
  const CpuUse use = cpu_use_between(reading(100, 50, 10, 1), reading(110, 68, 18, 3));
  EXPECT_DOUBLE_EQ(use.seconds, 10);
  EXPECT_EQ(use.cpus, 2);
  EXPECT_DOUBLE_EQ(*use.own, 0.8);
  EXPECT_DOUBLE_EQ(*use.others, 1.0);
  EXPECT_DOUBLE_EQ(*use.stolen, 0.2);
  EXPECT_EQ(use.reason, "");
  // Ticks are coarser than what a process is told of itself.
  EXPECT_DOUBLE_EQ(*cpu_use_between(reading(0, 0, 0), reading(10, 9.9, 10)).others, 0);
}

TEST(CpuUse, IsAbsentWhereNobodyCounts) {
  const CpuUse nothing = cpu_use_between(reading(0, 0, 0), reading(10, 0, 10));
  EXPECT_FALSE(nothing.others);
  EXPECT_FALSE(nothing.stolen);
  EXPECT_EQ(nothing.reason, "/proc/stat does not count the CPU time of this process");
  EXPECT_THAT(cpu_use_between(reading(0, 9, 0), reading(10, 8, 0)).reason, HasSubstr("backwards"));
  const Expected<CpuTimes> error = fail(ErrorKind::unavailable, "hidden");
  for (const CpuUse& use :
       {cpu_use_between(error, reading(1, 1, 1)), cpu_use_between(reading(1, 1, 1), error)}) {
    EXPECT_EQ(use.reason, "hidden");
    EXPECT_FALSE(is_disturbed(use));
  }
}

CpuUse used(double others, double stolen = 0, int cpus = 2, double seconds = 10) {
  return {seconds, cpus, 1.0, others, stolen, ""};
}

TEST(CpuUse, CountsFromATwentiethOfTheCpusOrHalfAOne) {
  EXPECT_FALSE(is_disturbed(used(0.09)));
  EXPECT_TRUE(is_disturbed(used(0.11)));
  EXPECT_FALSE(is_disturbed(used(0.4, 0, 256)));
  EXPECT_TRUE(is_disturbed(used(0.8, 0, 256))) << "one core among many still loads the memory";
  EXPECT_TRUE(is_disturbed(used(0, 0.2))) << "stolen";
  // In a short run the ticks of all CPUs alone are as much as that.
  EXPECT_FALSE(is_disturbed(used(0.2, 0, 2, 0.1)));
  EXPECT_TRUE(is_disturbed(used(0.4, 0, 2, 0.1)));
}

/// A group with a quota below one with another; microseconds that each was stopped.
void record_quotas(const RecordedTree& tree, long inner, long outer) {
  tree.file("/proc/self/cgroup", "0::/outer/inner");
  for (const auto& [folder, stopped] :
       {std::pair("/sys/fs/cgroup/outer/inner", inner), std::pair("/sys/fs/cgroup/outer", outer)}) {
    tree.file(std::string(folder) + "/cpu.max", "50000 100000");
    tree.file(
        std::string(folder) + "/cpu.stat",
        fmt::format("usage_usec 7\nnr_periods 9\nnr_throttled 4\nthrottled_usec {}", stopped));
  }
}

TEST(CpuUse, QuotasOfAllGroupsCount) {
  const RecordedTree tree;
  record(tree, 100, 0, 30);
  EXPECT_FALSE(read_cpu_times(Tree(tree.root()), {17})->throttled) << "no quota";
  record_quotas(tree, 250'000, 3'000'000);
  EXPECT_DOUBLE_EQ(*read_cpu_times(Tree(tree.root()), {17})->throttled, 3);
  tree.file("/proc/self/cgroup", "2:cpu:/job");
  tree.file("/sys/fs/cgroup/cpu/job/cpu.cfs_quota_us", "50000");
  tree.file("/sys/fs/cgroup/cpu/job/cpu.cfs_period_us", "100000");
  tree.file("/sys/fs/cgroup/cpu/job/cpu.stat",
            "nr_periods 9\nnr_throttled 4\nthrottled_time 500000000");
  EXPECT_DOUBLE_EQ(*read_cpu_times(Tree(tree.root()), {17})->throttled, 0.5);
}

TEST(CpuUse, QuotaDisturbsWithItsRemedy) {
  CpuTimes before = reading(0, 0, 0), after = reading(10, 9, 9);
  before.throttled = 2;
  after.throttled = 12;
  const CpuUse use = cpu_use_between(before, after);
  EXPECT_DOUBLE_EQ(*use.throttled, 1);
  EXPECT_TRUE(is_disturbed(use));
  EXPECT_EQ(disturbance_text(use), "the CPU quota withheld 1.0 CPUs");
  EXPECT_THAT(cpu_use_warning({{"a", use}}),
              ::testing::AllOf(HasSubstr("--threads"), HasSubstr("docker --cpus")));
  EXPECT_EQ(cpu_use_from_json(to_json(use)), use);
  after.throttled = 2.3;  // less than a twentieth of 0.9 CPUs
  EXPECT_FALSE(is_disturbed(cpu_use_between(before, after)));
  // Also where nobody counts the CPU time of processes.
  after = reading(10, 0, 9);
  after.throttled = 12;
  EXPECT_TRUE(is_disturbed(cpu_use_between(before, after)));
}

TEST(CpuUse, IsToldInWords) {
  EXPECT_EQ(disturbance_text(used(1.02)), "other programs used 1.0 of 2 CPUs");
  EXPECT_EQ(disturbance_text(used(2.5)), "other programs used 2.0 of 2 CPUs");
  EXPECT_EQ(disturbance_text(used(1, 0.5)),
            "other programs used 1.0 of 2 CPUs, the hypervisor withheld 0.5 of 2 CPUs");
  EXPECT_EQ(disturbance_text(used(0)), "");
  EXPECT_EQ(cpu_use_warning({{"a", used(0)}}), "");
  EXPECT_EQ(cpu_use_warning({{"a", used(1)}}),
            "other programs used 1.0 of 2 CPUs; run again when it is quiet");
  EXPECT_THAT(cpu_use_warning({{"a", used(1)}, {"b", used(0)}}), StartsWith("on a, other"));
  EXPECT_THAT(cpu_use_warning(
                  {{"a", used(1)}, {"b", used(1)}, {"c", used(1)}, {"d", used(1)}, {"e", used(1)}}),
              HasSubstr("; and 2 more hosts"));
}

TEST(CpuUse, WhatIsSeenInTheFiguresIsADoubtAndMuchIsUnreliable) {
  const auto grade = [](const CpuUse& use) {
    return is_unreliable(use) ? "unreliable" : is_disturbed(use) ? "doubtful" : "quiet";
  };
  const auto of = [](double others, int cpus) { return CpuUse{100, cpus, 1.0, others, 0.0, ""}; };
  EXPECT_STREQ(grade(of(0.05, 2)), "quiet");
  EXPECT_STREQ(grade(of(0.15, 2)), "doubtful");
  EXPECT_STREQ(grade(of(0.45, 2)), "doubtful");
  EXPECT_STREQ(grade(of(0.55, 2)), "unreliable");
  EXPECT_STREQ(grade(of(1.2, 2)), "unreliable");
  EXPECT_STREQ(grade(of(0.6, 64)), "doubtful");
  EXPECT_STREQ(grade(of(0.98, 64)), "unreliable") << "a program that never waits";
  CpuUse withheld = of(0, 2);
  withheld.throttled = 0.2;
  EXPECT_STREQ(grade(withheld), "doubtful");
  withheld.throttled = 0.5;
  EXPECT_STREQ(grade(withheld), "unreliable");
}

TEST(CpuUse, SeveralStretchesCountByTheirTime) {
  CpuUse busy = used(1), quiet = used(0);
  quiet.seconds = 19 * busy.seconds;
  EXPECT_DOUBLE_EQ(*use_of_all({busy, quiet}).others, 0.05);
  EXPECT_FALSE(is_disturbed(use_of_all({busy, quiet}))) << "a twentieth of one CPU of two";
  EXPECT_TRUE(is_disturbed(use_of_all({busy, busy, busy, quiet})));
  EXPECT_FALSE(use_of_all({}).others);
}

TEST(CpuUse, GoesToJsonAndBack) {
  for (const CpuUse& use : {used(1, 0.5), cpu_use_between(reading(0, 0, 0), reading(10, 0, 10))})
    EXPECT_EQ(cpu_use_from_json(nlohmann::json::parse(to_json(use).dump())), use);
  EXPECT_EQ(cpu_use_from_json(nullptr), CpuUse{});
  EXPECT_FALSE(cpu_use_from_json({{"other_processes", "much"}, {"cpus", 1e300}}).others);
}

TEST(CpuUse, SeesWhatHappensBetweenTwoReadings) {
  const RecordedTree tree;
  record(tree, 100, 0, 30);
  const CpuWatch watch(Tree(tree.root()), {17});
  record(tree, 5000, 0, 31);
  const CpuUse use = watch.use();
  EXPECT_EQ(use.reason, "");
  EXPECT_NEAR(*use.others * use.seconds, 4899, 1e-6);
}

TEST(CpuUse, SeesARealNeighbour) {
  const pid_t child = ::fork();
  if (child == 0) {
    volatile unsigned i = 0;
    while (true) i = i + 1;
  }
  ASSERT_GT(child, 0);
  const CpuWatch watch(Tree(""), {::getpid()});
  std::this_thread::sleep_for(std::chrono::seconds(1));
  const CpuUse use = watch.use();
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  if (!use.reason.empty()) GTEST_SKIP() << use.reason;
  // Half a CPU: what else runs here counts as well, and a hypervisor may withhold some.
  EXPECT_GE(*use.others + *use.stolen, 0.5);
  EXPECT_LT(*use.own, 0.5);
  EXPECT_TRUE(is_disturbed(use));
}

}  // namespace
}  // namespace numatlas
