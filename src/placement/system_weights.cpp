#include "placement/system_weights.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <sstream>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "base/environment.h"
#include "base/tree.h"
#include "machine/interleave_weights.h"
#include "placement/kernel_calls.h"

namespace numatlas {
namespace {

// What the two processes say to each other: the guard that it is there, and how writing back went;
// this one that there is nothing to do.
constexpr char ready = 'r', done = 'd', all_but_automatic = 'a', failed = 'f', keep_them = 'k';

std::string node_file(NodeId node) {
  return system_weights_folder() + "node" + std::to_string(node.value);
}

int write_value(const char* path, const std::string& value) {
  return kernel::calls().write_file(path, value.data(), value.size());
}

Error cannot_write(const std::string& path, int error) {
  const ErrorKind kind = file_error_kind(error);
  return {kind == ErrorKind::permission ? kind : ErrorKind::unavailable,
          fmt::format("{} cannot be written: {}", path, errno_text(error)),
          "setting the system's weights requires root", "--apply", "; leave --apply out"};
}

/// One byte from the other side; nullopt when it is gone.
std::optional<char> hear(int channel) {
  char byte = 0;
  ssize_t got = 0;
  while ((got = read(channel, &byte, 1)) < 0 && errno == EINTR) {
  }
  if (got != 1) return std::nullopt;
  return byte;
}

/// Writes one old value. A kernel that was told no bandwidths by the firmware shows its automatic
/// weights as on until one is set by hand, and then refuses to switch them on again (ENODEV).
/// Without bandwidths all of them are 1, so nothing but that flag is lost. `done`,
/// `all_but_automatic` or `failed`.
char write_one_back(const SavedWeight& file) {
  const int error = write_value(file.path.c_str(), file.value);
  if (error == 0) return done;
  return error == ENODEV && is_automatic_weight(file.path) ? all_but_automatic : failed;
}

/// Writes them all, whatever becomes of each: the worst result.
char write_back(const std::vector<SavedWeight>& saved) {
  char worst = done;
  for (const SavedWeight& file : saved) {
    const char result = write_one_back(file);
    if (result == failed || worst == done) worst = result;
  }
  return worst;
}

/// What does by hand what write_back could not, or has done.
std::string by_hand(const std::vector<SavedWeight>& saved) {
  std::string lines;
  for (const SavedWeight& file : saved)
    lines += fmt::format("{}echo {} > {}", lines.empty() ? "" : "; ", file.value, file.path);
  return lines;
}

std::string automatic_note() {
  return fmt::format(
      "the kernel's automatic interleave weights stay off: without bandwidths from the firmware "
      "the kernel does not switch them on again ({}); all weights are as they were",
      errno_text(ENODEV));
}

/// Gone after a reboot, as the weights are.
constexpr const char* state_folder = "/run/numatlas";

std::string state_file() {
  const char* other = environment_variable("NUMATLAS_TEST_WEIGHTS");
  return other != nullptr ? std::string(other) + "/state" : std::string(state_folder) + "/weights";
}

/// The file, locked for this process and what it forks; -1 where there can be none. It is emptied
/// and never removed: another run may have it open.
Expected<int> lock_state() {
  if (environment_variable("NUMATLAS_TEST_WEIGHTS") == nullptr) (void)mkdir(state_folder, 0755);
  const int file = open(state_file().c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (file < 0 || flock(file, LOCK_EX | LOCK_NB) == 0) return file;
  const bool taken = errno == EWOULDBLOCK;
  close(file);
  if (!taken) return -1;
  return fail_about(ErrorKind::unavailable, "--apply", "another run has set the system's weights",
                    "wait until it ends");
}

// The last line: what was cut short is not believed.
constexpr const char* state_end = "end";

/// A file of the kernel's as a run found it and as it set it; "" where that follows from the
/// others.
struct ChangedWeight {
  SavedWeight old;
  std::string set;
};

/// "node0 5 3" a line: 5 stood there, 3 was set. "auto on" follows from the nodes.
std::vector<ChangedWeight> read_state(int state) {
  std::string text;
  char part[256];
  for (ssize_t got = 0;
       (got = pread(state, part, sizeof part, static_cast<off_t>(text.size()))) > 0;)
    text.append(part, static_cast<std::size_t>(got));
  std::vector<ChangedWeight> changed;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line) && !lines.eof();) {
    if (line == state_end) return changed;
    std::istringstream words(line);
    std::string name, value, set;
    words >> name >> value >> set;
    // Files of that folder only.
    if (value.empty() || name.find('/') != std::string::npos) break;
    changed.push_back({{system_weights_folder() + name, value}, set});
  }
  return {};
}

/// Whether it is there whole; nothing is there otherwise.
bool write_state(int state, const std::vector<SavedWeight>& saved, const WeightedNodes& nodes) {
  std::string text;
  for (std::size_t i = 0; i < saved.size(); ++i) {
    const std::string name = std::filesystem::path(saved[i].path).filename().string();
    // Those of the nodes come first, in their order.
    text += fmt::format("{} {}{}\n", name, saved[i].value,
                        i < nodes.size() ? fmt::format(" {}", nodes[i].second) : "");
  }
  text += fmt::format("{}\n", state_end);
  if (pwrite(state, text.data(), text.size(), 0) == static_cast<ssize_t>(text.size())) return true;
  (void)!ftruncate(state, 0);
  return false;
}

/// Those that still stand as the run set them: somebody may have set others since.
std::vector<SavedWeight> to_put_back(const std::vector<ChangedWeight>& changed) {
  std::vector<SavedWeight> back;
  bool nobody_else = true;
  for (const auto& [old, set] : changed) {
    const auto now = running_system().line(old.path);
    if (set.empty() ? nobody_else : now.value_or(set) == set)
      back.push_back(old);
    else
      nobody_else = nobody_else && now == old.value;
  }
  return back;
}

/// What a killed run has left there, put back: what was written.
Expected<std::string> repair(int state) {
  std::vector<SavedWeight> saved = to_put_back(read_state(state));
  const char result = write_back(saved);
  if (result == failed) {
    return fail(ErrorKind::io,
                "the system's weights that a killed run has set stay: the old ones "
                "cannot be put back",
                by_hand(saved));
  }
  (void)!ftruncate(state, 0);
  if (result == done) return by_hand(saved);
  std::erase_if(saved, [](const SavedWeight& file) { return is_automatic_weight(file.path); });
  return fmt::format("{} ({})", by_hand(saved), automatic_note());
}

}  // namespace

