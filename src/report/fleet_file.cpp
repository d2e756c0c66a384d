#include "report/fleet_file.h"

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/json_document.h"
#include "base/read_file.h"
#include "fleet/cases.h"
#include "record/report_json.h"
#include "report/fleet_dat.h"

namespace numatlas {
namespace {

using nlohmann::json;

constexpr const char* name_results = "name files of 'numatlas stream'";

/// Of this program, of a schema that it reads, and with rounds of hosts? nullopt: yes.
std::optional<Error> not_a_fleet(const json& value) {
  constexpr const char* hint = "is it a file that 'numatlas stream --json' wrote?";
  if (!value.is_object() || value.value("program", json(nullptr)) != "numatlas" ||
      !value.contains("command"))
    return Error{ErrorKind::usage, "no results of numatlas", hint};
  if (value["command"] != "stream") {
    const json& command = value["command"];
    return Error{ErrorKind::usage,
                 fmt::format("results of 'numatlas {}', not of 'numatlas stream'",
                             command.is_string() ? command.get<std::string>() : "?"),
                 name_results};
  }
  const auto version = value.find("schema_version");
  if (version == value.end() || !version->is_number_integer())
    return Error{ErrorKind::usage, "field 'schema_version' is missing", hint};
  if (*version == schema_version) return std::nullopt;
  return Error{
      ErrorKind::usage,
      fmt::format("schema_version is {}; this program reads {}", version->dump(), schema_version),
      "read it with the version of numatlas that wrote it"};
}

Expected<RunReport> from_json_text(const std::string& content) {
  const auto document = TRY(parse_json(content));
  if (auto problem = not_a_fleet(*document)) return fail(*std::move(problem));
  auto report = report_with_cases(*document);
  if (report && !report->fleet)
    return fail(ErrorKind::usage, "field 'fleet' has no rounds of hosts", name_results);
  return report;
}

Expected<RunReport> parsed(const std::string& content, const std::string& path) {
  const std::size_t start = content.find_first_not_of(" \t\r\n");
  const char first = start == std::string::npos ? '\0' : content[start];
  if (first == '{') return from_json_text(content);
  if (first == '<')
    return report_from_dat(content, std::filesystem::path(path).filename().string());
  return fail(ErrorKind::usage, content.empty() ? "is empty" : "is neither JSON nor XML (.dat)",
              name_results);
}

}  // namespace

Expected<RunReport> read_fleet(const std::string& path) {
  const auto content = TRY(read_file(path, path, name_results));
  auto fleet = within_memory("", content, [&] { return parsed(content, path); });
  if (!fleet) return fail(about(path, fleet.error()));
  return fleet;
}

}  // namespace numatlas
