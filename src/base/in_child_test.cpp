#include "base/child_process.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <string>
#include <vector>

#include "base/signals.h"

namespace numatlas {
namespace {

using ::testing::HasSubstr;

TEST(InChild, AnswersArriveWhole) {
  const pid_t me = getpid();
  for (const std::size_t size : {0U, 1U, 1'000'000U}) {
    const auto answer =
        in_child([=] { return getpid() == me ? "no child" : std::string(size, 'x'); });
    ASSERT_TRUE(answer) << full_text(answer.error());
    EXPECT_EQ(*answer, std::string(size, 'x'));
  }
}

TEST(InChild, ACrashIsAnErrorAndSaysNothing) {
  ::testing::internal::CaptureStderr();
  const auto answer = in_child([]() -> std::string {
    (void)!write(STDERR_FILENO, "Assertion", 9);
    (void)std::raise(SIGKILL);  // one that no sanitizer makes something else of
    return "";
  });
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().kind, ErrorKind::usage);
  EXPECT_EQ(full_text(answer.error()), "ended by signal 9 (Killed)");
  EXPECT_FALSE(in_child([]() -> std::string { std::abort(); }));
  EXPECT_EQ(full_text(in_child([]() -> std::string { _exit(0); }).error()),
            "ended without an answer");
}

TEST(InChild, WhatNeverEndsIsEnded) {
  const auto answer = in_child(
      []() -> std::string {
        while (true) pause();
      },
      {.time = std::chrono::seconds(1)});
  ASSERT_FALSE(answer);
  EXPECT_EQ(full_text(answer.error()), "took more than 1 s");
}

TEST(InChild, MemoryIsLimited) {
  const auto take = [](std::size_t bytes) {
    return [bytes] {
      std::vector<char> memory(bytes, 'x');
      return std::string(1, memory[bytes / 2]);
    };
  };
  const ChildLimits limits{.memory = Bytes{256 * mib}};
  EXPECT_EQ(in_child(take(16 * mib), limits).value_or(""), "x");
  const auto answer = in_child(take(512 * mib), limits);
  // What a sanitizer's allocator says of it goes unheard.
  EXPECT_FALSE(answer);
}

TEST(InChild, AStopEndsTheWait) {
  request_stop(0);
  const auto answer = in_child([]() -> std::string {
    while (true) pause();
  });
  reset_stop_for_tests();
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().kind, ErrorKind::interrupted);
}

}  // namespace
}  // namespace numatlas
