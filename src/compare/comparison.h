// What was compared, as the common record.
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "compare/differences.h"
#include "compare/match.h"

namespace numatlas {

/// What is shown of it.
struct CompareView {
  CompareRule rule;
  std::set<CaseVerdict> only;  ///< empty: all; the table leaves out many that are the same
};

/// Two files, or launches, against each other.
struct ComparedFiles {
  StoredFile base, now;
  std::size_t base_launches = 1, now_launches = 1;
  Comparison comparison;
  std::vector<Difference> differences;
  std::string launches_from = {};  ///< folder of earlier launches; "": their spread is assumed
};

/// "SLOWER 2 of 40 (triad 1MiB base -10.1 %, ...); 1 faster, 37 same".
std::string answer_of(const Comparison& found);
/// A case for each compared one (label `row`: "case", of pilots "machine"), each difference of the
/// machines ("difference") and each case that only one side has ("only").
RunReport report_of(const ComparedFiles& files, const CompareView& view);

}  // namespace numatlas
