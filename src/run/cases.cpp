#include "run/cases.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "kernels/traits.h"
#include "machine/pci_link.h"
#include "memory/source.h"
#include "record/modes.h"
#include "run/device_flows.h"
#include "run/levels.h"
#include "run/metrics.h"
#include "run/pilots.h"

namespace numatlas {
namespace {

// Parts of the common time whose sums over all flows give the sum's interval.
constexpr std::size_t stretches = 20;

FlowAsk ask_of(const Flow& flow) {
  const KernelSpec& kernel = flow.kernel;
  FlowAsk ask;
  ask.load = flow.role == Role::load;
  ask.kernel = name_of(kernel);
  ask.mix = mix_text(kernel);
  if (!on_gpu(kernel) && traffic_per_step(kernel).written > 0) ask.stores = name_of(kernel.stores);
  if (const auto* const chase = kernel.find<ChaseParameters>()) {
    ask.order = name_of(chase->order);
    ask.stride = chase->stride;
  }
  const auto* const device_chase = kernel.find<DeviceChaseParameters>();
  if (device_chase != nullptr && gpu_of(flow.region.placement) >= 0)
    ask.stride = device_chase->stride;
  ask.size = flow.region.bytes;
  ask.memory = flow.region.placement.text();
  if (flow.source) ask.source_memory = flow.source->placement.text();
  ask.rate = flow.rate;
  ask.first_touch = flow.first_touch;
  return ask;
}

GpuResult gpu_result(const Machine& machine, const Flow& flow, Trace& trace) {
  const auto& work = *flow.kernel.find<DeviceWork>();
  GpuResult result;
  result.gpu = work.gpu;
  result.direction = direction_of(flow);
  // Copies have a direction; chases and streams are where the memory is.
  const bool in_place = result.direction.empty();
  const int owner = gpu_of(flow.region.placement);
  const bool uses_host = in_place ? owner < 0 : result.direction != "p2p";
  if (const Gpu* const gpu = find_gpu(machine, work.gpu); gpu != nullptr) {
    result.name = gpu->name;
    result.pci_address = gpu->pci_address;
    // Between GPUs the way is not known: a switch, the root, or a link of their own.
    if (uses_host) result.link_limit = path_limit(*gpu);
    if (in_place && owner == work.gpu) result.memory_bandwidth = gpu->memory_bandwidth;
  }
  if (uses_host) result.pinning = name_of(work.pinning);
  result.copies_per_step = 1;
  if (const auto* const copy = flow.kernel.find<DeviceCopyParameters>())
    result.copies_per_step = copy->copies;
  if (const auto* const chase = flow.kernel.find<DeviceChaseParameters>()) {
    if (owner >= 0) result.caches = name_of(chase->loads_by);
    result.loads_per_step = chase->loads;
  }
  result.before_pinning = std::move(trace.before_pinning);
  result.after = std::move(trace.after);
  const DeviceReport& report = *trace.device;
  for (const DeviceStep& step : report.steps)
    result.steps.emplace_back(step.start_ns, step.duration_ns);
  result.clock_error = static_cast<double>(report.clock_error_ns) * 1e-9;
  result.link = report.link;
  if (report.state) {
    result.frequency = report.state->frequency;
    result.slowed_by = report.state->slowed_by;
  }
  result.route = report.route;
  if (report.grid) {
    result.blocks = report.grid->blocks;
    result.block_threads = report.grid->threads;
  }
  return result;
}

constexpr const char* no_time_left = "no time left";

const PlannedCase& planned_of(const CaseInput& input, const CaseRun& run) {
  return input.setup.plan[run.first];
}

Error in_words(const CaseInput& input, const Error& error) {
  return input.hooks.in_words ? input.hooks.in_words(error) : error;
}

std::string reason_of(const CaseInput& input, const Error& error) {
  return full_text(in_words(input, error));
}

/// The visits that count: those that came to their end, or a single one that did not.
std::vector<const Visit*> counted(const CaseRun& run) {
  std::vector<const Visit*> visits;
  for (const Visit& visit : run.done->visits)
    if (!visit.flows.empty() && (visit.status == Status::ok || visits.empty()))
      visits.push_back(&visit);
  return visits;
}

/// Why a part of a case cannot be measured here; "" where all of it can.
std::string left_out_of(const CaseInput& input, const CaseRun& run) {
  std::string text;
  for (std::size_t i = run.first; i < run.first + run.count; ++i) {
    const auto& why = input.setup.skips[i];
    if (why) text = skip_text(in_words(input, *why));
  }
  return text;
}

int own_worker(const CaseInput& input, int worker) {
  return input.workers[static_cast<std::size_t>(worker)];
}

/// What a flow of any visit had wrong.
struct WrongFlow {
  const FlowResult* flow = nullptr;
  double start = 0;
};
std::optional<WrongFlow> find_wrong(const CaseRun& run) {
  for (const Visit* visit : counted(run))
    for (const FlowResult& flow : visit->flows)
      if (flow.wrong) return WrongFlow{&flow, visit->start};
  return std::nullopt;
}

/// Why a case has no figure though it was measured; nothing where it has one. Its visits have none
/// where a worker was stopped in every sample.
std::optional<Error> never_ran(const CaseRun& run) {
  const auto lacks_figure = [](const FlowResult& flow) {
    return !flow.load && flow.stopped > 0 && !flow.figures.empty() &&
           !flow.figures.front().estimate;
  };
  const auto visits = counted(run);
  if (visits.empty() || !std::ranges::all_of(visits, [&](const Visit* visit) {
        return std::ranges::any_of(visit->flows, lacks_figure);
      }))
    return std::nullopt;
  return Error{ErrorKind::unavailable,
               "at no time did all of its workers run: other programs had their CPUs",
               "run again when the machine is quiet"};
}

std::string wrong_text(const CaseInput& input, const FlowResult& flow) {
  return fmt::format("worker {}: {}", own_worker(input, flow.worker), full_text(*flow.wrong));
}

/// The figures of a visit, over its flows and of each host.
void add_figures(const CaseInput& input, Case& visit) {
  const Benchmark& benchmark = input.benchmark;
  for (FlowResult& flow : visit.flows)
    for (Figure& figure : benchmark.figures.of_flow(flow, visit))
      flow.figures.push_back(std::move(figure));
  visit.figures = sums_of(visit, input.head);
  visit.host_totals = host_sums_of(visit, input.head);
  for (Figure& figure : benchmark.figures.totals(visit, input.head))
    visit.figures.push_back(std::move(figure));
  for (HostTotals& totals : visit.host_totals) {
    Case part = visit;
    std::erase_if(part.flows,
                  [&](const FlowResult& flow) { return host_of(input.head, flow) != totals.host; });
    part.figures = totals.figures;
    for (Figure& figure : benchmark.figures.totals(part, input.head))
      totals.figures.push_back(std::move(figure));
  }
  // They were wanted for the totals.
  for (FlowResult& flow : visit.flows) {
    flow.stretch_bytes.clear();
    if (flow.gpu) flow.gpu->steps.clear();
  }
}

/// What a visit gave, as one to this case: another benchmark may have made it.
Case read_visit(const CaseInput& input, const CaseRun& run, const Visit& visit) {
  const PlannedCase& planned = planned_of(input, run);
  Case result = planned.head;
  result.flows = visit.flows;
  for (FlowResult& flow : result.flows) {
    flow.worker = own_worker(input, flow.worker);
    if (flow.first_touch) flow.first_touch = own_worker(input, *flow.first_touch);
    if (visit.by == input.number) continue;
    // The same memory may be asked for in other words.
    const auto same = std::ranges::find(planned.scenario.flows, flow.worker, &Flow::worker);
    if (same != planned.scenario.flows.end()) flow.memory = same->region.placement.text();
  }
  if (!std::ranges::is_sorted(result.flows, {}, &FlowResult::worker))
    std::ranges::sort(result.flows, {}, &FlowResult::worker);
  add_figures(input, result);
  return result;
}

std::string stop_text(double seconds) {
  return seconds < 1 ? fmt::format("{:.0f} ms", seconds * 1e3) : fmt::format("{:.1f} s", seconds);
}

/// Of the first figure whose visits fall into two groups; "" where none do.
std::string two_speeds_of(const Case& one) {
  if (!one.visits) return "";
  for (const VisitValues& figure : one.visits->figures) {
    if (std::string text = modes_text(figure); !text.empty()) return text;
  }
  return "";
}

/// Words for what makes a flow's figure less than it seems.
void warn_of_flow(const CaseInput& input, const Case& one, const FlowResult& flow,
                  std::vector<Warning>& warnings) {
  const auto& expected = input.benchmark.shown.expected_warnings;
  const auto warn = [&](const std::string& code, const std::string& text) {
    if (std::ranges::find(expected, code) != expected.end()) return;
    warnings.push_back({code, fmt::format("{}, worker {}", one.name, flow.worker), text});
  };
  for (const Warning& warning : memory_warnings(flow)) warn(warning.code, warning.text);
  if (!flow.load && was_stopped(flow)) {
    const bool shares = std::ranges::count(one.flows, flow.address, &FlowResult::address) > 1;
    const bool moves = traits_of(flow.kernel).step == StepKind::lines;
    warn("stopped", fmt::format("{} for {} while measuring: {}",
                                shares && !moves ? "it or a worker on the same memory lost its CPU"
                                                 : "lost its CPU",
                                stop_text(flow.stopped),
                                moves    ? "its bandwidth is that of all the time"
                                : shares ? "its figures are of the time in which all of them ran"
                                         : "its figures are of the time in which it ran"));
  }
  // Below this the word "together" would mislead.
  constexpr double least_overlap = 0.9;
  if (flow.overlap && *flow.overlap < least_overlap) {
    warn("low-overlap",
         fmt::format("workers ran concurrently only {:.0f} % of the time", *flow.overlap * 100));
  }
  const Worker& worker = input.setup.layout.workers[static_cast<std::size_t>(flow.worker)];
  if (flow.cpu_after && !worker.placement.cpus.contains(*flow.cpu_after)) {
    warn("cpu-outside", fmt::format("ended on CPU {}, outside {}", flow.cpu_after->value,
                                    to_list(worker.placement.cpus)));
  }
}

}  // namespace

std::vector<Warning> memory_warnings(const FlowResult& flow) {
  std::vector<Warning> warnings = flow.warnings;
  if (!flow.policy.note.empty()) warnings.push_back({"placement-method", "", flow.policy.note});
  return warnings;
}

FlowResult result_of(const Setup& setup, const Scenario& scenario, const Flow& flow, Trace trace) {
  FlowResult result;
  result.ask() = ask_of(flow);
  result.worker = flow.worker;
  std::vector<double> sorted = running_samples_of(flow, trace);
  Distribution distribution =
      trace.groups ? distribution_of_groups(*trace.groups) : distribution_of(sorted);
  result.figures = figures_of(flow, trace, std::move(sorted));
  if (!result.load && !result.figures.empty()) result.distribution = std::move(distribution);
  result.stop = name_of(trace.stop);
  result.overlap = trace.overlap;
  result.address = trace.address;
  result.cpu_before = trace.cpu_before;
  result.cpu_after = trace.cpu_after;
  const Worker& worker = setup.layout.workers[static_cast<std::size_t>(flow.worker)];
  const Machine& machine = setup.machines[static_cast<std::size_t>(worker.host)];
  result.level = on_gpu(flow.kernel) ? level_on_gpu(machine, flow)
                                     : level_of_flow(machine, setup.layout, scenario, flow);
  if (trace.device) result.gpu = gpu_result(machine, flow, trace);
  result.residency = std::move(trace.residency);
  result.source_residency = std::move(trace.source_residency);
  result.policy = std::move(trace.policy);
  result.together = static_cast<double>(trace.together_ns()) * 1e-9;
  for (const std::size_t i : trace.stopped)
    result.stopped += static_cast<double>(trace.samples[i].duration_ns) * 1e-9;
  result.wrong = std::move(trace.wrong);
  result.stretch_bytes = steps_by_stretch(trace, stretches);
  const auto bytes = static_cast<double>(traffic_per_step(flow.kernel).counted());
  for (double& part : result.stretch_bytes) part *= bytes;
  result.steps_per_sample = trace.steps_per_sample;
  result.warm_up_steps = trace.warm_up_steps;
  result.involuntary_switches = trace.involuntary_switches;
  result.pages_moved = trace.pages_moved;
  result.timer_overhead = static_cast<double>(trace.timer_overhead_ns) * 1e-9;
  result.prepare_time = trace.prepare_seconds;
  result.warnings = std::move(trace.warnings);
  return result;
}

bool was_stopped(const FlowResult& flow) {
  constexpr double disturbed = 0.05;  // as of what other processes use
  return flow.stopped > disturbed * flow.together;
}

void set_status(const CaseInput& input, const CaseRun& run, Case& result) {
  const auto set = [&](Status status, std::string reason) {
    result.status = status;
    result.reason = std::move(reason);
  };
  if (std::string left_out = left_out_of(input, run); !left_out.empty())
    set(Status::skipped, std::move(left_out));
  if (run.out_of_time && run.done->visits.empty()) set(Status::skipped, no_time_left);
  if (const auto why = never_ran(run)) set(Status::skipped, reason_of(input, *why));
  for (const Visit& visit : run.done->visits) {
    const bool only = &visit == &run.done->visits.front();
    if (visit.status != Status::ok && (only || visit.status == Status::failed))
      set(visit.status, reason_of(input, *visit.error));
  }
  if (const auto wrong = find_wrong(run); wrong && result.status != Status::incomplete)
    set(Status::failed, wrong_text(input, *wrong->flow));
}

bool is_known(const CaseRun& run) { return !run.done->visits.empty() || run.ended; }

double precision_of(const CaseInput& input, const CaseRun& run) {
  return planned_of(input, run).head.precision.value_or(input.options.precision);
}

Case case_of(const CaseInput& input, const CaseRun& run) {
  Case result = planned_of(input, run).head;
  set_status(input, run, result);
  const auto visits = counted(run);
  if (visits.empty()) return result;
  std::vector<Case> each;
  each.reserve(visits.size());
  std::vector<std::pair<double, double>> times;
  for (const Visit* visit : visits) {
    each.push_back(read_visit(input, run, *visit));
    times.emplace_back(visit->start, visit->end);
  }
  join_visits(result, std::move(each), visits);
  result.groups = medians_of(result, input.head);
  for (const FlowResult& flow : result.flows)
    result.distribution = merged(result.distribution, flow.distribution);
  set_stop(result, precision_of(input, run), run.ended);
  relate_to_pilots(result, times, input.head.pilots);
  return result;
}

std::vector<Case> cases_of(const CaseInput& input, std::span<const CaseRun> runs) {
  std::vector<Case> cases;
  for (const CaseRun& run : runs)
    if (is_known(run)) cases.push_back(case_of(input, run));
  return cases;
}

std::vector<Warning> warnings_of(const CaseInput& input, std::span<const CaseRun> runs,
                                 std::span<const Case> cases) {
  std::vector<Warning> warnings;
  for (const CaseRun& run : runs) {
    const std::string& name = planned_of(input, run).head.name;
    const auto& visits = run.done->visits;
    for (std::size_t i = 0; i < visits.size(); ++i) {
      // Shorter ones are common where others have the CPUs, and another visit counts.
      constexpr double worth_telling = 1;
      if (visits[i].stopped_before >= worth_telling)
        warnings.push_back({"stopped", name,
                            fmt::format("was stopped for {} while measuring (by a signal, or "
                                        "without a CPU): the visit was repeated",
                                        stop_text(visits[i].stopped_before))});
      if (i > 0 && visits[i].status == Status::skipped)
        warnings.push_back({"visit-failed", name,
                            fmt::format("visit {} failed, the earlier ones are kept: {}", i + 1,
                                        reason_of(input, *visits[i].error))});
    }
  }
  for (const Case& one : cases) {
    for (const FlowResult& flow : one.flows) warn_of_flow(input, one, flow, warnings);
    if (const std::string text = two_speeds_of(one); !text.empty())
      warnings.push_back({"two-speeds", one.name, text});
  }
  for (const PilotSeries& pilot : input.head.pilots)
    if (const std::string text = modes_text(pilot); !text.empty())
      warnings.push_back({"two-speeds", "the machine as a whole", text});
  return warnings;
}

std::optional<Error> wrong_output(const CaseInput& input, std::span<const CaseRun> runs) {
  std::optional<WrongFlow> first;
  const CaseRun* of = nullptr;
  for (const CaseRun& run : runs) {
    const auto wrong = find_wrong(run);
    if (!wrong || (first && first->start <= wrong->start)) continue;
    first = wrong;
    of = &run;
  }
  if (!first) return std::nullopt;
  const Error& error = *first->flow->wrong;
  return Error{error.kind,
               planned_of(input, *of).head.name + ", " + wrong_text(input, *first->flow),
               error.hint};
}

std::optional<Error> skip_that_counts(const CaseInput& input, std::span<const CaseRun> runs) {
  std::optional<Error> first;
  bool all_optional = true, nothing = true;
  for (const CaseRun& run : runs) {
    const auto& visits = run.done->visits;
    if (visits.empty()) {
      if (run.out_of_time && !first) first = Error{ErrorKind::resource, no_time_left, ""};
      continue;
    }
    const Visit& visit = visits.front();
    const auto no_figure = never_ran(run);
    const bool skipped = visit.status == Status::skipped || no_figure;
    if (skipped && !first) first = no_figure ? no_figure : visit.error;
    all_optional = all_optional && (!skipped || visit.optional || no_figure);
    nothing = nothing && !(visit.status == Status::ok && !no_figure &&
                           left_out_of(input, run).empty() && !find_wrong(run));
  }
  const bool may_skip =
      all_optional || input.options.skip_too_large || input.options.pages.size() > 1;
  return nothing || !may_skip ? first : std::nullopt;
}

}  // namespace numatlas
