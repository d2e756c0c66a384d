#include "compare/results.h"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <iterator>
#include <map>
#include <set>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "base/read_file.h"
#include "base/text.h"
#include "compare/match.h"

namespace numatlas {
namespace {

namespace fs = std::filesystem;

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

/// Adds files and, to `closed`, folders below that may not be read.
void find_files(const std::string& folder, std::vector<std::string>& files,
                std::vector<Error>& closed) {
  std::error_code code;
  const auto failed = [&] {
    if (code)
      closed.push_back(Error{file_error_kind(code.value()), "cannot be read: " + code.message(), "",
                             printable(folder)});
    return bool(code);
  };
  fs::directory_iterator entry(folder, code);
  for (; !failed() && entry != fs::directory_iterator(); entry.increment(code)) {
    std::error_code of_file;
    const std::string path = entry->path().string();
    if (is_aside(entry->path().filename().string())) continue;
    if (entry->symlink_status(of_file).type() == fs::file_type::directory)
      find_files(path, files, closed);
    else if (const auto type = entry->status(of_file).type();
             may_be_a_result(entry->path()) &&
             (type == fs::file_type::regular || type == fs::file_type::not_found || of_file))
      files.push_back(path);
  }
}

/// Sorted: what is found does not depend on the file system.
Expected<std::vector<std::string>> files_below(const std::string& option, const std::string& folder,
                                               std::vector<Error>& closed) {
  std::error_code code;
  fs::directory_iterator(folder, code);
  if (code)
    return fail_about(file_error_kind(code.value()), option,
                      fmt::format("{}: {}", printable(folder), code.message()),
                      "name the folder that has the results");
  std::vector<std::string> files;
  find_files(folder, files, closed);
  std::ranges::sort(files);
  return files;
}

void add(StoredFile file, Results& results) {
  for (StoredRun& run : file.runs) results.runs.push_back(std::move(run));
  for (std::string& note : file.notes) results.notes.push_back(std::move(note));
}

Expected<Results> finish(Results results) {
  // A survey's folder has the file of each benchmark beside survey.json.
  results.runs = without_copies(std::move(results.runs), results.notes);
  return results;
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

Layout layout_of(const std::vector<StoredRun>& runs) {
  Layout layout;
  for (const StoredRun& run : runs) {
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

Expected<void> add_below(const std::string& option, const std::string& folder, Results& results) {
  for (const std::string& file : TRY(files_below(option, folder, results.closed))) {
    auto stored = read_stored(file);
    if (stored &&
        std::ranges::any_of(stored->runs, [](const StoredRun& run) { return run.started.empty(); }))
      results.broken.push_back(
          Error{ErrorKind::usage, "does not record when it ran", "", printable(file)});
    else if (stored)
      add(*std::move(stored), results);
    else if (is_other_document(file))
      results.unrelated.push_back(printable(file));
    else
      results.broken.push_back(stored.error());
  }
  return {};
}

}  // namespace

Expected<Results> results_below(const std::string& option, const std::string& folder) {
  Results results;
  TRY(add_below(option, folder, results));
  return finish(std::move(results));
}

Expected<Results> read_results(const std::vector<std::string>& paths) {
  Results results;
  for (const std::string& path : paths) {
    std::error_code code;
    if (fs::is_directory(path, code)) {
      TRY(add_below(path, path, results));
      continue;
    }
    add(TRY(read_stored(path)), results);
  }
  const std::vector<Error>& wrong = results.broken.empty() ? results.closed : results.broken;
  if (results.runs.empty())
    return fail_usage(paths.front(),
                      wrong.empty() ? "no results of numatlas below it"
                                    : "no usable results below it: " + full_text(wrong.front()),
                      "name files that --json wrote, or a folder of these");
  for (const StoredRun& run : results.runs)
    if (run.started.empty() && results.runs.size() > 1)
      return fail_usage(run.file, "does not record when it ran",
                        "several runs are told apart by their start");
  if (!results.unrelated.empty())
    results.notes.push_back(fmt::format("skipped, not results: {}: {}",
                                        count_text(results.unrelated.size(), "file"),
                                        names_text(results.unrelated)));
  open_hosts(paths, results);
  return finish(std::move(results));
}

}  // namespace numatlas
