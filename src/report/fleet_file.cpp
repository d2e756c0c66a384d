#include "report/fleet_file.h"

#include <cstddef>
#include <filesystem>

#include <fmt/format.h>

#include "base/read_file.h"
#include "fleet/fleet_json.h"
#include "report/fleet_dat.h"

namespace numatlas {
namespace {

constexpr const char* name_results = "name files of 'numatlas stream'";

Expected<Fleet> parsed(const std::string& content, const std::string& path) {
  const std::size_t start = content.find_first_not_of(" \t\r\n");
  const char first = start == std::string::npos ? '\0' : content[start];
  if (first == '{') return fleet_from_json_text(content);
  if (first == '<') return fleet_from_dat(content, std::filesystem::path(path).filename().string());
  return fail(ErrorKind::usage, content.empty() ? "is empty" : "is neither JSON nor XML (.dat)",
              name_results);
}

}  // namespace

Expected<Fleet> read_fleet(const std::string& path) {
  const auto content = read_file(path, path, name_results);
  if (!content) return fail(content.error());
  auto fleet = within_memory("", *content, [&] { return parsed(*content, path); });
  if (!fleet) return fail(about(path, fleet.error()));
  return fleet;
}

}  // namespace numatlas
