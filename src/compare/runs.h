// Many runs of the same commands: what each case did over time, and at which run it stepped.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "compare/match.h"

namespace numatlas {

/// One run in the series of a case.
struct SeriesPoint {
  std::size_t run = 0;  ///< index into RunSeries::runs
  StoredFigure figure;
};

struct CaseSeries {
  StoredCase newest;  ///< as the newest run has it
  std::vector<SeriesPoint>
      points;                ///< by start; without runs that cannot be compared with the newest
  std::size_t left_out = 0;  ///< those
  StoredFigure earlier;      ///< what the runs before the newest make one expect
  Change change;             ///< of the newest, against that
  /// Index into `points` of the first one after the largest step: all before it and all from it on
  /// do not overlap. Absent where there is no such step of the least effect.
  std::optional<std::size_t> step;
  Change step_change;  ///< of the medians after it, against those before
};

/// A case in which a host is worse than its peers.
struct SlowCase {
  std::size_t index = 0;  ///< into the cases of the host's newest run
  double median = 0;      ///< of the peers, in the case's unit
  double part = 0;        ///< the host's figure over it, less 1
  double drop = 0;        ///< how much worse, as a part of the median rate (of times: 1 / time)
  double mads = 0;        ///< that, in scaled median absolute deviations
  std::size_t peers = 0;  ///< hosts of its kind that have the case, itself included
};

/// What is known of the hosts of a RunSeries.
struct HostVerdict {
  std::size_t peers = 0;       ///< most hosts that a case was compared over, itself included
  std::size_t compared = 0;    ///< cases that were compared with those of other hosts
  std::vector<SlowCase> slow;  ///< the largest drop first
  std::size_t with_past = 0;   ///< cases that could be told the same or not as in earlier runs
  std::size_t slower_than_past = 0;
  bool replaced = false;   ///< newer runs of the host with another processor stand apart
  std::string not_judged;  ///< why there is no verdict; "" where there is one

  bool is_slow() const { return !slow.empty() || slower_than_past > 0; }
};

/// Runs of one command on the same hosts, by their starts.
struct RunSeries {
  std::string command;
  std::vector<std::string> hosts;
  struct Run {
    std::string file, started;
  };
  std::vector<Run> runs;
  std::vector<CaseSeries> cases;
  std::size_t newest = 0;  ///< index of the newest one into what series_of was given
  HostVerdict verdict;     ///< set by judge_hosts (compare/hosts.h)
};

/// Groups runs by command and hosts, and judges each case of the newest run of a group against the
/// earlier ones. Groups of one run have no cases. `runs` without copies (without_copies).
std::vector<RunSeries> series_of(const std::vector<StoredRun>& runs, const CompareRule& rule,
                                 std::vector<std::string>& notes);

/// Whether a rule asks for a case of a history, or of hosts against each other: there the machine
/// as a whole is a case like others.
bool wants_in_series(const CompareRule& rule, const StoredCase& one);

/// Gives the cases of a side that was launched once the spread that other launches show: of the
/// same command on the same hosts and processors, as many as expected_of wants. Returns how many
/// have one.
std::size_t know_launches(StoredFile& side, const std::vector<StoredRun>& others);

/// What earlier runs make one expect of the next: their median, and the interval in which the next
/// one lies. From 6 runs on that is from the least to the greatest of their medians (a further run
/// of the same kind lies there in (n-1) of (n+1) cases; of 40 and more the outermost fortieths are
/// left out); below, each run's own interval widens it.
StoredFigure expected_of(const std::vector<SeriesPoint>& earlier);

}  // namespace numatlas
