#include "advise/program.h"

#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "advise/child.h"
#include "advise/process_tree.h"
#include "base/child_process.h"
#include "base/signals.h"
#include "base/text.h"

namespace numatlas {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds look_every{100};
constexpr std::chrono::milliseconds grace{2000};  // from SIGTERM to SIGKILL

/// Between two looks, beyond which this process was stopped, or the host was.
constexpr double longest_look = 2;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

double seconds_of(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
}

void reap_orphans() {
  while (waitpid(-1, nullptr, WNOHANG) > 0) {
  }
}

/// The program and what it started, as one process group.
class Group {
 public:
  explicit Group(Child& child) : child_(child) { share_stops_with(child.pid()); }
  ~Group() { share_stops_with(0); }
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;

  /// Waits until the program itself has ended, or is to be ended.
  void wait(const RunRequest& request, const ProgramWatch& watch, ProgramRun& run) {
    const auto start = child_.started_at();
    auto last = Clock::now();
    while (!child_.wait_for_end(look_every)) {
      run.suspended = run.suspended || seconds_since(last) > longest_look;
      last = Clock::now();
      if (stop_requested()) return end(Ending::interrupted, run);
      if (request.timeout && seconds_since(start) > *request.timeout)
        return end(Ending::timeout, run);
      if (stopped()) return end(Ending::wants_terminal, run);
      if (watch) watch(child_.pid());
    }
    run.seconds = seconds_since(start);
    run.suspended = run.suspended || seconds_since(last) > longest_look;
  }

  Expected<void> reap(ProgramRun& run) {
    int status = 0;
    rusage usage{};
    while (wait4(child_.pid(), &status, 0, &usage) < 0)
      if (errno != EINTR) return fail_about(ErrorKind::resource, "wait4", errno_text(errno));
    run.user_seconds = seconds_of(usage.ru_utime);
    run.system_seconds = seconds_of(usage.ru_stime);
    run.peak_memory = Bytes{static_cast<std::uint64_t>(usage.ru_maxrss) * kib};
    run.minor_faults = static_cast<std::uint64_t>(usage.ru_minflt);
    run.major_faults = static_cast<std::uint64_t>(usage.ru_majflt);
    if (run.ending != Ending::exited) return {};
    if (WIFSIGNALED(status)) run.ending = Ending::signalled;
    run.code = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
    return {};
  }

  /// Ends what the program left behind, if it did. What was just ending is given time for it.
  bool end_rest() {
    constexpr int naps = 20;
    constexpr std::chrono::milliseconds nap{10};
    for (int i = 0; i < naps; ++i) {
      reap_orphans();
      if (kill(-child_.pid(), 0) != 0 && known_children_of(getpid()).empty()) return false;
      std::this_thread::sleep_for(nap);
    }
    // What is ended leaves its own children to this process.
    for (int i = 0; i < naps; ++i) {
      kill(-child_.pid(), SIGKILL);
      for (const pid_t orphan : known_children_of(getpid())) kill(orphan, SIGKILL);
      std::this_thread::sleep_for(nap);
      reap_orphans();
      if (known_children_of(getpid()).empty()) break;
    }
    return true;
  }

 private:
  void end(Ending ending, ProgramRun& run) {
    run.ending = ending;
    kill(-child_.pid(), SIGTERM);
    kill(-child_.pid(), SIGCONT);
    if (!child_.wait_for_end(grace)) kill(-child_.pid(), SIGKILL);
  }

  /// It read from, or asked something of, the terminal, which it has not.
  bool stopped() const {
    siginfo_t info{};
    const auto id = static_cast<id_t>(child_.pid());
    if (waitid(P_PID, id, &info, WSTOPPED | WNOHANG | WNOWAIT) != 0) return false;
    return info.si_pid == child_.pid() && (info.si_status == SIGTTIN || info.si_status == SIGTTOU);
  }

  Child& child_;
};

}  // namespace

std::string failure_text(const ProgramRun& run) {
  const std::string words =
      run.last_words.empty() ? "" : fmt::format(" ({})", printable(run.last_words));
  switch (run.ending) {
    case Ending::exited:
      return run.code == 0 ? "" : fmt::format("ended with exit code {}{}", run.code, words);
    case Ending::signalled:
      return fmt::format("was ended by signal {} ({}){}", run.code, strsignal(run.code), words);
    case Ending::timeout: return fmt::format("did not end within its time limit{}", words);
    case Ending::wants_terminal: return "requires a terminal, which its runs do not have";
    case Ending::interrupted: return "was interrupted";
  }
  return "";
}

Expected<ProgramRun> run_program(const RunRequest& request, const ProgramWatch& watch) {
  prctl(PR_SET_CHILD_SUBREAPER, 1UL, 0UL, 0UL, 0UL);
  const auto forked = TRY(Child::fork_for(request));
  Child& child = *forked;
  Group group(child);
  std::optional<GroupGuard> guard(std::in_place, -child.pid());
  TRY(child.start());
  ProgramRun run;
  group.wait(request, watch, run);
  TRY(group.reap(run));
  guard.reset();  // it is no process that the program left
  run.left_processes = group.end_rest();
  run.output = child.output();
  run.last_words = child.last_words();
  return run;
}

}  // namespace numatlas
