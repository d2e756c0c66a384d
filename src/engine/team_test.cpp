#include "engine/team.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace numatlas {
namespace {

using ::testing::HasSubstr;

TEST(Team, EveryNumberRunsOnceOnAThreadOfItsOwn) {
  for (int threads : {1, 2, 7}) {
    std::mutex mutex;
    std::multiset<int> numbers;
    std::set<std::thread::id> ids;
    std::thread::id first;
    SleepingBarrier barrier(threads);
    const auto ran = run_team(threads, [&](int thread) {
      barrier.wait();  // all of them live at the same time, or this never ends
      const std::lock_guard lock(mutex);
      numbers.insert(thread);
      ids.insert(std::this_thread::get_id());
      if (thread == 0) first = std::this_thread::get_id();
    });
    ASSERT_TRUE(ran);
    EXPECT_EQ(ids.size(), static_cast<std::size_t>(threads));
    EXPECT_EQ(numbers.size(), static_cast<std::size_t>(threads));
    for (int thread = 0; thread < threads; ++thread) EXPECT_EQ(numbers.count(thread), 1U);
    EXPECT_EQ(first, std::this_thread::get_id());
  }
}

TEST(Team, BarrierHoldsEveryRound) {
  constexpr int threads = 4;
  constexpr int rounds = 500;
  SleepingBarrier barrier(threads);
  std::atomic<int> arrived{0};
  std::atomic<int> wrong{0};
  const auto ran = run_team(threads, [&](int) {
    for (int round = 1; round <= rounds; ++round) {
      ++arrived;
      barrier.wait();
      if (arrived != threads * round) ++wrong;
      barrier.wait();
    }
  });
  ASSERT_TRUE(ran);
  EXPECT_EQ(wrong, 0);
}

// What OpenMP may use is read once, at the start of a process: so a process of its own.
TEST(Team, DISABLED_UnderAThreadLimit) {
  int runs = 0;
  const auto ran = run_team(3, [&](int) { ++runs; });
  ASSERT_FALSE(ran);
  EXPECT_EQ(ran.error().kind, ErrorKind::resource);
  EXPECT_THAT(full_text(ran.error()),
              HasSubstr("--threads: 3 worker threads requested, 1 available"));
  EXPECT_THAT(full_hint(ran.error()), HasSubstr("OMP_THREAD_LIMIT"));
  EXPECT_EQ(runs, 0);
}

TEST(Team, TooFewThreadsAreAnErrorWithNoWorkDone) {
  if (std::string(team_description()) == "std::thread") GTEST_SKIP() << "no OpenMP in this build";
  char self[4096];
  const ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
  ASSERT_GT(length, 0);
  self[length] = '\0';
  const std::string command = "OMP_THREAD_LIMIT=1 '" + std::string(self) +
                              "' --gtest_also_run_disabled_tests "
                              "--gtest_filter=Team.DISABLED_UnderAThreadLimit >&2";
  EXPECT_EQ(std::system(command.c_str()), 0);
}

TEST(Team, AStackThatCannotBeHadIsAnError) {
  if (team_description() == std::string("std::thread")) GTEST_SKIP() << "no OpenMP";
  // More than any test before has proven; 2^55 bytes are beyond the address space.
  ASSERT_EQ(setenv("OMP_STACKSIZE", "33554432 G", 1), 0);
  const auto ran = run_team(13, [](int) {});
  unsetenv("OMP_STACKSIZE");
  ASSERT_FALSE(ran);
  EXPECT_EQ(ran.error().kind, ErrorKind::resource);
  EXPECT_THAT(full_text(ran.error()),
              HasSubstr("OMP_STACKSIZE: 13 worker threads with a stack of "));
  ASSERT_EQ(setenv("OMP_STACKSIZE", "much", 1), 0);  // libgomp warns, and takes its usual one
  EXPECT_TRUE(run_team(13, [](int) {}));
  unsetenv("OMP_STACKSIZE");
}

}  // namespace
}  // namespace numatlas
