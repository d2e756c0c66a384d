#include "benchmarks/runner.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <iterator>
#include <memory>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/say.h"
#include "base/signals.h"
#include "base/version.h"
#include "benchmarks/check_options.h"
#include "benchmarks/cpu_use.h"
#include "benchmarks/flow_result.h"
#include "benchmarks/foresee.h"
#include "benchmarks/pilots.h"
#include "benchmarks/progress.h"
#include "benchmarks/rounds.h"
#include "benchmarks/setup.h"
#include "benchmarks/visits.h"
#include "benchmarks/weighted_run.h"
#include "engine/agreement.h"
#include "record/cache_level.h"
#include "record/modes.h"
#include "record/report_json.h"
#include "report/csv.h"
#include "report/file.h"
#include "report/openmetrics.h"
#include "report/process_memory.h"
#include "report/samples_file.h"

namespace numatlas {
namespace {

using Seconds = std::chrono::duration<double>;

RunReport new_report(const Setup& setup, const RunOptions& options, const Comm& comm,
                     const Engine& engine) {
  RunReport report;
  report.command = options.command;
  report.version = version;
  report.arguments = options.arguments;
  report.started = start_time(options);
  // What a file of a run says that is going on, or that was killed before it could say more.
  report.incomplete_reason = "not ended";
  report.comm = comm.description();
  report.engine = engine.description();
  report.isa = options.null_engine ? "null" : instruction_set();
  report.ranks = comm.size();
  report.serial = options.serial;
  report.seed = options.seed;
  report.precision = options.stop.precision;
  report.time_cap = Seconds(options.stop.time).count();
  report.time_of_all = options.time_of_all;
  report.hosts = setup.layout.hosts;
  report.machines = setup.machines;
  report.warnings = setup.warnings;
  for (const Worker& worker : setup.layout.workers) {
    report.workers.push_back({worker.rank, worker.placement.thread, worker.host,
                              worker.placement.cpus, worker.placement.cpu_node,
                              worker.placement.memory.text()});
  }
  return report;
}

/// How often its memory was made so far.
int made_anew(const PointRun& point) {
  const int more = point.visits.count() - point.first_sitting;
  return 1 + std::max(0, (more + point.later_sitting - 1) / point.later_sitting);
}

/// One run in progress on one rank.
class Run {
  /// What became of a visit.
  struct Outcome {
    Status status = Status::ok;
    std::string reason;
    std::string left_out;          ///< why a part of the point cannot be measured here; "" for none
    std::optional<Seconds> start;  ///< of the first sample
    std::vector<FlowResult> flows;
  };

 public:
  Run(const Benchmark& benchmark, const RunOptions& options, Comm& comm, const RunHooks& hooks,
      Setup setup)
      : benchmark_(benchmark),
        options_(options),
        comm_(comm),
        hooks_(hooks),
        setup_(std::move(setup)),
        progress_(comm.rank() == 0 && !options.quiet, weights(),
                  comm.rank() == 0 ? hooks.progress : nullptr),
        start_ns_(options.null_engine ? 0 : MonotonicClock().now_ns()) {}

  Expected<RunReport> go();

 private:
  std::vector<double> weights() const;
  /// Visits all points of the plan from that scenario on, in rounds.
  Expected<void> run_rounds(Engine& engine, std::size_t from);
  Expected<void> run_sitting(Engine& engine, PointRun& point, int round);
  Expected<void> try_visit(Engine& engine, const PointRun& point, Seconds window, bool keep_memory,
                           Outcome& outcome, VisitUse& use);
  Expected<void> visit(Engine& engine, PointRun& point, Seconds window, bool keep_memory);
  Expected<void> run_part(Engine& engine, const PointRun& point, std::size_t index, Seconds window,
                          bool keep_memory, Outcome& outcome);
  bool at_once(const PointRun& point) const { return options_.visits == 1 || point.once; }
  /// Since the start of the run, by the engine's clock.
  Seconds now() const {
    return std::chrono::duration_cast<Seconds>(Nanoseconds(clock_->now_ns() - start_ns_));
  }
  /// The null engine's flows each have a clock of their own, and no time passes between them.
  bool timeless() const { return options_.null_engine && !options_.noise; }
  Seconds spent() const;
  Expected<Seconds> broadcast(Seconds time);
  Expected<Seconds> next_window(const PointRun& point);
  Seconds time_left() const;
  Expected<void> decide(PointRun& point);
  void end_for_lack_of_time(PointRun& point);
  double precision_of(const ScenarioResult& result) const {
    return result.precision.value_or(options_.stop.precision);
  }
  Expected<void> spread_out(Engine& engine, int round);
  Expected<void> refine(Engine& engine);
  Expected<void> prepare_pilots(Engine& engine);
  Expected<void> take_pilots(bool last = false);
  double pilot_seconds() const { return pilots_ ? pilots_->seconds() : 0; }
  void relate();
  Expected<std::vector<FlowResult>> gather(const std::vector<FlowResult>& mine, bool stopped);
  void add(PointRun& point, Outcome outcome, double start);
  void judge(const ScenarioResult& point, const FlowResult& flow);
  void collect_warnings();
  Expected<void> save(bool last);
  std::string text_of(const std::string& option) const;
  std::chrono::steady_clock::time_point next_save_;
  Expected<void> show();
  Expected<std::string> process_memory_text();
  void capture_process_memory();
  bool root() const { return comm_.rank() == 0; }
  Error in_words(const Error& error) const {
    return hooks_.in_words ? hooks_.in_words(error) : error;
  }
  bool with_samples() const { return !options_.samples_file.empty(); }

