#include <memory>
#include <string>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "base/json_document.h"
#include "base/pretty_json.h"
#include "base/read_file.h"
#include "cli/commands.h"
#include "fleet/cases.h"
#include "record/report_json.h"
#include "run/declare.h"

namespace numatlas {
namespace {

/// Version 2 is read as well: what this prints is whole, or it is an error.
Expected<nlohmann::json> converted(const nlohmann::json& value) {
  const bool ours =
      value.is_object() && value.contains("program") && value["program"] == "numatlas" &&
      (value.contains("scenarios") || value.contains("cases") || value.contains("results") ||
       value.value("command", nlohmann::json(nullptr)) == "stream");
  if (!ours) return fail(ErrorKind::usage, "is not a result that --json of a benchmark wrote");
  const nlohmann::json version = value.value("schema_version", nlohmann::json(nullptr));
  if (version != 1 && version != schema_version)
    return fail(ErrorKind::usage, "has schema_version " + version.dump() +
                                      "; this program reads 1 and " +
                                      std::to_string(schema_version));
  auto current = version == 1 ? from_version_1(value) : Expected<nlohmann::json>(value);
  if (!current) return current;
  if ((*current)["command"] == "stream") {
    // With the figures and verdicts that version 1 had not.
    const auto read = report_with_cases(*current);
    if (!read) return fail(read.error());
    return nlohmann::json::parse(json_text(*read));
  }
  const auto reports =
      current->contains("results") ? (*current)["results"] : nlohmann::json::array({*current});
  if (!reports.is_array()) return fail(ErrorKind::usage, "field 'results' must be an array");
  for (const nlohmann::json& report : reports) {
    if (auto read = report_from_json(report); !read) return fail(read.error());
  }
  return current;
}

Expected<int> run(const std::string& path) {
  const auto text = read_file(path, path, "name a file that --json wrote");
  if (!text) return fail(text.error());
  std::string output;
  const auto done = within_memory("", *text, [&]() -> Expected<void> {
    const auto value = parse_json(*text);
    if (!value) return fail(value.error());
    const auto current = converted(**value);
    if (!current) return fail(current.error());
    output = pretty(*current);
    return {};
  });
  if (!done) return fail(about(path, done.error()));
  return answer(output);
}

}  // namespace

Command add_convert_command(CLI::App& app) {
  auto path = std::make_shared<std::string>();
  add_value(app, "FILE", *path, "", "JSON that an earlier numatlas wrote")->required();
  return [path] { return run(*path); };
}

}  // namespace numatlas
