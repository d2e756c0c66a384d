// Filters that end a process by SIGSYS.
#include "base/forbidden_calls.h"

#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdlib>

#include "base/error.h"

namespace numatlas {
namespace {

/// From here on the answer to one system call.
bool answer(unsigned number, unsigned with) {
  sock_filter program[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, with),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  sock_fprog filter{sizeof program / sizeof *program, program};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

/// As exit code of a process of its own: there are no filters here.
constexpr int no_filters = 77;

void trap(long number) {
  if (answer(static_cast<unsigned>(number), SECCOMP_RET_TRAP)) return answer_forbidden_calls();
  (void)!write(STDERR_FILENO, "the system call", 15);
  std::exit(no_filters);
}

auto ends_with(int code) {
  return [code](int status) {
    return WIFEXITED(status) && (WEXITSTATUS(status) == code || WEXITSTATUS(status) == no_filters);
  };
}

TEST(ForbiddenCalls, AreRefusedWhereTheyAreNotNeeded) {
  EXPECT_EXIT(
      {
        trap(SYS_mbind);
        const bool refused = syscall(SYS_mbind, 0, 0, 0, 0, 0, 0) == -1 && errno == EPERM;
        std::exit(refused ? 0 : 1);
      },
      ends_with(0), "");
}

TEST(ForbiddenCalls, AreNamedWhereTheyAreNeeded) {
  EXPECT_EXIT(
      {
        trap(SYS_madvise);
        (void)syscall(SYS_madvise, 0, 0, 0);
        std::exit(1);
      },
      ends_with(exit_code(ErrorKind::permission)), "the system call (madvise|$)");
}

TEST(ForbiddenCalls, HaveTheirNumberWhereTheirNameIsNotKnown) {
  EXPECT_EXIT(
      {
        trap(SYS_acct);
        (void)syscall(SYS_acct, 0);
        std::exit(1);
      },
      ends_with(exit_code(ErrorKind::permission)), "the system call (number|$)");
}

}  // namespace
}  // namespace numatlas
