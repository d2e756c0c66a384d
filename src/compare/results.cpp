#include "compare/results.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <filesystem>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "base/json.h"
#include "base/read_file.h"
#include "base/text.h"
#include "compare/hosts.h"
#include "machine/source.h"
#include "record/report_json.h"

namespace numatlas {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

constexpr const char* name_results =
    "name a file that --json wrote, or a folder of 'numatlas survey'";

/// "" where the object has no such text.
std::string text_member(const json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

/// Written by numatlas, by a version that this one understands?
std::optional<Error> foreign(const json& value) {
  if (!value.is_object() || text_member(value, "program") != "numatlas" ||
      !value.contains("command"))
    return Error{ErrorKind::usage, "is not a result of numatlas", name_results};
  const auto schema = value.find("schema_version");
  if (schema == value.end() || !schema->is_number_integer())
    return Error{ErrorKind::usage, "does not say its schema_version", name_results};
  if (*schema == schema_version) return std::nullopt;
  return Error{
      ErrorKind::usage,
      fmt::format("was written by {} numatlas ({}): its schema_version is {}, this one reads {}",
                  *schema > schema_version ? "a newer" : "an older", text_member(value, "version"),
                  schema->dump(), schema_version),
      "compare with the numatlas that wrote it"};
}

Expected<Rows> run_of(const json& value) {
  if (auto problem = foreign(value)) return fail(*problem);
  const json& command = value["command"];
  const bool judges = command == "compare" || command == "check";
  if (judges || (!value.contains("cases") && command != "stream"))
    return fail(ErrorKind::usage,
                fmt::format("is of 'numatlas {}', which has no figures to compare",
                            command.is_string() ? command.get<std::string>() : command.dump()),
                name_results);
  const auto report = report_from_json(value);
  if (!report)
    return fail(ErrorKind::usage, report.error().message,
                "is it a file that 'numatlas --json' wrote?");
  return rows_of(*report);
}

Expected<void> add_run(const json& value, Results& stored) {
  Rows run = TRY(run_of(value));
  run.file = stored.file;
  if (!run.complete)
    stored.notes.push_back(
        fmt::format("{}: {} did not run to completion{}", stored.file, run.command,
                    run.incomplete_reason.empty() ? "" : " (" + run.incomplete_reason + ")"));
  stored.runs.push_back(std::move(run));
  return {};
}

/// The run of a survey that has no results, which says whose are missing.
Expected<void> add_empty_survey(const json& value, Results& stored) {
  const auto machine = value.find("machine");
  if (machine == value.end()) return {};
  RunReport survey;
  survey.command = stored.command;
  survey.incomplete_reason = fmt::format("its {} has no result of any benchmark", stored.command);
  survey.version = text_member(value, "version");
  survey.started = text_member(value, "started");
  survey.machines.push_back(TRY(machine_from_json(*machine)));
  const std::string& host = survey.machines.front().host;
  survey.hosts = {host.empty() ? "recorded" : host};
  stored.runs.push_back(rows_of(survey));
  stored.runs.back().file = stored.file;
  return {};
}

Expected<void> add_survey(const json& value, Results& stored) {
  const auto results = value.find("results");
  if (results == value.end() || !results->is_array())
    return fail(ErrorKind::usage, "field 'results' is missing, or no array", name_results);
  if (results->empty()) TRY(add_empty_survey(value, stored));
  const auto words = value.find("arguments");
  const std::string type =
      words != value.end() && words->is_array() && std::ranges::all_of(*words, &json::is_string)
          ? option_of(*words, "--machine-type")
          : "";
  for (std::size_t i = 0; i < results->size(); ++i) {
    if (const auto added = add_run((*results)[i], stored); !added)
      return fail(about(fmt::format("results[{}]", i), added.error()));
    stored.runs.back().machine_type = type;
  }
  if (!value.contains("complete") || value["complete"] != false) return {};
  stored.notes.push_back(
      fmt::format("{}: the {} did not run to completion", stored.file, stored.command));
  // What it did not come to is missing beside the last.
  if (!stored.runs.empty() && std::exchange(stored.runs.back().complete, false))
    stored.runs.back().incomplete_reason =
        fmt::format("the {} did not run to its end", stored.command);
  return {};
}

/// By its first bytes: gzip, xz, zstd, bzip2.
bool is_compressed(const std::string& content) {
  const std::string_view signs[] = {"\x1f\x8b", "\xfd\x37zXZ", "\x28\xb5\x2f\xfd", "BZh"};
  return std::ranges::any_of(signs,
                             [&](std::string_view sign) { return content.starts_with(sign); });
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

/// Whether a file that cannot be read as a result is whole, and something else: JSON of another
/// program, or without figures. Of a folder of results it may be left out without harm.
bool is_other_document(const std::string& path) {
  const auto content = read_file(path, path, "");
  // AppleDouble (RFC 1740): what macOS puts beside a file where it cannot put it into the file.
  if (content && content->starts_with(std::string_view("\0\5\26\7", 4))) return true;
  const auto document = content ? parse_json(*content) : fail(content.error());
  if (!document) return false;
  const json& value = *document;
  if (!value.is_object() || !value.contains("program") || value["program"] != "numatlas")
    return true;
  // A snapshot of a machine, or verdicts on other results.
  const json command = value.value("command", json());
  if (command == "check" || command == "compare") return true;
  return !value.contains("results") && !value.contains("cases") && !value.contains("scenarios") &&
         command != "stream";
}

/// The machine of a survey, which it writes into its folder.
bool is_beside_survey(const fs::path& file) {
  std::error_code code;
  return file.filename() == "topology.json" && fs::exists(file.parent_path() / "survey.json", code);
}

constexpr const char* compressed_ends[] = {".gz", ".xz", ".zst", ".bz2"};

/// Also if it is compressed: that is told when it is read.
bool may_be_a_result(fs::path path) {
  if (std::ranges::find(compressed_ends, path.extension().string()) != std::end(compressed_ends))
    path.replace_extension();
  return path.extension() == ".json";
}

/// Hidden, or what file systems and file servers put there: snapshots, wastebaskets.
bool is_aside(const std::string& name) {
  return name.find_first_of(".#@~") == 0 || name == "lost+found";
}

/// A folder to look into; what lies in or below one with results belongs to these.
struct Folder {
  std::string path;
  bool has_results = false;  ///< or one above it has
};

/// What is found level by level: what a walk that goes astray has found does not depend on the
/// order in which the file system names the files.
struct Walk {
  std::vector<std::string> files;  ///< that may be results
  std::vector<Folder> next;        ///< the folders of the next level
  std::size_t others = 0;          ///< files that neither are results nor belong to some
};

/// Error: the folder cannot be read. What was found until then is kept.
Expected<void> look_into(Folder folder, Walk& walk) {
  std::error_code code;
  std::size_t others = 0;
  std::vector<std::string> folders;
  fs::directory_iterator entry(folder.path, code);
  for (; !code && entry != fs::directory_iterator(); entry.increment(code)) {
    std::error_code of_file;
    std::string path = entry->path().string();
    if (is_aside(entry->path().filename().string())) continue;
    const auto type = entry->status(of_file).type();
    if (may_be_a_result(entry->path()) &&
        (type == fs::file_type::regular || type == fs::file_type::not_found || of_file)) {
      walk.files.push_back(std::move(path));
      folder.has_results = true;
    } else if (entry->symlink_status(of_file).type() == fs::file_type::directory) {
      folders.push_back(std::move(path));
    } else {
      ++others;
    }
  }
  if (!folder.has_results) walk.others += others;
  for (std::string& path : folders) walk.next.push_back({std::move(path), folder.has_results});
  if (!code) return {};
  return fail_about(file_error_kind(code.value()), printable(folder.path),
                    "cannot be read: " + code.message());
}

/// Sorted: what is found does not depend on the file system.
Expected<std::vector<std::string>> files_below(const std::string& option, const std::string& folder,
                                               std::size_t most_others,
                                               std::vector<Error>& closed) {
  std::error_code code;
  fs::directory_iterator(folder, code);
  if (code)
    return fail_about(file_error_kind(code.value()), option,
                      fmt::format("{}: {}", printable(folder), code.message()),
                      "name the folder that has the results");
  constexpr std::size_t times = 100;
  Walk walk;
  walk.next.push_back({folder});
  while (!walk.next.empty()) {
    for (Folder& one : std::exchange(walk.next, {}))
      if (auto looked = look_into(std::move(one), walk); !looked)
        closed.push_back(std::move(looked).error());
    // As of `/`: the walk would take very long.
    if (walk.others > most_others && walk.others > times * walk.files.size())
      return fail_usage(
          option,
          fmt::format("is no folder of results: {} other files lie in it, and {} that "
                      "may be results",
                      walk.others, walk.files.size()),
          "name the folder that has the results");
  }
  std::ranges::sort(walk.files);
  return std::move(walk.files);
}

/// Takes from each run what nobody needs.
using Shrink = std::function<void(Rows&)>;

Expected<Results> read_and_shrink(const std::string& file, const Shrink& shrink) {
  auto stored = read_stored(file);
  if (stored && shrink)
    for (Rows& run : stored->runs) shrink(run);
  return stored;
}

/// In the order of the files; several are read at once.
std::vector<Expected<Results>> read_all(const std::vector<std::string>& files,
                                        const Shrink& shrink) {
  constexpr std::size_t most_readers = 8;  // beyond that they wait for memory
  std::vector<Expected<Results>> all(files.size());
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t i = next++; i < files.size(); i = next++)
      all[i] = read_and_shrink(files[i], shrink);
  };
  std::vector<std::thread> readers;
  const std::size_t count =
      std::min({files.size(), most_readers, std::size_t{std::thread::hardware_concurrency()}});
  try {
    while (readers.size() + 1 < count) readers.emplace_back(work);
  } catch (const std::system_error&) {  // fewer do it as well
  }
  work();
  for (std::thread& reader : readers) reader.join();
  return all;
}

void add(Results file, Results& results) {
  std::ranges::move(file.runs, std::back_inserter(results.runs));
  std::ranges::move(file.notes, std::back_inserter(results.notes));
}

/// Where results lie by the names of their hosts.
struct Layout {
  bool by_file = false, by_folder = false;           ///< HOST.json, HOST/TIME.json
  std::map<fs::path, std::set<std::string>> inside;  ///< hosts of each folder
};

std::string stem_of(fs::path path) {
  if (path.extension() != ".json") path.replace_extension();
  return path.stem().string();
}

Layout layout_of(const std::vector<Rows>& runs) {
  Layout layout;
  for (const Rows& run : runs) {
    const fs::path path(run.file);
    for (const std::string& host : run.hosts) {
      layout.inside[path.parent_path()].insert(host);
      layout.by_file = layout.by_file || is_same_name(stem_of(path), host);
      layout.by_folder =
          layout.by_folder || is_same_name(path.parent_path().filename().string(), host);
    }
  }
  return layout;
}

/// Whose results cannot be read: a file that is cut off has lost the name of its host.
void open_hosts(const std::vector<std::string>& given, Results& results) {
  const Layout layout = layout_of(results.runs);
  for (const Error& error : results.broken) {
    const fs::path path(error.subject), folder = path.parent_path();
    const auto here = layout.inside.find(folder);
    const bool is_given = std::ranges::find(given, folder.string()) != given.end();
    std::string host;
    if (layout.by_file)
      host = stem_of(path);
    else if (layout.by_folder && !is_given)
      host = folder.filename().string();
    else if (here != layout.inside.end() && here->second.size() == 1 && !is_given)
      host = *here->second.begin();
    if (!host.empty())
      results.open.push_back({host, "file not readable", path.string() + " " + error.message});
  }
}

Expected<void> add_below(const std::string& option, const std::string& folder,
                         std::size_t most_others, Results& results, const Shrink& shrink = {}) {
  const auto files = TRY(files_below(option, folder, most_others, results.closed));
  std::vector<Expected<Results>> all = read_all(files, shrink);
  for (std::size_t i = 0; i < files.size(); ++i) {
    const std::string& file = files[i];
    auto& stored = all[i];
    if (stored &&
        std::ranges::any_of(stored->runs, [](const Rows& run) { return run.started.empty(); })) {
      results.broken.push_back(
          Error{ErrorKind::usage, "does not record when it ran", "", printable(file)});
    } else if (stored) {
      add(*std::move(stored), results);
    } else if (!is_other_document(file)) {
      results.broken.push_back(stored.error());
    } else if (!is_beside_survey(file)) {
      results.unrelated.push_back(printable(file));
    }
  }
  return {};
}

}  // namespace

