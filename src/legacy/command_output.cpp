#include "legacy/command_output.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstddef>

#include <fmt/format.h>

#include "base/child_process.h"
#include "base/signals.h"

namespace numatlas::legacy {
namespace {

// Between two looks at whether a stop was asked for, or the command has ended.
constexpr int look_again_ms = 50;

std::string read_until_end_or_stop(int in) {
  std::string text;
  std::array<char, 4096> part{};
  pollfd waiting{in, POLLIN, 0};
  while (!stop_requested()) {
    if (poll(&waiting, 1, look_again_ms) <= 0) continue;
    const ssize_t count = ::read(in, part.data(), part.size());
    if (count > 0) text.append(part.data(), static_cast<std::size_t>(count));
    if (count == 0 || (count < 0 && errno != EINTR)) break;
  }
  return text;
}

std::string ending_of(int status) {
  if (WIFSIGNALED(status)) return fmt::format("was ended by signal {}", WTERMSIG(status));
  const int code = WEXITSTATUS(status);
  return code == 0 ? "" : fmt::format("ended with exit code {}", code);
}

}  // namespace

Expected<CommandOutput> output_of(const std::vector<std::string>& words) {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0)
    return fail(ErrorKind::resource, "pipe2: " + errno_text(errno));
  pid_t child = 0;
  const int error = start_program(words, {.output = ends[1]}, child);
  close(ends[1]);
  CommandOutput output;
  if (error == 0) output.text = read_until_end_or_stop(ends[0]);
  close(ends[0]);
  if (error != 0) return fail(ErrorKind::unavailable, words[0] + ": " + errno_text(error));
  int status = 0;
  pid_t ended = 0;
  bool told = false;
  // Looked for, not waited for: a signal may have reached another thread.
  while ((ended = waitpid(child, &status, WNOHANG)) == 0 || (ended == -1 && errno == EINTR)) {
    // Not killed: MLC has settings of the CPU to put back.
    if (stop_requested() && !told) told = kill(child, SIGTERM) == 0;
    (void)poll(nullptr, 0, look_again_ms);
  }
  if (stop_requested()) return fail(ErrorKind::interrupted, "interrupted");
  if (ended == -1)
    return fail(ErrorKind::internal, words[0] + ": its end was not told: " + errno_text(errno));
  output.ending = ending_of(status);
  return output;
}

}  // namespace numatlas::legacy
