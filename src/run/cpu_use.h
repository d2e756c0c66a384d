// What else ran on the hosts of a run.
#pragma once

#include <optional>

#include "comm/comm.h"
#include "record/report.h"
#include "run/visits.h"

namespace numatlas {

/// Puts into the report of rank 0 what `watch` saw on each host, and a warning where that may have
/// changed the figures. One rank of each host has a watch; of a run without any nothing is said.
/// Collective with `all_hosts`; otherwise, after a stop, only the own host is asked.
Expected<void> note_cpu_use(const std::optional<CpuWatch>& watch, Comm& comm, bool all_hosts,
                            RunReport& report);

/// Of one visit, in which each host had such a watch: the same on every rank. `disturbed`: rank 0
/// knows that it was; `counts`: it knows that the visit must not be measured again. Collective.
Expected<VisitUse> use_of_visit(const std::optional<CpuWatch>& watch, Comm& comm, bool disturbed,
                                bool counts);

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
