#include "run/session.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/signals.h"
#include "base/tree.h"
#include "engine/agreement.h"
#include "kernels/permutation.h"
#include "run/estimate_time.h"

namespace numatlas {

using Seconds = Session::Seconds;

Session::Session(Comm& comm, const SessionOptions& options, AfterVisit after_visit)
    : options_(options),
      after_visit_(std::move(after_visit)),
      state_{comm, options.null_engine ? 0 : MonotonicClock().now_ns()} {
  state_.after_round = options.after_round;
  if (!options.null_engine && comm.local_rank() == 0)
    state_.cpu_watch.emplace(running_system(), comm.local_pids());
  if (options_.pilots && !timeless()) pilots_.emplace(comm);
}

Seconds Session::now() const { return runs_.empty() ? Seconds{0} : runs_.front()->now(); }

/// Of the time for all.
Seconds Session::spent() const {
  if (!timeless()) return now();
  Seconds recorded{0};
  for (const auto& run : runs_) recorded += run->recorded();
  return recorded;
}

Seconds Session::free_time() const {
  Seconds free = time() - spent() - reserved_;
  for (const auto& run : runs_) {
    if (!run->ended()) free -= std::max(Seconds{0}, run->share() - run->spent());
  }
  return free;
}

double Session::slower() const {
  double most = 1;
  for (const auto& run : runs_) most = std::max(most, run->slower());
  return most;
}

/// For a run: its own share, and what others did not use; for a batch before its last only part of
/// it.
Seconds Session::time_left(const BenchmarkRun& run) const {
  const Seconds own = run.ended() ? Seconds{0} : std::max(Seconds{0}, run.share() - run.spent());
  return free_time() + own - (1 - run.part_of_share()) * run.share();
}

/// How the time that is left is divided: among a run's own cases until each has a value, then
/// among the cases of all runs.
TimeLeft Session::divide(const BenchmarkRun& run, const CaseRun& next) const {
  std::vector<RunCases> plans;
  for (const auto& one : runs_) {
    const bool counts = round_ > 0 ? !one->ended() : one.get() == &run;
    if (counts) plans.push_back({one->cases(), one->slower()});
  }
  const Seconds left = round_ > 0 ? time() - spent() : time_left(run);
  return divide_time(plans, next, run.slower(), left.count());
}

/// Whether the time is to be kept, and ends before a case would have its next visit.
bool Session::is_over_before(const BenchmarkRun& run, const CaseRun& case_run) const {
  // Of cases that take no time to prepare the overhead makes much, which others do not have.
  constexpr double most_slower = 4;
  const double slower = std::min(most_slower, run.slower());
  // On a machine that is slower than estimated first values may take more than their share, but
  // leave half of theirs to benchmarks that have none yet.
  if (adding_ && options_.keeps_time && run.spent() > run.share() &&
      spent() + reserved_ / 2 > time())
    return true;
  return is_over(Seconds(case_run.ready > 0 ? 0 : case_run.preparation * slower));
}

/// Whether a case is known well enough while others are not, and was visited lately.
bool Session::can_wait(const BenchmarkRun& run, const CaseRun& case_run) const {
  const auto& visits = case_run.done->visits;
  if (!case_run.converged || case_run.ready > 0 || visits.empty() ||
      run.now().count() - visits.back().end >= options_.time.count() / most_visits)
    return false;
  return std::any_of(runs_.begin(), runs_.end(), [](const auto& one) {
    return !one->ended() && std::ranges::any_of(one->cases(), [](const CaseRun& other) {
      return !other.ended && !other.converged && !other.skipped;
    });
  });
}

/// How long the next visit to a case measures; 0: there is no time for it; nothing: other cases
/// have fewer visits, and there is no time for all.
Expected<std::optional<Seconds>> Session::next_window(BenchmarkRun& run, const CaseRun& case_run) {
  if (case_run.once || case_run.skipped) return case_run.time;
  const int visits = run.options().visits;
  const bool of_all = run.options().time_of_all;
  const Seconds of_one = case_run.time / (visits > 0 ? visits : most_visits);
  if (!of_all && (visits > 0 || run.options().limit.count() == 0 || timeless())) return of_one;
  // All of them were asked for.
  if (visits > 0) return std::max<Seconds>(shortest_window, case_run.time / visits);
  constexpr Seconds pass_over{-1};
  const TimeLeft left = divide(run, case_run);
  const bool ahead =
      round_ > 0 && case_run.ready == 0 &&
      ((left.visits < static_cast<int>(least_visits) && case_run.visits() > left.visits) ||
       can_wait(run, case_run));
  const bool over = is_over_before(run, case_run);
  const auto window = state_.comm.broadcast_value(over     ? Seconds{0}
                                                  : ahead  ? pass_over
                                                  : of_all ? left.window
                                                           : std::min(left.window, of_one));
  if (!window) return fail(window.error());
  if (*window == pass_over) return std::nullopt;
  return *window;
}

/// Two engines may not keep memory at the same time: each was planned with all there is.
void Session::switch_to(BenchmarkRun& run) {
  if (measuring_ != nullptr && measuring_ != &run) measuring_->engine().release();
  measuring_ = &run;
}

/// The visits that follow each other with the same memory. None where another benchmark's case had
/// one to the same work this round.
Expected<void> Session::run_block(BenchmarkRun& run, std::size_t index) {
  CaseRun& case_run = run.case_at(index);
  if (case_run.done->round == state_.round || case_run.ended) return {};
  const int block = case_run.visits() == 0 ? case_run.first_block : case_run.later_block;
  if (block > 1) ++state_.memory_number;
  switch_to(run);
  // Not between visits that go on with the same memory, as warm as it is.
  TRY(take_pilots());
  for (int i = 0; i < block && !case_run.ended; ++i) {
    if (stop_requested()) return fail(ErrorKind::interrupted, "interrupted");
    case_run.ready = i > 0 ? block - i : 0;
    const auto window = TRY(next_window(run, case_run));
    if (!window) break;
    if (!case_run.skipped && *window == Seconds{0}) {
      run.end_for_lack_of_time(case_run);
      break;
    }
    const Seconds begun = run.now();
    auto done = run.visit(case_run, *window, i > 0, i + 1 < block);
    run.add_spent(timeless() ? Seconds{0} : run.now() - begun);
    if (!done) return done;
    TRY(decide_all(run, case_run));
    TRY(after_visit_(run));
  }
  case_run.ready = 0;
  // The last visit may have left memory for a next one that does not come.
  if (block > 1) ++state_.memory_number;
  return {};
}

/// Whether a case has enough, and with it those of other benchmarks that are the same work.
Expected<void> Session::decide_all(BenchmarkRun& run, CaseRun& case_run) {
  TRY(run.decide(case_run));
  if (!options_.twins) return {};
  for (const auto& other : runs_) {
    for (std::size_t i = 0; i < other->cases().size(); ++i) {
      CaseRun& twin = other->case_at(i);
      if (&twin == &case_run || twin.done != case_run.done || twin.ended) continue;
      TRY(other->decide(twin));
    }
  }
  return {};
}

/// The unfinished cases of all runs (or of one): each run's in its own order of the round, and
/// the runs mixed in proportion, but for cases that go on with the same memory.
std::vector<Session::VisitBlock> Session::blocks(int round, BenchmarkRun* only) {
  struct Queue {
    BenchmarkRun* run;
    std::vector<std::size_t> order;
    std::size_t next = 0;
  };
  std::vector<Queue> queues;
  std::size_t left = 0;
  for (const auto& run : runs_) {
    if (only != nullptr && run.get() != only) continue;
    queues.push_back({run.get(), run->order(round)});
    left += queues.back().order.size();
  }
  std::uint64_t state = options_.seed + static_cast<std::uint64_t>(round) * 0xd1b54a32d192ed03;
  std::vector<VisitBlock> blocks;
  while (left > 0) {
    // The remainder's bias is far below anything that matters here.
    std::size_t pick = split_mix(state) % left;
    auto queue = queues.begin();
    for (; pick >= queue->order.size() - queue->next; ++queue)
      pick -= queue->order.size() - queue->next;
    BenchmarkRun& run = *queue->run;
    const std::size_t neighbours = run.case_at(queue->order[queue->next]).neighbours;
    do {
      blocks.push_back({&run, queue->order[queue->next++]});
      --left;
    } while (queue->next < queue->order.size() &&
             run.case_at(queue->order[queue->next]).neighbours == neighbours);
  }
  return blocks;
}

Expected<void> Session::take_pilots(bool last) {
  if (!pilots_) return {};
  return pilots_->take([this] { return now().count(); }, last);
}

Expected<void> Session::plan_cases(BenchmarkRun& run) {
  const auto time = state_.comm.broadcast_value(std::max(Seconds{0}, time_left(run)));
  if (!time) return fail(time.error());
  run.plan_cases(*time);
  return {};
}

/// Rounds over a run's cases: one, or until they have ended where others follow from them.
Expected<void> Session::run_batch(BenchmarkRun& run) {
  const bool to_the_end = run.part_of_share() < 1 && !run.benchmark().refinement.first_values;
  TRY(plan_cases(run));
  for (int round = 0;; ++round) {
    const auto round_of_part = blocks(round, &run);
    if (round_of_part.empty()) break;
    ++state_.round;
    if (round == 0 && options_.twins) twins_.add(run, run.batch_begin());
    if (round > 0) {
      if (!to_the_end) break;
      ++state_.memory_number;
    }
    for (const VisitBlock& block : round_of_part) {
      // Those of earlier batches have their values.
      if (block.index < run.batch_begin()) continue;
      CaseRun& case_run = run.case_at(block.index);
      // Other benchmarks have measured the same.
      const bool known = round == 0 && !case_run.done->visits.empty();
      TRY(known ? run.decide(case_run) : run_block(run, block.index));
    }
  }
  return {};
}

Expected<void> Session::add(const Benchmark& benchmark, const RunOptions& run_options,
                            const RunHooks& hooks, Setup setup, Seconds share) {
  runs_.push_back(std::make_unique<BenchmarkRun>(state_, benchmark, run_options, hooks,
                                                 std::move(setup), share));
  BenchmarkRun& run = *runs_.back();
  if (auto started = run.start(); !started) {
    runs_.pop_back();
    return started;
  }
  // What it keeps was planned before this run.
  if (measuring_ != nullptr) switch_to(run);
  if (pilots_) {
    auto planned = pilots_->add(run.setup(), run_options, options_.time,
                                options_.null_engine ? &run.engine() : nullptr);
    if (!planned) return planned;
  }
  if (runs_.size() > 1) ++state_.memory_number;
  TRY(run_batch(run));
  return refine(run);
}

/// What a run asks for when it knows enough of its cases: visited once, like those of the plan.
Expected<void> Session::refine(BenchmarkRun& run) {
  while (run.ended() || run.benchmark().refinement.first_values) {
    const auto more = TRY(run.refine());
    if (!more) return {};
    TRY(run_batch(run));
  }
  return {};
}

Expected<void> Session::finish() {
  adding_ = false;
  for (round_ = 1;; ++round_) {
    ++state_.round;
    for (const auto& run : runs_) {
      TRY(refine(*run));
    }
    const auto round = blocks(round_, nullptr);
    if (round.empty()) return take_pilots(true);
    ++state_.memory_number;
    for (const VisitBlock& block : round) {
      TRY(run_block(*block.run, block.index));
    }
  }
}

Expected<void> Session::conclude(const Expected<void>& ran) {
  Expected<void> ended = ran;
  for (const auto& run : runs_) {
    if (auto concluded = run->conclude(ran, pilots()); ended) ended = concluded;
  }
  return ended;
}

}  // namespace numatlas
