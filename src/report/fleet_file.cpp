#include "report/fleet_file.h"

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <fmt/format.h>

#include "fleet/fleet_json.h"
#include "report/fleet_dat.h"

namespace numatlas {
namespace {

Expected<std::string> content_of(const std::string& path) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error))
    return fail(ErrorKind::io, fmt::format("{}: is a folder, not a file", path),
                "name the files in it");
  if (std::filesystem::is_character_file(path, error) ||
      std::filesystem::is_block_file(path, error))
    return fail(ErrorKind::usage, fmt::format("{}: is a device, not a file", path),
                "name files of 'numatlas stream'");
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  std::ostringstream content;
  if (file && file.peek() != std::ifstream::traits_type::eof()) content << file.rdbuf();
  if (!file.is_open() || file.bad())
    return fail(ErrorKind::io, fmt::format("{}: cannot be read: {}", path, errno_text(errno)));
  return std::move(content).str();
}

Expected<Fleet> parsed(const std::string& content, const std::string& path) {
  const std::size_t start = content.find_first_not_of(" \t\r\n");
  const char first = start == std::string::npos ? '\0' : content[start];
  if (first == '{') return fleet_from_json_text(content);
  if (first == '<') return fleet_from_dat(content, std::filesystem::path(path).filename().string());
  return fail(ErrorKind::usage, content.empty() ? "is empty" : "is neither JSON nor XML (.dat)",
              "name files of 'numatlas stream'");
}

}  // namespace

Expected<Fleet> read_fleet(const std::string& path) {
  const auto content = content_of(path);
  if (!content) return fail(content.error());
  auto fleet = parsed(*content, path);
  if (!fleet)
    return fail(fleet.error().kind, fmt::format("{}: {}", path, fleet.error().message),
                fleet.error().hint);
  return fleet;
}

}  // namespace numatlas
