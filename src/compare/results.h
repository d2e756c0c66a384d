// Stored results from files and folders.
#pragma once

#include <string>
#include <vector>

#include "compare/host_names.h"
#include "compare/stored.h"

namespace numatlas {

/// What was found, without copies.
struct Results {
  std::vector<StoredRun> runs;
  std::vector<std::string> notes;      ///< what was left out, and why
  std::vector<Error> broken;           ///< files that should be results, and cannot be used
  std::vector<Error> closed;           ///< folders that may not be read
  std::vector<OpenHost> open;          ///< hosts of `broken`, by where the files lie
  std::vector<std::string> unrelated;  ///< files that are something else
};

/// All results below a folder: *.json. Hidden files
/// and folders, snapshots and wastebaskets are passed over. Errors name `option`.
Expected<Results> results_below(const std::string& option, const std::string& folder);

/// Files, which all must be results, and folders. Error (usage): none of them is a result.
Expected<Results> read_results(const std::vector<std::string>& paths);

}  // namespace numatlas
