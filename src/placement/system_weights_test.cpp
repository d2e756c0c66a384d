// The weights of a folder that stands in for the kernel's: set, and back again however it ends.
#include "placement/system_weights.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>
#include <thread>
#include <utility>

#include "placement/test_machines.h"

namespace numatlas {
namespace {

using ::testing::HasSubstr;

const WeightedNodes wanted{{NodeId{0}, 3}, {NodeId{2}, 1}};

class SystemWeightsTest : public ::testing::Test {
 protected:
  SystemWeightsTest() {
    std::string pattern = std::filesystem::temp_directory_path().string() + "/weights-XXXXXX";
    folder_ = mkdtemp(pattern.data());
    setenv("NUMATLAS_TEST_WEIGHTS", folder_.c_str(), 1);
    write("node0", "5");
    write("node2", "7");
  }
  ~SystemWeightsTest() override {
    unsetenv("NUMATLAS_TEST_WEIGHTS");
    std::filesystem::remove_all(folder_);
  }
  void write(const std::string& name, const std::string& value) const {
    std::ofstream(folder_ + "/" + name) << value << "\n";
  }
  std::string read(const std::string& name) const {
    std::ifstream file(folder_ + "/" + name);
    std::string line;
    std::getline(file, line);
    return line;
  }
  std::string both() const { return read("node0") + "," + read("node2"); }

