// Two sets of stored cases against each other: pure.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "compare/stored.h"

namespace numatlas {

enum class CaseVerdict { faster, slower, same, not_comparable };
/// "faster", "slower", "same", "not comparable".
const char* name_of(CaseVerdict verdict);

/// When a difference counts.
struct CompareRule {
  /// Intervals know how steady one run was. Not what the next start of the same program gets: other
  /// physical pages, other addresses, which alone move figures by a percent or two.
  double min_effect = 0.02;
  bool every_flow = false;  ///< flows one by one, and not their median
  std::string metric;       ///< only this one; also those that follow from others
};

struct Change {
  CaseVerdict verdict = CaseVerdict::not_comparable;
  std::optional<double> part;  ///< new over base, minus 1
  /// What both intervals leave open of it; the high end is absent where base may be 0.
  std::optional<double> low, high;
  std::string reason;  ///< of "not comparable"
  /// What else may have made the difference: "NEW: other processes used 1.0 of 2 CPUs"; "" where
  /// nothing of the kind is known.
  std::string doubt;
};

/// Of two figures of the same case. Faster or slower: the intervals do not overlap, and the change
/// is `rule.min_effect` at least. Times are better when they are less, rates when they are more.
Change change_of(const StoredFigure& base, const StoredFigure& now, const std::string& unit,
                 const CompareRule& rule);

/// A case of both sides.
struct ComparedCase {
  StoredCase base, now;
  Change change;
};

struct Comparison {
  std::vector<ComparedCase> cases;  ///< in the order of the base
  std::vector<StoredCase> only_base, only_now;

  std::size_t count(CaseVerdict verdict) const;
};

/// All cases of a file, in the order of its runs.
std::vector<StoredCase> cases_of(const StoredFile& file);

/// Cases that `rule` wants, matched by key. A point that one side skipped is "not comparable" with
/// the other's cases of that point.
Comparison match_cases(const std::vector<StoredCase>& base, const std::vector<StoredCase>& now,
                       const CompareRule& rule);

/// Whether a rule asks for a case.
bool wants(const CompareRule& rule, const StoredCase& one);

/// Errors (kind usage) where both sides have nothing in common.
Expected<Comparison> compare_files(const StoredFile& base, const StoredFile& now,
                                   const CompareRule& rule);

}  // namespace numatlas
