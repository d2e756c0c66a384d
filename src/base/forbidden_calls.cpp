#include "base/forbidden_calls.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "base/tree.h"

namespace numatlas {
namespace {

struct Probe {
  long number;
  const char* name;
  bool needed;  ///< nothing goes without it; the C library makes it unasked
};
#define NUMATLAS_PROBE(name, needed) \
  Probe { SYS_##name, #name, needed }
constexpr std::array probes{NUMATLAS_PROBE(mbind, false),
                            NUMATLAS_PROBE(set_mempolicy, false),
                            NUMATLAS_PROBE(get_mempolicy, false),
                            NUMATLAS_PROBE(move_pages, false),
                            NUMATLAS_PROBE(sched_setaffinity, false),
#ifdef SYS_pidfd_open
                            NUMATLAS_PROBE(pidfd_open, false),
#endif
#ifdef SYS_close_range
                            NUMATLAS_PROBE(close_range, false),
#endif
                            NUMATLAS_PROBE(sched_getaffinity, true),
                            NUMATLAS_PROBE(madvise, true),
                            NUMATLAS_PROBE(prctl, true)};
#undef NUMATLAS_PROBE

bool has_filter() {
  const auto status = running_system().text("/proc/self/status").value_or("");
  return value_of(status, "Seccomp") == "2";  // SECCOMP_MODE_FILTER
}

/// Whether a child lives that makes these calls.
bool survives(const Probe* first, std::size_t count) {
  // With SIGCHLD ignored the kernel keeps no status to wait for.
  struct sigaction before {
  }, keep{};
  keep.sa_handler = SIG_DFL;
  (void)sigaction(SIGCHLD, &keep, &before);
  const pid_t child = fork();
  if (child == 0) {
    (void)signal(SIGSYS, SIG_DFL);
    const rlimit none{0, 0};
    (void)setrlimit(RLIMIT_CORE, &none);
    // All zero: no pages, no CPUs, no nodes, or no valid address.
    for (std::size_t i = 0; i < count; ++i) (void)syscall(first[i].number, 0, 0, 0, 0, 0, 0);
    _exit(0);
  }
  int status = 0;
  pid_t ended = -1;
  while (child > 0 && (ended = waitpid(child, &status, 0)) < 0 && errno == EINTR) continue;
  (void)sigaction(SIGCHLD, &before, nullptr);
  return ended != child || !WIFSIGNALED(status) || WTERMSIG(status) != SIGSYS;
}

std::vector<long> find_forbidden() {
  std::vector<long> found;
  if (!has_filter() || survives(probes.data(), probes.size())) return found;
  for (const Probe& probe : probes)
    if (!survives(&probe, 1)) found.push_back(probe.number);
  return found;
}

std::atomic<int> message_file{STDERR_FILENO};

/// Only calls that are safe in a handler.
void say_in_handler(std::string_view text) {
  if (write(message_file, text.data(), text.size()) < 0) return;
}

void name_call_and_exit(int, siginfo_t* info, void*) {
  char digits[12];
  char* at = digits + sizeof digits;
  for (int number = info->si_syscall; at == digits + sizeof digits || number > 0; number /= 10)
    *--at = static_cast<char>('0' + number % 10);
  say_in_handler("numatlas: error: a seccomp filter of this system forbids the system call ");
  const auto* const known = std::find_if(probes.begin(), probes.end(), [&](const Probe& probe) {
    return probe.number == info->si_syscall;
  });
  if (known != probes.end()) {
    say_in_handler(known->name);
    say_in_handler(", ");
  }
  say_in_handler("number ");
  say_in_handler({at, static_cast<std::size_t>(digits + sizeof digits - at)});
  say_in_handler(" (SIGSYS)\n");
  _exit(exit_code(ErrorKind::permission));
}

}  // namespace

void name_forbidden_calls_on(int file) { message_file = file; }

bool is_forbidden(long number) {
  static const std::vector<long> forbidden = find_forbidden();
  return std::find(forbidden.begin(), forbidden.end(), number) != forbidden.end();
}

std::string why_no_libnuma() {
  for (const long call : {SYS_get_mempolicy, SYS_set_mempolicy}) {
    if (is_forbidden(call))
      return fmt::format(
          "its libnuma makes the system call {}, which a seccomp filter of this system "
          "forbids (SIGSYS)",
          call == SYS_get_mempolicy ? "get_mempolicy" : "set_mempolicy");
  }
  return "";
}

Expected<void> look_for_forbidden_calls() {
  for (const Probe& probe : probes) {
    if (probe.needed && is_forbidden(probe.number))
      return fail(ErrorKind::permission,
                  fmt::format("a seccomp filter of this system forbids the system call {} "
                              "(SIGSYS), which numatlas needs",
                              probe.name),
                  "allow it, or measure outside of this container or app");
  }
  struct sigaction action {};
  action.sa_sigaction = name_call_and_exit;
  action.sa_flags = SA_SIGINFO;
  (void)sigaction(SIGSYS, &action, nullptr);
  return {};
}

}  // namespace numatlas
