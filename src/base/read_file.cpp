#include "base/read_file.h"

#include <cerrno>
#include <filesystem>
#include <memory>

#include <fmt/format.h>

#include "base/units.h"

namespace numatlas {
namespace {

tl::unexpected<Error> cannot_read(const std::string& name, int code) {
  const ErrorKind kind = file_error_kind(code);
  return fail(
      kind, fmt::format("{}: cannot be read: {}", name, errno_text(code)),
      kind == ErrorKind::permission ? "you may not read it, or not look into its folder" : "");
}

}  // namespace

Expected<std::string> read_open_file(std::FILE* file, const std::string& name,
                                     std::size_t most_bytes) {
  std::string text;
  std::string part(64 * kib, '\0');
  while (const std::size_t got = std::fread(part.data(), 1, part.size(), file)) {
    text.append(part, 0, got);
    if (text.size() > most_bytes)
      return fail(ErrorKind::io, fmt::format("{}: cannot be read: it has over {}", name,
                                             to_rounded_text(Bytes{most_bytes})));
  }
  if (std::ferror(file) != 0) return cannot_read(name, errno);
  return text;
}

Expected<std::string> read_file(const std::string& path, const std::string& name,
                                const std::string& hint, std::size_t most_bytes) {
  std::error_code ignored;
  const auto kind = std::filesystem::status(path, ignored).type();
  if (kind == std::filesystem::file_type::directory)
    return fail(ErrorKind::usage, fmt::format("{}: is a folder, not a file", name), hint);
  // One without an end would never be read.
  if (kind == std::filesystem::file_type::character || kind == std::filesystem::file_type::block)
    return fail(ErrorKind::usage, fmt::format("{}: is a device, not a file", name), hint);
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "re"),
                                                             &std::fclose);
  if (!file) return cannot_read(name, errno);
  return read_open_file(file.get(), name, most_bytes);
}

}  // namespace numatlas
