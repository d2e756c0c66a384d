#include "benchmarks/runner.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <iterator>
#include <memory>
#include <numeric>
#include <optional>
#include <set>
#include <string>
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
#include "benchmarks/progress.h"
#include "benchmarks/setup.h"
#include "benchmarks/weighted_run.h"
#include "engine/agreement.h"
#include "record/cache_level.h"
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

/// One run in progress on one rank.
class Run {
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
        start_(std::chrono::steady_clock::now()) {}

  Expected<RunReport> go();

 private:
  std::vector<double> weights() const;
  Expected<void> run_all(Engine& engine);
  Expected<void> run_one(Engine& engine, std::size_t index);
  Expected<void> share_time(StopRule& rule, std::size_t index);
  Expected<void> refine(Engine& engine);
  Expected<std::vector<FlowResult>> gather(const std::vector<FlowResult>& mine, bool stopped);
  void add(const PlannedScenario& planned, Status status, const std::string& reason,
           std::vector<FlowResult> flows);
  void judge(const PlannedScenario& planned, const FlowResult& flow);
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
  std::chrono::steady_clock::time_point start_;
  RunReport report_;
  std::optional<Error> first_problem_;  ///< why scenarios were skipped while running
  bool all_optional_ = true;            ///< these scenarios
  std::optional<Error> wrong_;          ///< a kernel's output was not what it should be
  int last_point_ = -1;
  int round_ = 0;         ///< of `refine`; 0: the plan
  std::size_t next_ = 0;  ///< scenario of the plan to run next
  std::string my_process_memory_;
  std::optional<CpuWatch> cpu_watch_;  ///< of this host, by one of its ranks
  Seconds recorded_{0};                ///< measuring time used so far, where it is shared
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

/// Adds flows to their point: parts of a serial point become one result.
void Run::add(const PlannedScenario& planned, Status status, const std::string& reason,
              std::vector<FlowResult> flows) {
  if (planned.point != last_point_ || report_.scenarios.empty()) {
    report_.scenarios.push_back(planned.head);
    last_point_ = planned.point;
  }
  ScenarioResult& result = report_.scenarios.back();
  if (status != Status::ok) {
    result.status = status;
    result.reason = reason;
  }
  for (FlowResult& flow : flows) {
    judge(planned, flow);
    for (Figure& figure : benchmark_.flow_figures(flow, result, report_))
      flow.figures.push_back(std::move(figure));
    if (flow.wrong && result.status == Status::ok) {
      result.status = Status::failed;
      result.reason = fmt::format("worker {}: {}", flow.worker, full_text(*flow.wrong));
      if (!wrong_)
        wrong_ = Error{flow.wrong->kind, result.name + ", " + result.reason, flow.wrong->hint};
    }
    result.flows.push_back(std::move(flow));
  }
  std::sort(result.flows.begin(), result.flows.end(),
            [](const FlowResult& a, const FlowResult& b) { return a.worker < b.worker; });
  result.figures = sums_of(result, report_);
  result.host_totals = host_sums_of(result, report_);
  for (Figure& figure : benchmark_.totals(result, report_))
    result.figures.push_back(std::move(figure));
  for (HostTotals& totals : result.host_totals) {
    ScenarioResult part = result;
    std::erase_if(part.flows,
                  [&](const FlowResult& flow) { return host_of(report_, flow) != totals.host; });
    part.figures = totals.figures;
    for (Figure& figure : benchmark_.totals(part, report_))
      totals.figures.push_back(std::move(figure));
  }
  result.groups = medians_of(result, report_);
  // They were wanted for the totals, of a serial point's parts too.
  result.distribution = {};
  for (FlowResult& flow : result.flows) {
    result.distribution = merged(result.distribution, flow.distribution);
    if (flow.gpu) flow.gpu->steps.clear();
  }
}

/// Words for what makes a flow's figure less than it seems.
void Run::judge(const PlannedScenario& planned, const FlowResult& flow) {
  const auto expected = benchmark_.expected_warnings();
  const auto warn = [&](const std::string& code, const std::string& text) {
    if (std::find(expected.begin(), expected.end(), code) != expected.end()) return;
    // Where workers are measured in turn, the case's name ends in the worker.
    const std::string worker = fmt::format("worker {}", flow.worker);
    const std::string& name = planned.scenario.name;
    report_.warnings.push_back({code, name.ends_with(worker) ? name : name + ", " + worker, text});
  };
  for (const Warning& warning : flow.warnings) warn(warning.code, warning.text);
  if (!flow.policy.note.empty()) warn("placement-method", flow.policy.note);
  if (!flow.pauses.empty()) {
    const double seconds = std::accumulate(flow.pauses.begin(), flow.pauses.end(), 0.0);
    warn("stopped",
         fmt::format("was stopped for {} while measuring (by a signal, or without a CPU), "
                     "which its rates and its time leave out",
                     seconds < 1 ? fmt::format("{:.0f} ms", seconds * 1e3)
                                 : fmt::format("{:.1f} s", seconds)));
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

Expected<void> Run::run_one(Engine& engine, std::size_t index) {
  const PlannedScenario& planned = setup_.plan[index];
  progress_.begin(index);
  if (const auto& skip = setup_.skips[index]) {
    const std::string reason = skip_text(in_words(*skip));
    add(planned, Status::skipped, reason, {});
    progress_.end(planned.scenario, "skipped: " + reason);
    return {};
  }
  Scenario scenario = planned.scenario;
  if (auto shared = share_time(scenario.stop, index); !shared) return shared;
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
      add(planned, cut ? Status::incomplete : Status::failed, full_text(in_words(error)), {});
      return fail(error);
    }
    if (!first_problem_) first_problem_ = error;
    all_optional_ = all_optional_ && planned.optional;
    const std::string reason = full_text(in_words(error));
    add(planned, Status::skipped, reason, {});
    progress_.end(planned.scenario, "skipped: " + reason);
    return {};
  }
  // The null engine's flows each have a clock of their own.
  if (options_.time_of_all)
    recorded_ += options_.null_engine ? scenario.stop.time : time_used(*traces, scenario.stop);
  std::vector<FlowResult> mine;
  bool stopped = stop_requested();
  for (Trace& trace : *traces) {
    stopped = stopped || trace.stop == StopReason::interrupted;
    const Flow& flow = planned.scenario.flows[static_cast<std::size_t>(trace.flow)];
    mine.push_back(result_of(setup_, planned.scenario, flow, std::move(trace), with_samples()));
  }
  if (stopped && stop_signal() == 0 && comm_.peer_failed()) {
    // Nobody was told to stop: a rank died, and the next wait tells which.
    const auto lost = comm_.barrier();
    add(planned, Status::incomplete, lost ? "interrupted" : full_text(lost.error()), mine);
    if (!lost) return fail(lost.error());
    return fail(ErrorKind::interrupted, "interrupted");
  }
  auto flows = gather(mine, stopped);
  if (!flows) {
    add(planned, Status::incomplete, full_text(flows.error()), mine);
    return fail(flows.error());
  }
  add(planned, stopped ? Status::incomplete : Status::ok, stopped ? "interrupted" : "",
      *std::move(flows));
  progress_.end(planned.scenario, stopped ? "interrupted" : "done");
  if (stopped) return fail(ErrorKind::interrupted, "interrupted");
  // A device that is lost does no more for this process, and may leave its memory pinned.
  if (wrong_ && wrong_->kind == ErrorKind::io) return fail(*wrong_);
  return {};
}

/// Where --time is for all points, each gets an equal part of what is left of it, less what the
/// memory of all that are left takes to prepare: as foreseen, times what that was wrong by so far.
Expected<void> Run::share_time(StopRule& rule, std::size_t index) {
  if (!options_.time_of_all) return {};
  // Shorter than this even a point of a thousand points has no interval worth the name.
  constexpr Seconds shortest{0.02};
  const auto here = setup_.skips.begin() + static_cast<std::ptrdiff_t>(index);
  const auto points = static_cast<double>(std::count(here, setup_.skips.end(), std::nullopt));
  double prepared = 0, to_prepare = 0;  // as foreseen
  for (std::size_t i = 0; i < setup_.plan.size(); ++i) {
    if (setup_.skips[i]) continue;
    (i < index ? prepared : to_prepare) += preparation_of(setup_.plan[i].scenario);
  }
  const Seconds spent =
      options_.null_engine ? Seconds{0} : std::chrono::steady_clock::now() - start_;
  // What was foreseen is right on no machine, but wrong alike for what is to come.
  Seconds preparing{options_.null_engine ? 0 : to_prepare};
  if (prepared > 0) preparing *= std::max(0.0, (spent - recorded_).count()) / prepared;
  const double part = benchmark_.time_until(round_);
  const Seconds left =
      part * Seconds(options_.stop.time) - (options_.null_engine ? recorded_ : spent);
  Seconds share = std::max(shortest, (left - preparing) / points);
  if (comm_.size() > 1) {
    const auto said = comm_.broadcast(std::to_string(share.count()));
    if (!said) return fail(said.error());
    share = Seconds(std::stod(*said));
  }
  rule.time = std::chrono::duration_cast<Nanoseconds>(share);
  rule.least_time = std::min(rule.least_time, rule.time);
  return {};
}

/// What a benchmark asks for when it has seen its results.
Expected<void> Run::refine(Engine& engine) {
  while (true) {
    auto more = benchmark_.refine({options_, setup_.layout, setup_.machines}, report_);
    if (!more) return fail(more.error());
    if (more->empty()) return {};
    for (PlannedScenario& planned : *more) {
      planned.point += last_point_ + 1;
      setup_.skips.push_back(planned.skip);
      setup_.plan.push_back(std::move(planned));
    }
    ++round_;
    progress_.expect(weights());
    if (auto done = run_all(engine); !done) return done;
  }
}

Expected<void> Run::run_all(Engine& engine) {
  for (; next_ < setup_.plan.size(); ++next_) {
    const std::size_t i = next_;
    if (stop_requested()) return fail(ErrorKind::interrupted, "interrupted");
    if (auto done = run_one(engine, i); !done) return done;
    const bool point_ends =
        i + 1 == setup_.plan.size() || setup_.plan[i + 1].point != setup_.plan[i].point;
    if (!point_ends) continue;
    // Only rank 0 writes; all must hear of it when it cannot.
    const auto saved = root() ? save(false) : Expected<void>{};
    if (auto agreed = agree(comm_, error_of(saved)); !agreed) return agreed;
  }
  return {};
}

/// Devices and pipes get the whole once, at the end; files are rewritten as results come.
Expected<void> Run::save(bool last) {
  report_.seconds =
      options_.null_engine ? 0 : Seconds(std::chrono::steady_clock::now() - start_).count();
  const auto begun = std::chrono::steady_clock::now();
  const bool write = last || begun >= next_save_;
  if (write) {
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
  engine_options.progress = &progress_;
  engine_options.when_prepared = [this](const auto&) { capture_process_memory(); };
  auto engine = options_.null_engine
                    ? Expected<std::unique_ptr<Engine>>(
                          make_null_engine(comm_, setup_.layout, setup_.machine, engine_options))
                    : make_engine(comm_, setup_.layout, setup_.machine, engine_options);
  if (auto agreed = agree(comm_, error_of(engine)); !agreed) return fail(agreed.error());
  report_ = new_report(setup_, options_, comm_, **engine);
  // The null engine measures nothing that others could disturb.
  if (!options_.null_engine && comm_.local_rank() == 0)
    cpu_watch_.emplace(Tree(""), comm_.local_pids());
  auto ran = run_all(**engine);
  if (ran && comm_.size() == 1) ran = refine(**engine);
  if (auto noted = note_cpu_use(cpu_watch_, comm_, ran.has_value(), report_); ran && !noted)
    ran = noted;
  const auto add_all = [&](std::vector<Warning> warnings) {
    std::move(warnings.begin(), warnings.end(), std::back_inserter(report_.warnings));
  };
  benchmark_.conclude(report_);
  add_all(waiting_warnings(report_));
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
