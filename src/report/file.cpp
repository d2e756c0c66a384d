#include "report/file.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>
#include <string_view>
#include <system_error>

#include <fmt/format.h>

namespace numatlas {
namespace {

namespace fs = std::filesystem;

tl::unexpected<Error> file_error(const std::string& option, const std::string& path,
                                 const std::string& what, int code) {
  // What opening a pipe for writing says of one that no process has opened for reading.
  if (code == ENXIO) {
    return fail_about(ErrorKind::io, option, fmt::format("{}: no process is reading from it", path),
                      "start the reader of a pipe first, or name a file");
  }
  return fail_about(
      file_error_kind(code), option, fmt::format("{}: {}: {}", path, what, errno_text(code)),
      "name a file in a folder that exists, that you may write to, and that has room");
}

/// Writes all bytes; the errno of the failure, 0 for none.
int write_all(int file, const std::string& content) {
  std::size_t done = 0;
  while (done < content.size()) {
    const ssize_t wrote = write(file, content.data() + done, content.size() - done);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0 && errno == EAGAIN) {
      // A terminal or pipe that its other users set to non-blocking.
      pollfd ready{file, POLLOUT, 0};
      poll(&ready, 1, -1);
      continue;
    }
    if (wrote < 0) return errno;
    done += static_cast<std::size_t>(wrote);
  }
  return 0;
}

/// Pipes that check_writable opened. They stay open until they are written: closing one would tell
/// its reader that all has been said.
std::map<std::string, int>& open_pipes() {
  static std::map<std::string, int> pipes;
  return pipes;
}

/// Never waits for the reader of a pipe; the descriptor, or -1 and errno.
int open_special(const std::string& path) {
  const auto held = open_pipes().find(path);
  if (held == open_pipes().end()) return open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NONBLOCK);
  const int file = held->second;
  open_pipes().erase(held);
  return file;
}

Expected<void> write_direct(const std::string& path, const std::string& content,
                            const std::string& option) {
  const int file = open_special(path);
  if (file < 0) return file_error(option, path, "open", errno);
  int code = write_all(file, content);
  if (close(file) != 0 && code == 0) code = errno;
  if (code != 0) return file_error(option, path, "write", code);
  return {};
}

/// Where the content really goes: the end of a chain of symbolic links, whether it exists or not.
Expected<std::string> target_of(const std::string& path, const std::string& option) {
  // The kernel may forbid to follow a link that somebody else put into a shared folder such as
  // /tmp, and it ends loops.
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) {
    if (errno != ENOENT) return file_error(option, path, "open", errno);
  } else if (!S_ISREG(status.st_mode)) {
    return path;  // /dev/stdout leads to names that are none, such as pipe:[1234]
  }
  constexpr int most_links = 40;  // as many as Linux follows
  fs::path target = path;
  std::error_code code;
  for (int links = 0; fs::is_symlink(target, code); ++links) {
    if (links == most_links) return file_error(option, path, "open", ELOOP);
    const fs::path next = fs::read_symlink(target, code);
    if (code) return file_error(option, path, "open", code.value());
    target = target.parent_path() / next;  // `next` alone where it is absolute
  }
  return target.string();
}

std::string proc_name(int file) { return fmt::format("/proc/self/fd/{}", file); }

/// Gives the new file the owner, group and mode of the one whose place it takes, as far as this
/// user may; a file that was not there is as readable as the umask allows. The errno of a failure.
int take_over_rights(int file, const std::string& target) {
  struct stat old {};
  if (stat(target.c_str(), &old) != 0) {
    const mode_t mask = umask(0);
    umask(mask);
    return fchmod(file, 0666 & ~mask) == 0 ? 0 : errno;
  }
  mode_t mode = old.st_mode & (S_IRWXU | S_IRWXG | S_IRWXO);
  if (fchown(file, old.st_uid, old.st_gid) != 0 &&
      fchown(file, static_cast<uid_t>(-1), old.st_gid) != 0) {
    mode &= ~static_cast<mode_t>(S_IRWXG);  // they were another group's rights
  }
  return fchmod(file, mode) == 0 ? 0 : errno;
}

/// Behind the name of a file that is written, and before six letters or digits: one that is to take
/// its place. Its writer holds a lock on it, which ends with the writer.
constexpr std::string_view temporary_mark = ".numatlas-";
constexpr std::size_t mark_digits = 6;

std::string folder_of(const std::string& target) {
  const fs::path folder = fs::path(target).parent_path();
  return folder.empty() ? "." : folder.string();
}

