#include "report/file.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>

#include <fmt/format.h>

namespace numatlas {
namespace {

namespace fs = std::filesystem;

tl::unexpected<Error> file_error(const std::string& option, const std::string& path,
                                 const std::string& what, int code) {
  return fail(file_error_kind(code),
              fmt::format("{}: {}: {}: {}", option, path, what, errno_text(code)),
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

Expected<void> write_direct(const std::string& path, const std::string& content,
                            const std::string& option) {
  const int file = open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (file < 0) return file_error(option, path, "open", errno);
  int code = write_all(file, content);
  if (close(file) != 0 && code == 0) code = errno;
  if (code != 0) return file_error(option, path, "write", code);
  return {};
}

/// Where the content really goes: the end of a chain of symbolic links.
std::string target_of(const std::string& path) {
  std::error_code code;
  const fs::path target = fs::weakly_canonical(path, code);
  return code ? path : target.string();
}

/// A new file beside `target`, which is to take its place: the descriptor, or -1 and errno.
int open_beside(const std::string& target, std::string& name) {
  name = target + ".XXXXXX";
  return mkostemp(name.data(), O_CLOEXEC);
}

}  // namespace

bool is_special_file(const std::string& path) {
  struct stat status {};
  return stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode);
}

Expected<void> check_writable(const std::string& path, const std::string& option) {
  if (path.empty()) return fail(ErrorKind::usage, option + ": the file name is empty");
  const std::string target = target_of(path);
  struct stat status {};
  if (stat(target.c_str(), &status) == 0) {
    if (S_ISDIR(status.st_mode)) return file_error(option, path, "open", EISDIR);
    if (access(target.c_str(), W_OK) != 0) return file_error(option, path, "open", errno);
    if (!S_ISREG(status.st_mode)) return {};
  }
  // Rights alone do not tell: some file systems (/proc) let nobody make a file.
  std::string probe;
  const int file = open_beside(target, probe);
  if (file < 0) return file_error(option, path, "open", errno);
  close(file);
  unlink(probe.c_str());
  return {};
}

Expected<void> write_whole(const std::string& path, const std::string& content,
                           const std::string& option) {
  if (is_special_file(path)) return write_direct(path, content, option);
  const std::string target = target_of(path);
  std::string temporary;
  const int file = open_beside(target, temporary);
  if (file < 0) return file_error(option, path, "open", errno);
  // mkostemp makes private files; results are as readable as the umask allows.
  const mode_t mask = umask(0);
  umask(mask);
  fchmod(file, 0666 & ~mask);
  int code = write_all(file, content);
  if (code == 0 && fsync(file) != 0) code = errno;
  if (close(file) != 0 && code == 0) code = errno;
  if (code == 0 && rename(temporary.c_str(), target.c_str()) != 0) code = errno;
  if (code != 0) {
    unlink(temporary.c_str());
    return file_error(option, path, "write", code);
  }
  return {};
}

Expected<void> write_stdout(const std::string& text) {
  const int code = write_all(STDOUT_FILENO, text);
  if (code != 0) {
    return fail(ErrorKind::io, "standard output: write: " + errno_text(code));
  }
  return {};
}

}  // namespace numatlas
