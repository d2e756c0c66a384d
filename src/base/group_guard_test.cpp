#include "base/child_process.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <optional>
#include <utility>

namespace numatlas {
namespace {

/// A process group of two that wait; a pipe tells when the last of them has ended.
struct Group {
  Group() {
    EXPECT_EQ(pipe(ends), 0);
    leader = fork();
    if (leader == 0) {
      setpgid(0, 0);
      close(ends[0]);
      (void)fork();
      while (true) pause();
    }
    setpgid(leader, leader);
    close(ends[1]);
  }
  bool ended(int within_ms) {
    pollfd end{ends[0], POLLHUP, 0};
    return poll(&end, 1, within_ms) == 1;
  }
  int ends[2] = {-1, -1};
  pid_t leader = -1;
};

TEST(GroupGuard, TheGroupEndsWithWhoIsKilled) {
  int told[2];
  ASSERT_EQ(pipe(told), 0);
  Group group;
  const pid_t owner = fork();
  if (owner == 0) {
    close(group.ends[0]);
    const GroupGuard guard(-group.leader);
    (void)!write(told[1], "r", 1);
    while (true) pause();
  }
  char ready = 0;
  ASSERT_EQ(read(told[0], &ready, 1), 1);
  EXPECT_FALSE(group.ended(0));
  kill(owner, SIGKILL);
  waitpid(owner, nullptr, 0);
  EXPECT_TRUE(group.ended(10'000));
  kill(-group.leader, SIGKILL);
  waitpid(group.leader, nullptr, 0);
}

TEST(GroupGuard, TheGroupGoesOnWithoutIt) {
  Group group;
  std::optional<GroupGuard> guard(std::in_place, -group.leader);
  guard.reset();
  EXPECT_FALSE(group.ended(100));
  kill(-group.leader, SIGKILL);
  EXPECT_TRUE(group.ended(10'000));
  waitpid(group.leader, nullptr, 0);
}

}  // namespace
}  // namespace numatlas
