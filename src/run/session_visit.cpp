// A visit to a point of a session: measured, gathered, and added to what is known of the point.
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/signals.h"
#include "base/text.h"
#include "base/tree.h"
#include "engine/agreement.h"
#include "kernels/clock_rate.h"
#include "kernels/traits.h"
#include "record/report_json.h"
#include "run/flow_result.h"
#include "run/levels.h"
#include "run/metrics.h"
#include "run/session_part.h"
#include "run/weighted_run.h"

namespace numatlas {
namespace {

using Seconds = SessionPart::Seconds;

/// Seconds for which the flow that was stopped longest was.
double paused_for(const std::vector<FlowResult>& flows) {
  double most = 0;
  for (const FlowResult& flow : flows)
    most = std::max(most, std::accumulate(flow.pauses.begin(), flow.pauses.end(), 0.0));
  return most;
}

/// Whether something held the clocks of a flow's GPU down.
bool any_slowed(const std::vector<FlowResult>& flows) {
  return std::any_of(flows.begin(), flows.end(), [](const FlowResult& flow) {
    return flow.gpu && !flow.gpu->slowed_by.empty();
  });
}

std::string repeated_text(double paused) {
  const std::string time =
      paused < 1 ? fmt::format("{:.0f} ms", paused * 1e3) : fmt::format("{:.1f} s", paused);
  return fmt::format(
      "was stopped for {} while measuring (by a signal, or without a CPU): the visit was repeated",
      time);
}

}  // namespace

/// Makes of own flows those of all ranks, by worker, on rank 0. After a stop nobody can be counted
/// on: own flows only.
Expected<void> SessionPart::gather(std::vector<FlowResult>& flows, bool stopped) {
  if (stopped || state_.comm.size() == 1) return {};
  const auto all = TRY(state_.comm.gather(flows_to_send(flows)));
  flows.clear();
  for (const std::string& part : all) {
    auto received = TRY(flows_received(part));
    std::move(received.begin(), received.end(), std::back_inserter(flows));
  }
  return {};
}

/// What this machine cannot give now is a skip; everything else ends the session.
Expected<void> SessionPart::take_failure(const PointRun& point, const PlannedScenario& planned,
                                         Error error, Outcome& outcome) {
  error = renamed(std::move(error), "--size", size_option_of(planned, benchmark_));
  const bool cannot = error.kind == ErrorKind::resource || error.kind == ErrorKind::unavailable ||
                      (planned.optional && error.kind == ErrorKind::permission);
  // Drivers of GPUs do not know what they were asked for.
  if (error.kind == ErrorKind::io) error = about(planned.scenario.name, std::move(error));
  outcome.reason = full_text(in_words(error));
  if (!cannot) {
    const bool cut = error.kind == ErrorKind::interrupted || error.kind == ErrorKind::peer;
    outcome.status = cut ? Status::incomplete : Status::failed;
    return fail(std::move(error));
  }
  if (point.taken == 0) {
    if (!first_problem_) first_problem_ = error;
    all_optional_ = all_optional_ && planned.optional;
  }
  outcome.status = Status::skipped;
  progress_.end(planned.scenario, "skipped: " + outcome.reason);
  return {};
}

/// The flows of all ranks, from what the engine brought on this one.
Expected<void> SessionPart::take_traces(const PlannedScenario& planned, std::vector<Trace> traces,
                                        Outcome& outcome) {
  std::vector<FlowResult> mine;
  bool stopped = stop_requested();
  const bool with_samples = !options_.samples_file.empty();
  for (Trace& trace : traces) {
    stopped = stopped || trace.stop == StopReason::interrupted;
    const Flow& flow = planned.scenario.flows[static_cast<std::size_t>(trace.flow)];
    mine.push_back(result_of(setup_, planned.scenario, flow, std::move(trace), with_samples));
  }
  // Of one CPU a rank: some kernels take their time to find out.
  if (!options_.null_engine && !mine.empty() && mine.front().cpu_after) {
    const CpuId cpu = *mine.front().cpu_after;
    mine.front().frequency = cpu_frequency(running_system(), cpu);
    // The engine has given this thread all its CPUs back.
    if (options_.style.cycles && !mine.front().frequency)
      mine.front().frequency = clock_rate_of(cpu);
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
  std::move(mine.begin(), mine.end(), std::back_inserter(outcome.flows));
  if (!cut) return {};
  outcome.status = Status::incomplete;
  outcome.reason = full_text(*cut);
  return fail(*std::move(cut));
}

/// Says of this rank's flows whether a cache holds them.
void SessionPart::mark_in_memory(Scenario& scenario) const {
  const Layout& layout = setup_.layout;
  for (Flow& flow : scenario.flows) {
    const Worker& worker = layout.workers[static_cast<std::size_t>(flow.worker)];
    flow.in_memory = worker.rank == layout.own_rank(state_.comm) &&
                     traits_of(flow.kernel).streams() &&
                     level_of_flow(setup_.machine, layout, scenario, flow) == "memory";
  }
}

/// A scenario of passes, of which hosts keep rounds and nothing else.
Expected<void> SessionPart::run_rounds(std::size_t index, bool takes_part) {
  Scenario scenario = setup_.plan[index].scenario;
  rounds_of_hosts_->begin(index, scenario);
  // A host that takes no part waits for those that do.
  if (!takes_part) scenario.flows.clear();
  mark_in_memory(scenario);
  const auto traces = engine_->run(scenario);
  if (!traces) {
    // Nobody was told to stop: a rank died, and the next wait tells which.
    const bool interrupted = traces.error().kind == ErrorKind::interrupted;
    if (interrupted && stop_signal() == 0 && state_.comm.peer_failed()) {
      TRY(state_.comm.barrier());
    }
    return fail(traces.error());
  }
  std::optional<Error> wrong;
  for (const Trace& trace : *traces) {
    if (!wrong) wrong = trace.wrong;
  }
  return agree(state_.comm, wrong);
}

/// What each host still has to say, and the slow ones once more.
Expected<void> SessionPart::retest() {
  if (std::exchange(retested_, true)) return {};
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

/// One scenario of a visit: its flows, or why there are none. An error ends the session.
Expected<void> SessionPart::run_scenario(const PointRun& point, std::size_t index, Seconds window,
                                         bool keep_memory, Outcome& outcome) {
  const PlannedScenario& planned = setup_.plan[index];
  progress_.begin(index);
  measured_now_ = {stage_, index};
  if (const auto& why = setup_.skips[index]) {
    outcome.left_out = skip_text(in_words(*why));
    progress_.end(planned.scenario, "skipped: " + outcome.left_out);
    return {};
  }
  if (rounds_of_hosts_) {
    auto ran = run_rounds(index, true);
    return ran ? ran : take_failure(point, planned, ran.error(), outcome);
  }
  Scenario scenario = planned.scenario;
  scenario.stop.time_of_case = scenario.stop.time;
  scenario.stop.time = std::chrono::duration_cast<Nanoseconds>(window);
  // Whether it is enough is seen from all visits; a single one sees it by itself.
  if (!at_once(point)) {
    scenario.stop.precision = -1;
    scenario.stop.least_time = scenario.stop.time;
  }
  scenario.memory_number = state_.memory_number;
  scenario.keep_memory = keep_memory;
  mark_in_memory(scenario);
  for (Flow& flow : scenario.flows)
    flow.kernel.seed += static_cast<std::uint64_t>(state_.memory_number);
  auto traces = run_weighted(*engine_, planned, scenario);
  if (!traces) return take_failure(point, planned, traces.error(), outcome);
  for (const Trace& trace : *traces) {
    if (timeless() || trace.samples.empty()) continue;
    const Seconds start = Nanoseconds(trace.samples.front().start_ns - state_.start_ns);
    outcome.start = std::min(outcome.start.value_or(start), start);
  }
  recorded_ += timeless() ? Seconds(scenario.stop.time) : time_used(*traces, scenario.stop);
  return take_traces(planned, *std::move(traces), outcome);
}

/// Whether or not it will count. `use`: what else happened meanwhile.
Expected<void> SessionPart::try_visit(const PointRun& point, Seconds window, bool keep_memory,
                                      Outcome& outcome, VisitUse& use) {
  Comm& comm = state_.comm;
  const std::optional<CpuWatch> watch =
      state_.cpu_watch ? std::optional<CpuWatch>(std::in_place, running_system(), comm.local_pids())
                       : std::nullopt;
  Expected<void> ran;
  for (std::size_t i = point.first; ran && i < point.first + point.count; ++i)
    ran = run_scenario(point, i, window, keep_memory, outcome);
  if (!ran || options_.null_engine || rounds_of_hosts_ || outcome.status != Status::ok ||
      point.skipped)
    return ran;
  const bool wrong = std::any_of(outcome.flows.begin(), outcome.flows.end(),
                                 [](const FlowResult& flow) { return flow.wrong.has_value(); });
  const bool disturbed = std::ranges::any_of(outcome.flows, was_stopped) ||
                         paused_for(outcome.flows) > 0 || any_slowed(outcome.flows);
  use = TRY(use_of_visit(watch, comm, disturbed, wrong));
  return {};
}

Expected<void> SessionPart::visit(PointRun& point, Seconds window, bool keep_memory) {
  const Seconds begun = now();
  Outcome outcome;
  VisitUse use;
  auto ran = try_visit(point, window, keep_memory, outcome, use);
  const auto measured = [&] { return outcome.status == Status::ok && !point.skipped; };
  if (ran && measured() && !at_once(point) && state_.repeats.again(use)) {
    const Outcome first = std::exchange(outcome, {});
    const VisitUse before = use;
    const auto problem = first_problem_;
    const bool all_optional = all_optional_;
    ran = try_visit(point, window, keep_memory, outcome, use);
    use.repeated = true;
    state_.repeats.again(use);
    if (!measured()) {
      outcome = first;
      use = before;
      first_problem_ = problem;
      all_optional_ = all_optional;
    } else if (const double paused = paused_for(first.flows); paused > 0) {
      own_warnings_.push_back(
          {"stopped", setup_.plan[point.first].head.name, repeated_text(paused)});
    }
  }
  const double start = std::max(begun, outcome.start.value_or(begun)).count();
  last_visit_.reset();
  Visited visited{std::move(outcome), use, start, now().count()};
  if (state_.shares_visits && ran && visited.outcome.status == Status::ok && !point.skipped)
    last_visit_ = visited;
  take(point, std::move(visited), false);
  // A device that is lost does no more for this process, and may leave its memory pinned.
  if (ran && wrong_ && wrong_->kind == ErrorKind::io) return fail(*wrong_);
  return ran;
}

void SessionPart::take(PointRun& point, Visited visited, bool twin) {
  const bool whole = visited.outcome.status == Status::ok && !point.skipped;
  if (twin) ++point.by_twins;
  point.visited = state_.round;
  add(point, std::move(visited.outcome), visited.start, visited.end);
  if (whole) ++point.taken;
  if (whole && root() && !rounds_of_hosts_)
    point.visits.note_use(result_of_point(point), visited.use);
  if (!whole || point.once) point.ended = true;
}

/// The figures of a visit, over its flows and of each host.
void SessionPart::add_figures(ScenarioResult& visit) const {
  for (FlowResult& flow : visit.flows) {
    for (Figure& figure : benchmark_.flow_figures(flow, visit))
      flow.figures.push_back(std::move(figure));
  }
  visit.figures = sums_of(visit, report_);
  visit.host_totals = host_sums_of(visit, report_);
  for (Figure& figure : benchmark_.totals(visit, report_))
    visit.figures.push_back(std::move(figure));
  for (HostTotals& totals : visit.host_totals) {
    ScenarioResult part = visit;
    std::erase_if(part.flows,
                  [&](const FlowResult& flow) { return host_of(report_, flow) != totals.host; });
    part.figures = totals.figures;
    for (Figure& figure : benchmark_.totals(part, report_))
      totals.figures.push_back(std::move(figure));
  }
  // They were wanted for the totals.
  for (FlowResult& flow : visit.flows) {
    flow.stretch_bytes.clear();
    if (flow.gpu) flow.gpu->steps.clear();
  }
}

/// Adds a visit to its point. One that was cut short counts only where there is no other.
void SessionPart::add(PointRun& point, Outcome outcome, double start, double end) {
  if (point.result < 0 && rounds_of_hosts_) {
    point.result = static_cast<int>(rounds_of_hosts_->first_case_of(point.first));
  } else if (point.result < 0) {
    point.result = static_cast<int>(report_.scenarios.size());
    report_.scenarios.push_back(setup_.plan[point.first].head);
  }
  ScenarioResult& result = result_of_point(point);
  const bool first = point.taken == 0;
  if (!outcome.left_out.empty()) {
    result.status = Status::skipped;
    result.reason = outcome.left_out;
  }
  if (outcome.status != Status::ok && (first || outcome.status == Status::failed)) {
    result.status = outcome.status;
    result.reason = outcome.reason;
  } else if (outcome.status == Status::skipped) {
    own_warnings_.push_back({"visit-failed", result.name,
                             fmt::format("visit {} failed, the earlier ones are kept: {}",
                                         point.taken + 1, outcome.reason)});
  }
  // Part of a visit is no visit: earlier ones have all workers.
  if (outcome.flows.empty() || (outcome.status != Status::ok && !first)) return;
  ScenarioResult visit = setup_.plan[point.first].head;
  visit.flows = std::move(outcome.flows);
  std::sort(visit.flows.begin(), visit.flows.end(),
            [](const FlowResult& a, const FlowResult& b) { return a.worker < b.worker; });
  for (const FlowResult& flow : visit.flows) {
    if (!flow.wrong || result.status != Status::ok) continue;
    result.status = Status::failed;
    result.reason = fmt::format("worker {}: {}", flow.worker, full_text(*flow.wrong));
    if (!wrong_)
      wrong_ = Error{flow.wrong->kind, result.name + ", " + result.reason, flow.wrong->hint};
  }
  add_figures(visit);
  point.visits.add(result, std::move(visit), start, end);
  result.groups = medians_of(result, report_);
  result.distribution = {};
  for (const FlowResult& flow : result.flows)
    result.distribution = merged(result.distribution, flow.distribution);
  if (!at_once(point)) set_stop(result, precision_of(result), "interrupted");
}

}  // namespace numatlas
