// Whether two figures of one case differ: pure.
#pragma once

#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "analysis/rows.h"

namespace numatlas {

enum class CaseVerdict {
  faster,
  slower,
  same,
  /// The change may be 0, and may be as large as one that counts: more launches would tell.
  not_distinguishable,
  not_comparable
};
/// "faster", "slower", "same", "not distinguishable", "not comparable".
const char* name_of(CaseVerdict verdict);

/// When a difference counts.
struct CompareRule {
  double min_effect = 0.02;
  /// Standard deviation of a figure between launches of the same program, as a part of it: other
  /// physical pages, other addresses. Taken of a side that was launched once, and of which no
  /// earlier launches tell. Absent: 2 % where that is no virtual machine, of which nobody knows.
  std::optional<double> launch_spread = {};
  double launch_spread_taken() const { return launch_spread.value_or(0.02); }
  bool in_pairs = false;    ///< the launches of both sides alternated: each has its counterpart
  bool every_flow = false;  ///< flows one by one, and not their median
  std::string metric;       ///< only this one; also those that follow from others
};

struct Change {
  CaseVerdict verdict = CaseVerdict::not_comparable;
  Unit unit{};                 ///< of both figures: times are better when they are less
  std::optional<double> part;  ///< new over base, minus 1
  /// 95 % interval of it; the high end is absent where base may be 0.
  std::optional<double> low, high;
  /// How likely a change is that is this large or larger where nothing changed. Absent where
  /// nothing can be said, and where the change is judged against earlier runs.
  std::optional<double> p;
  std::string reason;  ///< of "not comparable"
  /// What else may have made the difference: "NEW: other programs used 1.0 of 2 CPUs"; "" where
  /// nothing of the kind is known.
  std::string doubt;
  bool single = false;     ///< a side is one launch, which shows nothing of its disturbances
  bool guest = false;      ///< such a launch on a virtual machine, and nothing tells of others
  bool explained = false;  ///< it differs, but `doubt` may be why: "not distinguishable"
  /// Of a change that would count alone but not among so many cases, where chance may have made it:
  /// their number; else 0.
  std::size_t chance_among = 0;
  /// New over base, minus 1, of the figures relative to their pilots; absent without pilots.
  std::optional<double> relative;
};

/// Why the two figures cannot be compared, and what may have disturbed them; else the change, its
/// interval and its probability, and no verdict yet. The logarithms are compared: Student's t with
/// Welch's degrees of freedom, or over the pairs. A side of one launch has the interval of its
/// visits and `rule.launch_spread` beside it. Where both are of one launch and have pilots, the
/// change must show in the figures and in the figures relative to their pilots, whatever part of
/// the machine's change of speed the case takes: the probability is the larger one, the interval
/// spans both. A change of the figure alone is `explained`.
Change change_between(const Row& base, const Row& now, const CompareRule& rule);

/// Gives all changes with a probability their verdicts. Faster, slower: of the least effect, and
/// too unlikely by Holm's procedure, which keeps the chance of any false one among all cases at
/// 5 %; not of a single launch that was disturbed, or on a virtual machine where neither pilots nor
/// other launches tell how launches differ. Same: the whole interval lies within the least
/// effect.
void judge(const std::vector<Change*>& changes, const CompareRule& rule);

/// The same case of several launches: the mean of their values, with Student's interval over them.
/// Undefined for less than two.
Row row_of_launches(const std::vector<Row>& launches);

}  // namespace numatlas
