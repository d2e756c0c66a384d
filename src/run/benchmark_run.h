// One benchmark of a session: its cases, what a visit to one of them is, and its report.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "comm/comm.h"
#include "engine/agreement.h"
#include "engine/engine.h"
#include "run/benchmark.h"
#include "run/cases.h"
#include "run/gathering.h"
#include "run/pilots.h"
#include "run/progress.h"
#include "run/rounds.h"
#include "run/runner.h"
#include "run/setup.h"

namespace numatlas {

/// What the runs of a session have in common.
struct SessionState {
  Comm& comm;
  std::int64_t start_ns = 0;
  /// Grows when memory is to be made anew.
  int memory_number = 0;
  int runs = 0;   ///< that were made so far
  int round = 0;  ///< number of the round under way, of all batches of all runs
  /// Of all runs: those of several that are the same (a thread of a rank on a CPU) once. Visits
  /// number workers so.
  std::vector<Worker> workers = {};
  Repeats repeats = {};
  std::vector<VectorWidth> widths = {};  ///< found so far, of all runs
  /// Of this host, by one of its ranks; absent with the null engine.
  std::optional<CpuWatch> cpu_watch = {};
  /// Told on rank 0 after each round of a run that is reduced to the rounds of its hosts.
  std::function<void()> after_round = {};
};

/// The plan, or what refined it: cases that were planned together.
struct Batch {
  int number = 0;  ///< 0: the plan
  std::size_t first_case = 0;
  std::chrono::duration<double> spent{0}, recorded{0};  ///< before it
  std::size_t cases = 0;  ///< known when the benchmark was asked for more
};

class BenchmarkRun {
 public:
  using Seconds = std::chrono::duration<double>;

  /// All of these must outlive it. `share`: of the session's time.
  BenchmarkRun(SessionState& state, const Benchmark& benchmark, const RunOptions& options,
               const RunHooks& hooks, Setup setup, Seconds share);

  /// Makes the engine. Collective, as most of what follows; errors are the same on every rank.
  Expected<void> start();
  /// Asks the benchmark for more cases, now that it has seen its results: whether there are any.
  Expected<bool> refine();
  /// The cases of the plan, or of what refined it last; `time` is for all of them where they share
  /// one.
  void plan_cases(Seconds time);

  /// One visit, which is added to the case's list. `found_memory`: that of the visit before is
  /// there. An error ends the session.
  Expected<void> visit(CaseRun& run, Seconds window, bool found_memory, bool keep_memory);
  /// Whether a case has enough; rank 0 knows.
  Expected<void> decide(CaseRun& run);
  void end_for_lack_of_time(CaseRun& run);

  /// Indices of cases that have not ended, in the order of a round.
  std::vector<std::size_t> order(int round) const {
    return given_up_ ? std::vector<std::size_t>{} : order_of(cases_, round, options_.seed);
  }
  CaseRun& case_at(std::size_t index) { return cases_[index]; }
  const std::vector<CaseRun>& cases() const { return cases_; }
  bool ended() const;
  /// It cannot go on here; what it has is kept.
  void give_up(const Error& error);

  /// The first case of the plan, or of what refined it last.
  std::size_t batch_begin() const { return batch_.first_case; }
  /// Part of the share that is spent when the batch at hand is done: 1 for the last one.
  double part_of_share() const {
    return std::min(1.0, benchmark_.refinement.time_until(batch_.number));
  }
  Seconds share() const { return share_; }
  /// Of the session's time, without waiting.
  Seconds spent() const { return timeless() ? recorded_ : spent_; }
  void add_spent(Seconds time) { spent_ += time; }
  Seconds recorded() const { return recorded_; }
  /// How many times as long as estimated the memory took to prepare.
  double slower() const;

  /// Since the start of the session, by the engine's clock.
  Seconds now() const {
    return std::chrono::duration_cast<Seconds>(
        Nanoseconds(engine_->clock().now_ns() - state_.start_ns));
  }
  /// The null engine's flows each have a clock of their own, and no time passes between them.
  bool timeless() const { return options_.null_engine && !options_.noise; }
  /// Whether visits go on until the time is over, however well the figures seem to be known: a
  /// virtual machine changes its speed within seconds and more, when its CPUs are moved.
  bool uses_all_time() const;

