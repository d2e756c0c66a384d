#include "base/child_process.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "base/process_stat.h"
#include "base/program.h"

namespace numatlas {
namespace {

/// The last byte of a whole answer.
constexpr char end_mark = '\0';
constexpr int code_of_exception = 3;

/// Relative to what is mapped now: sanitizers reserve terabytes.
void limit_memory(Bytes more) {
  const std::uint64_t mapped = mapped_memory().value;
  const rlimit limit{mapped + more.value, mapped + more.value};
  if (mapped > 0) setrlimit(RLIMIT_AS, &limit);
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

[[noreturn]] void be_child(const std::function<std::string()>& work, const ChildLimits& limits) {
  const int answer = dup(STDOUT_FILENO);
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

std::string bad_end(const ProgramRun& run, const ChildLimits& limits) {
  if (run.ending == Ending::timeout) return fmt::format("took more than {} s", limits.time.count());
  if (run.ending == Ending::signalled)
    return fmt::format("ended by signal {} ({})", run.code, strsignal(run.code));
  return run.code == code_of_exception ? "ran out of memory" : "ended without an answer";
}

}  // namespace

Expected<std::string> in_child(const std::function<std::string()>& work,
                               const ChildLimits& limits) {
  ProgramRun run = TRY(run_program({.output = ProgramOutput::kept,
                                    .timeout = static_cast<double>(limits.time.count()),
                                    .grace = std::chrono::milliseconds(0),
                                    .instead = [&] { be_child(work, limits); }}));
  if (run.ending == Ending::interrupted) return fail(ErrorKind::interrupted, "interrupted");
  if (!run.good() || run.output.empty() || run.output.back() != end_mark)
    return fail(ErrorKind::usage, bad_end(run, limits));
  run.output.pop_back();
  return std::move(run.output);
}

}  // namespace numatlas