Expected<void> check_metric(const std::string& metric,
                            std::initializer_list<const std::vector<Rows>*> sides) {
  std::set<std::string> metrics;
  for (const std::vector<Rows>* runs : sides)
    for (const Rows& run : *runs)
      for (const Row& row : run.rows)
        if (!row.is_empty()) metrics.insert(row.figure);
  if (metric.empty() || metrics.empty() || metrics.contains(metric)) return {};
  return fail_usage("--metric", fmt::format("no case has '{}'", metric),
                    fmt::format("these have: {}", fmt::join(metrics, ", ")));
}

bool has_results(const std::string& command) { return command == "survey" || command == "audit"; }

bool same_run(const Rows& a, const Rows& b) {
  return a.started == b.started && a.hosts == b.hosts && a.arguments == b.arguments &&
         a.rows == b.rows;
}

bool same_run(const Results& a, const Results& b) {
  return std::ranges::equal(a.runs, b.runs,
                            [](const Rows& x, const Rows& y) { return same_run(x, y); });
}

Expected<Results> stored_from_text(const std::string& text, const std::string& path) {
  const std::string file = printable(path);
  const auto named = [&](Error error) {
    if (error.hint.empty()) error.hint = name_results;
    return fail(about(file, std::move(error)));
  };
  if (is_compressed(text))
    return named(Error{ErrorKind::usage, "is compressed", "decompress it first"});
  const auto document = parse_json(text);
  if (!document) return named(document.error());
  const json& value = *document;
  if (auto problem = foreign(value)) return named(*problem);
  Results stored;
  stored.file = file;
  stored.command = text_member(value, "command");
  const auto added =
      has_results(stored.command) ? add_survey(value, stored) : add_run(value, stored);
  if (!added) return named(added.error());
  return stored;
}

