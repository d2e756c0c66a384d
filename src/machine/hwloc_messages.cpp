#include "machine/hwloc_messages.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <csignal>
#include <cstddef>

#include "base/forbidden_calls.h"
#include "base/tree.h"

namespace numatlas {
namespace {

// For the handler of SIGABRT: where standard error was, and the pipe.
std::atomic<int> real_stderr{-1}, read_end{-1};
struct sigaction action_before {};

/// An assertion of libhwloc: its text is in the pipe, which ends with this process.
void let_out(int /*signal*/) {
  const int target = real_stderr;
  dup2(target, STDERR_FILENO);
  std::array<char, 512> part{};
  for (ssize_t got = 0; (got = read(read_end, part.data(), part.size())) > 0;) {
    if (write(target, part.data(), static_cast<std::size_t>(got)) < 0) return;
  }
}

}  // namespace

HwlocMessages::HwlocMessages() {
  int ends[2];
  // Neither end may block: a writer that fills the pipe loses the rest.
  if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) return;
  before_ = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  if (before_ >= 0) {
    pipe_ = ends[0];
    real_stderr = before_;
    read_end = pipe_;
    struct sigaction action {};
    action.sa_handler = let_out;
    sigaction(SIGABRT, &action, &action_before);
    name_forbidden_calls_on(before_);
    dup2(ends[1], STDERR_FILENO);
  } else {
    close(ends[0]);
  }
  close(ends[1]);
}

HwlocMessages::~HwlocMessages() {
  give_back();
  if (pipe_ >= 0) close(pipe_);
}

void HwlocMessages::give_back() {
  if (before_ < 0) return;
  dup2(before_, STDERR_FILENO);
  name_forbidden_calls_on(STDERR_FILENO);
  sigaction(SIGABRT, &action_before, nullptr);
  close(before_);
  before_ = -1;
}

std::string HwlocMessages::note() {
  give_back();
  if (pipe_ < 0) return "";
  std::string text;
  std::array<char, 4096> part{};
  for (ssize_t got = 0; (got = read(pipe_, part.data(), part.size())) > 0;)
    text.append(part.data(), static_cast<std::size_t>(got));
  text = one_line(text);
  return text.empty() ? "" : "libhwloc: " + text;
}

std::string one_line(const std::string& text) {
  constexpr std::size_t longest = 400;
  std::string line;
  for (const std::string& raw : split_lines(text)) {
    const auto first = raw.find_first_not_of("* \t\r");
    if (first == std::string::npos) continue;
    const std::string words = raw.substr(first, raw.find_last_not_of("* \t\r") - first + 1);
    if (words.starts_with("The following FAQ") || words.starts_with("Otherwise please")) break;
    line += (line.empty() ? "" : " ") + words;
  }
  if (line.size() > longest) line = line.substr(0, longest) + "...";
  return line;
}

}  // namespace numatlas
