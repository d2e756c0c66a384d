#include "base/forbidden_calls.h"

#include <signal.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <string_view>

#include <fmt/format.h>

#include "base/error.h"

namespace numatlas {
namespace {

struct Call {
  long number;
  std::string_view name;
  bool needed;
};
#define NUMATLAS_CALL(name, needed) \
  Call { SYS_##name, #name, needed }
constexpr std::array known_calls{NUMATLAS_CALL(mbind, false),
                                 NUMATLAS_CALL(set_mempolicy, false),
                                 NUMATLAS_CALL(get_mempolicy, false),
                                 NUMATLAS_CALL(move_pages, false),
                                 NUMATLAS_CALL(sched_setaffinity, false),
#ifdef SYS_pidfd_open
                                 NUMATLAS_CALL(pidfd_open, false),
#endif
                                 NUMATLAS_CALL(sched_getaffinity, true),
                                 NUMATLAS_CALL(madvise, true),
                                 NUMATLAS_CALL(prctl, true)};
#undef NUMATLAS_CALL

std::atomic<int> message_file{STDERR_FILENO};

/// Only calls that are safe in a handler.
void say_in_handler(std::string_view text) {
  if (write(message_file, text.data(), text.size()) < 0) return;
}

/// Makes the call's result EPERM; false where this processor's registers are not known.
bool refuse(void* context) {
  [[maybe_unused]] auto& registers = static_cast<ucontext_t*>(context)->uc_mcontext;
#if defined(__x86_64__)
  registers.gregs[REG_RAX] = -EPERM;
  return true;
#elif defined(__aarch64__)
  registers.regs[0] = static_cast<unsigned long long>(-EPERM);
  return true;
#else
  return false;
#endif
}

void on_forbidden_call(int, siginfo_t* info, void* context) {
  const auto* const known =
      std::find_if(known_calls.begin(), known_calls.end(),
                   [&](const Call& call) { return call.number == info->si_syscall; });
  if (known != known_calls.end() && !known->needed && refuse(context)) return;
  say_in_handler("numatlas: error: a seccomp filter of this system forbids the system call ");
  if (known == known_calls.end()) {
    const fmt::format_int number(info->si_syscall);  // asks for no memory
    say_in_handler("number ");
    say_in_handler({number.data(), number.size()});
  } else {
    say_in_handler(known->name);
  }
  say_in_handler(" (SIGSYS), which numatlas needs\n");
  _exit(exit_code(ErrorKind::permission));
}

}  // namespace

void answer_forbidden_calls() {
  struct sigaction action {};
  action.sa_sigaction = on_forbidden_call;
  action.sa_flags = SA_SIGINFO;
  (void)sigaction(SIGSYS, &action, nullptr);
}

void name_forbidden_calls_on(int file) { message_file = file; }

}  // namespace numatlas
