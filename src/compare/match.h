// Two sets of stored cases against each other: pure.
#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "analysis/sides.h"
#include "compare/stored.h"

namespace numatlas {

/// A case of both sides.
struct ComparedCase {
  StoredCase base, now;
  Change change;
};

struct Comparison {
  std::vector<ComparedCase> cases;    ///< in the order of the base
  std::vector<ComparedCase> machine;  ///< pilots of both sides: judged apart, and not counted
  std::vector<StoredCase> only_base, only_now;

  std::size_t count(CaseVerdict verdict) const;
};

/// All cases of a file, in the order of its runs.
std::vector<StoredCase> cases_of(const StoredFile& file);

/// Cases that `rule` wants, matched by key and judged together. A point that one side skipped is
/// "not comparable" with the other's cases of that point.
Comparison match_cases(const std::vector<StoredCase>& base, const std::vector<StoredCase>& now,
                       const CompareRule& rule);

/// Whether a rule asks for a case.
bool wants(const CompareRule& rule, const StoredCase& one);

/// Whether both are copies of one run; of files: of the same runs in the same order.
bool same_run(const StoredRun& a, const StoredRun& b);
bool same_run(const StoredFile& a, const StoredFile& b);
inline const std::string& start_of(const StoredRun& run) { return run.started; }
inline std::string start_of(const StoredFile& file) {
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

/// Whether each host is to be compared with itself: there are several, and one is on both sides.
/// Hosts of which none is, are launches of their side.
bool are_paired_by_host(const std::vector<StoredFile>& base, const std::vector<StoredFile>& now);

/// The files of several launches of the same commands as one, whose figures are those over the
/// launches; cases that not every file has get a note. `by_host`: of each host apart, whose name
/// its cases have. Undefined for none.
StoredFile merged(const std::vector<StoredFile>& launches, bool by_host = false);

/// Errors (kind usage) where both sides have nothing in common. Commands that are measured in turn
/// may ask for different things by design: without a common case they are matched by the order of
/// their cases; metrics and units must agree, and another place is no reason not to compare.
Expected<Comparison> compare_files(const StoredFile& base, const StoredFile& now,
                                   const CompareRule& rule);

}  // namespace numatlas