Expected<std::string> repair_system_weights() {
  if (access(state_file().c_str(), R_OK | W_OK) != 0) return "";
  const auto state = lock_state();
  if (!state || *state < 0) return "";
  auto repaired = repair(*state);
  close(*state);
  return repaired;
}

std::string system_weights_folder() {
  const char* other = environment_variable("NUMATLAS_TEST_WEIGHTS");
  return other != nullptr ? std::string(other) + "/" : std::string(interleave_weight_folder);
}

std::vector<std::string> system_weight_lines(const WeightedNodes& nodes) {
  std::vector<std::string> lines;
  for (const auto& [node, weight] : nodes) {
    lines.push_back(
        fmt::format("echo {} > {}node{}", weight, interleave_weight_folder, node.value));
  }
  return lines;
}

Expected<void> check_system_weights() {
  const std::string folder = system_weights_folder();
  std::error_code code;
  bool any = false;
  for (const auto& entry : std::filesystem::directory_iterator(folder, code)) {
    if (!entry.path().filename().string().starts_with("node")) continue;
    any = true;
    if (access(entry.path().c_str(), W_OK) != 0)
      return fail(cannot_write(entry.path().string(), errno));
  }
  if (any) {
    const auto state = TRY(lock_state());
    if (state >= 0) close(state);
    return {};
  }
  return fail_about(ErrorKind::unavailable, "--apply",
                    fmt::format("this kernel has no weights to set ({} does not exist)", folder),
                    "requires Linux 6.9 or later",
                    "; without --apply the search works here as well");
}

