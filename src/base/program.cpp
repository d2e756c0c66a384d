#include "base/program.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "base/descriptor.h"
#include "base/process_stat.h"
#include "base/signals.h"
#include "base/text.h"

namespace numatlas {
namespace {

using Clock = std::chrono::steady_clock;

/// What of a program's output is looked at.
constexpr std::size_t most_output = std::size_t{16} << 20U;
constexpr std::size_t most_last_words = 4096;
constexpr int most_in_pipe = 1 << 20;

constexpr std::chrono::milliseconds look_every{100};
/// Between two looks, beyond which this process was stopped, or the host was.
constexpr double longest_look = 2;

/// Between the fields of an error on its way to the parent.
constexpr char field_end = '\0';

tl::unexpected<Error> no_process(const char* what) {
  return fail(ErrorKind::resource, fmt::format("{}: {}", what, errno_text(errno)));
}

std::string read_all(int file) {
  std::string text;
  char part[4096];
  while (true) {
    const ssize_t got = ::read(file, part, sizeof part);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return text;
    text.append(part, static_cast<std::size_t>(got));
  }
}

/// To a pipe that has room for it.
void write_once(int file, std::string_view text) {
  while (::write(file, text.data(), text.size()) < 0 && errno == EINTR) continue;
}

Error error_from(const std::string& text) {
  std::vector<std::string> fields(1);
  for (const char c : text) {
    if (c == field_end)
      fields.emplace_back();
    else
      fields.back() += c;
  }
  fields.resize(4);
  return {static_cast<ErrorKind>(std::atoi(fields[0].c_str())), fields[2], fields[3], fields[1]};
}

int open_pidfd(pid_t pid) {
#ifdef SYS_pidfd_open
  return static_cast<int>(syscall(SYS_pidfd_open, pid, 0));  // 5.3; there is no wrapper before 2.36
#else
  static_cast<void>(pid);
  return -1;
#endif
}

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

double seconds_of(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
}

std::vector<pid_t> own_children() { return children_of(getpid()).value_or(std::vector<pid_t>{}); }

class Child {
 public:
  explicit Child(const ProgramRequest& request) : request_(request) {}
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() {
    if (request_.own_group) share_stops_with(0);
  }

  /// Comes back when it has become the program.
  Expected<void> start() {
    TRY(open_files());
    if (!told_.open()) return no_process("pipe");
    const std::vector<char*> words = as_argv(request_.words);
    pid_ = fork();
    if (pid_ < 0) return no_process("fork");
    if (pid_ == 0) become(words);
    if (request_.own_group) {
      setpgid(pid_, pid_);  // by both, so that neither is too late
      share_stops_with(pid_);
    }
    handle_ = Descriptor(open_pidfd(pid_));
    told_.write.close();
    kept_.write.close();
    // When it becomes the program, by its own clock: this process may be scheduled later. Then,
    // what went wrong.
    const std::string said = read_all(told_.read.number());
    if (said.size() == sizeof start_) {
      std::memcpy(&start_, said.data(), sizeof start_);
      return {};
    }
    while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) continue;
    if (said.size() < sizeof start_)
      return fail(ErrorKind::resource, "the process ended at its start");
    return fail(error_from(said.substr(sizeof start_)));
  }

  /// Waits until the program itself has ended.
  void wait(ProgramRun& run) {
    auto last = Clock::now();
    const auto look = [&] {
      run.suspended = run.suspended || seconds_since(last) > longest_look;
      last = Clock::now();
    };
    while (!wait_for_end()) {
      look();
      if (stop_requested()) return end(Ending::interrupted, run);
      if (request_.timeout && seconds_since(start_) > *request_.timeout)
        return end(Ending::timeout, run);
      if (request_.own_group && wants_terminal()) return end(Ending::wants_terminal, run);
      if (request_.running) request_.running(pid_);
    }
    run.seconds = seconds_since(start_);
    look();
  }

