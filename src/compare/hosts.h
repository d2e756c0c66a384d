// Hosts against each other, as one run over all of them would judge them: the newest run of each.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "compare/runs.h"
#include "record/fleet.h"

namespace numatlas {

/// Sets the verdict of each group of series_of, from `runs`, which it was given.
///
/// The newest runs of single hosts are compared by command, engine and kind of host
/// (fleet/fleet.h), case by case: a case is slow by the rule for slow nodes, with the 95 % interval
/// of its visits in the place of that of rounds, and where it is too unlikely among all cases and
/// hosts of that comparison (Benjamini and Hochberg, by `slow.false_share`). At least
/// `slow.least_hosts` hosts have to have the case. Times count by their reciprocals. Runs over
/// several hosts, and hosts that have neither peers nor earlier runs to be compared with, say why
/// in `not_judged`.
void judge_hosts(std::vector<RunSeries>& groups, const std::vector<StoredRun>& runs,
                 const CompareRule& rule, const SlowRule& slow = {});

/// Hosts of all groups, one for each command: judged, slow, not judged.
struct HostCounts {
  std::size_t judged = 0, slow = 0, not_judged = 0;
};
HostCounts count_hosts(const std::vector<RunSeries>& groups);

/// Hosts that were compared with others by a run more than a day older than the newest of these:
/// "latency on n1 (2026-01-10T00:00:00Z)".
std::vector<std::string> hosts_with_old_runs(const std::vector<RunSeries>& groups);

/// "n1", "n1 n2".
std::string hosts_text(const RunSeries& group);

}  // namespace numatlas
