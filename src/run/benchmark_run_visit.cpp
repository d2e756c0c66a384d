// A visit to a case of a session: measured, gathered, and added to what is known of the case.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/signals.h"
#include "base/text.h"
#include "base/tree.h"
#include "engine/agreement.h"
#include "kernels/traits.h"
#include "run/benchmark_run.h"
#include "run/gathering.h"
#include "run/levels.h"
#include "run/metrics.h"

namespace numatlas {
namespace {

using Seconds = BenchmarkRun::Seconds;

/// Seconds for which the flow that was stopped longest was.
double stopped_for(const std::vector<FlowResult>& flows) {
  double most = 0;
  for (const FlowResult& flow : flows) most = std::max(most, flow.stopped);
  return most;
}

/// Whether something held the clocks of a flow's GPU down.
bool any_slowed(const std::vector<FlowResult>& flows) {
  return std::any_of(flows.begin(), flows.end(), [](const FlowResult& flow) {
    return flow.gpu && !flow.gpu->slowed_by.empty();
  });
}

}  // namespace

/// Makes of own flows those of all ranks, by worker, on rank 0. After a stop nobody can be counted
/// on: own flows only.
Expected<void> BenchmarkRun::gather(std::vector<FlowResult>& flows, bool stopped) {
  if (stopped || state_.comm.size() == 1) return {};
  auto all = TRY(gather_fields(state_.comm, flows));
  flows.clear();
  for (std::vector<FlowResult>& part : all) std::ranges::move(part, std::back_inserter(flows));
  return {};
}

/// What this machine cannot give now is a skip; everything else ends the session.
Expected<void> BenchmarkRun::take_failure(const PlannedCase& planned, Error error, Visit& visit) {
  error = in_options(std::move(error), planned, benchmark_);
  const bool cannot = error.kind == ErrorKind::resource || error.kind == ErrorKind::unavailable ||
                      (planned.optional && error.kind == ErrorKind::permission);
  // Drivers of GPUs do not know what they were asked for.
  if (error.kind == ErrorKind::io) error = about(planned.scenario.name, std::move(error));
  visit.optional = planned.optional && (!visit.error || visit.optional);
  if (!visit.error) visit.error = error;
  if (!cannot) {
    const bool cut = error.kind == ErrorKind::interrupted || error.kind == ErrorKind::peer;
    visit.status = cut ? Status::incomplete : Status::failed;
    return fail(std::move(error));
  }
  visit.status = Status::skipped;
  progress_.end(planned.scenario, "skipped: " + full_text(in_words(error)));
  return {};
}

/// The flows of all ranks, from what the engine brought on this one.
Expected<void> BenchmarkRun::take_traces(const PlannedCase& planned, std::vector<Trace> traces,
                                         Visit& visit) {
  std::vector<FlowResult> mine;
  mine.reserve(traces.size());
  bool stopped = stop_requested();
  for (Trace& trace : traces) {
    stopped = stopped || trace.stop == StopReason::interrupted;
    const Flow& flow = planned.scenario.flows[static_cast<std::size_t>(trace.flow)];
    mine.push_back(result_of(setup_, planned.scenario, flow, std::move(trace)));
  }
  // Of one CPU a rank: some kernels take their time to find out.
  if (!options_.null_engine && !mine.empty() && mine.front().cpu_after) {
    const CpuId cpu = *mine.front().cpu_after;
    mine.front().frequency = cpu_frequency(running_system(), cpu);
  }
  const Error interrupted{ErrorKind::interrupted, "interrupted", ""};
  std::optional<Error> cut;
  if (stopped && stop_signal() == 0 && state_.comm.peer_failed()) {
    // Nobody was told to stop: a rank died, and the next wait tells which.
    const auto lost = state_.comm.barrier();
    cut = lost ? interrupted : lost.error();
  } else if (auto gathered = gather(mine, stopped); !gathered) {
    cut = gathered.error();
  } else {
    progress_.end(planned.scenario, stopped ? "interrupted" : "first visit done");
    if (stopped) cut = interrupted;
  }
  if (visit.flows.empty())
    visit.flows = std::move(mine);
  else
    std::ranges::move(mine, std::back_inserter(visit.flows));
  if (!cut) return {};
  visit.status = Status::incomplete;
  visit.error = cut;
  return fail(*std::move(cut));
}

/// Says of this rank's flows whether a cache holds them.
void BenchmarkRun::mark_in_memory(Scenario& scenario) const {
  const Layout& layout = setup_.layout;
  for (Flow& flow : scenario.flows) {
    const Worker& worker = layout.workers[static_cast<std::size_t>(flow.worker)];
    flow.in_memory = worker.rank == layout.own_rank(state_.comm) &&
                     traits_of(flow.kernel).streams() &&
                     level_of_flow(setup_.machine, layout, scenario, flow) == "memory";
  }
}

/// All rounds of a scenario, of which hosts keep the times of their passes and nothing else.
Expected<void> BenchmarkRun::run_rounds(std::size_t index, bool takes_part) {
  Scenario scenario = setup_.plan[index].scenario;
  rounds_of_hosts_->begin(index);
  // A host that takes no part waits for those that do.
  if (!takes_part) scenario.flows.clear();
  mark_in_memory(scenario);
  const int rounds = benchmark_.reduced_to_hosts->rounds;
  for (scenario.round = 0; scenario.round < rounds; ++scenario.round) {
    const bool last = scenario.round + 1 == rounds;
    scenario.keep_memory = !last;
    scenario.checks = last;
    const auto traces = TRY(engine_->run(scenario));
    TRY(rounds_of_hosts_->take_round(scenario, traces));
    std::optional<Error> wrong;
    for (const Trace& trace : traces) {
      if (!wrong) wrong = trace.wrong;
    }
    // A rank whose memory is wrong keeps none, and would be out of step in the next round.
    TRY(agree(state_.comm, wrong));
  }
  return {};
}

/// What each host still has to say, and the slow ones once more.
Expected<void> BenchmarkRun::retest() {
  if (rounds_of_hosts_->retested()) return {};
  TRY(rounds_of_hosts_->gather_rest(state_.cpu_watch));
  return rounds_of_hosts_->retest(
      root() ? benchmark_.reduced_to_hosts->to_retest(report_) : std::vector<std::size_t>{},
      [&](bool takes_part) -> Expected<void> {
        for (std::size_t i = 0; i < setup_.plan.size(); ++i) {
          TRY(run_rounds(i, takes_part));
        }
        return {};
      });
}

/// Loads that are held to a rate fall short of it where some are starved by others, or their bursts
/// leave gaps: the next time they are told to move as much more. Of this rank's own loads together.
void BenchmarkRun::correct_pace(std::size_t index, const std::vector<Trace>& traces) {
  if (timeless()) return;
  double asked = 0, reached = 0;
  for (const Trace& trace : traces) {
    const Flow& flow = setup_.plan[index].scenario.flows[static_cast<std::size_t>(trace.flow)];
    if (!flow.rate || !(trace.together_ns() > 0)) continue;
    double steps = 0;
    for (const double part : steps_by_stretch(trace, 1)) steps += part;
    asked += *flow.rate;
    reached += steps * static_cast<double>(traffic_per_step(flow.kernel).counted()) /
               (static_cast<double>(trace.together_ns()) * 1e-9);
  }
  if (!(asked > 0) || !(reached > 0)) return;
  // Beyond that the memory gives no more.
  constexpr double most = 2, least_help = 0.99;
  Pace& pace = paces_[index];
  const double missed = asked / reached;
  pace.helps = pace.factor <= 1 || missed < least_help * pace.missed;
  pace.missed = missed;
  pace.factor = std::clamp(pace.factor * missed, 1.0, most);
}

/// Whether the loads of a case fell short of their rates on some rank though they could be told to
/// move more: before, a case at 95 % of the peak stood beside that at 85 %. Collective.
Expected<bool> BenchmarkRun::missed_its_rate(const CaseRun& run) const {
  // Half a step between the closest parts of a peak that `loaded` asks for.
  constexpr double enough = 1.025;
  bool missed = false, is_paced = false;
  for (std::size_t i = run.first; i < run.first + run.count; ++i) {
    is_paced = is_paced || std::ranges::any_of(setup_.plan[i].scenario.flows, [](const Flow& flow) {
                 return flow.rate.has_value();
               });
    const auto pace = paces_.find(i);
    missed = missed || (pace != paces_.end() && pace->second.missed > enough && pace->second.helps);
  }
  if (!is_paced || timeless()) return false;
  return state_.comm.any(missed);
}

/// One scenario of a visit: its flows, or why there are none. An error ends the session.
Expected<void> BenchmarkRun::run_scenario(std::size_t index, Seconds window, bool keep_memory,
                                          Visit& visit) {
  const PlannedCase& planned = setup_.plan[index];
  progress_.begin(index);
  measured_now_ = index;
  if (const auto& why = setup_.skips[index]) {
    progress_.end(planned.scenario, "skipped: " + skip_text(in_words(*why)));
    return {};
  }
  if (rounds_of_hosts_) {
    auto ran = run_rounds(index, true);
    return ran ? ran : take_failure(planned, ran.error(), visit);
  }
  Scenario scenario = planned.scenario;
  scenario.stop.time = std::chrono::duration_cast<Nanoseconds>(window);
  scenario.memory_number = state_.memory_number;
  scenario.round = state_.round;
  scenario.keep_memory = keep_memory;
  mark_in_memory(scenario);
  const auto pace = paces_.find(index);
  for (Flow& flow : scenario.flows) {
    flow.kernel.seed += static_cast<std::uint64_t>(state_.memory_number);
    if (flow.rate && pace != paces_.end()) *flow.rate *= pace->second.factor;
  }
  auto traces = engine_->run(scenario);
  if (!traces) return take_failure(planned, traces.error(), visit);
  for (const Trace& trace : *traces) {
    if (timeless() || trace.samples.empty()) continue;
    const Seconds start = Nanoseconds(trace.samples.front().start_ns - state_.start_ns);
    visit.start = std::min(visit.start, start.count());
  }
  correct_pace(index, *traces);
  recorded_ += timeless() ? Seconds(scenario.stop.time) : time_used(*traces, scenario.stop);
  return take_traces(planned, *std::move(traces), visit);
}

/// Runs a case once, whether or not that will count: what it gave, and what ends the session.
std::pair<Visit, Expected<void>> BenchmarkRun::try_visit(const CaseRun& run, Seconds window,
                                                         bool keep_memory) {
  Comm& comm = state_.comm;
  const std::optional<CpuWatch> watch =
      state_.cpu_watch ? std::optional<CpuWatch>(std::in_place, running_system(), comm.local_pids())
                       : std::nullopt;
  const double begun = now().count();
  Visit visit{.start = std::numeric_limits<double>::infinity(), .by = number_};
  Expected<void> ran;
  for (std::size_t i = run.first; ran && i < run.first + run.count; ++i)
    ran = run_scenario(i, window, keep_memory, visit);
  visit.start = std::isfinite(visit.start) ? std::max(begun, visit.start) : begun;
  visit.end = now().count();
  if (!ran || options_.null_engine || rounds_of_hosts_ || visit.status != Status::ok)
    return {std::move(visit), ran};
  const bool disturbed = std::ranges::any_of(visit.flows, was_stopped) || any_slowed(visit.flows);
  const auto use = use_of_visit(watch, comm, disturbed, visit.has_wrong_output());
  if (use) visit.use = *use;
  return {std::move(visit), use ? Expected<void>{} : fail(use.error())};
}

/// The same, and once more where the first try was disturbed.
std::pair<Visit, Expected<void>> BenchmarkRun::try_in_peace(const CaseRun& run, Seconds window,
                                                            bool keep_memory) {
  const std::map<std::size_t, Pace> paces = paces_;
  auto [visit, ran] = try_visit(run, window, keep_memory);
  const bool only_one = options_.visits == 1 || run.once;
  if (!ran || visit.status != Status::ok || only_one || !state_.repeats.again(visit.use))
    return {std::move(visit), ran};
  // Loads that were stopped moved little.
  paces_ = paces;
  auto [again, ran_again] = try_visit(run, window, keep_memory);
  again.use.repeated = true;
  state_.repeats.again(again.use);
  if (again.status != Status::ok) return {std::move(visit), ran_again};
  again.stopped_before = stopped_for(visit.flows);
  return {std::move(again), ran_again};
}

Expected<void> BenchmarkRun::visit(CaseRun& run, Seconds window, bool found_memory,
                                   bool keep_memory) {
  if (run.skipped) {
    for (std::size_t i = run.first; i < run.first + run.count; ++i) {
      progress_.begin(i);
      progress_.end(setup_.plan[i].scenario, "skipped: " + skip_text(in_words(*setup_.skips[i])));
    }
    run.ended = true;
    return {};
  }
  auto [visit, ran] = try_in_peace(run, window, keep_memory);
  // Later visits go on with the pace that the first one found.
  constexpr int most_corrections = 3;
  for (int i = 0; i < most_corrections && ran && visit.status == Status::ok && run.visits() == 0;
       ++i) {
    if (!TRY(missed_its_rate(run))) break;
    auto [corrected, ran_again] = try_in_peace(run, window, keep_memory);
    ran = ran_again;
    if (corrected.status != Status::ok) break;
    corrected.stopped_before = std::max(corrected.stopped_before, visit.stopped_before);
    visit = std::move(corrected);
  }
  visit.memory_kept = found_memory;
  // A device that is lost does no more for this process, and may leave its memory pinned.
  const bool lost = std::ranges::any_of(visit.flows, [](const FlowResult& flow) {
    return flow.wrong && flow.wrong->kind == ErrorKind::io;
  });
  append(run, std::move(visit));
  // Looked for in all visits to all cases.
  const std::optional<Error> error = ran && lost ? wrong() : std::nullopt;
  return error ? fail(*error) : ran;
}

/// A visit that failed is its case's alone: others that are the same work go on without it.
void BenchmarkRun::append(CaseRun& run, Visit visit) {
  for (FlowResult& flow : visit.flows) {
    flow.worker = session_workers_[static_cast<std::size_t>(flow.worker)];
    if (flow.first_touch)
      flow.first_touch = session_workers_[static_cast<std::size_t>(*flow.first_touch)];
  }
  if (!std::ranges::is_sorted(visit.flows, {}, &FlowResult::worker))
    std::ranges::sort(visit.flows, {}, &FlowResult::worker);
  const bool whole = visit.status == Status::ok;
  if (!whole) run.done = std::make_shared<VisitList>(*run.done);
  run.done->round = state_.round;
  run.ended = run.ended || visit.status == Status::skipped || (whole && run.once);
  run.done->visits.push_back(std::move(visit));
}

}  // namespace numatlas
