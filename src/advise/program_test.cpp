#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/types.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "advise/program.h"
#include "base/signals.h"

namespace numatlas {
namespace {

using testing::HasSubstr;

RunRequest shell(const std::string& line) {
  RunRequest request;
  request.words = {"sh", "-c", line};
  request.keep_output = true;
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

TEST(Program, StartsWithItsLayoutInForce) {
  RunRequest request = shell("grep Cpus_allowed_list /proc/self/status; echo $GLIBC_TUNABLES $A");
  request.layout.cpus = CpuSet{CpuId{0}};
  request.layout.pages = PageKind::thp;
  request.layout.environment = {{"A", "b"}};
  const auto run = run_program(request);
  ASSERT_TRUE(run);
  EXPECT_EQ(run->output, "Cpus_allowed_list:\t0\nglibc.malloc.hugetlb=1 b\n");
}

TEST(Program, WhatCannotBePutInForceIsAnError) {
  RunRequest request = shell("true");
  request.layout.cpus = CpuSet{CpuId{100000}};
  const auto run = run_program(request);
  ASSERT_FALSE(run);
  EXPECT_EQ(run.error().subject, "--cpus");
  EXPECT_EQ(run.error().kind, ErrorKind::unavailable);
}

TEST(Program, ThatIsNotThereIsAnError) {
  RunRequest request;
  request.words = {"/nowhere/at-all"};
  const auto run = run_program(request);
  ASSERT_FALSE(run);
  EXPECT_EQ(run.error().kind, ErrorKind::unavailable);
  EXPECT_EQ(run.error().subject, "/nowhere/at-all");
}

TEST(Program, ThatHangsIsEnded) {
  RunRequest request = shell("sleep 100");
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

TEST(Program, ReadsTheSameInputEachTime) {
  const std::string file = testing::TempDir() + "numatlas-program-input";
  std::ofstream(file) << "words\n";
  RunRequest request = shell("cat");
  EXPECT_EQ(run_program(request)->output, "");
  request.input = file;
  EXPECT_EQ(run_program(request)->output, "words\n");
  EXPECT_EQ(run_program(request)->output, "words\n");
  request.input = "/nowhere/at-all";
  EXPECT_EQ(run_program(request).error().subject, "--input");
  EXPECT_EQ(std::remove(file.c_str()), 0);
}

TEST(Program, EndsWhenThisProcessIsToldToStop) {
  install_signal_handlers();
  ProgramWatch watch;
  watch.running = [](pid_t) { request_stop(SIGINT); };
  const auto run = run_program(shell("sleep 100"), watch);
  reset_stop_for_tests();
  ASSERT_TRUE(run);
  EXPECT_EQ(run->ending, Ending::interrupted);
}

}  // namespace
}  // namespace numatlas
