// Measures the cases of one or more benchmarks in common rounds, within one time.
//
// Each case gets a value before any has a second one (breadth before depth); later rounds visit
// all unfinished cases of all benchmarks in a shuffled order, so that every figure is spread over
// the whole session and not over the part of it that its benchmark had.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "run/benchmark_run.h"
#include "run/twins.h"

namespace numatlas {

struct SessionOptions {
  std::chrono::duration<double> time{0};  ///< of all runs together, where they share one
  int visits = 0;                         ///< of each case, where that is asked for
  std::uint64_t seed = 1;
  bool pilots = true;  ///< whether reference measurements may take memory and time
  bool twins = false;  ///< whether equal cases of several benchmarks are measured once
  /// Whether cases that have no value yet when the time is over are skipped; otherwise each gets
  /// one.
  bool keeps_time = false;
  bool null_engine = false;  ///< nothing is measured that others could disturb
  std::optional<Noise> noise = {};
  std::function<void()> after_round = {};  ///< as SessionState has it
};

class Session {
 public:
  using Seconds = std::chrono::duration<double>;
  /// Told on every rank after each visit, and what it returns must be the same on every rank.
  using AfterVisit = std::function<Expected<void>(BenchmarkRun&)>;

  /// `comm` must outlive it.
  Session(Comm& comm, const SessionOptions& options, AfterVisit after_visit);

  /// Visits every case of a benchmark once, and finishes what must be known before its last cases
  /// are (Benchmark::refine). The arguments must outlive the session. Collective; an error, the
  /// same on every rank, ends the session.
  Expected<void> add(const Benchmark& benchmark, const RunOptions& run_options,
                     const RunHooks& hooks, Setup setup, Seconds share);
  /// Rounds until every case has enough or the time is over.
  Expected<void> finish();
  /// Completes the reports, after an error with what there is. Returns `ran`, or what failed here.
  Expected<void> conclude(const Expected<void>& ran);

  /// Seconds of the session's time that are neither spent nor the share of a run that has not
  /// ended.
  Seconds free_time() const;
  /// How many times as long as estimated the memory of all runs took to prepare; at least 1.
  double slower() const;
  /// Whether the time is to be kept, and is over, or would be after so much more.
  bool is_over(Seconds more = Seconds{0}) const {
    return options_.keeps_time && spent() + more >= time();
  }
  /// Keeps that much of the time for what follows the session.
  void keep_for_end(Seconds time) { for_end_ = time; }
  /// Keeps that much for runs that are not there yet.
  void reserve(Seconds time) { reserved_ = time; }
  /// In the order in which they were added; also one that failed while it was added.
  const std::vector<std::unique_ptr<BenchmarkRun>>& runs() const { return runs_; }
  /// nullptr where there are none.
  const Pilots* pilots() const { return pilots_ ? &*pilots_ : nullptr; }
  /// Rounds over all runs so far.
  int rounds() const { return round_; }

 private:
  struct VisitBlock {
    BenchmarkRun* run = nullptr;
    std::size_t index = 0;
  };

  Expected<void> run_batch(BenchmarkRun& run);
  Expected<void> refine(BenchmarkRun& run);
  Expected<void> run_block(BenchmarkRun& run, std::size_t index);
  Expected<void> decide_all(BenchmarkRun& run, CaseRun& case_run);
  std::vector<VisitBlock> blocks(int round, BenchmarkRun* only);
  bool is_over_before(const BenchmarkRun& run, const CaseRun& case_run) const;
  bool can_wait(const BenchmarkRun& run, const CaseRun& case_run) const;
  TimeLeft divide(const BenchmarkRun& run, const CaseRun& next) const;
  Expected<std::optional<Seconds>> next_window(BenchmarkRun& run, const CaseRun& case_run);
  Expected<void> plan_cases(BenchmarkRun& run);
  Expected<void> take_pilots(bool last = false);
  void switch_to(BenchmarkRun& run);
  bool timeless() const { return options_.null_engine && !options_.noise; }
  Seconds now() const;
  Seconds spent() const;
  Seconds time() const { return options_.time - for_end_; }
  Seconds time_left(const BenchmarkRun& run) const;

  SessionOptions options_;
  AfterVisit after_visit_;
  SessionState state_;
  std::vector<std::unique_ptr<BenchmarkRun>> runs_;
  Twins twins_;
  bool adding_ = true;                 ///< runs that may have twins of cases that are there
  BenchmarkRun* measuring_ = nullptr;  ///< the last that did, whose engine may keep memory
  std::optional<Pilots> pilots_;
  Seconds reserved_{0}, for_end_{0};
  int round_ = 0;
};

}  // namespace numatlas