  Expected<void> reap(ProgramRun& run) {
    int status = 0;
    rusage usage{};
    while (wait4(pid_, &status, 0, &usage) < 0)
      if (errno != EINTR) return no_process("wait4");
    run.user_seconds = seconds_of(usage.ru_utime);
    run.system_seconds = seconds_of(usage.ru_stime);
    run.peak_memory = Bytes{static_cast<std::uint64_t>(usage.ru_maxrss) * kib};
    run.minor_faults = static_cast<std::uint64_t>(usage.ru_minflt);
    run.major_faults = static_cast<std::uint64_t>(usage.ru_majflt);
    run.output = std::move(output_);
    if (run.ending != Ending::exited) return {};
    if (WIFSIGNALED(status)) run.ending = Ending::signalled;
    run.code = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
    return {};
  }

  /// Ends what the program left behind, if it did. What was just ending, or was told to, is given
  /// time for it.
  bool end_rest(Ending ending) const {
    constexpr std::chrono::milliseconds nap{10}, usual{200};
    const bool told = ending != Ending::exited && ending != Ending::signalled;
    const auto until = Clock::now() + (told ? request_.grace.value_or(usual) : usual);
    while (true) {
      while (waitpid(-1, nullptr, WNOHANG) > 0) continue;
      if (kill(-pid_, 0) != 0 && own_children().empty()) return false;
      if (Clock::now() > until) break;
      std::this_thread::sleep_for(nap);
    }
    // What is ended leaves its own children to this process.
    for (int naps = 0; naps < 20; ++naps) {
      kill(-pid_, SIGKILL);
      for (const pid_t orphan : own_children()) kill(orphan, SIGKILL);
      std::this_thread::sleep_for(nap);
      while (waitpid(-1, nullptr, WNOHANG) > 0) continue;
      if (own_children().empty()) break;
    }
    return true;
  }

 private:
  Expected<void> open_files() {
    if (request_.input) {
      input_ = Descriptor(::open(request_.input->c_str(), O_RDONLY | O_CLOEXEC));
      if (!input_.is_open())
        return fail_about(file_error_kind(errno), *request_.input, errno_text(errno));
    }
    const ProgramOutput where = request_.output;
    if (where == ProgramOutput::errors_kept)
      nowhere_ = Descriptor(::open("/dev/null", O_WRONLY | O_CLOEXEC));
    if (where != ProgramOutput::kept && where != ProgramOutput::errors_kept) return {};
    // Not a file: a program that opens /dev/stderr anew would empty it.
    if (!kept_.open()) return no_process("pipe");
    fcntl(kept_.read.number(), F_SETFL, O_NONBLOCK);
    fcntl(kept_.read.number(), F_SETPIPE_SZ, most_in_pipe);  // or less, where the system limits it
    return {};
  }

  [[noreturn]] void become(const std::vector<char*>& words) const {
    if (request_.own_group) setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, request_.own_group ? SIGKILL : SIGTERM);
    for (const int signal : {SIGPIPE, SIGXFSZ}) static_cast<void>(std::signal(signal, SIG_DFL));
    if (input_.is_open()) dup2(input_.number(), STDIN_FILENO);
    if (kept_.write.is_open()) dup2(kept_.write.number(), STDERR_FILENO);
    if (request_.output != ProgramOutput::here)
      dup2(nowhere_.is_open() ? nowhere_.number() : STDERR_FILENO, STDOUT_FILENO);
    const auto prepared = request_.prepare ? request_.prepare() : Expected<void>{};
    const auto now = Clock::now();
    write_once(told_.write.number(), {reinterpret_cast<const char*>(&now), sizeof now});
    if (prepared && request_.instead) {
      ::close(told_.write.number());
      request_.instead();
      _exit(0);
    }
    if (prepared) execvp(words[0], words.data());
    const Error error = prepared ? failed_start(request_.words[0], errno) : prepared.error();
    write_once(told_.write.number(),
               fmt::format("{}{}{}{}{}{}{}", static_cast<int>(error.kind), field_end, error.subject,
                           field_end, error.message, field_end, error.hint));
    _exit(EXIT_FAILURE);
  }

