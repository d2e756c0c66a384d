#include "advise/child.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
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
#include <memory>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/child_process.h"
#include "base/forbidden_calls.h"
#include "base/text.h"

namespace numatlas {
namespace {

using Clock = std::chrono::steady_clock;

/// What of a program's output is looked at.
constexpr std::size_t most_output = std::size_t{16} << 20U;
constexpr std::size_t most_last_words = 4096;
constexpr int most_in_pipe = 1 << 20;

/// Between the fields of an error on its way to the parent.
constexpr char field_end = '\0';

Error no_process(const char* what) {
  return {ErrorKind::resource, fmt::format("{}: {}", what, errno_text(errno)), ""};
}

std::string read_all(int file) {
  std::string text;
  char part[4096];
  while (true) {
    const ssize_t got = read(file, part, sizeof part);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return text;
    text.append(part, static_cast<std::size_t>(got));
  }
}

void write_all(int file, std::string_view text) {
  std::size_t done = 0;
  while (done < text.size()) {
    const ssize_t wrote = write(file, text.data() + done, text.size() - done);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) return;
    done += static_cast<std::size_t>(wrote);
  }
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
  const auto kind = static_cast<ErrorKind>(std::atoi(fields[0].c_str()));
  return {kind, fields[2], fields[3], fields[1]};
}

int open_pidfd(pid_t pid) {
#ifdef SYS_pidfd_open
  if (is_forbidden(SYS_pidfd_open)) return -1;
  return static_cast<int>(syscall(SYS_pidfd_open, pid, 0));  // 5.3; there is no wrapper before 2.36
#else
  static_cast<void>(pid);
  return -1;
#endif
}

}  // namespace

Descriptor::Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  std::swap(number_, other.number_);
  return *this;
}
void Descriptor::close() {
  if (number_ >= 0) ::close(std::exchange(number_, -1));
}

Expected<void> Child::open_files(const RunRequest& request) {
  const char* input = request.input.empty() ? "/dev/null" : request.input.c_str();
  input_ = Descriptor(open(input, O_RDONLY | O_CLOEXEC));
  if (!input_.is_open())
    return fail_about(file_error_kind(errno), "--input",
                      fmt::format("{}: {}", input, errno_text(errno)));
  // Not a file: a program that opens /dev/stderr anew would empty it.
  std::array<int, 2> written{};
  if (pipe2(written.data(), O_CLOEXEC) != 0) return fail(no_process("pipe"));
  written_read_ = Descriptor(written[0]);
  errors_ = Descriptor(written[1]);
  fcntl(written[0], F_SETFL, O_NONBLOCK);
  fcntl(written[0], F_SETPIPE_SZ, most_in_pipe);  // or less, where the system sets a limit
  if (request.show_output)
    output_ = Descriptor(fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3));
  else if (request.keep_output)
    output_ = Descriptor(fcntl(errors_.number(), F_DUPFD_CLOEXEC, 3));
  else
    output_ = Descriptor(open("/dev/null", O_WRONLY | O_CLOEXEC));
  if (!output_.is_open()) return fail(no_process("files for the program"));
  return {};
}

Expected<std::unique_ptr<Child>> Child::fork_for(const RunRequest& request) {
  std::unique_ptr<Child> child(new Child());
  child->program_ = request.words.front();
  TRY(child->open_files(request));
  std::array<int, 2> go{}, errors{};
  if (pipe2(go.data(), O_CLOEXEC) != 0) return fail(no_process("pipe"));
  child->go_read_ = Descriptor(go[0]);
  child->go_write_ = Descriptor(go[1]);
  if (pipe2(errors.data(), O_CLOEXEC) != 0) return fail(no_process("pipe"));
  child->error_read_ = Descriptor(errors[0]);
  child->error_write_ = Descriptor(errors[1]);
  child->pid_ = fork();
  if (child->pid_ < 0) return fail(no_process("fork"));
  if (child->pid_ == 0) child->become(request);
  setpgid(child->pid_, child->pid_);  // by both, so that neither is too late
  child->handle_ = Descriptor(open_pidfd(child->pid_));
  return child;
}

