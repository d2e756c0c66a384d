#include "compare/stored.h"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <initializer_list>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/json.h"
#include "base/read_file.h"
#include "base/text.h"
#include "machine/source.h"
#include "record/report_json.h"

namespace numatlas {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

constexpr const char* name_results =
    "name a file that --json wrote, or a folder of 'numatlas survey'";

/// Whether its cases are verdicts on something else, and no figures to compare.
bool has_verdicts(const json& command) {
  return command == "check" || command == "compare" || command == "selftest";
}

/// Written by numatlas, by a version that this one understands?
std::optional<Error> foreign(const json& value) {
  const auto text = [&](const char* name) {
    return value.contains(name) && value[name].is_string() ? value[name].get<std::string>() : "";
  };
  if (!value.is_object() || text("program") != "numatlas" || !value.contains("command"))
    return Error{ErrorKind::usage, "is not a result of numatlas", name_results};
  const auto schema = value.find("schema_version");
  if (schema == value.end() || !schema->is_number_integer())
    return Error{ErrorKind::usage, "does not say its schema_version", name_results};
  if (*schema == schema_version) return std::nullopt;
  return Error{
      ErrorKind::usage,
      fmt::format("was written by {} numatlas ({}): its schema_version is {}, this one reads {}",
                  *schema > schema_version ? "a newer" : "an older", text("version"),
                  schema->dump(), schema_version),
      "compare with the numatlas that wrote it"};
}

Expected<StoredRun> run_of(const json& value) {
  if (auto problem = foreign(value)) return fail(*problem);
  const json& command = value["command"];
  if (has_verdicts(command) || (!value.contains("cases") && command != "stream"))
    return fail(ErrorKind::usage,
                fmt::format("is of 'numatlas {}', which has no figures to compare",
                            command.is_string() ? command.get<std::string>() : command.dump()),
                name_results);
  const auto report = report_from_json(value);
  if (!report)
    return fail(ErrorKind::usage, report.error().message,
                "is it a file that 'numatlas --json' wrote?");
  return stored_run(*report);
}

void note_incomplete(StoredFile& stored, const StoredRun& run) {
  if (run.complete) return;
  stored.notes.push_back(
      fmt::format("{}: {} did not run to completion{}", stored.file, run.command,
                  run.incomplete_reason.empty() ? "" : " (" + run.incomplete_reason + ")"));
}

Expected<StoredFile> survey_from(const json& value, const std::string& file) {
  StoredFile stored{file, value["command"].get<std::string>(), {}, {}};
  const auto results = value.find("results");
  if (results == value.end() || !results->is_array())
    return fail(ErrorKind::usage, "field 'results' is missing, or no array", name_results);
  for (std::size_t i = 0; i < results->size(); ++i) {
    const std::string path = fmt::format("results[{}]", i);
    auto run = run_of((*results)[i]);
    if (!run) return fail(about(path, run.error()));
    run->file = file;
    note_incomplete(stored, *run);
    stored.runs.push_back(*std::move(run));
  }
  if (value.contains("complete") && value["complete"] == false) {
    stored.notes.push_back(
        fmt::format("{}: the {} did not run to completion", file, stored.command));
    // What it did not come to is missing beside the last.
    if (!stored.runs.empty() && std::exchange(stored.runs.back().complete, false))
      stored.runs.back().incomplete_reason =
          fmt::format("the {} did not run to its end", stored.command);
  }
  return stored;
}

/// By its first bytes.
bool begins_with_any(const std::string& content, std::initializer_list<std::string_view> signs) {
  return std::ranges::any_of(signs,
                             [&](std::string_view sign) { return content.starts_with(sign); });
}

/// gzip, xz, zstd, bzip2.
bool is_compressed(const std::string& content) {
  return begins_with_any(content, {"\x1f\x8b", "\xfd\x37zXZ", "\x28\xb5\x2f\xfd", "BZh"});
}

/// AppleDouble (RFC 1740): what macOS puts beside a file where it cannot put it into the file.
bool is_companion(const std::string& content) {
  return begins_with_any(content, {std::string_view("\0\5\26\7", 4)});
}

/// A folder stands for the survey in it.
Expected<std::string> file_of(const std::string& path) {
  std::error_code code;
  if (fs::is_directory(path, code)) {
    const std::string survey = (fs::path(path) / "survey.json").string();
    if (fs::exists(survey, code)) return survey;
    if (code) return fail_about(file_error_kind(code.value()), survey, code.message());
    return fail_about(ErrorKind::usage, path, "is a folder without a survey.json",
                      "name a file in it, or give the folder to `numatlas check`");
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

Expected<StoredFile> stored_from_text(const std::string& text, const std::string& path) {
  const std::string file = printable(path);
  const auto named = [&](Error error) {
    if (error.hint.empty()) error.hint = name_results;
    return fail(about(file, std::move(error)));
  };
  if (is_compressed(text))
    return named(Error{ErrorKind::usage, "is compressed", "decompress it first"});
  const auto document = parse_json(text);
  if (!document) return named(document.error());
  const json& value = **document;
  if (auto problem = foreign(value)) return named(*problem);
  if (value["command"] == "survey" || value["command"] == "audit") {
    auto survey = survey_from(value, file);
    if (!survey) return named(survey.error());
    return survey;
  }
  auto run = run_of(value);
  if (!run) return named(run.error());
  run->file = file;
  StoredFile stored{file, run->command, {}, {}};
  note_incomplete(stored, *run);
  stored.runs.push_back(*std::move(run));
  return stored;
}

bool is_other_document(const std::string& path) {
  const auto content = read_file(path, path, "");
  if (content && is_companion(*content)) return true;
  const auto document = content ? parse_json(*content) : fail(content.error());
  if (!document) return false;
  const json& value = **document;
  if (!value.is_object() || !value.contains("program") || value["program"] != "numatlas")
    return true;
  // A snapshot of a machine, or verdicts on other results.
  const json command = value.value("command", json());
  if (has_verdicts(command)) return true;
  return !value.contains("results") && !value.contains("cases") && !value.contains("scenarios") &&
         command != "stream";
}

Expected<StoredFile> read_stored(const std::string& path) {
  const auto file = TRY(file_of(path));
  const auto content = TRY(read_file(file, file, name_results));
  return within_memory(file, content, [&] { return stored_from_text(content, file); });
}

}  // namespace numatlas
