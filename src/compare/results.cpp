#include "compare/results.h"

#include <algorithm>
#include <cstddef>
#include <filesystem>
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

bool may_be_a_result(const fs::path& path) {
  const std::string name = path.filename().string();
  return path.extension() == ".json" ||
         (path.extension() == ".dat" && name.starts_with("memory_results-"));
}

/// Sorted: what is found does not depend on the file system.
Expected<std::vector<std::string>> files_below(const std::string& option,
                                               const std::string& folder) {
  std::error_code code;
  const auto failed = [&]() {
    return fail_about(file_error_kind(code.value()), option,
                      fmt::format("{}: {}", printable(folder), code.message()),
                      "name the folder that has the results");
  };
  // Here and not below, where a folder of somebody else is passed over.
  fs::directory_iterator(folder, code);
  if (code) return failed();
  std::vector<std::string> files;
  const auto skip = fs::directory_options::skip_permission_denied;
  fs::recursive_directory_iterator entry(folder, skip, code);
  for (; !code && entry != fs::recursive_directory_iterator(); entry.increment(code)) {
    std::error_code of_file;
    if (may_be_a_result(entry->path()) && entry->is_regular_file(of_file))
      files.push_back(entry->path().string());
  }
  if (code) return failed();
  std::ranges::sort(files);
  return files;
}

void add(StoredFile file, Results& results) {
  for (StoredRun& run : file.runs) results.runs.push_back(std::move(run));
  for (std::string& note : file.notes) results.notes.push_back(std::move(note));
}

bool has_rounds(const StoredRun& run) {
  return std::ranges::any_of(run.cases,
                             [](const StoredCase& one) { return !one.figure.rounds.empty(); });
}

/// A .dat beside the JSON of the same run tells nothing new: its name has the minute of the start.
void leave_out_averages(Results& results) {
  const auto identity = [](const StoredRun& run) {
    constexpr std::size_t to_the_minute = 16;  // 2026-11-21T10:01
    return std::pair(run.started.substr(0, to_the_minute),
                     std::multiset(run.hosts.begin(), run.hosts.end()));
  };
  std::set<std::pair<std::string, std::multiset<std::string>>> whole;
  bool any = false;
  for (const StoredRun& run : results.runs) any = any || (run.by_rounds && !has_rounds(run));
  if (!any) return;
  for (const StoredRun& run : results.runs)
    if (run.by_rounds && has_rounds(run)) whole.insert(identity(run));
  const auto told = [&](const StoredRun& run) {
    return run.by_rounds && !has_rounds(run) && whole.contains(identity(run));
  };
  std::vector<std::string> names;
  for (const StoredRun& run : results.runs)
    if (told(run)) names.push_back(run.file);
  std::erase_if(results.runs, told);
  if (!names.empty())
    results.notes.push_back(fmt::format(
        "skipped, as other files have the rounds of the same runs: {}", names_text(names)));
}

Expected<Results> finish(Results results) {
  // A survey's folder has the file of each benchmark beside survey.json.
  results.runs = without_copies(std::move(results.runs), results.notes);
  leave_out_averages(results);
  return results;
}

Expected<void> add_below(const std::string& option, const std::string& folder, Results& results) {
  for (const std::string& file : TRY(files_below(option, folder))) {
    auto stored = read_stored(file);
    if (stored &&
        std::ranges::any_of(stored->runs, [](const StoredRun& run) { return run.started.empty(); }))
      results.broken.push_back(Error{ErrorKind::usage, "does not record when it ran", "", file});
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
  if (results.runs.empty())
    return fail_usage(paths.front(),
                      results.broken.empty()
                          ? "no results of numatlas below it"
                          : "no usable results below it: " + full_text(results.broken.front()),
                      "name files that --json wrote, or a folder of these");
  for (const StoredRun& run : results.runs)
    if (run.started.empty() && results.runs.size() > 1)
      return fail_usage(run.file, "does not record when it ran",
                        "a .dat has its start in its name, memory_results-PxT-hhmmDDMMYYYY.dat; "
                        "several runs are told apart by it");
  if (!results.unrelated.empty())
    results.notes.push_back(fmt::format("skipped, not results: {}: {}",
                                        count_text(results.unrelated.size(), "file"),
                                        names_text(results.unrelated)));
  for (const Error& error : results.broken)
    results.notes.push_back("cannot be used, so its runs are not judged: " +
                            printable(full_text(error)));
  return finish(std::move(results));
}

}  // namespace numatlas