Expected<Results> read_stored(const std::string& path) {
  const auto file = TRY(file_of(path));
  const auto content = TRY(read_file(file, file, name_results));
  return stored_from_text(content, file);
}

Expected<Results> results_below(const std::string& option, const std::string& folder,
                                std::size_t most_others) {
  Results results;
  TRY(add_below(option, folder, most_others, results));
  // A survey's folder has the file of each benchmark beside survey.json.
  results.runs = without_copies(std::move(results.runs), results.notes);
  return results;
}

Expected<Results> read_results(const std::vector<std::string>& paths, const Shrink& shrink) {
  Results results;
  for (const std::string& path : paths) {
    std::error_code code;
    if (fs::is_directory(path, code)) {
      TRY(add_below(path, path, usual_others, results, shrink));
      continue;
    }
    add(TRY(read_and_shrink(path, shrink)), results);
  }
  const std::vector<Error>& wrong = results.broken.empty() ? results.closed : results.broken;
  if (results.runs.empty())
    return fail_usage(paths.front(),
                      wrong.empty() ? "no results of numatlas below it"
                                    : "no usable results below it: " + full_text(wrong.front()),
                      "name files that --json wrote, or a folder of these");
  for (const Rows& run : results.runs)
    if (run.started.empty() && results.runs.size() > 1)
      return fail_usage(run.file, "does not record when it ran",
                        "several runs are told apart by their start");
  if (!results.unrelated.empty())
    results.notes.push_back(fmt::format("skipped, not results: {}: {}",
                                        count_text(results.unrelated.size(), "file"),
                                        names_text(results.unrelated)));
  open_hosts(paths, results);
  results.runs = without_copies(std::move(results.runs), results.notes);
  return results;
}

}  // namespace numatlas