Expected<SystemWeights> SystemWeights::set(const WeightedNodes& nodes) {
  SystemWeights held;
  held.state_ = TRY(lock_state());
  if (held.state_ >= 0) {
    TRY(repair(held.state_));
  }
  const InterleaveWeights now = read_interleave_weights(running_system(), system_weights_folder());
  for (const auto& [node, weight] : nodes) {
    const auto old = now.of_nodes.find(node);
    if (old == now.of_nodes.end()) {
      return fail_about(ErrorKind::unavailable, "--apply",
                        fmt::format("{} cannot be read", node_file(node)),
                        "requires Linux 6.9 or later");
    }
    held.saved_.push_back({node_file(node), std::to_string(old->second)});
  }
  // Last, so that it is the last to be written back: each weight switches it off.
  if (!now.automatic_file.empty()) held.saved_.push_back({now.automatic_file, now.automatic});
  TRY(held.start_guard());
  if (held.state_ >= 0 && !write_state(held.state_, held.saved_, nodes)) held.close_state();
  for (const auto& [node, weight] : nodes) {
    const int error = write_value(node_file(node).c_str(), std::to_string(weight));
    if (error != 0) return fail(cannot_write(node_file(node), error));
  }
  return held;
}

SystemWeights::SystemWeights(SystemWeights&& other) noexcept
    : saved_(std::move(other.saved_)),
      state_(other.state_),
      channel_(other.channel_),
      guard_(other.guard_) {
  other.state_ = other.channel_ = other.guard_ = -1;
}

SystemWeights::~SystemWeights() {
  (void)restore();
  close_state();
}

/// The guard is there, out of reach of the job's signals, before anything is changed.
Expected<void> SystemWeights::start_guard() {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    return fail_about(ErrorKind::resource, "--apply", "socketpair failed: " + errno_text(errno));
  }
  const pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    guard(ends[1]);
  }
  const int error = errno;
  close(ends[1]);
  channel_ = ends[0];
  guard_ = child;
  if (child >= 0 && hear(channel_) == ready) return {};
  end_guard();
  return fail_about(ErrorKind::resource, "--apply",
                    "the process that restores the old weights cannot be started" +
                        (child < 0 ? ": " + errno_text(error) : std::string()));
}

/// Other threads may have held locks at the fork: only what is safe in a signal handler.
void SystemWeights::guard(int channel) const {
  setsid();
  for (int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGXCPU, SIGTSTP, SIGPIPE})
    std::signal(signal, SIG_IGN);
  // Whoever waits for the end of the output waits for this process's program only.
  for (int standard : {0, 1, 2}) close(standard);
  if (write(channel, &ready, 1) != 1) _exit(1);
  if (hear(channel) == keep_them) _exit(0);
  const char result = write_back(saved_);
  if (result != failed && state_ >= 0) (void)!ftruncate(state_, 0);
  // The other side may be gone.
  _exit(write(channel, &result, 1) == 1 && result != failed ? 0 : 1);
}

void SystemWeights::close_state() {
  if (state_ >= 0) close(state_);
  state_ = -1;
}

void SystemWeights::end_guard() {
  if (channel_ >= 0) close(channel_);
  channel_ = -1;
  if (guard_ > 0) {
    while (waitpid(guard_, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  guard_ = -1;
}

Expected<std::string> SystemWeights::restore() {
  if (channel_ < 0) return "";
  shutdown(channel_, SHUT_WR);
  // Somebody may have killed the guard.
  char result = hear(channel_).value_or(failed);
  if (result == failed) result = write_back(saved_);
  end_guard();
  if (result == failed)
    return fail_about(ErrorKind::io, "--apply", "the old weights could not be restored",
                      by_hand(saved_));
  if (state_ >= 0) (void)!ftruncate(state_, 0);
  close_state();
  return result == done ? "" : automatic_note();
}

void SystemWeights::keep() {
  if (channel_ < 0) return;
  if (state_ >= 0) (void)!ftruncate(state_, 0);
  (void)send(channel_, &keep_them, 1, MSG_NOSIGNAL);
  end_guard();
  close_state();
}

}  // namespace numatlas
