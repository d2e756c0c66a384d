// All that came out of advising, and how it is told: while a race goes on, and at its end.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "advise/candidates.h"
#include "advise/curve.h"
#include "advise/look.h"
#include "advise/race.h"
#include "base/warning.h"
#include "record/report.h"

namespace numatlas {

struct Advice {
  Machine machine;
  std::vector<std::string> program;
  Metric metric;
  std::vector<std::string> arguments;  ///< of numatlas
  std::string started;
  double seconds = 0;
  std::uint64_t seed = 0;
  Look look;
  std::vector<Candidate> candidates;  ///< all; those that were tried first
  std::size_t tried = 0;
  RaceResult race;              ///< its lanes are the candidates that were tried
  std::optional<Look> proof;    ///< the best one, watched
  std::optional<Curve> curve;   ///< its candidates are the points of curves
  CpuUse cpu_use;               ///< of the host, from the first run to the last
  bool lacks_time = false;      ///< some could be tried, but for the time
  bool first_run_cut = false;   ///< the time ended before the program as it is had: all is unknown
  std::string prepare_failure;  ///< why --prepare ended the race; "" where it did not
  std::vector<Warning> warnings;

  /// Why the race ended early; "" where it did not.
  std::string incomplete_reason() const;
  const Candidate* best() const { return race.best ? &candidates[*race.best] : nullptr; }
};

/// "31.2 % less time", of a logarithm of a cost ratio.
std::string short_gain_text(double log, const Metric& metric);
/// "31.2 % less time (28.9 to 33.4 %)", "12.0 % more of the metric (...)"; of a loss the other way
/// round.
std::string gain_text(const Estimate& ratio, const Metric& metric);

/// What the answer is.
enum class Outcome {
  better,            ///< one candidate is
  none_better,       ///< than the program as it is
  others_failed,     ///< all but the program as it is
  nothing_to_try,    ///< on this machine
  no_time,           ///< for any candidate
  too_few_runs,      ///< for a claim
  finalists_failed,  ///< while others did not
  reference_failed,  ///< the program as it is did, or what prepares it
  interrupted
};
Outcome outcome_of(const Advice& advice);

/// The answer in one sentence: the first line of advice_text.
std::string answer_of(const Advice& advice);

/// The common record: what --json FILE writes, and compare, report, plot and Python read.
RunReport report_of(const Advice& advice);

/// A screen for people.
std::string advice_text(const Advice& advice);
/// What was seen of the program and what is proposed, before anything is run against each other.
std::string candidates_text(const std::vector<Candidate>& candidates);

/// How a race goes on, on standard error: one line that changes on a terminal; elsewhere a line now
/// and then.
class RaceLine {
 public:
  explicit RaceLine(bool terminal) : terminal_(terminal) {}
  ~RaceLine() { clear(); }
  RaceLine(const RaceLine&) = delete;
  RaceLine& operator=(const RaceLine&) = delete;

  void show(const RaceProgress& progress, const RaceResult& so_far,
            const std::vector<Candidate>& candidates, const Metric& metric);
  /// Before other text is printed.
  void clear();

 private:
  bool terminal_, shown_ = false;
  std::optional<bool> final_;  ///< of the last line
  std::chrono::steady_clock::time_point last_;
};

/// "screening, round 3 of at most 10, 5 candidates; ahead: thp, 31.0 % less time than as it is".
/// Pure.
std::string race_text(const RaceProgress& progress, const RaceResult& so_far,
                      const std::vector<Candidate>& candidates, const Metric& metric);

}  // namespace numatlas