/// Removes what writers of `target` left behind when they were killed, once in a process. What
/// somebody may still be writing stays, and so does everything where the file system has no locks.
void remove_left_behind(const std::string& target) {
  static std::set<std::string> done;
  if (!done.insert(target).second) return;
  const std::string start = fs::path(target).filename().string() + std::string(temporary_mark);
  std::error_code code;
  for (fs::directory_iterator one(folder_of(target), code), end; !code && one != end;
       one.increment(code)) {
    const std::string name = one->path().filename();
    if (!name.starts_with(start) || name.size() != start.size() + mark_digits) continue;
    const int file = open(one->path().c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (file < 0) continue;
    if (flock(file, LOCK_EX | LOCK_NB) == 0) unlink(one->path().c_str());
    close(file);
  }
}

/// A new file in the folder of `target`, which is to take its place: the descriptor, or -1 and
/// errno. It has no name yet (""), so that nothing of it stays where this process is killed, unless
/// the file system has no such files.
int open_beside(const std::string& target, std::string& name) {
  name.clear();
  remove_left_behind(target);
  const int unnamed =
      open(folder_of(target).c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, S_IRUSR | S_IWUSR);
  // Names are given by way of /proc.
  if (unnamed >= 0 && access(proc_name(unnamed).c_str(), F_OK) == 0) {
    flock(unnamed, LOCK_EX);
    return unnamed;
  }
  if (unnamed >= 0) close(unnamed);
  while (true) {
    name = target + std::string(temporary_mark) + std::string(mark_digits, 'X');
    const int file = mkostemp(name.data(), O_CLOEXEC);
    if (file < 0) return file;
    flock(file, LOCK_EX);
    // Before it was locked another process may have taken it for one that was left behind.
    struct stat status {};
    if (fstat(file, &status) != 0 || status.st_nlink > 0) return file;
    close(file);
  }
}

/// Puts the file of open_beside in the place of `target`. The errno of a failure.
int take_place(int file, std::string& name, const std::string& target) {
  const auto link_as = [&](const std::string& new_name) {
    return linkat(AT_FDCWD, proc_name(file).c_str(), AT_FDCWD, new_name.c_str(),
                  AT_SYMLINK_FOLLOW) == 0
               ? 0
               : errno;
  };
  if (name.empty()) {
    const int code = link_as(target);
    if (code != EEXIST) return code;
    // Only a name can take the place of another.
    std::string other;
    int taken = EEXIST;
    for (int number = getpid(); taken == EEXIST; ++number) {
      other = fmt::format("{}{}{:0{}}", target, temporary_mark, number % 1'000'000, mark_digits);
      taken = link_as(other);
    }
    if (taken != 0) return taken;
    name = other;
  }
  return rename(name.c_str(), target.c_str()) == 0 ? 0 : errno;
}

}  // namespace

bool is_special_file(const std::string& path) {
  struct stat status {};
  return stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode);
}

Expected<void> check_writable(const std::string& path, const std::string& option) {
  if (path.empty()) return fail_usage(option, "the file name is empty");
  const auto target = TRY(target_of(path, option));
  struct stat status {};
  if (stat(target.c_str(), &status) == 0) {
    if (S_ISDIR(status.st_mode)) return file_error(option, path, "open", EISDIR);
    if (access(target.c_str(), W_OK) != 0) return file_error(option, path, "open", errno);
    if (S_ISFIFO(status.st_mode)) {
      const int pipe = open_special(path);
      if (pipe < 0) return file_error(option, path, "open", errno);
      open_pipes()[path] = pipe;
    }
    if (!S_ISREG(status.st_mode)) return {};
  }
  // Rights alone do not tell: some file systems (/proc) let nobody make a file.
  std::string probe;
  const int file = open_beside(target, probe);
  if (file < 0) return file_error(option, path, "open", errno);
  close(file);
  if (!probe.empty()) unlink(probe.c_str());
  return {};
}

Expected<void> check_writable(const std::vector<OutputFile>& files) {
  std::map<std::string, std::string> options;
  for (const auto& [option, path] : files) {
    if (path.empty()) continue;
    if (path == "-") {
      const bool has_format = option != "--samples" && option != "--dat";
      return fail_usage(option, "takes a file, not standard output", "",
                        has_format ? "use --format " + option.substr(2) : "");
    }
    const auto [other, is_new] = options.try_emplace(path, option);
    if (!is_new) return fail_usage(option, other->second + " names the same file");
    TRY(check_writable(path, option));
  }
  return {};
}

Expected<void> write_whole(const std::string& path, const std::string& content,
                           const std::string& option) {
  if (is_special_file(path)) return write_direct(path, content, option);
  const auto target = TRY(target_of(path, option));
  std::string temporary;
  const int file = open_beside(target, temporary);
  if (file < 0) return file_error(option, path, "open", errno);
  int code = take_over_rights(file, target);
  if (code == 0) code = write_all(file, content);
  if (code == 0 && fsync(file) != 0) code = errno;
  if (code == 0) code = take_place(file, temporary, target);
  if (close(file) != 0 && code == 0) code = errno;
  if (code == 0) return {};
  if (!temporary.empty()) unlink(temporary.c_str());
  return file_error(option, path, "write", code);
}

Expected<void> write_stdout(const std::string& text) {
  const int code = write_all(STDOUT_FILENO, text);
  if (code != 0) {
    return fail(ErrorKind::io, "standard output: write: " + errno_text(code));
  }
  return {};
}

}  // namespace numatlas
