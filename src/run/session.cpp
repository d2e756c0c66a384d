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

Seconds Session::now() const { return parts_.empty() ? Seconds{0} : parts_.front()->now(); }

/// Of the time for all.
Seconds Session::spent() const {
  if (!timeless()) return now();
  Seconds recorded{0};
  for (const auto& part : parts_) recorded += part->recorded();
  return recorded;
}

Seconds Session::free_time() const {
  Seconds free = options_.time - spent() - reserved_;
  for (const auto& part : parts_) {
    if (!part->ended()) free -= std::max(Seconds{0}, part->share() - part->spent());
  }
  return free;
}

double Session::slower() const {
  double most = 1;
  for (const auto& part : parts_) most = std::max(most, part->slower());
  return most;
}

/// For a part: its own share, and what others did not use; for a stage before its last only part of
/// it.
Seconds Session::time_left(const SessionPart& part) const {
  const Seconds own = part.ended() ? Seconds{0} : std::max(Seconds{0}, part.share() - part.spent());
  return free_time() + own - (1 - part.part_of_share()) * part.share();
}

/// How the time that is left is divided: among a part's own points until each has a value, then
/// among the points of all parts.
TimeLeft Session::divide(const SessionPart& part, const PointRun& next) const {
  std::vector<PlanPoints> plans;
  for (const auto& one : parts_) {
    const bool counts = round_ > 0 ? !one->ended() : one.get() == &part;
    if (counts) plans.push_back({one->points(), one->slower()});
  }
  const Seconds left = round_ > 0 ? options_.time - spent() : time_left(part);
  return divide_time(plans, next, part.slower(), left.count());
}

/// Whether the time is to be kept, and ends before a point would have its next visit.
bool Session::is_over_before(const SessionPart& part, const PointRun& point) const {
  // Of points that take no time to prepare the overhead makes much, which others do not have.
  constexpr double most_slower = 4;
  const double slower = std::min(most_slower, part.slower());
  // On a machine that is slower than estimated first values may take more than their share, but
  // leave half of theirs to benchmarks that have none yet.
  if (adding_ && options_.keeps_time && part.spent() > part.share() &&
      spent() + reserved_ / 2 > options_.time)
    return true;
  return is_over(Seconds(point.ready > 0 ? 0 : point.preparation * slower));
}

/// Whether a point is known well enough while others are not, and was visited lately.
bool Session::can_wait(const SessionPart& part, const PointRun& point) const {
  const auto& visits = point.done->visits;
  if (!point.converged || point.ready > 0 || visits.empty() ||
      part.now().count() - visits.back().end >= options_.time.count() / most_visits)
    return false;
  return std::any_of(parts_.begin(), parts_.end(), [](const auto& one) {
    return !one->ended() && std::ranges::any_of(one->points(), [](const PointRun& other) {
      return !other.ended && !other.converged && !other.skipped;
    });
  });
}

/// How long the next visit to a point measures; 0: there is no time for it; nothing: other points
/// have fewer visits, and there is no time for all.
Expected<std::optional<Seconds>> Session::next_window(SessionPart& part, const PointRun& point) {
  if (point.once || point.skipped) return point.time;
  const int visits = part.options().visits;
  const bool of_all = part.options().time_of_all;
  const Seconds of_one = point.time / (visits > 0 ? visits : most_visits);
  if (!of_all && (visits > 0 || part.options().limit.count() == 0 || timeless())) return of_one;
  // All of them were asked for.
  if (visits > 0) return std::max<Seconds>(shortest_window, point.time / visits);
  constexpr Seconds pass_over{-1};
  const TimeLeft left = divide(part, point);
  const bool ahead =
      round_ > 0 && point.ready == 0 &&
      ((left.visits < static_cast<int>(least_visits) && point.visits() > left.visits) ||
       can_wait(part, point));
  const bool over = is_over_before(part, point);
  const auto window = state_.comm.broadcast_value(over     ? Seconds{0}
                                                  : ahead  ? pass_over
                                                  : of_all ? left.window
                                                           : std::min(left.window, of_one));
  if (!window) return fail(window.error());
  if (*window == pass_over) return std::nullopt;
  return *window;
}

/// Two engines may not keep memory at the same time: each was planned with all there is.
void Session::switch_to(SessionPart& part) {
  if (measuring_ != nullptr && measuring_ != &part) measuring_->engine().release();
  measuring_ = &part;
}

/// The visits that follow each other with the same memory. None where another benchmark's point had
/// one to the same work this round.
Expected<void> Session::run_sitting(SessionPart& part, std::size_t index) {
  PointRun& point = part.point(index);
  if (point.done->round == state_.round || point.ended) return {};
  const int sitting = point.visits() == 0 ? point.first_sitting : point.later_sitting;
  if (sitting > 1) ++state_.memory_number;
  switch_to(part);
  // Not between visits that go on with the same memory, as warm as it is.
  TRY(take_pilots());
  for (int i = 0; i < sitting && !point.ended; ++i) {
    if (stop_requested()) return fail(ErrorKind::interrupted, "interrupted");
    point.ready = i > 0 ? sitting - i : 0;
    const auto window = TRY(next_window(part, point));
    if (!window) break;
    if (!point.skipped && *window == Seconds{0}) {
      part.end_for_lack_of_time(point);
      break;
    }
    const Seconds begun = part.now();
    auto done = part.visit(point, *window, i > 0, i + 1 < sitting);
    part.add_spent(timeless() ? Seconds{0} : part.now() - begun);
    if (!done) return done;
    TRY(decide_all(part, point));
    TRY(after_visit_(part));
  }
  point.ready = 0;
  // The last visit may have left memory for a next one that does not come.
  if (sitting > 1) ++state_.memory_number;
  return {};
}

