// Measures the benchmarks of a survey's plan in one session: each its first values in turn, then
// common rounds over all of them, within one time.
#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "run/session.h"
#include "survey/plan.h"
#include "survey/summary.h"

namespace numatlas {

/// On a terminal a line that is redrawn; otherwise a line a benchmark; nothing unless `shown`.
class SurveyProgress {
 public:
  SurveyProgress(bool shown, double seconds_asked);
  ~SurveyProgress() { clear(); }
  SurveyProgress(const SurveyProgress&) = delete;
  SurveyProgress& operator=(const SurveyProgress&) = delete;
  /// `done` of `all` points of a benchmark are done.
  void point(const std::string& benchmark, std::size_t done, std::size_t all);
  /// A benchmark has ended: "done", "skipped: ...".
  void end(const std::string& benchmark, const std::string& outcome);
  /// Removes the line, so that other output can be printed.
  void clear() const;
  double seconds() const;

 private:
  std::string head() const;

  bool shown_, terminal_;
  double asked_;
  std::chrono::steady_clock::time_point start_;
};

/// What those who measure are told.
struct MeasuringHooks {
  std::function<void(const std::string& benchmark, std::size_t done, std::size_t all)> point;
  /// A benchmark has its first values ("12 points measured once"), or is skipped, and why; "all"
  /// after the last round.
  std::function<void(const std::string& benchmark, const std::string& outcome)> ended;
  /// After every visit, and after the first values of a benchmark: what they return must be the
  /// same on every rank. May be absent.
  std::function<Expected<void>()> visited, begun;
  /// Seconds that follow the last visit, with so many cases.
  std::function<double(std::size_t cases)> ending;
};

class Measuring {
 public:
  /// `items`: what plan_survey gave; those that turn out to have no time or not to be for here get
  /// their `skip`. All of these must outlive it. `machine`: the own host's.
  Measuring(const SurveyOptions& options, const Machine& machine, std::vector<SurveyItem>& items,
            Comm& comm, MeasuringHooks hooks);

  /// Measures within so many seconds, of which it leaves what `ending` says. Collective; an error
  /// is the same on every rank. After it comes `conclude`, whatever it returned.
  Expected<void> run(double seconds);
  /// Completes the reports, after an error with what there is. Returns `ran`, or what failed here,
  /// or a kernel's output that was wrong.
  Expected<void> conclude(const Expected<void>& ran);
  /// Brings views, facts and warnings of the reports up to date while it runs.
  void describe();

  /// Calls see(benchmark, options, report) for each benchmark that has something to say.
  void each_report(
      const std::function<void(const Benchmark&, const RunOptions&, const RunReport&)>& see) const;
  /// Whether a case was measured to its end.
  bool has_figures() const;
  /// Whether an item was begun.
  bool has_begun(std::size_t item) const { return begun_.contains(item); }
  /// Seconds that each item took; 0: not run.
  std::vector<double> taken() const;
  /// Benchmarks that were not run, and why.
  const std::vector<SkippedBenchmark>& skipped() const { return skipped_; }

 private:
  /// What a run of the session refers to.
  struct Taken {
    std::size_t item = 0;
    ParsedRun run;
    RunHooks hooks;
    BenchmarkRun* measured = nullptr;
  };

  Expected<void> run_item(std::size_t index);
  void keep_for_end();
  Expected<double> share_of(std::size_t index);
  Expected<void> measure(std::size_t index);
  std::optional<Error> find_wrong() const;
  void skip(SurveyItem& item, const std::string& why, const std::string& reason);

  const SurveyOptions& options_;
  const Machine& machine_;
  std::vector<SurveyItem>& items_;
  Comm& comm_;
  MeasuringHooks hooks_;
  std::deque<Taken> taken_;  ///< stays where it is: the session refers to it
  std::optional<Session> session_;
  std::set<std::size_t> begun_;
  std::vector<SkippedBenchmark> skipped_;
};

}  // namespace numatlas