  /// Makes the report of what is known so far. `pilots` may be null. `last`: there will be no
  /// other.
  void update(const Pilots* pilots, bool last = false);
  /// Completes the report, after an error with what there is. Returns `ran`, or what failed here.
  Expected<void> conclude(const Expected<void>& ran, const Pilots* pilots);
  /// Views and facts of the report.
  void describe();

  const Benchmark& benchmark() const { return benchmark_; }
  const RunOptions& options() const { return options_; }
  const RunHooks& hooks() const { return hooks_; }
  const Setup& setup() const { return setup_; }
  Engine& engine() { return *engine_; }
  Progress& progress() { return progress_; }
  RunReport& report() { return report_; }
  const RunReport& report() const { return report_; }
  /// The kernel's output that was not what it should be, the first time.
  std::optional<Error> wrong() const { return wrong_output(case_input(), cases_); }
  /// Collective: why cases were skipped while running; nothing where other cases stand for them.
  Expected<void> check_measured() const {
    return as_root_has(state_.comm, skip_that_counts(case_input(), cases_));
  }
  /// Whether any case was skipped while running.
  bool skipped() const;
  /// Whether a case was measured, if only in part.
  bool has_results() const;
  /// Whether one was measured to its end.
  bool has_figures() const {
    return std::ranges::any_of(cases_, [](const CaseRun& run) { return run.visits() > 0; });
  }
  /// What RunHooks::process_memory made. Collective; on rank 0.
  Expected<std::string> process_memory_text();
  Error in_words(const Error& error) const {
    return hooks_.in_words ? hooks_.in_words(error) : error;
  }
  /// The worker of the session that is this one.
  int worker_of_session(int worker) const {
    return session_workers_[static_cast<std::size_t>(worker)];
  }

 private:
  CaseInput case_input() const;
  void number_workers();
  std::vector<double> weights() const;
  EngineOptions engine_options();
  void mark_in_memory(Scenario& scenario) const;
  void note_widths();
  Expected<void> run_rounds(std::size_t index, bool takes_part);
  Expected<void> retest();
  std::pair<Visit, Expected<void>> try_visit(const CaseRun& run, Seconds window, bool keep_memory);
  std::pair<Visit, Expected<void>> try_in_peace(const CaseRun& run, Seconds window,
                                                bool keep_memory);
  Expected<void> run_scenario(std::size_t index, Seconds window, bool keep_memory, Visit& visit);
  void correct_pace(std::size_t index, const std::vector<Trace>& traces);
  Expected<bool> missed_its_rate(const CaseRun& run) const;
  Expected<void> take_failure(const PlannedCase& planned, Error error, Visit& visit);
  Expected<void> take_traces(const PlannedCase& planned, std::vector<Trace> traces, Visit& visit);
  Expected<void> gather(std::vector<FlowResult>& flows, bool stopped);
  void append(CaseRun& run, Visit visit);
  void capture_process_memory();
  bool root() const { return state_.comm.rank() == 0; }

  SessionState& state_;
  const int number_;  ///< of the session's runs
  const Benchmark& benchmark_;
  const RunOptions& options_;
  const RunHooks& hooks_;
  Setup setup_;
  Seconds share_, spent_{0}, recorded_{0};
  Progress progress_;
  RunReport report_;
  /// Where the run is reduced to these.
  std::unique_ptr<HostRounds> rounds_of_hosts_;
  std::unique_ptr<Engine> engine_;
  std::vector<CaseRun> cases_;  ///< of the plan, then of what refines it
  Batch batch_;
  Seconds begun_{0};
  std::optional<Error> given_up_;
  std::vector<int> session_workers_;  ///< by worker, the session's number of it
  std::vector<int> own_workers_;      ///< by the session's number, this run's; -1: none
  std::string my_process_memory_;
  /// Of loads that are held to a rate.
  struct Pace {
    double factor = 1;  ///< how many times as much as asked for they are told to move
    double missed = 1;  ///< how many times as much was asked for as they moved the last time
    bool helps = true;  ///< being told more, they moved more
  };
  std::map<std::size_t, Pace> paces_;  ///< by scenario of the plan
  std::size_t measured_now_ = 0;       ///< scenario of the plan
  std::size_t memory_of_ = 0;          ///< the one that my_process_memory_ is of
};

}  // namespace numatlas