  const Benchmark& benchmark_;
  const RunOptions& options_;
  Comm& comm_;
  const RunHooks& hooks_;
  Setup setup_;
  Progress progress_;
  std::int64_t start_ns_;
  Clock* clock_ = nullptr;  ///< the engine's
  RunReport report_;
  std::optional<Error> first_problem_;  ///< why scenarios were skipped while running
  bool all_optional_ = true;            ///< these scenarios
  std::optional<Error> wrong_;          ///< a kernel's output was not what it should be
  std::vector<Warning> own_warnings_;   ///< of the set-up and of visits
  std::vector<PointRun> points_;        ///< of the plan, or of what refines it
  int stage_ = 0;                       ///< of `refine`; 0: the plan
  Seconds stage_begun_{0}, stage_spent_{0}, stage_recorded_{0};  ///< before the stage
  Seconds waited_{0};                                            ///< to spread visits
  int memory_number_ = 0;  ///< grows when memory is to be made anew
  std::string my_process_memory_;
  std::pair<int, std::size_t> measured_now_;  ///< stage and case
  std::pair<int, std::size_t> memory_of_;     ///< the case that my_process_memory_ is of
  std::optional<CpuWatch> cpu_watch_;         ///< of this host, by one of its ranks
  Repeats repeats_;
  std::optional<Pilots> pilots_;
  double stage_pilots_ = 0;  ///< seconds that they took before the stage
  Seconds recorded_{0};      ///< measuring time used so far, where it is shared
};

std::vector<double> Run::weights() const {
  std::vector<double> weights;
  for (const PlannedScenario& planned : setup_.plan) {
    // Building and proving 1 GiB of chain takes about as long as the least measuring time.
    double most = 0;
    for (const Flow& flow : planned.scenario.flows) {
      most = std::max(most, static_cast<double>(flow.region.bytes.value));
    }
    weights.push_back(1 + 4 * most / gib);
  }
  return weights;
}

/// Flows of all ranks, by worker, on rank 0. After a stop nobody can be counted on: own flows only.
Expected<std::vector<FlowResult>> Run::gather(const std::vector<FlowResult>& mine, bool stopped) {
  if (stopped || comm_.size() == 1) return mine;
  const auto all = comm_.gather(flows_to_send(mine));
  if (!all) return fail(all.error());
  std::vector<FlowResult> flows;
  for (const std::string& part : *all) {
    auto received = flows_received(part);
    if (!received) return fail(received.error());
    std::move(received->begin(), received->end(), std::back_inserter(flows));
  }
  return flows;
}

/// As sure as the median.
void use_mean_latency(std::vector<Figure>& figures) {
  for (Figure& figure : figures) {
    if (figure.key == "latency" && figure.estimate && figure.summary)
      figure.estimate = as_sure_as(figure.summary->mean, *figure.estimate);
  }
}

std::string pause_text(double seconds) {
  return seconds < 1 ? fmt::format("{:.0f} ms", seconds * 1e3) : fmt::format("{:.1f} s", seconds);
}

/// Seconds for which the flow that was stopped longest was.
double paused_for(const std::vector<FlowResult>& flows) {
  double most = 0;
  for (const FlowResult& flow : flows)
    most = std::max(most, std::accumulate(flow.pauses.begin(), flow.pauses.end(), 0.0));
  return most;
}

/// Adds a visit to its point. One that was cut short counts only where there is no other.
void Run::add(PointRun& point, Outcome outcome, double start) {
  if (point.result < 0) {
    point.result = static_cast<int>(report_.scenarios.size());
    report_.scenarios.push_back(setup_.plan[point.first].head);
  }
  ScenarioResult& result = report_.scenarios[static_cast<std::size_t>(point.result)];
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
  for (FlowResult& flow : visit.flows) {
    for (Figure& figure : benchmark_.flow_figures(flow, visit))
      flow.figures.push_back(std::move(figure));
    if (benchmark_.takes_mean_latency()) use_mean_latency(flow.figures);
    if (flow.wrong && result.status == Status::ok) {
      result.status = Status::failed;
      result.reason = fmt::format("worker {}: {}", flow.worker, full_text(*flow.wrong));
      if (!wrong_)
        wrong_ = Error{flow.wrong->kind, result.name + ", " + result.reason, flow.wrong->hint};
    }
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
  point.visits.add(result, std::move(visit), start, now().count());
  result.groups = medians_of(result, report_);
  result.distribution = {};
  for (const FlowResult& flow : result.flows)
    result.distribution = merged(result.distribution, flow.distribution);
  if (!at_once(point)) set_stop(result, precision_of(result), "interrupted");
}

/// Of the first figure whose visits fall into two groups; "" where none do.
std::string two_speeds_of(const ScenarioResult& point) {
  if (!point.visits) return "";
  for (const VisitValues& figure : point.visits->figures) {
    if (std::string text = modes_text(figure); !text.empty()) return text;
  }
  return "";
}

/// What the flows have to be read with, of all points so far.
void Run::collect_warnings() {
  report_.warnings = own_warnings_;
  for (const ScenarioResult& point : report_.scenarios) {
    for (const FlowResult& flow : point.flows) judge(point, flow);
    if (const std::string text = two_speeds_of(point); !text.empty())
      report_.warnings.push_back({"two-speeds", point.name, text});
  }
  for (const PilotSeries& pilot : report_.pilots) {
    if (const std::string text = modes_text(pilot); !text.empty())
      report_.warnings.push_back({"two-speeds", "the machine as a whole", text});
  }
}

/// Words for what makes a flow's figure less than it seems.
void Run::judge(const ScenarioResult& point, const FlowResult& flow) {
  const auto expected = benchmark_.expected_warnings();
  const auto warn = [&](const std::string& code, const std::string& text) {
    if (std::find(expected.begin(), expected.end(), code) != expected.end()) return;
    report_.warnings.push_back({code, fmt::format("{}, worker {}", point.name, flow.worker), text});
  };
  for (const Warning& warning : flow.warnings) warn(warning.code, warning.text);
  if (!flow.policy.note.empty()) warn("placement-method", flow.policy.note);
  if (!flow.pauses.empty()) {
    warn("stopped",
         fmt::format("was stopped for {} while measuring (by a signal, or without a CPU), "
                     "which its rates and its time leave out",
                     pause_text(paused_for({flow}))));
  }
  // Below this the word "together" would mislead.
  constexpr double least_overlap = 0.9;
  if (flow.overlap && *flow.overlap < least_overlap) {
    warn("low-overlap",
         fmt::format("only {:.0f} % of its time overlapped with all others of its host",
                     *flow.overlap * 100));
  }
  const Worker& worker = setup_.layout.workers[static_cast<std::size_t>(flow.worker)];
  if (flow.cpu_after && !worker.placement.cpus.contains(*flow.cpu_after)) {
    warn("cpu-outside", fmt::format("ended on CPU {}, outside {}", flow.cpu_after->value,
                                    to_list(worker.placement.cpus)));
  }
}

/// One scenario of a visit: its flows, or why there are none. An error ends the run.
Expected<void> Run::run_part(Engine& engine, const PointRun& point, std::size_t index,
                             Seconds window, bool keep_memory, Outcome& outcome) {
  const PlannedScenario& planned = setup_.plan[index];
  progress_.begin(index);
  measured_now_ = {stage_, index};
  const auto skip = [&](const std::string& reason) {
    outcome.status = Status::skipped;
    outcome.reason = reason;
    progress_.end(planned.scenario, "skipped: " + reason);
  };
  if (const auto& why = setup_.skips[index]) {
    outcome.left_out = skip_text(in_words(*why));
    progress_.end(planned.scenario, "skipped: " + outcome.left_out);
    return {};
  }
  Scenario scenario = planned.scenario;
  scenario.stop.time_of_case = scenario.stop.time;
  scenario.stop.time = std::chrono::duration_cast<Nanoseconds>(window);
  // Whether it is enough is seen from all visits; a single one sees it by itself.
  if (!at_once(point)) {
    scenario.stop.precision = -1;
    scenario.stop.least_time = scenario.stop.time;
  }
  scenario.memory_number = memory_number_;
  scenario.keep_memory = keep_memory;
  for (Flow& flow : scenario.flows)
    flow.kernel.chain.seed += static_cast<std::uint64_t>(memory_number_);
  auto traces = run_weighted(engine, planned, scenario);
  if (!traces) {
    const Error& error = traces.error();
    // What this machine cannot give now is a skip; everything else ends the run.
    const bool cannot = error.kind == ErrorKind::resource || error.kind == ErrorKind::unavailable ||
                        (planned.optional && error.kind == ErrorKind::permission);
    if (!cannot) {
      // Drivers of GPUs do not know what they were asked for.
      if (error.kind == ErrorKind::io) traces = fail(about(scenario.name, error));
      const bool cut = error.kind == ErrorKind::interrupted || error.kind == ErrorKind::peer;
      outcome.status = cut ? Status::incomplete : Status::failed;
      outcome.reason = full_text(in_words(error));
      return fail(traces.error());
    }
    if (point.taken == 0) {
      if (!first_problem_) first_problem_ = error;
      all_optional_ = all_optional_ && planned.optional;
    }
    skip(full_text(in_words(error)));
    return {};
  }
  for (const Trace& trace : *traces) {
    if (timeless() || trace.samples.empty()) continue;
    const Seconds start = Nanoseconds(trace.samples.front().start_ns - start_ns_);
    outcome.start = std::min(outcome.start.value_or(start), start);
  }
  recorded_ += timeless() ? scenario.stop.time : time_used(*traces, scenario.stop);
  std::vector<FlowResult> mine;
  bool stopped = stop_requested();
  for (Trace& trace : *traces) {
    stopped = stopped || trace.stop == StopReason::interrupted;
    const Flow& flow = planned.scenario.flows[static_cast<std::size_t>(trace.flow)];
    mine.push_back(result_of(setup_, planned.scenario, flow, std::move(trace), with_samples()));
  }
  // Of one CPU a rank: some kernels take their time to find out.
  if (!options_.null_engine && !mine.empty() && mine.front().cpu_after)
    mine.front().frequency = cpu_frequency(Tree(""), *mine.front().cpu_after);
  const auto cut_off = [&](const Error& error) {
    outcome.status = Status::incomplete;
    outcome.reason = full_text(error);
    std::move(mine.begin(), mine.end(), std::back_inserter(outcome.flows));
    return fail(error);
  };
  const Error interrupted{ErrorKind::interrupted, "interrupted", ""};
  if (stopped && stop_signal() == 0 && comm_.peer_failed()) {
    // Nobody was told to stop: a rank died, and the next wait tells which.
    const auto lost = comm_.barrier();
    return cut_off(lost ? interrupted : lost.error());
  }
  auto flows = gather(mine, stopped);
  if (!flows) return cut_off(flows.error());
  mine = *std::move(flows);
  progress_.end(planned.scenario, stopped ? "interrupted" : "done");
  if (stopped) return cut_off(interrupted);
  std::move(mine.begin(), mine.end(), std::back_inserter(outcome.flows));
  return {};
}

/// Whether or not it will count. `use`: what else happened meanwhile.
Expected<void> Run::try_visit(Engine& engine, const PointRun& point, Seconds window,
                              bool keep_memory, Outcome& outcome, VisitUse& use) {
  const std::optional<CpuWatch> watch =
      cpu_watch_ ? std::optional<CpuWatch>(std::in_place, Tree(""), comm_.local_pids())
                 : std::nullopt;
  Expected<void> ran;
  for (std::size_t i = point.first; ran && i < point.first + point.count; ++i)
    ran = run_part(engine, point, i, window, keep_memory, outcome);
  if (!ran || options_.null_engine || outcome.status != Status::ok || point.skipped) return ran;
  const bool wrong = std::any_of(outcome.flows.begin(), outcome.flows.end(),
                                 [](const FlowResult& flow) { return flow.wrong.has_value(); });
  auto seen = use_of_visit(watch, comm_, paused_for(outcome.flows) > 0, wrong);
  if (!seen) return fail(seen.error());
  use = *seen;
  return {};
}

Expected<void> Run::visit(Engine& engine, PointRun& point, Seconds window, bool keep_memory) {
  const Seconds begun = now();
  Outcome outcome;
  VisitUse use;
  auto ran = try_visit(engine, point, window, keep_memory, outcome, use);
  const auto measured = [&] { return outcome.status == Status::ok && !point.skipped; };
  if (ran && measured() && !at_once(point) && repeats_.again(use)) {
    const Outcome first = std::exchange(outcome, {});
    const VisitUse before = use;
    const auto problem = first_problem_;
    const bool all_optional = all_optional_;
    ran = try_visit(engine, point, window, keep_memory, outcome, use);
    use.repeated = true;
    repeats_.again(use);
    if (!measured()) {
      outcome = first;
      use = before;
      first_problem_ = problem;
      all_optional_ = all_optional;
    } else if (const double paused = paused_for(first.flows); paused > 0) {
      own_warnings_.push_back({"stopped", setup_.plan[point.first].head.name,
                               fmt::format("was stopped for {} while measuring (by a signal, or "
                                           "without a CPU): the visit was repeated",
                                           pause_text(paused))});
    }
  }
  const double start = std::max(begun, outcome.start.value_or(begun)).count();
  const bool whole = measured();
  add(point, std::move(outcome), start);
  if (whole) ++point.taken;
  if (whole && root())
    point.visits.note_use(report_.scenarios[static_cast<std::size_t>(point.result)], use);
  if (!whole || point.once) point.ended = true;
  // A device that is lost does no more for this process, and may leave its memory pinned.
  if (ran && wrong_ && wrong_->kind == ErrorKind::io) return fail(*wrong_);
  return ran;
}

/// Of the time for all points; waiting to spread visits is no part of it.
Seconds Run::spent() const { return timeless() ? recorded_ : now() - waited_; }

Seconds Run::time_left() const {
  return benchmark_.time_until(stage_) * Seconds(options_.stop.time) - spent();
}

/// What rank 0 says.
Expected<Seconds> Run::broadcast(Seconds time) {
  if (comm_.size() == 1) return time;
  const auto said = comm_.broadcast(std::to_string(time.count()));
  if (!said) return fail(said.error());
  return Seconds(std::stod(*said));
}

/// How long the next visit to a point measures; 0: there is no time for it.
Expected<Seconds> Run::next_window(const PointRun& point) {
  if (point.once) return point.time;
  const int visits = fixed_visits(options_);
  if (!options_.time_of_all) return point.time / (visits > 0 ? visits : most_visits);
  // All of them were asked for.
  if (visits > 0) return std::max(shortest_window, point.time / visits);
  // What was foreseen is right on no machine, but wrong alike for what is to come.
  double foreseen = 0;
  for (const PointRun& one : points_) {
    if (one.visits.count() > 0) foreseen += one.preparation * made_anew(one);
  }
  const Seconds preparing = spent() - stage_spent_ - (recorded_ - stage_recorded_) -
                            Seconds(pilot_seconds() - stage_pilots_);
  const double slower = timeless() ? 0 : foreseen > 0 ? preparing.count() / foreseen : 1;
  const TimeLeft left = divide_time(points_, point, time_left().count(), std::max(0.0, slower));
  return broadcast(left.window);
}

/// Whether a point has enough; rank 0 knows.
Expected<void> Run::decide(PointRun& point) {
  const int count = point.visits.count();
  bool ended = point.ended;
  if (root()) {
    ScenarioResult& result = report_.scenarios[static_cast<std::size_t>(point.result)];
    const double precision = precision_of(result);
    const int visits = fixed_visits(options_);
    if (visits > 0) {
      ended = ended || count >= visits;
    } else {
      ended = ended || has_converged(result, precision) ||
              (!options_.time_of_all && count >= most_visits);
    }
    ended = ended || result.status == Status::failed;
    if (ended && !at_once(point)) set_stop(result, precision, "time_cap");
    const double part = ended ? 1 : count / static_cast<double>(visits > 0 ? visits : most_visits);
    for (std::size_t i = point.first; i < point.first + point.count; ++i)
      progress_.advance(i, std::min(1.0, part));
  }
  if (comm_.size() > 1) {
    const auto said = comm_.broadcast(ended ? "ended" : "");
    if (!said) return fail(said.error());
    ended = !said->empty();
  }
  point.ended = ended;
  return {};
}

/// The visits that follow each other with the same memory.
Expected<void> Run::run_sitting(Engine& engine, PointRun& point, int round) {
  const int sitting = round == 0 ? point.first_sitting : point.later_sitting;
  if (sitting > 1) ++memory_number_;
  // Not between visits that go on with the same memory, as warm as it is.
  if (auto taken = take_pilots(); !taken) return taken;
  for (int i = 0; i < sitting && !point.ended; ++i) {
    if (stop_requested()) return fail(ErrorKind::interrupted, "interrupted");
    point.ready = i > 0 ? sitting - i : 0;
    const auto window = point.skipped ? point.time : next_window(point);
    if (!window) return fail(window.error());
    if (!point.skipped && *window == Seconds{0}) {
      end_for_lack_of_time(point);
      break;
    }
    const bool keeps = i + 1 < sitting;
    if (i > 0) point.visits.memory_kept();
    if (auto done = visit(engine, point, *window, keeps); !done) return done;
    if (auto decided = decide(point); !decided) return decided;
    // Only rank 0 writes; all must hear of it when it cannot.
    const auto saved = root() ? save(false) : Expected<void>{};
    if (auto agreed = agree(comm_, error_of(saved)); !agreed) return agreed;
  }
  point.ready = 0;
  // The last visit may have left memory for a next one that does not come.
  if (sitting > 1) ++memory_number_;
  return {};
}

void Run::end_for_lack_of_time(PointRun& point) {
  point.ended = true;
  if (!root() || point.result < 0) return;
  ScenarioResult& result = report_.scenarios[static_cast<std::size_t>(point.result)];
  set_stop(result, precision_of(result), "time_cap");
  for (std::size_t i = point.first; i < point.first + point.count; ++i) progress_.advance(i, 1);
}

/// Waits until it is time for the next round where visits are to be spread over a time.
Expected<void> Run::spread_out(Engine& engine, int round) {
  if (options_.spread.count() == 0 || timeless()) return {};
  const int visits = fixed_visits(options_);
  constexpr Nanoseconds nap{20'000'000};
  const Seconds begun = now();
  const Seconds until =
      stage_begun_ + Seconds(options_.spread) * (round + 1) / std::max(1, visits - 1);
  const std::int64_t until_ns = start_ns_ + std::chrono::duration_cast<Nanoseconds>(until).count();
  engine.release();
  for (std::int64_t at = clock_->now_ns(); at < until_ns; at = clock_->now_ns()) {
    if (stop_requested()) return fail(ErrorKind::interrupted, "interrupted");
    if (comm_.peer_failed()) return comm_.barrier();  // which tells who
    clock_->sleep_until(std::min(at + nap.count(), until_ns));
  }
  waited_ += now() - begun;
  return {};
}

Expected<void> Run::run_rounds(Engine& engine, std::size_t from) {
  stage_begun_ = now();
  stage_spent_ = spent();
  stage_recorded_ = recorded_;
  stage_pilots_ = pilot_seconds();
  const auto time = broadcast(std::max(Seconds{0}, time_left()));
  if (!time) return fail(time.error());
  relate();  // those of the stage before
  points_ = points_of(setup_.plan, setup_.skips, from, *time, options_);
  for (int round = 0;; ++round) {
    const auto order = order_of(points_, round, options_.seed);
    if (order.empty()) break;
    if (round > 0) {
      // Before the wait: it is to tell of the visits that were.
      if (options_.spread.count() > 0)
        if (auto taken = take_pilots(true); !taken) return taken;
      if (auto waited = spread_out(engine, round - 1); !waited) return waited;
      ++memory_number_;
    }
    for (const std::size_t index : order) {
      if (auto done = run_sitting(engine, points_[index], round); !done) return done;
    }
  }
  return take_pilots(true);
}

Expected<void> Run::prepare_pilots(Engine& engine) {
  if (timeless() || !hooks_.pilots) return {};
  auto pilots = Pilots::make(setup_, options_, comm_, options_.null_engine ? &engine : nullptr);
  if (!pilots) return fail(pilots.error());
  if (!pilots->empty() || !pilots->failure().empty()) pilots_ = *std::move(pilots);
  return {};
}

Expected<void> Run::take_pilots(bool last) {
  if (!pilots_) return {};
  return pilots_->take([this] { return now().count(); }, last);
}

/// What the visits gave, relative to the pilots so far.
void Run::relate() {
  if (!root() || !pilots_) return;
  report_.pilots = pilots_->series();
  for (const PointRun& point : points_) {
    if (point.result < 0) continue;
    relate_to_pilots(report_.scenarios[static_cast<std::size_t>(point.result)],
                     point.visits.times(), report_.pilots);
  }
}

/// What a benchmark asks for when it has seen its results.
Expected<void> Run::refine(Engine& engine) {
  while (true) {
    auto more = benchmark_.refine({options_, setup_.layout, setup_.machines}, report_);
    if (!more) return fail(more.error());
    if (more->empty()) return {};
    const std::size_t from = setup_.plan.size(), before = report_.scenarios.size();
    const int last_point = setup_.plan.empty() ? -1 : setup_.plan.back().point;
    for (PlannedScenario& planned : *more) {
      planned.point += last_point + 1;
      setup_.skips.push_back(planned.skip);
      setup_.plan.push_back(std::move(planned));
    }
    ++stage_;
    ++memory_number_;
    progress_.expect(weights());
    if (auto done = run_rounds(engine, from); !done) return done;
    if (report_.scenarios.size() == before) return {};  // it would ask for the same again
  }
}

/// Devices and pipes get the whole once, at the end; files are rewritten as results come.
Expected<void> Run::save(bool last) {
  report_.seconds = now().count();
  const auto begun = std::chrono::steady_clock::now();
  const bool write = last || begun >= next_save_;
  if (write) {
    if (!last) {
      relate();
      collect_warnings();
    }
    report_.views = benchmark_.views(report_);
    report_.facts = benchmark_.facts(report_);
  }
  for (const OutputFile& file : output_files(options_)) {
    const bool at_end = file.option == "--samples" || is_special_file(file.path);
    if (!write || file.path.empty() || (at_end && !last)) continue;
    if (auto saved = write_whole(file.path, text_of(file.option), file.option); !saved)
      return saved;
  }
  // All points are written each time: that may take a twentieth of the run, not its square.
  const auto ended = std::chrono::steady_clock::now();
  if (write) next_save_ = ended + 20 * (ended - begun);
  if (hooks_.save) return hooks_.save(report_);
  return {};
}

/// What the file of an option holds.
std::string Run::text_of(const std::string& option) const {
  if (option == "--json") return json_text(report_);
  if (option == "--csv") return benchmark_.csv_file(report_, options_);
  if (option == "--openmetrics") return report_openmetrics(report_);
  return samples_file(report_);
}

Expected<void> Run::show() {
  progress_.clear();
  std::string text;
  switch (options_.format) {
    case Format::table:
      text = hooks_.table ? hooks_.table(report_) : benchmark_.table(report_, options_);
      break;
    case Format::csv: text = tidy_csv(report_); break;
    case Format::json: text = json_text(report_); break;
    case Format::openmetrics: text = report_openmetrics(report_); break;
  }
  return write_stdout(text);
}

void Run::capture_process_memory() {
  if (!options_.process_memory) return;
  const std::string& who = *options_.process_memory;
  const int rank = who.empty() ? comm_.size() - 1 : who == "all" ? comm_.rank() : std::stoi(who);
  if (rank != comm_.rank()) return;
  // Visits are in no order; what is shown is the last case.
  if (!my_process_memory_.empty() && measured_now_ < memory_of_) return;
  memory_of_ = measured_now_;
  NodeSet nodes;
  for (const NumaNode& node : setup_.machine.nodes) nodes.insert(node.id);
  const auto memory = read_process_memory(0, nodes);
  if (!memory) {
    my_process_memory_ =
        fmt::format("[{}] {}\n", comm_.rank(), full_text(in_words(memory.error())));
    return;
  }
  my_process_memory_ = hooks_.process_memory
                           ? hooks_.process_memory(*memory, rank)
                           : with_prefix(fmt::format("[{}] ", rank), process_memory_table(*memory));
}

Expected<std::string> Run::process_memory_text() {
  const auto all = comm_.gather(my_process_memory_);
  if (!all) return fail(all.error());
  std::string text;
  for (const std::string& part : *all) text += part;
  return text;
}

Expected<RunReport> Run::go() {
  EngineOptions engine_options;
  engine_options.strict = options_.strict;
  engine_options.noise = options_.noise;
  engine_options.progress = &progress_;
  engine_options.when_prepared = [this](const auto&) { capture_process_memory(); };
  auto engine = options_.null_engine
                    ? Expected<std::unique_ptr<Engine>>(
                          make_null_engine(comm_, setup_.layout, setup_.machine, engine_options))
                    : make_engine(comm_, setup_.layout, setup_.machine, engine_options);
  if (auto agreed = agree(comm_, error_of(engine)); !agreed) return fail(agreed.error());
  clock_ = &(*engine)->clock();
  report_ = new_report(setup_, options_, comm_, **engine);
  // The null engine measures nothing that others could disturb.
  if (!options_.null_engine && comm_.local_rank() == 0)
    cpu_watch_.emplace(Tree(""), comm_.local_pids());
  own_warnings_ = report_.warnings;
  if (auto prepared = prepare_pilots(**engine); !prepared) return fail(prepared.error());
  auto ran = run_rounds(**engine, 0);
  if (ran && comm_.size() == 1) ran = refine(**engine);
  relate();
  collect_warnings();
  if (pilots_ && !pilots_->failure().empty())
    report_.warnings.push_back(
        {"no-pilot", "", "no reference measurements: " + pilots_->failure()});
  if (auto noted = note_cpu_use(cpu_watch_, comm_, ran.has_value(), report_); ran && !noted)
    ran = noted;
  const auto add_all = [&](std::vector<Warning> warnings) {
    std::move(warnings.begin(), warnings.end(), std::back_inserter(report_.warnings));
  };
  benchmark_.conclude(report_);
  for (ScenarioResult& result : report_.scenarios) result.groups = medians_of(result, report_);
  if (benchmark_.is_of_memory()) add_all(cache_warnings(report_));
  add_all(benchmark_.warnings(report_));
  report_.complete = ran.has_value();
  report_.incomplete_reason = ran ? "" : full_text(in_words(ran.error()));
  // Files and table also after a stop: what was measured is not lost. The first error counts.
  std::optional<Error> problem = error_of(ran);
  // A device that failed fails again at the next point: the first time says more.
  if (problem && wrong_ && problem->kind == wrong_->kind) problem = wrong_;
  if (root() && !report_.scenarios.empty()) {
    const auto saved = save(true);
    if (!problem) problem = error_of(saved);
    // A table without a single figure would only hide the error that follows.
    const bool anything = std::any_of(report_.scenarios.begin(), report_.scenarios.end(),
                                      [](const auto& s) { return !s.flows.empty(); });
    const auto shown = anything || (ran && !first_problem_) ? show() : Expected<void>{};
    if (!problem) problem = error_of(shown);
  }
  if (!problem) problem = wrong_;
  if (ran) problem = error_of(agree(comm_, problem));
  if (!problem && options_.process_memory) {
    const auto text = process_memory_text();
    if (!text) return fail(text.error());
    if (root()) problem = error_of(write_stdout(*text));
  }
  if (problem) return fail(*problem);
  const bool nothing = std::none_of(report_.scenarios.begin(), report_.scenarios.end(),
                                    [](const auto& s) { return s.status == Status::ok; });
  const bool may_skip = all_optional_ || options_.skip_too_large || options_.pages.size() > 1;
  if (first_problem_ && (nothing || !may_skip)) return fail(*first_problem_);
  return std::move(report_);
}

}  // namespace

Expected<int> Benchmark::run(const RunOptions& options, Comm& comm) const {
  const auto report = run_benchmark(*this, options, comm);
  if (!report) return fail(report.error());
  return 0;
}

Expected<RunReport> run_benchmark(const Benchmark& benchmark, const RunOptions& options, Comm& comm,
                                  const RunHooks& hooks) {
  if (auto checked = check_options(options, comm); !checked) return fail(checked.error());
  auto setup = set_up(benchmark, options, comm);
  if (!setup) return fail(setup.error());
  if (options.only_plans()) {
    const auto text = options.print_scenario ? scenario_text(*setup, options)
                                             : Expected<std::string>(plan_text(*setup, options));
    if (!text) return fail(text.error());
    if (comm.rank() == 0) {
      if (auto shown = write_stdout(*text); !shown) return fail(shown.error());
    }
    return RunReport{};
  }
  return Run(benchmark, options, comm, hooks, *std::move(setup)).go();
}

}  // namespace numatlas
