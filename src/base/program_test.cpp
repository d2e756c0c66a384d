#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/types.h>
#include <unistd.h>

#include <csignal>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "base/program.h"
#include "base/signals.h"
#include "base/test_folder.h"

namespace numatlas {
namespace {

using ::testing::HasSubstr;

ProgramRequest shell(const std::string& line) {
  ProgramRequest request;
  request.words = {"sh", "-c", line};
  request.input = "/dev/null";
  request.output = ProgramOutput::kept;
  request.own_group = true;
  request.grace = std::chrono::seconds(2);
  return request;
}

TEST(Program, HasItsOwnExitCodeAndOutput) {
  const auto run = run_program(shell("echo out; echo bad >&2; exit 7"));
  ASSERT_TRUE(run);
  EXPECT_EQ(run->ending, Ending::exited);
  EXPECT_EQ(run->code, 7);
  EXPECT_EQ(run->output, "out\nbad\n");
  EXPECT_EQ(failure_text(*run), "ended with exit code 7 (bad)");
}

TEST(Program, IsTimedFromItsStartToItsEnd) {
  const auto run = run_program(shell("sleep 0.2"));
  ASSERT_TRUE(run && run->good());
  EXPECT_GE(run->seconds, 0.2);
  EXPECT_LT(run->seconds, 2);
  EXPECT_GT(run->peak_memory.value, 0U);
  EXPECT_GT(run->minor_faults, 0U);
}

TEST(Program, IsTheChildItselfWithNothingBetween) {
  const auto run = run_program(shell("echo $PPID"));
  ASSERT_TRUE(run);
  EXPECT_EQ(run->output, std::to_string(getpid()) + "\n");
}

TEST(Program, IsPreparedInItsOwnProcess) {
  ProgramRequest request = shell("echo $A");
  request.prepare = []() -> Expected<void> {
    setenv("A", "b", 1);
    return {};
  };
  const auto run = run_program(request);
  ASSERT_TRUE(run);
  EXPECT_EQ(run->output, "b\n");
  EXPECT_EQ(std::getenv("A"), nullptr);
}

TEST(Program, WhatCannotBePreparedIsAnError) {
  ProgramRequest request = shell("true");
  const Error error{ErrorKind::permission, "is not allowed", "do not", "--this"};
  request.prepare = [&]() -> Expected<void> { return fail(error); };
  const auto run = run_program(request);
  ASSERT_FALSE(run);
  EXPECT_EQ(run.error(), error);
}

TEST(Program, IsAsThisProcessUnlessAskedOtherwise) {
  const auto run = run_program({{"sh", "-c", "[ $(ps -o pgid= $$) = $(ps -o pgid= $PPID) ]"}});
  ASSERT_TRUE(run);
  EXPECT_EQ(run->exit_code(), 0);
  EXPECT_EQ(run_program({{"sh", "-c", "kill -KILL $$"}})->exit_code(), 128 + SIGKILL);
}

TEST(Program, ThatIsNotThereIsAnError) {
  ProgramRequest request;
  request.words = {"/nowhere/at-all"};
  const auto run = run_program(request);
  ASSERT_FALSE(run);
  EXPECT_EQ(run.error().kind, ErrorKind::unavailable);
  EXPECT_EQ(run.error().subject, "/nowhere/at-all");
}

TEST(Program, ThatHangsIsEnded) {
  ProgramRequest request = shell("sleep 100");
  request.timeout = 0.3;
  const auto run = run_program(request);
  ASSERT_TRUE(run);
  EXPECT_EQ(run->ending, Ending::timeout);
  EXPECT_THAT(failure_text(*run), HasSubstr("did not end"));
}

TEST(Program, ThatDiesSaysOfWhat) {
  const auto run = run_program(shell("kill -SEGV $$"));
  ASSERT_TRUE(run);
  EXPECT_EQ(run->ending, Ending::signalled);
  EXPECT_EQ(run->code, SIGSEGV);
}

TEST(Program, WhatItLeavesBehindIsEnded) {
  const auto run = run_program(shell("sleep 100 & exit 0"));
  ASSERT_TRUE(run);
  EXPECT_TRUE(run->left_processes);
  EXPECT_LT(run->seconds, 10);
  EXPECT_FALSE(run_program(shell("true"))->left_processes);
}

TEST(Program, SessionsThatItLeavesBehindAreEndedToo) {
  const testing::TestFolder folder;
  const std::string file = folder.file("session");
  const auto run = run_program(shell("setsid sleep 101 & echo $! >" + file + "; exit 0"));
  ASSERT_TRUE(run);
  EXPECT_TRUE(run->left_processes);
  std::ifstream in(file);
  pid_t left = 0;
  ASSERT_TRUE(in >> left);
  // Killed: init needs a moment to collect it.
  for (int tries = 0; kill(left, 0) == 0 && tries < 200; ++tries) usleep(10'000);
  EXPECT_NE(kill(left, 0), 0);
  EXPECT_EQ(std::remove(file.c_str()), 0);
}

TEST(Program, WhoOpensStandardErrorAnewLosesNothing) {
  EXPECT_EQ(run_program(shell("echo rate 5; echo done >/dev/stderr"))->output, "rate 5\ndone\n");
}

TEST(Program, OfALotOfOutputTheEndIsKept) {
  ProgramRequest request =
      shell("head -c 100000000 /dev/zero | tr '\\0' a >&2; echo; echo last >&2");
  const auto run = run_program(request);
  ASSERT_TRUE(run && run->good());
  EXPECT_LE(run->output.size(), std::size_t{33} << 20U);
  EXPECT_THAT(run->output, ::testing::EndsWith("last\n"));
}

TEST(Program, TimeBeginsWithTheProgramWhenThisProcessIsScheduledLater) {
  // It shares the CPU of this process, and runs to its end before this process goes on.
  ProgramRequest request = shell("date +%s%N; exec date +%s%N");
  const auto run = run_program(request);
  ASSERT_TRUE(run);
  std::istringstream times(run->output);
  long long first = 0, second = 0;
  ASSERT_TRUE(times >> first >> second);
  EXPECT_GE(run->seconds, static_cast<double>(second - first) * 1e-9);
}

TEST(Program, IsSuspendedWithThisProcessAndSaysSo) {
  // A helper process stops this one, as Ctrl-Z does, and lets it go on after a time.
  const pid_t self = getpid(), helper = fork();
  if (helper == 0) {
    usleep(300000);
    kill(self, SIGTSTP);
    usleep(2500000);
    kill(self, SIGCONT);
    _exit(0);
  }
  const auto run = run_program(shell("sleep 1"));
  ASSERT_TRUE(run && run->good());
  EXPECT_TRUE(run->suspended);
  EXPECT_FALSE(run_program(shell("true"))->suspended);
}

TEST(Program, ReadsTheSameInputEachTime) {
  const testing::TestFolder folder;
  const std::string file = folder.file("input");
  std::ofstream(file) << "words\n";
  ProgramRequest request = shell("cat");
  EXPECT_EQ(run_program(request)->output, "");
  request.input = file;
  EXPECT_EQ(run_program(request)->output, "words\n");
  EXPECT_EQ(run_program(request)->output, "words\n");
  request.input = "/nowhere/at-all";
  EXPECT_EQ(run_program(request).error().subject, "/nowhere/at-all");
  EXPECT_EQ(std::remove(file.c_str()), 0);
}

TEST(Program, EndsWhenThisProcessIsToldToStop) {
  install_signal_handlers();
  ProgramRequest request = shell("sleep 100");
  request.running = [](pid_t) { request_stop(SIGINT); };
  const auto run = run_program(request);
  reset_stop_for_tests();
  ASSERT_TRUE(run);
  EXPECT_EQ(run->ending, Ending::interrupted);
}

}  // namespace
}  // namespace numatlas
