// Results that were written to files: read, and kept as rows.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <initializer_list>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "analysis/rows.h"
#include "base/error.h"

namespace numatlas {

/// A host of which something is missing, so that it cannot be judged.
struct OpenHost {
  std::string name;
  std::string brief;  ///< for the first line: "no result"
  std::string reason;
};

/// Runs of one file, or of all below a folder.
struct Results {
  std::string file;     ///< as it may be shown; of several "a.json and 2 more"
  std::string command;  ///< "survey" for one
  std::vector<Rows> runs;
  std::vector<std::string> notes;        ///< incomplete, skipped, left out
  std::vector<Error> broken{};           ///< files that should be results, and cannot be used
  std::vector<Error> closed{};           ///< folders that may not be read
  std::vector<OpenHost> open{};          ///< hosts of `broken`, by where the files lie
  std::vector<std::string> unrelated{};  ///< files that are something else
};

/// Whether a file of this command has the results of others in it. A run of such a command has no
/// rows: it stands for one that measured nothing.
bool has_results(const std::string& command);

/// Reads JSON of any measuring command, or of a survey; of a folder its survey.json. Errors are one
/// line and name the file: kind io or permission for what cannot be read, resource for what is too
/// large, usage for what is not a result of numatlas that this version can read.
Expected<Results> read_stored(const std::string& path);

/// The same of text that stands in the file at `path`.
Expected<Results> stored_from_text(const std::string& text, const std::string& path);

/// All results below a folder: *.json, without copies. Hidden files
/// and folders, snapshots and wastebaskets are passed over. Errors name `option`. A folder with
/// more than `most_others` files that are neither results nor beside or below some, and hardly any
/// result, is refused (usage).
inline constexpr std::size_t usual_others = 20000;
Expected<Results> results_below(const std::string& option, const std::string& folder,
                                std::size_t most_others = usual_others);

/// Files, which all must be results, and folders. Error (usage): none of them is a result.
/// `shrink`: takes from each run what nobody needs, before the next one is read.
Expected<Results> read_results(const std::vector<std::string>& paths,
                               const std::function<void(Rows&)>& shrink);

/// Error (usage, of --metric): no case of these runs has that figure; the hint names those that
/// they have. None of runs without figures, or of a metric "".
Expected<void> check_metric(const std::string& metric,
                            std::initializer_list<const std::vector<Rows>*> sides);

/// Whether both are copies of one run; of files: of the same runs in the same order.
bool same_run(const Rows& a, const Rows& b);
bool same_run(const Results& a, const Results& b);
inline const std::string& start_of(const Rows& run) { return run.started; }
inline std::string start_of(const Results& file) {
  return file.runs.empty() ? "" : file.runs.front().started;
}

/// The first of each set of copies; `notes` says which others were left out.
template <class Stored>
std::vector<Stored> without_copies(std::vector<Stored> all, std::vector<std::string>& notes) {
  std::vector<Stored> kept;
  std::map<std::string, std::vector<std::size_t>> by_start;  // copies began at the same time
  for (Stored& one : all) {
    std::vector<std::size_t>& alike = by_start[start_of(one)];
    const auto first =
        std::ranges::find_if(alike, [&](std::size_t i) { return same_run(one, kept[i]); });
    if (first == alike.end()) {
      alike.push_back(kept.size());
      kept.push_back(std::move(one));
    } else {
      notes.push_back(one.file + " is the same run as " + kept[*first].file + ": skipped");
    }
  }
  return kept;
}

}  // namespace numatlas