  void end(Ending ending, ProgramRun& run) {
    run.ending = ending;
    const pid_t all = request_.own_group ? -pid_ : pid_;
    kill(all, SIGTERM);
    kill(all, SIGCONT);
    const auto told = Clock::now();
    while (!wait_for_end())
      if (request_.grace && Clock::now() > told + *request_.grace) kill(all, SIGKILL);
  }

  /// It read from, or asked something of, the terminal, which it has not.
  bool wants_terminal() const {
    siginfo_t info{};
    if (waitid(P_PID, static_cast<id_t>(pid_), &info, WSTOPPED | WNOHANG | WNOWAIT) != 0)
      return false;
    return info.si_pid == pid_ && (info.si_status == SIGTTIN || info.si_status == SIGTTOU);
  }

  void take_output() {
    std::array<char, 1U << 16U> part;
    while (true) {
      const ssize_t got = ::read(kept_.read.number(), part.data(), part.size());
      if (got < 0 && errno == EINTR) continue;
      if (got == 0) kept_.read.close();  // all that could write has ended
      if (got <= 0) break;
      output_.append(part.data(), static_cast<std::size_t>(got));
      if (output_.size() > 2 * most_output) output_.erase(0, output_.size() - most_output);
    }
  }

  /// Whether it has ended; waits some time for it, and takes what it writes. A signal to this
  /// process ends the wait.
  bool wait_for_end() {
    // Without a handle it is asked, again and again.
    constexpr std::chrono::milliseconds nap{1};
    const auto until = Clock::now() + look_every;
    while (true) {
      siginfo_t info{};
      const bool ended =
          waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
          info.si_pid == pid_;
      if (kept_.read.is_open()) take_output();
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now());
      if (ended || left.count() <= 0) return ended;
      // Closed ones have a negative number, which poll ignores.
      std::array<pollfd, 2> waits{
          {{handle_.number(), POLLIN, 0}, {kept_.read.number(), POLLIN, 0}}};
      const auto wait = handle_.is_open() ? left : std::min(nap, left);
      if (poll(waits.data(), waits.size(), static_cast<int>(wait.count())) < 0) return false;
    }
  }

  const ProgramRequest& request_;
  pid_t pid_ = -1;
  Clock::time_point start_;
  Pipe told_;  ///< when it becomes the program, and why it could not
  Pipe kept_;  ///< what it prints
  Descriptor input_, nowhere_;
  Descriptor handle_;  ///< pidfd
  std::string output_;
};

std::string last_line(const std::string& output) {
  const std::string_view all = trim(
      std::string_view(output).substr(output.size() - std::min(output.size(), most_last_words)));
  const auto line = all.find_last_of('\n');
  return std::string(trim(line == std::string_view::npos ? all : all.substr(line + 1)));
}

}  // namespace

std::vector<char*> as_argv(const std::vector<std::string>& words) {
  std::vector<char*> argv;
  argv.reserve(words.size() + 1);
  for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  return argv;
}

Error failed_start(const std::string& program, int code) {
  const bool there = access(program.c_str(), F_OK) == 0;
  std::string hint;
  if (code == ENOENT && there)
    hint = program.find('/') == std::string::npos ? fmt::format("did you mean ./{}?", program)
                                                  : "it exists, but its interpreter does not";
  if (code == EACCES && there) hint = "is it a program, and is it executable?";
  return {code == ENOENT ? ErrorKind::unavailable : ErrorKind::permission, errno_text(code), hint,
          program};
}

std::string failure_text(const ProgramRun& run) {
  const std::string line = last_line(run.output);
  const std::string words = line.empty() ? "" : fmt::format(" ({})", printable(line));
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

Expected<ProgramRun> run_program(const ProgramRequest& request) {
  if (request.own_group) prctl(PR_SET_CHILD_SUBREAPER, 1UL, 0UL, 0UL, 0UL);
  Child child(request);
  TRY(child.start());
  ProgramRun run;
  child.wait(run);
  TRY(child.reap(run));
  if (request.own_group) run.left_processes = child.end_rest(run.ending);
  return run;
}

}  // namespace numatlas
