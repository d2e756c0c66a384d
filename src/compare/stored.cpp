#include "compare/stored.h"

#include <algorithm>
#include <filesystem>
#include <map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/read_file.h"
#include "fleet/fleet_json.h"
#include "machine/source.h"

namespace numatlas {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

constexpr int newest_schema = 1;
constexpr const char* name_results =
    "name a file that --json wrote, or a folder of 'numatlas survey'";

/// Where text stops making sense, as line and byte; in words where it was cut off.
Error syntax_error(const std::string& text, std::size_t byte) {
  const std::size_t at = std::min(byte == 0 ? 0 : byte - 1, text.size());
  const auto line =
      1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n');
  if (at >= text.find_last_not_of(" \t\r\n") + 1)
    return {ErrorKind::usage,
            fmt::format("is cut off after {} bytes, in line {}", text.size(), line),
            "was it cut off while it was copied, or is the disk full?"};
  return {ErrorKind::usage, fmt::format("is no JSON: line {}, byte {}", line, at + 1),
          name_results};
}

/// Raw samples are most of a file, and nothing here reads them.
bool keep_value(int /*depth*/, json::parse_event_t event, json& parsed) {
  if (event != json::parse_event_t::key) return true;
  return parsed != "samples" && parsed != "steps" && parsed != "stretch_bytes";
}

Expected<json> parsed_json(const std::string& text) {
  if (text.find_first_not_of(" \t\r\n") == std::string::npos)
    return fail(ErrorKind::usage, "is empty", name_results);
  try {
    return json::parse(text, keep_value);
  } catch (const json::parse_error& error) {
    return fail(syntax_error(text, error.byte));
  } catch (const json::exception&) {  // a number that no double holds
    return fail(ErrorKind::usage, "is no JSON: it has a number out of range", name_results);
  }
}

/// Written by numatlas, by a version that this one understands?
std::optional<Error> foreign(const json& value) {
  const auto text = [&](const char* name) {
    return value.contains(name) && value[name].is_string() ? value[name].get<std::string>() : "";
  };
  if (!value.is_object() || text("program") != "numatlas" || !value.contains("command"))
    return Error{ErrorKind::usage, "is no result of numatlas", name_results};
  const auto schema = value.find("schema_version");
  if (schema == value.end() || !schema->is_number_integer())
    return Error{ErrorKind::usage, "does not say its schema_version", name_results};
  if (*schema == newest_schema) return std::nullopt;
  return Error{
      ErrorKind::usage,
      fmt::format("was written by {} numatlas ({}): its schema_version is {}, this one reads {}",
                  *schema > newest_schema ? "a newer" : "an older", text("version"), schema->dump(),
                  newest_schema),
      "compare with the numatlas that wrote it"};
}

Expected<StoredRun> run_of(const json& value, const std::string& path) {
  if (auto problem = foreign(value)) return fail(*problem);
  const json& command = value["command"];
  if (command == "stream") {
    const auto fleet = fleet_from_json(value);
    if (!fleet) return fail(fleet.error());
    return run_from_fleet(*fleet);
  }
  if (!value.contains("scenarios"))
    return fail(ErrorKind::usage,
                fmt::format("is of 'numatlas {}', which has no figures to compare",
                            command.is_string() ? command.get<std::string>() : command.dump()),
                name_results);
  return run_from_report(value, path);
}

void note_incomplete(StoredFile& stored, const StoredRun& run) {
  if (run.complete) return;
  stored.notes.push_back(
      fmt::format("{}: {} did not run to its end{}", stored.file, run.command,
                  run.incomplete_reason.empty() ? "" : " (" + run.incomplete_reason + ")"));
}

Expected<StoredFile> survey_from(const json& value, const std::string& file) {
  StoredFile stored{file, "survey", {}, {}};
  const auto results = value.find("results");
  if (results == value.end() || !results->is_array())
    return fail(ErrorKind::usage, "field 'results' is missing, or no array", name_results);
  for (std::size_t i = 0; i < results->size(); ++i) {
    const std::string path = fmt::format("results[{}]", i);
    auto run = run_of((*results)[i], path);
    if (!run) return fail(run.error().kind, path + ": " + run.error().message, run.error().hint);
    run->file = file;
    note_incomplete(stored, *run);
    stored.runs.push_back(*std::move(run));
  }
  if (value.contains("complete") && value["complete"] == false)
    stored.notes.push_back(file + ": the survey did not run to its end");
  return stored;
}

/// A folder stands for the survey in it.
Expected<std::string> file_of(const std::string& path) {
  std::error_code code;
  if (fs::is_directory(path, code)) {
    const std::string survey = (fs::path(path) / "survey.json").string();
    if (fs::exists(survey, code)) return survey;
    if (code)
      return fail(file_error_kind(code.value()), fmt::format("{}: {}", survey, code.message()));
    return fail(ErrorKind::usage, fmt::format("{}: is a folder without a survey.json", path),
                "name a file in it, or compare all of them with --history");
  }
  return path;
}

}  // namespace

void number_doubles(std::vector<StoredCase>& cases) {
  std::map<std::string, int> seen;
  for (StoredCase& one : cases) {
    const int number = ++seen[one.key];
    if (number == 1) continue;
    one.key += fmt::format("#{}", number);
    one.point += fmt::format(" #{}", number);
  }
}

Expected<StoredFile> stored_from_text(const std::string& text, const std::string& file) {
  const auto named = [&](const Error& error) {
    return fail(
        error.kind,
        fmt::format("{}{} {}", file, error.message.starts_with("field") ? ":" : "", error.message),
        error.hint);
  };
  const auto value = parsed_json(text);
  if (!value) return named(value.error());
  if (auto problem = foreign(*value)) return named(*problem);
  if ((*value)["command"] == "survey") {
    auto survey = survey_from(*value, file);
    if (!survey) return named(survey.error());
    return survey;
  }
  auto run = run_of(*value, "");
  if (!run) return named(run.error());
  run->file = file;
  StoredFile stored{file, run->command, {}, {}};
  note_incomplete(stored, *run);
  stored.runs.push_back(*std::move(run));
  return stored;
}

Expected<StoredFile> read_stored(const std::string& path) {
  const auto file = file_of(path);
  if (!file) return fail(file.error());
  const auto content = read_file(*file, *file, name_results);
  if (!content) return fail(content.error());
  return stored_from_text(*content, *file);
}

}  // namespace numatlas