/// Whether a point has enough, and with it those of other benchmarks that are the same work.
Expected<void> Session::decide_all(SessionPart& part, PointRun& point) {
  TRY(part.decide(point));
  if (!options_.twins) return {};
  for (const auto& other : parts_) {
    for (std::size_t i = 0; i < other->points().size(); ++i) {
      PointRun& twin = other->point(i);
      if (&twin == &point || twin.done != point.done || twin.ended) continue;
      TRY(other->decide(twin));
    }
  }
  return {};
}

/// The unfinished points of all parts (or of one): each part's in its own order of the round, and
/// the parts mixed in proportion, but for points that go on with the same memory.
std::vector<Session::Turn> Session::turns(int round, SessionPart* only) {
  struct Queue {
    SessionPart* part;
    std::vector<std::size_t> order;
    std::size_t next = 0;
  };
  std::vector<Queue> queues;
  std::size_t left = 0;
  for (const auto& part : parts_) {
    if (only != nullptr && part.get() != only) continue;
    queues.push_back({part.get(), part->order(round)});
    left += queues.back().order.size();
  }
  std::uint64_t state = options_.seed + static_cast<std::uint64_t>(round) * 0xd1b54a32d192ed03;
  std::vector<Turn> turns;
  while (left > 0) {
    // The remainder's bias is far below anything that matters here.
    std::size_t pick = split_mix(state) % left;
    auto queue = queues.begin();
    for (; pick >= queue->order.size() - queue->next; ++queue)
      pick -= queue->order.size() - queue->next;
    SessionPart& part = *queue->part;
    const std::size_t neighbours = part.point(queue->order[queue->next]).neighbours;
    do {
      turns.push_back({&part, queue->order[queue->next++]});
      --left;
    } while (queue->next < queue->order.size() &&
             part.point(queue->order[queue->next]).neighbours == neighbours);
  }
  return turns;
}

Expected<void> Session::take_pilots(bool last) {
  if (!pilots_) return {};
  return pilots_->take([this] { return now().count(); }, last);
}

Expected<void> Session::plan_points(SessionPart& part) {
  const auto time = state_.comm.broadcast_value(std::max(Seconds{0}, time_left(part)));
  if (!time) return fail(time.error());
  part.plan_points(*time);
  return {};
}

/// Rounds over a part's points: one, or until they have ended where others follow from them.
Expected<void> Session::run_stage(SessionPart& part) {
  const bool to_the_end = part.part_of_share() < 1 && !part.benchmark().refinement.first_values;
  TRY(plan_points(part));
  for (int round = 0;; ++round) {
    const auto round_of_part = turns(round, &part);
    if (round_of_part.empty()) break;
    ++state_.round;
    if (round == 0 && options_.twins) twins_.add(part, part.stage_begin());
    if (round > 0) {
      if (!to_the_end) break;
      ++state_.memory_number;
    }
    for (const Turn& turn : round_of_part) {
      // Those of earlier stages have their values.
      if (turn.point < part.stage_begin()) continue;
      PointRun& point = part.point(turn.point);
      // Other benchmarks have measured the same.
      const bool known = round == 0 && !point.done->visits.empty();
      TRY(known ? part.decide(point) : run_sitting(part, turn.point));
    }
  }
  return {};
}

Expected<void> Session::add(const Benchmark& benchmark, const RunOptions& run_options,
                            const RunHooks& hooks, Setup setup, Seconds share) {
  keep_only(setup, [](const PlannedScenario& one) { return !one.later; });
  parts_.push_back(std::make_unique<SessionPart>(state_, benchmark, run_options, hooks,
                                                 std::move(setup), share));
  SessionPart& part = *parts_.back();
  if (auto started = part.start(); !started) {
    parts_.pop_back();
    return started;
  }
  // What it keeps was planned before this part.
  if (measuring_ != nullptr) switch_to(part);
  if (pilots_) {
    auto planned = pilots_->add(part.setup(), run_options, options_.time,
                                options_.null_engine ? &part.engine() : nullptr);
    if (!planned) return planned;
  }
  if (parts_.size() > 1) ++state_.memory_number;
  TRY(run_stage(part));
  return refine(part);
}

/// What a part asks for when it knows enough of its points: visited once, like those of the plan.
Expected<void> Session::refine(SessionPart& part) {
  while (part.ended() || part.benchmark().refinement.first_values) {
    const auto more = TRY(part.refine());
    if (!more) return {};
    TRY(run_stage(part));
  }
  return {};
}

Expected<void> Session::finish() {
  adding_ = false;
  for (round_ = 1;; ++round_) {
    ++state_.round;
    for (const auto& part : parts_) {
      TRY(refine(*part));
    }
    const auto round = turns(round_, nullptr);
    if (round.empty()) return take_pilots(true);
    ++state_.memory_number;
    for (const Turn& turn : round) {
      TRY(run_sitting(*turn.part, turn.point));
    }
  }
}

Expected<void> Session::conclude(const Expected<void>& ran) {
  Expected<void> ended = ran;
  for (const auto& part : parts_) {
    if (auto concluded = part->conclude(ran, pilots()); ended) ended = concluded;
  }
  return ended;
}

}  // namespace numatlas
