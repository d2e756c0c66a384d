#include "report/file.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <system_error>

#include <fmt/format.h>

namespace numatlas {
namespace {

namespace fs = std::filesystem;

tl::unexpected<Error> file_error(const std::string& option, const std::string& path,
                                 const std::string& what, int code) {
  return fail_about(
      file_error_kind(code), option, fmt::format("{}: {}: {}", path, what, errno_text(code)),
      code == EFBIG
          ? "raise the limit of a file's size (ulimit -f)"
          : "name a file in a folder that exists, that you may write to, and that has room");
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

/// What a symbolic link leads to, so that the link stays one.
std::string target_of(const std::string& path) {
  std::error_code code;
  const fs::path target = fs::canonical(path, code);
  return code ? path : target.string();
}

/// A new file that is to take the place of `target`, as readable as the umask allows: the
/// descriptor, or -1 and errno.
int open_beside(const std::string& target, std::string& name) {
  name = target + ".numatlas-XXXXXX";
  const int file = mkostemp(name.data(), O_CLOEXEC);
  if (file < 0) return file;
  const mode_t mask = umask(0);
  umask(mask);
  fchmod(file, 0666 & ~mask);
  return file;
}

}  // namespace

bool is_special_file(const std::string& path) {
  struct stat status {};
  return stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode);
}

Expected<void> check_writable(const std::string& path, const std::string& option) {
  if (path.empty()) return fail_usage(option, "the file name is empty");
  std::error_code code;
  if (fs::is_directory(path, code)) return file_error(option, path, "open", EISDIR);
  if (fs::exists(path, code) && access(path.c_str(), W_OK) != 0)
    return file_error(option, path, "open", errno);
  if (is_special_file(path)) return {};
  // Rights alone do not tell: some file systems (/proc) let nobody make a file.
  std::string probe;
  const int file = open_beside(target_of(path), probe);
  if (file < 0) return file_error(option, path, "open", errno);
  close(file);
  unlink(probe.c_str());
  return {};
}

Expected<void> check_writable(const std::vector<OutputFile>& files,
                              const std::vector<std::string>& read) {
  std::map<std::string, std::string> options;
  for (const auto& [option, path] : files) {
    if (path.empty()) continue;
    if (path == "-") {
      const bool has_format = option != "--dat";
      return fail_usage(option, "takes a file, not standard output", "",
                        has_format ? "use --format " + option.substr(2) : "");
    }
    const auto [other, is_new] = options.try_emplace(path, option);
    if (!is_new) return fail_usage(option, other->second + " names the same file");
    std::error_code unknown;
    for (const std::string& one : read)
      if (fs::equivalent(one, path, unknown) && !is_special_file(path))
        return fail_usage(option, fmt::format("'{}' is the file that is read", path),
                          "name another file");
    TRY(check_writable(path, option));
  }
  return {};
}

Expected<void> write_whole(const std::string& path, const std::string& content,
                           const std::string& option) {
  if (is_special_file(path)) return write_direct(path, content, option);
  const std::string target = target_of(path);
  std::string temporary;
  const int file = open_beside(target, temporary);
  if (file < 0) return file_error(option, path, "open", errno);
  int code = write_all(file, content);
  if (code == 0 && fsync(file) != 0) code = errno;
  if (close(file) != 0 && code == 0) code = errno;
  if (code == 0 && rename(temporary.c_str(), target.c_str()) != 0) code = errno;
  if (code == 0) return {};
  unlink(temporary.c_str());
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
