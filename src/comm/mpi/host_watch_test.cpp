#include "comm/mpi/host_watch.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

namespace numatlas {
namespace {

/// Two ranks of one host: this process and a forked one that sleeps until it is ended.
class HostWatchPair : public ::testing::Test {
 protected:
  void SetUp() override {
    block_ = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(block_, MAP_FAILED);
  }
  void TearDown() override {
    if (child_ > 0) end_child(SIGKILL);
    munmap(block_, bytes_);
  }
  /// `before_sleep` is what the other rank does once it is in.
  template <class Action>
  void start_peer(Action before_sleep) {
    int entered[2];
    ASSERT_EQ(pipe(entered), 0);
    child_ = fork();
    if (child_ == 0) {
      HostWatch watch(block_, 1, 2, 3, "node7");
      watch.start();
      before_sleep(watch);
      if (write(entered[1], "x", 1) != 1) _exit(1);
      while (true) pause();
    }
    char byte;
    ASSERT_EQ(read(entered[0], &byte, 1), 1);
    close(entered[0]);
    close(entered[1]);
  }
  void end_child(int signal) {
    kill(child_, signal);
    waitpid(child_, nullptr, 0);
    child_ = -1;
  }
  HostWatch enter() {
    HostWatch watch(block_, 0, 2, 2, "node7");
    watch.start();
    return watch;
  }

  std::size_t bytes_ = HostWatch::bytes_for(2);
  void* block_ = nullptr;
  pid_t child_ = -1;
};

TEST_F(HostWatchPair, LivingPeerIsNoFailure) {
  start_peer([](HostWatch&) {});
  HostWatch watch = enter();
  EXPECT_FALSE(watch.failure(true));
  EXPECT_EQ(watch.pids(), (std::vector<int>{getpid(), child_}));
  EXPECT_EQ(watch.leader(), 2);
  EXPECT_FALSE(watch.all_leaving());
}

TEST_F(HostWatchPair, DeadPeerIsNamed) {
  start_peer([](HostWatch&) {});
  HostWatch watch = enter();
  const pid_t pid = child_;
  end_child(SIGKILL);
  const auto failure = watch.failure(true);
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->kind, ErrorKind::peer);
  EXPECT_EQ(full_text(*failure), "rank 3 (pid " + std::to_string(pid) + ") on node7 died");
  EXPECT_TRUE(watch.is_declarer());
  EXPECT_EQ(watch.failure_code(), exit_code(ErrorKind::peer));
  EXPECT_TRUE(watch.all_leaving());
}

TEST_F(HostWatchPair, ZombieIsDead) {
  start_peer([](HostWatch&) {});
  HostWatch watch = enter();
  kill(child_, SIGKILL);
  siginfo_t info;
  ASSERT_EQ(waitid(P_PID, static_cast<id_t>(child_), &info, WEXITED | WNOWAIT), 0);
  EXPECT_TRUE(watch.failure(true));
}

TEST_F(HostWatchPair, PeerThatLeftInOrderIsNoFailure) {
  start_peer([](HostWatch& peer) {
    peer.leave();
    peer.left();
  });
  HostWatch watch = enter();
  end_child(SIGKILL);
  EXPECT_FALSE(watch.failure(true));
  EXPECT_TRUE(watch.all_leaving());
}

TEST_F(HostWatchPair, DeclaredFailureAndStopReachTheOther) {
  start_peer([](HostWatch& peer) {
    peer.declare_failure(7, "rank 3 on node7 stopped the run");
    peer.tell_stop(SIGTERM);
    peer.claim_report();
  });
  HostWatch watch = enter();
  ASSERT_TRUE(watch.failure());
  EXPECT_EQ(full_text(*watch.failure()), "rank 3 on node7 stopped the run");
  EXPECT_EQ(watch.told_stop(), SIGTERM);
  EXPECT_FALSE(watch.claim_report());
  EXPECT_FALSE(watch.declare_failure(9, "too late"));
  EXPECT_EQ(watch.failure_code(), 7);
  EXPECT_FALSE(watch.is_declarer());
}

TEST_F(HostWatchPair, LongMessageIsCut) {
  HostWatch watch(block_, 0, 2, 0, "node7");
  watch.start();
  EXPECT_TRUE(watch.declare_failure(1, std::string(10'000, 'm')));
  EXPECT_EQ(full_text(*watch.failure()), std::string(255, 'm'));
}

TEST(ProcessIdentity, IsOfThisProcessAndNoOther) {
  const auto mine = identify_process(getpid());
  ASSERT_TRUE(mine);
  EXPECT_EQ(mine->pid, getpid());
  EXPECT_GT(mine->start_time, 0u);
  EXPECT_FALSE(identify_process(-1));
}

}  // namespace
}  // namespace numatlas
