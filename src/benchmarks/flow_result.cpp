#include "benchmarks/flow_result.h"

#include "benchmarks/levels.h"

namespace numatlas {
namespace {

// Parts of the common time whose sums over all flows give the sum's interval: as many as the stop
// rule compares.
constexpr std::size_t stretches = 20;

void set_kernel(const KernelSpec& kernel, FlowResult& result) {
  result.kernel = kernel.name;
  result.mix = mix_text(kernel);
  if (traffic_a_step(kernel).written > 0) result.stores = name_of(kernel.stores);
  if (kernel.name != "chase") return;
  result.order = name_of(kernel.chain.order);
  result.stride = kernel.chain.stride;
}

}  // namespace

FlowResult result_of(const Setup& setup, const Scenario& scenario, const Flow& flow, Trace trace,
                     bool with_samples) {
  FlowResult result;
  result.worker = flow.worker;
  set_kernel(flow.kernel, result);
  result.size = flow.region.bytes;
  result.memory = flow.region.placement.text();
  if (flow.source) result.source_memory = flow.source->placement.text();
  result.metrics = metrics_of(flow, trace);
  result.load = flow.role == Role::load;
  result.rate = flow.rate;
  result.first_touch = flow.first_touch;
  if (with_samples && !result.load) result.samples = samples_of(flow, trace);
  result.stop = name_of(trace.stop);
  result.half_width = trace.half_width;
  result.overlap = trace.overlap;
  result.address = trace.address;
  result.cpu_before = trace.cpu_before;
  result.cpu_after = trace.cpu_after;
  const Worker& worker = setup.layout.workers[static_cast<std::size_t>(flow.worker)];
  result.level = level_of_flow(setup.machines[static_cast<std::size_t>(worker.host)], setup.layout,
                               scenario, flow);
  result.residency = std::move(trace.residency);
  result.source_residency = std::move(trace.source_residency);
  result.policy = std::move(trace.policy);
  result.together = static_cast<double>(trace.together_end_ns - trace.together_start_ns) * 1e-9;
  result.wrong = std::move(trace.wrong);
  result.stretch_bytes = steps_by_stretch(trace, stretches);
  const auto bytes = static_cast<double>(traffic_a_step(flow.kernel).counted());
  for (double& part : result.stretch_bytes) part *= bytes;
  result.steps_a_sample = trace.steps_a_sample;
  result.warm_up_steps = trace.warm_up_steps;
  result.involuntary_switches = trace.involuntary_switches;
  result.timer_overhead = static_cast<double>(trace.timer_overhead_ns) * 1e-9;
  result.start_lateness = static_cast<double>(trace.start_lateness_ns) * 1e-9;
  result.prepare_time = trace.prepare_seconds;
  result.warnings = std::move(trace.warnings);
  return result;
}

}  // namespace numatlas
