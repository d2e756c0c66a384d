// Filters that end a process by SIGSYS.
#include "base/forbidden_calls.h"

#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <csignal>
#include <cstddef>
#include <cstdlib>

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

/// In a process of its own: 0 as expected, 1 not, 77 no filters here.
[[noreturn]] void see_what_is_forbidden(unsigned with) {
  if (!answer(SYS_mbind, with)) std::exit(77);
  const bool found = look_for_forbidden_calls().has_value() && is_forbidden(SYS_mbind) &&
                     !is_forbidden(SYS_move_pages);
  std::exit(found ? 0 : 1);
}

bool as_expected_or_no_filters(int status) {
  return WIFEXITED(status) && (WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == 77);
}

TEST(ForbiddenCalls, AreFoundWhateverTheFilterDoes) {
  for (const unsigned with : {SECCOMP_RET_KILL_PROCESS, SECCOMP_RET_TRAP})
    EXPECT_EXIT(see_what_is_forbidden(with), as_expected_or_no_filters, "");
}

TEST(ForbiddenCalls, AreFoundWithSigchldIgnored) {
  EXPECT_EXIT(
      {
        (void)signal(SIGCHLD, SIG_IGN);
        see_what_is_forbidden(SECCOMP_RET_KILL_PROCESS);
      },
      as_expected_or_no_filters, "");
}

TEST(ForbiddenCalls, ARefusedOneIsNotForbidden) {
  EXPECT_EXIT(
      {
        if (!answer(SYS_mbind, SECCOMP_RET_ERRNO | 1U)) std::exit(77);
        std::exit(is_forbidden(SYS_mbind) ? 1 : 0);
      },
      as_expected_or_no_filters, "");
}

TEST(ForbiddenCalls, OneThatIsNeededIsAnError) {
  EXPECT_EXIT(
      {
        if (!answer(SYS_madvise, SECCOMP_RET_KILL_PROCESS)) std::exit(77);
        const auto found = look_for_forbidden_calls();
        const bool right = !found && found.error().kind == ErrorKind::permission &&
                           full_text(found.error()).find("madvise") != std::string::npos;
        std::exit(right ? 0 : 1);
      },
      as_expected_or_no_filters, "");
}

TEST(ForbiddenCalls, AnyOtherIsNamedWhenItIsMade) {
  const auto ends = [](int status) {
    return WIFEXITED(status) &&
           (WEXITSTATUS(status) == exit_code(ErrorKind::permission) || WEXITSTATUS(status) == 77);
  };
  EXPECT_EXIT(
      {
        if (!answer(SYS_acct, SECCOMP_RET_TRAP)) {
          (void)!write(STDERR_FILENO, "number", 6);
          std::exit(77);
        }
        (void)look_for_forbidden_calls();
        (void)syscall(SYS_acct, 0);
        std::exit(1);
      },
      ends, "number");
}

}  // namespace
}  // namespace numatlas
