#include "base/read_file.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "base/units.h"

namespace numatlas {
namespace {

tl::unexpected<Error> cannot_read(const std::string& name, int code) {
  const ErrorKind kind = file_error_kind(code);
  return fail_about(
      kind, name, fmt::format("cannot be read: {}", errno_text(code)),
      kind == ErrorKind::permission ? "you have no permission to read it or its folder" : "");
}

tl::unexpected<Error> too_large(const std::string& name, const std::string& size,
                                std::size_t most_bytes) {
  return fail_about(ErrorKind::resource, name,
                    fmt::format("is too large: {}; at most {} are read", size,
                                to_rounded_text(Bytes{most_bytes})));
}

/// Bytes of a regular file; 0 of a pipe, whose end shows only as it is read.
std::size_t known_size(std::FILE* file) {
  struct stat status {};
  const bool known = fstat(fileno(file), &status) == 0 && S_ISREG(status.st_mode);
  return known ? static_cast<std::size_t>(status.st_size) : 0;
}

}  // namespace

Expected<std::string> read_open_file(std::FILE* file, const std::string& name,
                                     std::size_t most_bytes) {
  const std::size_t size = known_size(file);
  if (size > most_bytes) return too_large(name, to_rounded_text(Bytes{size}), most_bytes);
  std::string text;
  text.reserve(size);
  // One byte more than there are: the end is seen at once.
  std::string part(size > 0 ? std::min<std::size_t>(size + 1, 64 * kib) : 64 * kib, '\0');
  while (const std::size_t got = std::fread(part.data(), 1, part.size(), file)) {
    text.append(part, 0, got);
    if (text.size() > most_bytes) return too_large(name, "more", most_bytes);
  }
  if (std::ferror(file) != 0) return cannot_read(name, errno);
  return text;
}

Expected<std::string> read_file(const std::string& path, const std::string& name,
                                const std::string& hint, std::size_t most_bytes) {
  std::error_code ignored;
  const auto kind = std::filesystem::status(path, ignored).type();
  if (kind == std::filesystem::file_type::directory)
    return fail_about(ErrorKind::usage, name, "is a folder, not a file", hint);
  // One without an end would never be read.
  if (kind == std::filesystem::file_type::character || kind == std::filesystem::file_type::block)
    return fail_about(ErrorKind::usage, name, "is a device, not a file", hint);
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "re"),
                                                             &std::fclose);
  if (!file) return cannot_read(name, errno);
  return read_open_file(file.get(), name, most_bytes);
}

}  // namespace numatlas