  /// A process, in a group of its own, that sets the weights, says so and then does `then`.
  pid_t start(const std::function<void(SystemWeights&)>& then) {
    int said[2];
    EXPECT_EQ(pipe2(said, O_CLOEXEC), 0);
    const pid_t child = fork();
    if (child == 0) {
      setpgid(0, 0);
      // The guard of the one before lets go a moment after it put the weights back.
      std::optional<SystemWeights> held;
      for (int tries = 0; !held && tries < 100; ++tries) {
        if (auto set = SystemWeights::set(wanted)) held.emplace(*std::move(set));
        if (!held) usleep(20'000);
      }
      if (held && ::write(said[1], "s", 1) == 1) then(*held);
      _exit(held ? 0 : 1);
    }
    close(said[1]);
    char byte = 0;
    EXPECT_EQ(::read(said[0], &byte, 1), 1) << "the weights were not set";
    close(said[0]);
    return child;
  }
  static int end_of(pid_t child) {
    int status = 0;
    waitpid(child, &status, 0);
    return status;
  }
  /// The guard needs a moment after the other's end; far longer than that is never.
  bool comes_back() const {
    for (int tries = 0; tries < 1000; ++tries) {
      if (both() == "5,7") return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return false;
  }

  std::string folder_;
};

[[noreturn]] void wait_for_a_signal(SystemWeights&) {
  while (true) pause();
}

TEST_F(SystemWeightsTest, SetAndPutBack) {
  {
    auto held = SystemWeights::set(wanted);
    ASSERT_TRUE(held) << full_text(held.error());
    EXPECT_EQ(both(), "3,1");
    ASSERT_TRUE(held->restore());
    EXPECT_EQ(both(), "5,7");
    write("node0", "9");
  }
  EXPECT_EQ(both(), "9,7") << "put back once only";
}

TEST_F(SystemWeightsTest, PutBackWhenItGoesOutOfScope) {
  {
    const auto held = SystemWeights::set(wanted);
    ASSERT_TRUE(held);
    EXPECT_EQ(both(), "3,1");
  }
  EXPECT_EQ(both(), "5,7");
}

TEST_F(SystemWeightsTest, KeptWhenTold) {
  {
    auto held = SystemWeights::set(wanted);
    ASSERT_TRUE(held);
    held->keep();
    ASSERT_TRUE(held->restore()) << "nothing is held any more";
  }
  EXPECT_EQ(both(), "3,1");
}

TEST_F(SystemWeightsTest, AutomaticWeightsAreSwitchedOnAgainLast) {
  for (const char* name : {"auto", "__auto_type"}) {
    write(name, "true");
    auto held = SystemWeights::set(wanted);
    ASSERT_TRUE(held);
    write(name, "false");  // what the kernel does when a weight is set
    ASSERT_TRUE(held->restore());
    EXPECT_EQ(read(name), "true");
    std::filesystem::remove(folder_ + "/" + name);
  }
}

/// As Linux 6.16 on a machine whose firmware names no bandwidths: setting a weight switches `auto`
/// off, and nothing switches it on again.
int write_without_bandwidths(const char* path, const char* value, std::size_t length) {
  const std::filesystem::path file = path;
  const auto really = kernel::real_calls().write_file;
  if (file.filename() != "auto")
    really((file.parent_path() / "auto").c_str(), "false", 5);
  else if (std::string(value, length) == "true")
    return ENODEV;
  return really(path, value, length);
}

/// `auto` reads true there until a weight is set.
class NoBandwidthsTest : public SystemWeightsTest {
 protected:
  NoBandwidthsTest() {
    write("auto", "true");
    kernel::calls().write_file = write_without_bandwidths;
  }
  /// Weights can be set and put back as if nothing had been before.
  void expect_another_run() const {
    auto held = SystemWeights::set(wanted);
    ASSERT_TRUE(held) << full_text(held.error());
    EXPECT_EQ(both(), "3,1");
    const auto restored = held->restore();
    ASSERT_TRUE(restored) << full_text(restored.error());
    EXPECT_EQ(*restored, "") << "auto was off before";
    EXPECT_EQ(both(), "5,7");
  }

 private:
  testing::CallsGuard guard_;
};

TEST_F(NoBandwidthsTest, AutomaticWeightsThatStayOffAreToldOfAndNoError) {
  {
    auto held = SystemWeights::set(wanted);
    ASSERT_TRUE(held) << full_text(held.error());
    const auto restored = held->restore();
    ASSERT_TRUE(restored) << full_text(restored.error());
    EXPECT_THAT(*restored, HasSubstr("automatic interleave weights stay off"));
    EXPECT_THAT(*restored, HasSubstr("No such device"));
  }
  EXPECT_EQ(both(), "5,7");
  EXPECT_EQ(read("auto"), "false");
  EXPECT_EQ(read("state"), "") << "nothing is left to repair";
  expect_another_run();
}

TEST_F(NoBandwidthsTest, ToldOfWithoutTheGuardAsWell) {
  const int status = end_of(start([](SystemWeights& held) {
    std::ifstream children("/proc/self/task/" + std::to_string(getpid()) + "/children");
    pid_t guard = 0;
    if (!(children >> guard)) _exit(77);
    kill(guard, SIGKILL);
    const auto restored = held.restore();
    _exit(restored && !restored->empty() ? 0 : 1);
  }));
  ASSERT_TRUE(WIFEXITED(status));
  if (WEXITSTATUS(status) == 77) GTEST_SKIP() << "this kernel does not name a process's children";
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_EQ(both(), "5,7");
  EXPECT_EQ(read("state"), "");
}

TEST_F(NoBandwidthsTest, TheGuardLeavesNothingToRepair) {
  const pid_t child = start(wait_for_a_signal);
  kill(child, SIGKILL);
  end_of(child);
  ASSERT_TRUE(comes_back()) << both();
  // It ends when the file is empty.
  for (int tries = 0; tries < 1000 && !read("state").empty(); ++tries)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_EQ(read("state"), "");
}

TEST_F(NoBandwidthsTest, WhatAKilledRunLeftIsRepairedOnce) {
  write("node0", "3");
  write("node2", "1");
  write("auto", "false");
  write("state", "node0 5 3\nnode2 7 1\nauto true\nend");
  const auto repaired = repair_system_weights();
  ASSERT_TRUE(repaired) << full_text(repaired.error());
  EXPECT_THAT(*repaired, ::testing::StartsWith("echo 5 > " + folder_ + "/node0; echo 7 > " +
                                               folder_ + "/node2 (the kernel's automatic"));
  EXPECT_EQ(both(), "5,7");
  EXPECT_EQ(*repair_system_weights(), "");
  expect_another_run();
}

TEST_F(NoBandwidthsTest, AWeightThatCannotBeWrittenIsAnErrorAllTheSame) {
  kernel::calls().write_file = [](const char* path, const char* value, std::size_t length) {
    return std::string(value, length) == "7" ? ENODEV
                                             : write_without_bandwidths(path, value, length);
  };
  auto held = SystemWeights::set(wanted);
  ASSERT_TRUE(held) << full_text(held.error());
  const auto restored = held->restore();
  ASSERT_FALSE(restored);
  EXPECT_EQ(restored.error().kind, ErrorKind::io);
  EXPECT_THAT(full_hint(restored.error()), HasSubstr("echo 7 > " + folder_ + "/node2"));
}

TEST_F(SystemWeightsTest, PutBackAfterAKill) {
  const pid_t child = start(wait_for_a_signal);
  EXPECT_EQ(both(), "3,1");
  kill(child, SIGKILL);
  EXPECT_TRUE(WIFSIGNALED(end_of(child)));
  EXPECT_TRUE(comes_back()) << both();
}

TEST_F(SystemWeightsTest, PutBackAfterSignalsToTheWholeGroup) {
  for (int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGKILL}) {
    write("node0", "5");
    write("node2", "7");
    const pid_t child = start(wait_for_a_signal);
    EXPECT_EQ(both(), "3,1");
    kill(-child, signal);
    EXPECT_TRUE(WIFSIGNALED(end_of(child)));
    EXPECT_TRUE(comes_back()) << both() << " after signal " << signal;
  }
}

TEST_F(SystemWeightsTest, PutBackAfterAnExitInTheMiddle) {
  EXPECT_EQ(end_of(start([](SystemWeights&) { _exit(0); })), 0);
  EXPECT_TRUE(comes_back()) << both();
}

TEST_F(SystemWeightsTest, KeptThroughTheEndOfTheProcess) {
  EXPECT_EQ(end_of(start([](SystemWeights& held) {
              held.keep();
              raise(SIGKILL);
            })),
            SIGKILL);
  EXPECT_EQ(both(), "3,1");
}

TEST_F(SystemWeightsTest, PutBackWithoutTheGuardAsWell) {
  const pid_t child = start([](SystemWeights& held) {
    // The guard is the only child of this process.
    std::ifstream children("/proc/self/task/" + std::to_string(getpid()) + "/children");
    pid_t guard = 0;
    if (!(children >> guard)) _exit(77);
    kill(guard, SIGKILL);
    _exit(held.restore() ? 0 : 1);
  });
  const int status = end_of(child);
  ASSERT_TRUE(WIFEXITED(status));
  if (WEXITSTATUS(status) == 77) GTEST_SKIP() << "this kernel does not name a process's children";
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_EQ(both(), "5,7");
}

/// Kills the guard, which is its only child, and itself. Exit code 77 where children have no names.
[[noreturn]] void kill_both(SystemWeights&) {
  std::ifstream children("/proc/self/task/" + std::to_string(getpid()) + "/children");
  pid_t guard = 0;
  if (!(children >> guard)) _exit(77);
  kill(guard, SIGKILL);
  waitpid(guard, nullptr, 0);
  raise(SIGKILL);
  _exit(1);
}

TEST_F(SystemWeightsTest, RepairedAfterAKillOfBoth) {
  write("auto", "true");
  const int status = end_of(start(kill_both));
  if (WIFEXITED(status)) GTEST_SKIP() << "this kernel does not name a process's children";
  ASSERT_EQ(both(), "3,1") << "nobody was left to put them back";
  write("auto", "false");
  const auto repaired = repair_system_weights();
  ASSERT_TRUE(repaired) << full_text(repaired.error());
  EXPECT_EQ(*repaired, "echo 5 > " + folder_ + "/node0; echo 7 > " + folder_ +
                           "/node2; echo true > " + folder_ + "/auto");
  EXPECT_EQ(both(), "5,7");
  EXPECT_EQ(read("auto"), "true");
  write("node0", "9");
  EXPECT_EQ(*repair_system_weights(), "") << "once";
  EXPECT_EQ(both(), "9,7");
}

TEST_F(SystemWeightsTest, WhatSomebodySetSinceStays) {
  write("auto", "true");
  const int status = end_of(start(kill_both));
  if (WIFEXITED(status)) GTEST_SKIP() << "this kernel does not name a process's children";
  ASSERT_EQ(both(), "3,1");
  write("auto", "false");
  write("node0", "40");
  EXPECT_EQ(*repair_system_weights(), "echo 7 > " + folder_ + "/node2");
  EXPECT_EQ(both(), "40,7");
  EXPECT_EQ(read("auto"), "false") << "a weight was set by hand";
}

TEST_F(SystemWeightsTest, AStateThatWasCutShortIsNotBelieved) {
  write("state", "node0 12 5\nnode2 1");
  EXPECT_EQ(*repair_system_weights(), "");
  write("state", "node0 12 5\nnode2 1 7\nen");
  EXPECT_EQ(*repair_system_weights(), "") << "without its last letter";
  EXPECT_EQ(both(), "5,7");
  write("state", "node0 12 5\nnode2 1 7\nend");
  EXPECT_NE(*repair_system_weights(), "");
  EXPECT_EQ(both(), "12,1");
}

TEST_F(SystemWeightsTest, SettingAfterAKillOfBothRemembersWhatWasBefore) {
  const int status = end_of(start(kill_both));
  if (WIFEXITED(status)) GTEST_SKIP() << "this kernel does not name a process's children";
  {
    const auto held = SystemWeights::set({{NodeId{0}, 8}, {NodeId{2}, 9}});
    ASSERT_TRUE(held);
    EXPECT_EQ(both(), "8,9");
  }
  EXPECT_EQ(both(), "5,7");
}

TEST_F(SystemWeightsTest, NothingIsRepairedWhileARunOrItsGuardLives) {
  EXPECT_EQ(*repair_system_weights(), "");
  const pid_t child = start(wait_for_a_signal);
  EXPECT_EQ(*repair_system_weights(), "");
  EXPECT_EQ(both(), "3,1");
  const auto second = SystemWeights::set(wanted);
  ASSERT_FALSE(second);
  EXPECT_THAT(full_text(second.error()), HasSubstr("another run has set the system's weights"));
  EXPECT_EQ(both(), "3,1");
  kill(child, SIGKILL);
  end_of(child);
  EXPECT_TRUE(comes_back()) << both();
}

TEST_F(SystemWeightsTest, NothingIsLeftToRepairAfterTheEnd) {
  ASSERT_TRUE(SystemWeights::set(wanted)->restore());
  write("node0", "9");
  EXPECT_EQ(*repair_system_weights(), "");
  SystemWeights::set(wanted)->keep();
  EXPECT_EQ(*repair_system_weights(), "");
  EXPECT_EQ(both(), "3,1");
}

TEST_F(SystemWeightsTest, WhatCannotBePutBackIsSaid) {
  const int status = end_of(start(kill_both));
  if (WIFEXITED(status)) GTEST_SKIP() << "this kernel does not name a process's children";
  std::filesystem::remove(folder_ + "/node2");
  std::filesystem::create_directory(folder_ + "/node2");
  const auto repaired = repair_system_weights();
  ASSERT_FALSE(repaired);
  EXPECT_EQ(repaired.error().kind, ErrorKind::io);
  EXPECT_THAT(full_hint(repaired.error()), HasSubstr("echo 7 > " + folder_ + "/node2"));
}

TEST_F(SystemWeightsTest, NothingIsSetWhenOneFileIsMissing) {
  const auto held = SystemWeights::set({{NodeId{0}, 3}, {NodeId{4}, 1}});
  ASSERT_FALSE(held);
  EXPECT_EQ(held.error().kind, ErrorKind::unavailable);
  EXPECT_THAT(full_text(held.error()), HasSubstr("--apply: " + folder_ + "/node4 cannot be read"));
  EXPECT_EQ(both(), "5,7");
}

TEST_F(SystemWeightsTest, TheFirstIsPutBackWhenTheSecondCannotBeWritten) {
  std::filesystem::remove(folder_ + "/node2");
  // Not even root can write there.
  std::filesystem::create_symlink("/proc/sys/kernel/cap_last_cap", folder_ + "/node2");
  const auto held = SystemWeights::set(wanted);
  ASSERT_FALSE(held);
  EXPECT_THAT(full_text(held.error()),
              HasSubstr("--apply: " + folder_ + "/node2 cannot be written"));
  EXPECT_EQ(read("node0"), "5");
}

TEST_F(SystemWeightsTest, RefusedToOthersThanRoot) {
  if (geteuid() == 0) GTEST_SKIP() << "root may write to any file";
  chmod((folder_ + "/node2").c_str(), 0444);
  const auto checked = check_system_weights();
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().kind, ErrorKind::permission);
  EXPECT_THAT(full_text(checked.error()), HasSubstr("--apply: "));
}

TEST_F(SystemWeightsTest, CheckedBefore) {
  EXPECT_TRUE(check_system_weights());
  EXPECT_EQ(both(), "5,7");
  std::filesystem::remove(folder_ + "/node0");
  std::filesystem::remove(folder_ + "/node2");
  const auto none = check_system_weights();
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().kind, ErrorKind::unavailable);
}

TEST(SystemWeightLines, AreForTheKernelsFolder) {
  EXPECT_THAT(
      system_weight_lines(wanted),
      ::testing::ElementsAre("echo 3 > /sys/kernel/mm/mempolicy/weighted_interleave/node0",
                             "echo 1 > /sys/kernel/mm/mempolicy/weighted_interleave/node2"));
}

}  // namespace
}  // namespace numatlas
