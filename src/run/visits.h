// The list of visits: what each realisation of a case gave. It is only ever appended to; what a
// case is over its visits is computed from it whenever a report is wanted.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "record/report.h"

namespace numatlas {

/// What happened on the hosts of a run during a visit.
struct VisitUse {
  std::optional<double> others, stolen;  ///< CPUs, of the host where it was most
  bool disturbed = false;                ///< so much that the visit's figures are not to be trusted
  bool repeated = false;                 ///< it is the second try
  bool counts = false;                   ///< what it found must not be lost: wrong data
  std::optional<double> throttled = {};  ///< CPUs that a quota withheld
};

/// One realisation of a case: its memory made, or found as the visit before left it, and its flows
/// run once. Times are seconds of the session.
struct Visit {
  double start = 0, end = 0;
  int by = 0;  ///< the benchmark of the session that made it
  Status status = Status::ok;
  std::optional<Error> error = {};  ///< why it is not ok
  bool optional = false;            ///< what failed was planned as something that may fail
  /// By their workers, as the session numbers them (SessionState::workers). Of a visit that was cut
  /// short those of this rank.
  std::vector<FlowResult> flows = {};
  VisitUse use = {};
  bool memory_kept = false;   ///< it found the memory of the visit before
  double stopped_before = 0;  ///< seconds for which a flow of the first try was stopped

  /// Whether a kernel's output was not what it should be.
  bool has_wrong_output() const;
};

/// The visits to a piece of work, which cases of several benchmarks may have in common.
struct VisitList {
  std::vector<Visit> visits;
  int round = -1;  ///< number of the round in which the last one was

  /// Visits that came to their end.
  int whole() const;
  /// Drops what was needed to make the case of them: flows other than the first of each visit that
  /// are as they should be.
  void drop_flows();
};

/// The estimate of a quantity over visits, from what each visit estimated. A single visit says all
/// that is known, and what never differs was not measured: of these the last one. Absent without
/// any.
std::optional<Estimate> over_visits(std::span<const Estimate> visits);

/// Sets what a case is over its visits: flows, figures, host totals, `visits`. `each`: what each of
/// `visits` gave, with its figures; neither is empty. Pure.
void join_visits(Case& result, std::vector<Case> each, std::span<const Visit* const> visits);

/// Whether the first figures of all measured flows are known as well as was asked for, over enough
/// visits.
bool has_converged(const VisitList& list, double precision);

/// Says of each flow how it ended: "converged", or what ended its last visit; "interrupted" where
/// visits to the case were still to come (not `ended`).
void set_stop(Case& result, double precision, bool ended);

/// Which visits are measured again: disturbed ones, once each, a few and then one in five. Where
/// several in a row were disturbed again, what disturbs lasts, and no more are repeated until a
/// visit is left in peace.
class Repeats {
 public:
  /// Whether a visit that ended is to be measured again.
  bool again(const VisitUse& use);

 private:
  int in_vain_ = 0;  ///< in a row
  int visits_ = 0, repeated_ = 0;
};

}  // namespace numatlas
