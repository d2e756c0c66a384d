#include "run/benchmark_run.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <numeric>

#include <fmt/format.h>

#include "base/environment.h"
#include "base/text.h"
#include "base/version.h"
#include "engine/agreement.h"
#include "engine/simulated/null_engine.h"
#include "kernels/stream_loops.h"
#include "kernels/traits.h"
#include "machine/identity.h"
#include "record/labels.h"
#include "record/modes.h"
#include "report/answer.h"
#include "run/check_plan.h"
#include "run/metrics.h"

namespace numatlas {
namespace {

using Seconds = BenchmarkRun::Seconds;

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
  report.precision = options.precision;
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

/// How often its memory was made so far for so many visits.
int made_anew(const CaseRun& run, int visits) {
  const int more = visits - run.first_block;
  return 1 + std::max(0, (more + run.later_block - 1) / run.later_block);
}

/// NUMATLAS_TEST_SLOW_HOST=NAME:FACTOR (for tests): whole passes on that host take so many times as
/// long.
double slow_down_of(const std::string& host) {
  const char* text = environment_variable("NUMATLAS_TEST_SLOW_HOST");
  const std::string said = text == nullptr ? "" : text;
  const std::size_t colon = said.rfind(':');
  if (colon == std::string::npos || said.substr(0, colon) != host) return 1;
  return std::max(1.0, std::atof(said.c_str() + colon + 1));
}

void add_all(std::vector<Warning>& warnings, std::vector<Warning> more) {
  std::move(more.begin(), more.end(), std::back_inserter(warnings));
}

}  // namespace

BenchmarkRun::BenchmarkRun(SessionState& state, const Benchmark& benchmark,
                           const RunOptions& options, const RunHooks& hooks, Setup setup,
                           Seconds share)
    : state_(state),
      number_(state.runs++),
      benchmark_(benchmark),
      options_(options),
      hooks_(hooks),
      setup_(std::move(setup)),
      share_(share),
      progress_(root() && !options.quiet, weights(), root() ? hooks.progress : nullptr) {
  progress_.limit(std::chrono::duration<double>(options.time_of_run()).count(),
                  options.time_of_all || options.limit.count() > 0);
  keep_only(setup_, [](const PlannedCase& one) { return !one.later; });
}

std::vector<double> BenchmarkRun::weights() const {
  std::vector<double> weights, of_later;
  for (const PlannedCase& planned : setup_.plan) {
    // Building and proving 1 GiB of chain takes longer than measuring.
    double most = 0;
    for (const Flow& flow : planned.scenario.flows)
      most = std::max(most, static_cast<double>(flow.region.bytes.value));
    (planned.later ? of_later : weights).push_back(1 + 4 * most / gib);
  }
  weights.insert(weights.end(), of_later.begin(), of_later.end());
  return weights;
}

EngineOptions BenchmarkRun::engine_options() {
  EngineOptions options;
  options.strict = options_.strict;
  options.strict_pages = !options_.pages.empty();  // those that nobody asked for are tried
  options.progress = &progress_;
  options.widths = &state_.widths;
  options.when_prepared = [this](const auto& traces) {
    if (rounds_of_hosts_) return rounds_of_hosts_->meet(traces);
    capture_process_memory();
  };
  if (!setup_.host) return options;
  const auto here = static_cast<std::size_t>(
      state_.comm.layout().host_of[static_cast<std::size_t>(state_.comm.rank())]);
  options.slow_down = slow_down_of(state_.comm.layout().hosts[here]);
  return options;
}

Expected<void> BenchmarkRun::start() {
  const EngineOptions options = engine_options();
  auto engine = options_.null_engine
                    ? Expected<std::unique_ptr<Engine>>(make_null_engine(
                          state_.comm, setup_.layout, setup_.machine, options, options_.noise))
                    : make_engine(state_.comm, setup_.layout, setup_.machine, options);
  TRY(agree(state_.comm, error_of(engine)));
  engine_ = *std::move(engine);
  report_ = new_report(setup_, options_, state_.comm, *engine_);
  number_workers();
  if (setup_.host)
    rounds_of_hosts_ = std::make_unique<HostRounds>(
        state_.comm, setup_, *benchmark_.reduced_to_hosts, report_, progress_, state_.after_round);
  begun_ = now();
  return {};
}

/// Finds its workers among those of the session, each once: several may share a CPU.
void BenchmarkRun::number_workers() {
  const auto same = [](const Worker& a, const Worker& b) {
    return a.rank == b.rank && a.host == b.host && a.placement.cpus == b.placement.cpus &&
           a.placement.cpu == b.placement.cpu;
  };
  auto& all = state_.workers;
  own_workers_.assign(all.size(), -1);
  const std::size_t known = all.size();
  for (const Worker& worker : setup_.layout.workers) {
    std::size_t number = 0;
    while (number < known && (own_workers_[number] >= 0 || !same(all[number], worker))) ++number;
    if (number == known) {
      number = all.size();
      all.push_back(worker);
      own_workers_.push_back(-1);
    }
    own_workers_[number] = static_cast<int>(session_workers_.size());
    session_workers_.push_back(static_cast<int>(number));
  }
}

CaseInput BenchmarkRun::case_input() const {
  return {benchmark_, options_, hooks_, setup_, own_workers_, report_, number_};
}

void BenchmarkRun::plan_cases(Seconds time) {
  batch_.first_case = cases_.size();
  batch_.spent = spent_;
  batch_.recorded = recorded_;
  std::ranges::move(runs_of_plan(setup_.plan, setup_.skips, cases_, time, options_),
                    std::back_inserter(cases_));
}

Expected<bool> BenchmarkRun::refine() {
  if (rounds_of_hosts_) {
    TRY(retest());
    return false;
  }
  if (state_.comm.size() > 1 || !benchmark_.refinement.plan || given_up_) return false;
  // It has been asked about these.
  const auto known = static_cast<std::size_t>(std::ranges::count_if(cases_, is_known));
  if (std::exchange(batch_.cases, known) == known) return false;
  report_.cases = cases_of(case_input(), cases_);
  auto more =
      benchmark_.refinement.plan({options_, setup_.layout, setup_.machines, setup_.pages}, report_);
  if (!more) return fail(more.error());
  std::erase_if(*more, [&](const PlannedCase& planned) { return !stays(planned, options_.kept); });
  if (more->empty()) return false;
  const int last_point = setup_.plan.empty() ? -1 : setup_.plan.back().number;
  for (PlannedCase& planned : *more) {
    planned.number += last_point + 1;
    setup_.skips.push_back(planned.skip);
    setup_.plan.push_back(std::move(planned));
  }
  TRY(check_plan(setup_.plan, benchmark_.name));
  ++batch_.number;
  ++state_.memory_number;
  progress_.expect(weights());
  return true;
}

double BenchmarkRun::slower() const {
  if (timeless()) return 0;
  // The estimate is right on no machine, but wrong alike for what is to come.
  double estimated = 0;
  for (std::size_t i = batch_.first_case; i < cases_.size(); ++i) {
    const CaseRun& run = cases_[i];
    const auto own =
        static_cast<int>(std::ranges::count_if(run.done->visits, [&](const Visit& visit) {
          return visit.by == number_ && visit.status == Status::ok;
        }));
    if (own > 0) estimated += run.preparation * made_anew(run, own) + run.visiting * own;
  }
  const Seconds preparing = spent_ - batch_.spent - (recorded_ - batch_.recorded);
  return estimated > 0 ? std::max(0.0, preparing.count() / estimated) : 1;
}

bool BenchmarkRun::uses_all_time() const {
  return !timeless() && options_.visits == 0 && !may_end_early(options_, setup_.machines);
}

bool BenchmarkRun::ended() const {
  return given_up_ || std::ranges::all_of(cases_, &CaseRun::ended);
}

void BenchmarkRun::give_up(const Error& error) { given_up_ = error; }

bool BenchmarkRun::has_results() const {
  const auto has_flows = [](const Visit& visit) { return !visit.flows.empty(); };
  const auto has_passes = [](const HostTotals& host) { return !host.passes.empty(); };
  return std::ranges::any_of(cases_,
                             [&](const CaseRun& run) {
                               return std::ranges::any_of(run.done->visits, has_flows);
                             }) ||
         std::ranges::any_of(report_.cases, [&](const Case& one) {
           return std::ranges::any_of(one.host_totals, has_passes);
         });
}

bool BenchmarkRun::skipped() const {
  return std::ranges::any_of(cases_, [](const CaseRun& run) {
    const auto& visits = run.done->visits;
    return visits.empty() ? run.out_of_time : visits.front().status == Status::skipped;
  });
}

Expected<void> BenchmarkRun::decide(CaseRun& run) {
  const int count = run.visits();
  bool ended = run.ended;
  if (root()) {
    const auto& visits = run.done->visits;
    const int fixed = options_.visits;
    if (fixed > 0) {
      ended = ended || count >= fixed;
    } else {
      run.converged = has_converged(*run.done, precision_of(case_input(), run));
      ended = ended || (run.converged && !uses_all_time()) ||
              (!options_.time_of_all && count >= most_visits);
    }
    ended = ended || std::ranges::any_of(visits, &Visit::has_wrong_output);
    const double part = ended ? 1
                        : uses_all_time() && options_.time_of_all
                            ? spent() / share_
                            : count / static_cast<double>(fixed > 0 ? fixed : most_visits);
    for (std::size_t i = run.first; i < run.first + run.count; ++i)
      progress_.advance(i, std::min(1.0, part));
  }
  run.ended = TRY(state_.comm.broadcast_value(ended));
  return {};
}

void BenchmarkRun::end_for_lack_of_time(CaseRun& run) {
  run.ended = run.out_of_time = true;
  if (!root()) return;
  for (std::size_t i = run.first; i < run.first + run.count; ++i) progress_.advance(i, 1);
}

/// Those of the benchmark's own kernels.
void BenchmarkRun::note_widths() {
  report_.widths.clear();
  for (const VectorWidth& width : state_.widths) {
    const bool own =
        std::any_of(setup_.plan.begin(), setup_.plan.end(), [&](const PlannedCase& planned) {
          const auto& flows = planned.scenario.flows;
          return std::any_of(flows.begin(), flows.end(), [&](const Flow& flow) {
            const auto* const work = flow.kernel.find<PassesParameters>();
            return full_name(flow.kernel) == width.kernel ||
                   (work != nullptr && std::ranges::any_of(work->passes, [&](Operation one) {
                      return name_of(one) == width.kernel;
                    }));
          });
        });
    if (own && !width.tried.empty()) report_.widths.push_back(width);
  }
}

void BenchmarkRun::update(const Pilots* pilots, bool last) {
  note_widths();
  if (root() && pilots != nullptr) report_.pilots = pilots->series();
  if (!rounds_of_hosts_) report_.cases.clear();
  for (CaseRun& run : cases_) {
    if (rounds_of_hosts_ || !is_known(run)) continue;
    report_.cases.push_back(case_of(case_input(), run));
    // With many workers all visits are as large as all else; other benchmarks may want theirs.
    if (last && run.done.use_count() == 1) run.done->drop_flows();
  }
  for (const CaseRun& run : cases_)
    if (rounds_of_hosts_ && is_known(run))
      set_status(case_input(), run, report_.cases[rounds_of_hosts_->first_case_of(run.first)]);
  report_.seconds = (now() - begun_).count();
  // Those of a run that is reduced to its hosts are told by each.
  report_.warnings = rounds_of_hosts_ ? rounds_of_hosts_->warnings() : setup_.warnings;
  add_all(report_.warnings, warnings_of(case_input(), cases_, report_.cases));
}

void BenchmarkRun::describe() {
  if (report_.cases.empty()) return;
  report_.views = benchmark_.shown.views(report_);
  // A run that left some of its cases out has nothing for the column of a label that only they
  // have.
  for (View& view : report_.views)
    std::erase_if(view.cells, [&](const ViewColumn& cell) {
      return !cell.label.empty() && !has_label(report_, cell.label);
    });
  for (View& view : report_.views) view.by_host = benchmark_.shown.by_host;
  report_.facts = benchmark_.shown.facts(report_);
}

Expected<void> BenchmarkRun::conclude(const Expected<void>& ran, const Pilots* pilots) {
  update(pilots, true);
  if (pilots != nullptr && !pilots->failure().empty())
    report_.warnings.push_back(
        {"no-pilot", "", "no measurements of a pilot: " + pilots->failure()});
  auto noted = note_silences(state_.comm, ran.has_value(), report_);
  // Hosts that a run is reduced to told of theirs.
  if (noted && !rounds_of_hosts_)
    noted = note_cpu_use(state_.cpu_watch, state_.comm, ran.has_value(), report_);
  const Expected<void>& ended = ran ? noted : ran;
  // Stopped before the first visit ended, it has nothing that a benchmark could say more about.
  if (!report_.cases.empty()) {
    benchmark_.figures.conclude(report_);
    for (Case& result : report_.cases) result.groups = medians_of(result, report_);
    if (benchmark_.is_of_memory) add_all(report_.warnings, cache_warnings(report_));
    add_all(report_.warnings, benchmark_.shown.warnings(report_));
  }
  const std::optional<Error> why = given_up_ ? given_up_ : error_of(ended);
  report_.complete = !why;
  report_.incomplete_reason = why ? full_text(in_words(*why)) : "";
  describe();
  const Trust trust = trust_of({&report_, 1});
  report_.trust = trust.grade;
  report_.doubt = trust.doubt;
  // The null engine leaves nothing out: it is what tests and --dry-run look at a benchmark with.
  if (!ended || !options_.null_engine) return ended;
  return as_root_has(state_.comm, root() ? error_of(check_views(report_)) : std::nullopt);
}

void BenchmarkRun::capture_process_memory() {
  const int rank = state_.comm.rank();
  if (!hooks_.process_memory || rank != state_.comm.size() - 1) return;
  // Visits are in no order; what is shown is the last case.
  if (!my_process_memory_.empty() && measured_now_ < memory_of_) return;
  memory_of_ = measured_now_;
  NodeSet nodes;
  for (const NumaNode& node : setup_.machine.nodes) nodes.insert(node.id);
  const auto memory = read_process_memory(0, nodes);
  my_process_memory_ = memory ? hooks_.process_memory(*memory, rank)
                              : fmt::format("[{}] {}\n", rank, full_text(in_words(memory.error())));
}

Expected<std::string> BenchmarkRun::process_memory_text() {
  const auto all = TRY(state_.comm.gather(my_process_memory_));
  std::string text;
  for (const std::string& part : all) text += part;
  return text;
}

}  // namespace numatlas
