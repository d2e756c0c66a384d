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
};

/// "SLOWER 2 of 40 (triad 1MiB base -10.1 %, ...); 1 faster, 37 same"; of several hosts "SLOWER 1
/// of 10: n04 (triad -7.0 %); 9 same"; "UNDECIDED: 1 case, -20 to -6.0 %: within what launches
/// differ on a virtual machine".
std::string answer_of(const Comparison& found);
/// Whether nothing is known of any case, or of one of several hosts.
bool leaves_open(const Comparison& found);
/// Why the figures of a side are not to be relied on: "UNRELIABLE: NEW: other programs used 1.0 of
/// 2 CPUs", "INCOMPLETE: BASE: interrupted"; "" where those of both are.
std::string reserve_of(const ComparedFiles& files);
/// A case for each compared one (label `row`: "case", of pilots "machine"), each difference of the
/// machines ("difference") and each case that only one side has ("only").
RunReport report_of(const ComparedFiles& files, const CompareView& view);

}  // namespace numatlas
