#include "base/child_process.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "base/descriptor.h"
#include "base/signals.h"
#include "base/tree.h"

namespace numatlas {
namespace {

using Clock = std::chrono::steady_clock;

/// The last byte of a whole answer.
constexpr char end_mark = '\0';
constexpr int code_of_exception = 3;

/// Relative to what is mapped now: sanitizers reserve terabytes.
void limit_memory(Bytes more) {
  // "1234 567 ...": the first number is what is mapped.
  const std::uint64_t pages =
      std::strtoull(running_system().text("/proc/self/statm").value_or("").c_str(), nullptr, 10);
  const std::uint64_t bytes = pages * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  const rlimit limit{bytes + more.value, bytes + more.value};
  if (pages > 0) setrlimit(RLIMIT_AS, &limit);
}

/// As a process that nobody knows of: silent, without a core dump, gone with its parent.
void prepare_child(const ChildLimits& limits) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGXCPU, SIGABRT, SIGSEGV, SIGBUS, SIGFPE})
    (void)std::signal(signal, SIG_DFL);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  prctl(PR_SET_DUMPABLE, 0);
  const int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
  dup2(nowhere, STDOUT_FILENO);
  dup2(nowhere, STDERR_FILENO);
  limit_memory(limits.memory);
}

[[noreturn]] void be_child(const std::function<std::string()>& work, const ChildLimits& limits,
                           int answer) {
  prepare_child(limits);
  try {
    const std::string text = work() + end_mark;
    std::size_t done = 0;
    while (done < text.size()) {
      const ssize_t wrote = write(answer, text.data() + done, text.size() - done);
      if (wrote < 0 && errno != EINTR) break;
      if (wrote > 0) done += static_cast<std::size_t>(wrote);
    }
    _exit(0);
  } catch (const std::bad_alloc&) {
    _exit(code_of_exception);
  } catch (const std::exception&) {
    _exit(EXIT_FAILURE);
  }
}

/// Reads to the end; why it was given up, if it was.
std::optional<Error> read_answer(int answer, const ChildLimits& limits, std::string& text) {
  const auto end = Clock::now() + limits.time;
  char part[65536];
  while (true) {
    if (stop_requested()) return Error{ErrorKind::interrupted, "interrupted", ""};
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now()).count();
    if (left <= 0) {
      return Error{ErrorKind::usage, fmt::format("took more than {} s", limits.time.count()), ""};
    }
    pollfd ready{answer, POLLIN, 0};
    if (poll(&ready, 1, static_cast<int>(left)) <= 0) continue;
    const ssize_t got = read(answer, part, sizeof part);
    if (got == 0) return std::nullopt;
    if (got > 0) text.append(part, static_cast<std::size_t>(got));
    if (got < 0 && errno != EINTR) return Error{ErrorKind::io, "read: " + errno_text(errno), ""};
  }
}

std::string bad_end(int status) {
  if (WIFSIGNALED(status))
    return fmt::format("ended by signal {} ({})", WTERMSIG(status), strsignal(WTERMSIG(status)));
  if (WIFEXITED(status) && WEXITSTATUS(status) == code_of_exception) return "ran out of memory";
  return "ended without an answer";
}

}  // namespace

Expected<std::string> in_child(const std::function<std::string()>& work,
                               const ChildLimits& limits) {
  Pipe answer;
  if (!answer.open()) return fail(ErrorKind::resource, "pipe: " + errno_text(errno));
  const pid_t child = fork();
  if (child == 0) be_child(work, limits, answer.write.number());
  if (child < 0) return fail(ErrorKind::resource, "fork: " + errno_text(errno));
  answer.write.close();
  std::string text;
  const auto given_up = read_answer(answer.read.number(), limits, text);
  answer.read.close();
  if (given_up) kill(child, SIGKILL);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (given_up) return fail(*given_up);
  if (text.empty() || text.back() != end_mark) return fail(ErrorKind::usage, bad_end(status));
  text.pop_back();
  return text;
}

}  // namespace numatlas
