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

/// Runs of one command on the same hosts, by their starts.
struct RunSeries {
  std::string command;
  std::vector<std::string> hosts;
  struct Run {
    std::string file, started;
  };
  std::vector<Run> runs;
  std::vector<CaseSeries> cases;
};

/// Groups runs by command and hosts, leaves out what is there twice, and judges each case of the
/// newest run of a group. Groups of one run have no cases.
std::vector<RunSeries> series_of(std::vector<StoredRun> runs, const CompareRule& rule,
                                 std::vector<std::string>& notes);

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