Child::~Child() {
  if (pid_ <= 0 || started_) return;
  kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
}

void Child::tell_start(Clock::time_point now) const {
  write_all(error_write_.number(), {reinterpret_cast<const char*>(&now), sizeof now});
}

void Child::give_up(const Error& error) const {
  write_all(error_write_.number(),
            fmt::format("{}{}{}{}{}{}{}", static_cast<int>(error.kind), field_end, error.subject,
                        field_end, error.message, field_end, error.hint));
  _exit(EXIT_FAILURE);
}

void Child::become(const RunRequest& request) const {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  // Those that this program ignores or catches are the program's own again.
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGXCPU, SIGPIPE, SIGXFSZ})
    static_cast<void>(std::signal(signal, SIG_DFL));
  dup2(input_.number(), STDIN_FILENO);
  dup2(output_.number(), STDOUT_FILENO);
  dup2(request.show_output ? output_.number() : errors_.number(), STDERR_FILENO);
  ::close(go_write_.number());
  char nothing = 0;
  while (read(go_read_.number(), &nothing, 1) < 0 && errno == EINTR) {
  }
  if (nothing == 0) _exit(EXIT_FAILURE);  // the parent is gone
  if (auto laid_out = put_in_force(request.layout); !laid_out) {
    tell_start({});
    give_up(laid_out.error());
  }
  const std::vector<char*> words = as_argv(request.words);
  tell_start(Clock::now());
  execvp(words[0], words.data());
  const int code = errno;
  give_up({code == ENOENT ? ErrorKind::unavailable : ErrorKind::permission, errno_text(code),
           hint_of_failed_start(program_, code), program_});
}

Expected<void> Child::start() {
  error_write_.close();
  errors_.close();
  output_.close();
  write_all(go_write_.number(), "g");
  const std::string said = read_all(error_read_.number());  // ends when it becomes the program
  // The time comes first, then what went wrong.
  if (said.size() > sizeof started_at_) return fail(error_from(said.substr(sizeof started_at_)));
  if (said.size() < sizeof started_at_) return fail(no_process("the process ended at its start"));
  std::memcpy(&started_at_, said.data(), sizeof started_at_);
  started_ = true;
  return {};
}

void Child::take_output() {
  std::array<char, 1U << 16U> part;
  while (true) {
    const ssize_t got = read(written_read_.number(), part.data(), part.size());
    if (got < 0 && errno == EINTR) continue;
    if (got == 0) written_read_.close();  // all that could write has ended
    if (got <= 0) break;
    written_.append(part.data(), static_cast<std::size_t>(got));
    if (written_.size() > 2 * most_output) written_.erase(0, written_.size() - most_output);
  }
}

bool Child::wait_for_end(std::chrono::milliseconds at_most) {
  // Without a handle it is asked, again and again.
  constexpr std::chrono::milliseconds nap{1};
  const auto until = Clock::now() + at_most;
  while (true) {
    siginfo_t info{};
    const bool ended =
        waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
        info.si_pid == pid_;
    if (written_read_.is_open()) take_output();
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now());
    if (ended || left.count() <= 0) return ended;
    std::array<pollfd, 2> waits{
        {{handle_.number(), POLLIN, 0}, {written_read_.number(), POLLIN, 0}}};
    const auto wait = handle_.is_open() ? left : std::min(nap, left);
    // Closed ones have a negative number, which poll ignores.
    if (poll(waits.data(), waits.size(), static_cast<int>(wait.count())) < 0) return false;
  }
}

std::string Child::last_words() const {
  const std::string_view all = trim(std::string_view(written_).substr(
      written_.size() - std::min(written_.size(), most_last_words)));
  const auto line = all.find_last_of('\n');
  return std::string(trim(line == std::string_view::npos ? all : all.substr(line + 1)));
}

}  // namespace numatlas
