#include "run/metrics.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "record/labels.h"

namespace numatlas {
namespace {

/// Of one value a sample, those of the samples in which it ran.
std::vector<double> without_stops(const Trace& trace, const std::vector<double>& values) {
  std::vector<double> running;
  running.reserve(values.size());
  for (std::size_t i = 0; i < values.size(); ++i)
    if (!std::ranges::binary_search(trace.stopped, i)) running.push_back(values[i]);
  return running;
}

/// A chase loads words one after the other; its bytes are no bandwidth.
bool moves_memory(const FlowResult& flow) { return !traits_of(flow.kernel).chases(); }

double bytes_per_step(const Flow& flow) {
  return static_cast<double>(traffic_per_step(flow.kernel).counted());
}

/// Factor from bytes counted to bytes moved.
double traffic_ratio(const FlowResult& flow) {
  const Figure* counted = find_figure(flow, "bandwidth");
  const Figure* moved = find_figure(flow, "traffic");
  const bool known = counted != nullptr && moved != nullptr && counted->estimate &&
                     moved->estimate && counted->estimate->value > 0;
  return known ? moved->estimate->value / counted->estimate->value : 1;
}

/// Of samples in their order: the half width of their median's interval, over the median, with the
/// machine's slow moods (block_medians says how).
std::optional<double> width_of(const Trace& trace) {
  // Enough for an interval; of 100 ms each still spans a timer tick or more.
  constexpr std::size_t blocks = 20;
  return relative_half_width(
      block_medians(without_stops(trace, nanoseconds_per_step(trace)), blocks));
}

/// Of ascending samples, by their median. `width`: width_of those that the figure is made of.
Figure median_of(const char* key, Unit unit, std::vector<double> sorted,
                 const std::optional<double>& width = {}) {
  Figure figure{key, unit, {}, {}, distribution_of(sorted, fine)};
  figure.summary = summarize_sorted(std::move(sorted));
  if (figure.summary) figure.estimate = estimate_of_median(*figure.summary, width);
  return figure;
}

/// The same by their mean, which is known as well as the median is.
Figure mean_of(const char* key, Unit unit, std::vector<double> sorted,
               const std::optional<double>& width) {
  Figure figure = median_of(key, unit, std::move(sorted), width);
  if (figure.estimate) figure.estimate = as_sure_as(figure.summary->mean, *figure.estimate);
  return figure;
}

std::vector<double> ascending(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values;
}

/// Of a flow of a GPU: seconds of each step, over what was done in it.
std::vector<double> step_times(const Trace& trace, std::uint64_t parts) {
  std::vector<double> times;
  if (!trace.device) return times;
  for (const DeviceStep& step : trace.device->steps)
    times.push_back(static_cast<double>(step.duration_ns) * 1e-9 / static_cast<double>(parts));
  return times;
}

/// Rates of equal parts of the time together, ascending: each has many samples, late ones with
/// early ones.
std::vector<double> stretch_rates(const Flow& flow, const Trace& trace) {
  constexpr std::size_t parts = 20;
  std::vector<double> rates = steps_by_stretch(trace, parts);
  const double seconds = static_cast<double>(trace.together_ns()) * 1e-9 / parts;
  for (double& rate : rates) rate *= bytes_per_step(flow) / seconds;
  return ascending(std::move(rates));
}

/// By the GPU's clock. Of copies: the time of one, of queued ones the rate that it stands for, and
/// what pinning took; of streams the rate of a launch.
std::vector<Figure> copy_figures(const Flow& flow, const Trace& trace) {
  if (flow.kernel.find<DeviceStreamParameters>() != nullptr) {
    const auto launch = median_of("launch_time", "s", ascending(step_times(trace, 1))).estimate;
    if (!launch || !(launch->value > 0)) return {};
    return {{"event_bandwidth", "B/s", divided_into(bytes_per_step(flow), *launch), std::nullopt}};
  }
  const auto& work = flow.kernel.as<DeviceCopyParameters>();
  const bool waited = work.depth == 1;
  std::vector<Figure> figures{median_of(waited ? "copy_latency" : "copy_time", "s",
                                        ascending(step_times(trace, work.copies)))};
  const auto time = figures.front().estimate;
  if (time && time->value > 0 && !waited) {
    const auto rate = divided_into(static_cast<double>(work.bytes.value), *time);
    figures.push_back({"event_bandwidth", "B/s", rate, std::nullopt});
  }
  if (!trace.device) return figures;
  if (!trace.device->pin_seconds.empty())
    figures.push_back(median_of("pin_time", "s", ascending(trace.device->pin_seconds)));
  if (!trace.device->unpin_seconds.empty())
    figures.push_back(median_of("unpin_time", "s", ascending(trace.device->unpin_seconds)));
  return figures;
}

/// What part of the groups is set aside, and what the timer takes of a group.
std::vector<Figure> group_figures(const GroupTimes& times) {
  double stopped = 0, all = static_cast<double>(times.interrupted);
  for (const auto& [time_ns, count] : times.times()) {
    all += static_cast<double>(count);
    if (time_ns >= longest_group_ns) stopped += static_cast<double>(count);
  }
  std::vector<Figure> figures{
      {"tail_timer", "s", times.timer_ticks * times.ns_per_tick * 1e-9, std::nullopt}};
  if (!(all > 0)) return figures;
  figures.push_back({"tail_stopped", "cost", stopped / all, std::nullopt});
  if (times.sees_interrupts)
    figures.push_back(
        {"tail_interrupted", "cost", static_cast<double>(times.interrupted) / all, std::nullopt});
  return figures;
}

/// Sums over the flows that `counts` names.
template <class Counts>
std::vector<Figure> sums_over(const Case& one, const Counts& counts) {
  std::vector<double> rates;
  double moved = 0;
  bool to_memory = true;
  for (const FlowResult& flow : one.flows) {
    if (!moves_memory(flow) || !counts(flow)) continue;
    if (!(flow.together > 0) || flow.stretch_bytes.empty()) return {};
    const double stretch = flow.together / static_cast<double>(flow.stretch_bytes.size());
    rates.resize(flow.stretch_bytes.size());
    double bytes = 0;
    for (std::size_t i = 0; i < rates.size(); ++i) {
      rates[i] += flow.stretch_bytes[i] / stretch;
      bytes += flow.stretch_bytes[i];
    }
    moved += bytes / flow.together * traffic_ratio(flow);
    // Within the caches nothing is fetched from memory; stores past them go there at any size.
    const bool in_cache =
        flow.level.starts_with('L') && flow.stores != name_of(Stores::non_temporal);
    to_memory = to_memory && !in_cache;
  }
  const auto summary = summarize(rates);
  if (!summary || !(summary->mean > 0)) return {};
  // Stretches are equally long: their mean is all bytes over the whole time.
  const Estimate sum = estimate_of_stretches(*summary);
  std::vector<Figure> figures{
      {"bandwidth_sum", "B/s", sum, summary, distribution_of(ascending(std::move(rates)), fine)}};
  if (to_memory) figures.push_back({"traffic_sum", "B/s", as_sure_as(moved, sum), std::nullopt});
  return figures;
}

/// Parts of a serial case ran one after the other: there is no sum.
bool has_sums(const RunReport& report) { return !report.serial || report.workers.size() <= 1; }

}  // namespace

Distribution distribution_of_groups(const GroupTimes& times) {
  Weighted seconds;
  for (const auto& [time_ns, count] : times.times())
    if (time_ns < longest_group_ns) seconds.emplace_back(time_ns * 1e-9, count);
  return distribution_of(seconds);
}

bool is_chase(const Flow& flow) { return traits_of(flow.kernel).chases_on_cpu(); }

std::vector<double> samples_of(const Flow& flow, const Trace& trace) {
  if (const auto* const chase = flow.kernel.find<DeviceChaseParameters>())
    return step_times(trace, chase->loads);
  if (const auto* const counters = flow.kernel.find<DeviceCounterParameters>())
    return step_times(trace, counters->threads * counters->adds);
  std::vector<double> values = nanoseconds_per_step(trace);
  const bool chases = is_chase(flow);
  // The timing of groups is no part of their loads.
  if (trace.groups) {
    const double beside = trace.groups->overhead_ns / trace.groups->loads;
    for (double& value : values) value = std::max(value - beside, 0.1 * value);
  }
  const double bytes = bytes_per_step(flow);
  if (!chases && bytes > 0) {
    for (double& value : values) value = bytes / (value * 1e-9);
    return values;
  }
  const double part = chases ? 1 : step_time(flow.kernel).part;
  for (double& value : values) value *= part * 1e-9;
  return values;
}

std::vector<double> running_samples_of(const Flow& flow, const Trace& trace) {
  std::vector<double> samples = samples_of(flow, trace);
  // Rates of what moves memory are over all of the time, and a GPU times its own steps.
  if (traits_of(flow.kernel).step != StepKind::lines && !on_gpu(flow.kernel))
    samples = without_stops(trace, samples);
  return ascending(std::move(samples));
}

std::vector<Figure> figures_of(const Flow& flow, const Trace& trace) {
  return figures_of(flow, trace, running_samples_of(flow, trace));
}

std::vector<Figure> figures_of(const Flow& flow, const Trace& trace, std::vector<double> sorted) {
  const Traffic traffic = traffic_per_step(flow.kernel);
  if (traits_of(flow.kernel).chases_on_gpu()) {
    std::vector<Figure> figures{median_of("latency", "s", std::move(sorted), width_of(trace))};
    for (const StepCount& count : trace.counts)
      figures.push_back({count.key, "cost", count.each, std::nullopt});
    return figures;
  }
  const bool is_timed = traffic.counted() == 0;
  if (is_timed && flow.role == Role::load) return {};
  if (is_chase(flow)) {
    std::vector<Figure> figures{mean_of("latency", "s", std::move(sorted), width_of(trace))};
    if (trace.groups) std::ranges::move(group_figures(*trace.groups), std::back_inserter(figures));
    return figures;
  }
  if (is_timed) {
    std::vector<Figure> figures{
        mean_of(step_time(flow.kernel).key.c_str(), "s", std::move(sorted), width_of(trace))};
    for (const StepCount& count : trace.counts)
      figures.push_back({count.key, "cost", count.each, std::nullopt});
    return figures;
  }
  Figure bandwidth = median_of("bandwidth", "B/s", std::move(sorted), width_of(trace));
  if (auto& summary = bandwidth.summary) {
    // Samples have equal bytes. All of them over the time from the first start to the last end:
    // what passes between two samples, such as stores that drain, is part of it.
    const Sample& last = trace.samples.back();
    const auto time =
        static_cast<double>(last.start_ns + last.duration_ns - trace.samples.front().start_ns);
    const auto steps = static_cast<double>(trace.steps_per_sample * trace.samples.size());
    summary->mean = steps * static_cast<double>(traffic.counted()) / (time * 1e-9);
  }
  if (on_gpu(flow.kernel)) {
    // Its thread hears of several steps at once now and then: the mean is what passed. What failed
    // has no samples, and its stretches say nothing.
    std::vector<double> rates = stretch_rates(flow, trace);
    if (bandwidth.summary && !rates.empty()) {
      const double mean = bandwidth.summary->mean;
      bandwidth.distribution = distribution_of(rates, fine);
      bandwidth.summary = summarize_sorted(std::move(rates));
      bandwidth.summary->mean = mean;
      bandwidth.estimate = estimate_of_stretches(*bandwidth.summary);
    } else if (bandwidth.summary) {
      bandwidth.estimate = bandwidth.summary->mean;
    }
    std::vector<Figure> figures{std::move(bandwidth)};
    for (Figure& figure : copy_figures(flow, trace)) figures.push_back(std::move(figure));
    return figures;
  }
  const double ratio =
      static_cast<double>(traffic.with_allocate()) / static_cast<double>(traffic.counted());
  if (bandwidth.estimate)
    bandwidth.estimate = as_sure_as(bandwidth.summary->mean, *bandwidth.estimate);
  Figure moved{"traffic", "B/s", std::nullopt, std::nullopt};
  if (bandwidth.estimate) moved.estimate = scaled(*bandwidth.estimate, ratio);
  return {std::move(bandwidth), std::move(moved)};
}

std::vector<Figure> sums_of(const Case& one, const RunReport& report) {
  if (!has_sums(report)) return {};
  return sums_over(one, [](const FlowResult&) { return true; });
}

std::vector<Figure> sums_of(const Case& one, const RunReport& report, bool of_load) {
  if (!has_sums(report)) return {};
  return sums_over(one, [=](const FlowResult& flow) { return flow.load == of_load; });
}

std::vector<HostTotals> host_sums_of(const Case& one, const RunReport& report) {
  if (!has_sums(report) || report.hosts.size() < 2) return {};
  std::vector<HostTotals> sums;
  for (int host = 0; host < static_cast<int>(report.hosts.size()); ++host) {
    HostTotals of_host{host, sums_over(one, [&](const FlowResult& flow) {
                         return host_of(report, flow) == host;
                       })};
    if (!of_host.figures.empty()) sums.push_back(std::move(of_host));
  }
  return sums;
}

namespace {

/// Numbers, so that node 10 comes after node 2.
using NodePair = std::pair<NodeId, std::vector<NodeId>>;

NodePair nodes_of_flow(const FlowResult& flow, const RunReport& report) {
  const NodeSet memory = nodes_of(observed_memory(flow));
  return {report.workers[static_cast<std::size_t>(flow.worker)].cpu_node,
          {memory.begin(), memory.end()}};
}

FlowGroup group_of(const std::vector<const FlowResult*>& flows) {
  std::vector<Figure> figures;
  for (const FlowResult* flow : flows) {
    for (const Figure& one : flow->figures) {
      if (find_figure(figures, one.key) == nullptr) figures.push_back({one.key, one.unit, {}, {}});
    }
  }
  for (Figure& figure : figures) {
    std::vector<Estimate> estimates;
    std::vector<double> values;
    for (const FlowResult* flow : flows) {
      const Figure* const one = find_figure(*flow, figure.key);
      if (one == nullptr || !one->estimate) continue;
      estimates.push_back(*one->estimate);
      values.push_back(one->estimate->value);
    }
    figure.estimate = median_of(estimates);
    figure.summary = summarize(values);
  }
  return {{}, flows.size(), std::move(figures)};
}

}  // namespace

std::vector<FlowGroup> medians_of(const Case& one, const RunReport& report) {
  std::vector<const FlowResult*> all;
  std::map<NodePair, std::vector<const FlowResult*>> pairs;
  for (const FlowResult& flow : one.flows) {
    if (flow.load) continue;
    all.push_back(&flow);
    pairs[nodes_of_flow(flow, report)].push_back(&flow);
  }
  if (all.size() < 2) return {};
  std::vector<FlowGroup> groups;
  if (pairs.size() > 1) groups.push_back(group_of(all));
  for (const auto& [nodes, flows] : pairs) {
    groups.push_back(group_of(flows));
    groups.back().labels = {{"nodes", label_text(report, {&one, nullptr, flows[0]}, "nodes")}};
  }
  return groups;
}

}  // namespace numatlas
