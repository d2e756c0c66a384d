#include "run/flow_result.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "machine/pci_link.h"
#include "memory/source.h"
#include "run/device_flows.h"
#include "run/levels.h"

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

}  // namespace

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
  result.start_lateness = static_cast<double>(trace.start_lateness_ns) * 1e-9;
  result.prepare_time = trace.prepare_seconds;
  result.warnings = std::move(trace.warnings);
  return result;
}

bool was_stopped(const FlowResult& flow) {
  constexpr double disturbed = 0.05;  // as of what other processes use
  return flow.stopped > disturbed * flow.together;
}

}  // namespace numatlas
