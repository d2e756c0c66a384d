// Which case of a plan is visited when: rounds over all cases, so that each has a value early and
// its visits are spread over the whole run. Pure: every rank comes to the same.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "run/benchmark.h"
#include "run/visits.h"

namespace numatlas {

/// One case of the plan while it runs: the scenarios that make it up, and what is known of it.
struct CaseRun {
  std::size_t first = 0, count = 0;  ///< scenarios of the plan: several where workers take turns
  /// Points that can have each other's pages share this number: one of them. They follow each other
  /// in a round, in which the memory is touched once.
  std::size_t neighbours = 0;
  std::size_t work = 0;     ///< those among them that do the same there share this one
  double preparation = 0;   ///< seconds, as estimated, with what others leave for it
  double touching = 0;      ///< of these, where nothing is left for it
  double visiting = 0;      ///< seconds of each visit beside its measuring, as estimated
  std::size_t workers = 0;  ///< at the same time
  std::chrono::duration<double> time{0};  ///< to be measured for, at most
  /// Visits for which the memory is made once, in the first round and in the later ones.
  int first_block = 1, later_block = 1;
  bool skipped = false;  ///< it cannot be measured here, and takes no time
  bool once = false;     ///< it changes the machine for a while: visited once, for all of its time
  bool in_turn = false;  ///< one visit a round
  bool ended = false;
  bool out_of_time = false;  ///< ended before it had as many visits as it should have
  bool converged = false;    ///< known as well as was asked for; on rank 0
  int ready = 0;             ///< visits to come for which the memory stands
  /// Its visits; a list that several benchmarks' cases share where they are the same work.
  std::shared_ptr<VisitList> done = std::make_shared<VisitList>();

  int visits() const { return done->whole(); }
};

/// Visits of a case, unless --visits names another number: the least that an interval takes, and
/// as many as --time is divided into.
constexpr int most_visits = 10;
/// A visit with a shorter window has too few samples for a value.
constexpr std::chrono::duration<double> shortest_window{0.02};

/// Whether a case may end once it is known well enough, and not only with its time or visits: a
/// virtual machine changes its speed within seconds and more, when its CPUs are moved.
bool may_end_early(const RunOptions& options, const std::vector<Machine>& machines);

/// The cases of the plan after the `earlier` ones, with their times (those of the options, or
/// equal parts of a time for all). Memory is made anew for each visit, or less often where that
/// would take longer than measuring.
std::vector<CaseRun> runs_of_plan(const std::vector<PlannedCase>& plan,
                                  const std::vector<std::optional<Error>>& skips,
                                  std::span<const CaseRun> earlier,
                                  std::chrono::duration<double> time, const RunOptions& options);

/// How long the cases of a plan take, as estimated.
struct TimeNeeded {
  double seconds = 0;    ///< of all; 0: it cannot be told
  double preparing = 0;  ///< of these, to prepare memory
  std::size_t cases = 0;
};
/// `machines`: a virtual one may have to ask its host for fresh memory.
TimeNeeded time_needed(std::span<const CaseRun> runs, const RunOptions& options,
                       const std::vector<Machine>& machines = {});
/// "about 40 s: 12 cases of 1 s, and 28 s to prepare memory"; "at most 40 s" where cases may end
/// before (`may_end_early`); "" where it cannot be told.
std::string time_text(const TimeNeeded& needed, const RunOptions& options, bool may_end_early);

/// The cases that have not ended, as indices, in the order of a round: in the first that of
/// the plan, but those with more workers first, which touch memory together; shuffled by the seed
/// in the later ones. Neighbours stay together, and among these those of the same work.
std::vector<std::size_t> order_of(const std::vector<CaseRun>& runs, int round, std::uint64_t seed);

/// The cases of one benchmark among those that share a time.
struct RunCases {
  std::span<const CaseRun> cases;
  double slower = 1;  ///< how many times as long as estimated their memory takes to prepare
};

/// What is left of a time for all cases, divided.
struct TimeLeft {
  int visits = 0;  ///< that each case can have at least
  /// Of the next visit; 0: there is no time for one.
  std::chrono::duration<double> window{0};
};
/// `next`: the case that it is for, whose memory takes `slower` times as long as estimated.
/// `left`: seconds for all cases of all `plans`.
TimeLeft divide_time(std::span<const RunCases> plans, const CaseRun& next, double slower,
                     double left);

}  // namespace numatlas
