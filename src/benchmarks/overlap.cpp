#include "benchmarks/overlap.h"

#include <algorithm>
#include <limits>
#include <map>

#include <fmt/format.h>

namespace numatlas {

std::optional<double> overlap_of(const std::vector<const Steps*>& flows) {
  if (flows.size() < 2) return std::nullopt;
  std::int64_t from = std::numeric_limits<std::int64_t>::min();
  std::int64_t to = std::numeric_limits<std::int64_t>::max();
  // +1 where a step begins, -1 where it ends.
  std::vector<std::pair<std::int64_t, int>> changes;
  for (const Steps* steps : flows) {
    if (steps->empty()) return std::nullopt;
    from = std::max(from, steps->front().first);
    to = std::min(to, steps->back().first + steps->back().second);
    std::int64_t last_end = std::numeric_limits<std::int64_t>::min();
    for (const auto& [start, duration] : *steps) {
      // Clocks are a little off: one stream's steps do not overlap each other.
      const std::int64_t begin = std::max(start, last_end), end = std::max(begin, start + duration);
      changes.emplace_back(begin, 1);
      changes.emplace_back(end, -1);
      last_end = end;
    }
  }
  std::sort(changes.begin(), changes.end());
  std::int64_t any = 0, all = 0, before = from;
  int busy = 0;
  for (const auto& [time, change] : changes) {
    const std::int64_t now = std::clamp(time, from, std::max(from, to));
    if (busy > 0) any += now - before;
    if (busy == static_cast<int>(flows.size())) all += now - before;
    before = now;
    busy += change;
  }
  if (any <= 0) return std::nullopt;
  return static_cast<double>(all) / static_cast<double>(any);
}

std::vector<Metric> together_totals(const ScenarioResult& point, const RunReport& report) {
  double sum = 0;
  std::map<int, std::vector<const Steps*>> hosts;
  for (const FlowResult& flow : point.flows) {
    if (!flow.gpu || flow.gpu->direction.empty()) continue;
    if (flow.rate) return {};  // waits between its copies by itself
    const Metric* rate = find_metric(flow, "event_bandwidth");
    if (rate == nullptr || !rate->value) return {};
    sum += *rate->value;
    hosts[host_of(report, flow)].push_back(&flow.gpu->steps);
  }
  std::optional<double> least;
  for (const auto& [host, flows] : hosts) {
    const auto overlap = overlap_of(flows);
    if (overlap) least = std::min(least.value_or(1), *overlap);
  }
  if (!least) return {};
  return {{"event_bandwidth_sum", "B/s", sum, std::nullopt},
          {"copies_overlap", "1", least, std::nullopt}};
}

std::vector<std::string> serialised_warnings(const RunReport& report) {
  // Streams that run together are busy all the time; what is in between is neither.
  constexpr double least_overlap = 0.5;
  // What the GPUs' clocks may add up to more than the wall clock before somebody waited.
  constexpr double most_more = 1.25;
  std::vector<std::string> warnings;
  for (const ScenarioResult& point : report.scenarios) {
    // Among a CPU's bytes the copies' are not to be told.
    const bool only_gpus = std::all_of(point.flows.begin(), point.flows.end(),
                                       [](const FlowResult& flow) { return flow.gpu.has_value(); });
    if (!only_gpus) continue;
    const Metric* overlap = find_total(point, "copies_overlap");
    const Metric* events = find_total(point, "event_bandwidth_sum");
    const Metric* sum = find_total(point, "bandwidth_sum");
    if (overlap == nullptr || events == nullptr || sum == nullptr || !sum->value) continue;
    if (*overlap->value >= least_overlap && *events->value <= most_more * *sum->value) continue;
    warnings.push_back(fmt::format(
        "{}: the copies took turns (all were under way in {:.0f} % of the time in which any was): "
        "by the GPUs' clocks they add up to {:.2f} GB/s, but all bytes over the common time are "
        "{:.2f} GB/s",
        point.name, *overlap->value * 100, *events->value * 1e-9, *sum->value * 1e-9));
  }
  return warnings;
}

std::string moved_text(const RunReport& report) {
  std::string text;
  for (const ScenarioResult& point : report.scenarios) {
    for (const FlowResult& flow : point.flows) {
      if (!flow.gpu || !flow.gpu->before_pinning || !flow.gpu->after) continue;
      if (flow.gpu->before_pinning->pages_by_node == flow.gpu->after->pages_by_node) continue;
      text += fmt::format("{}: its memory moved between the pinning and the end\n", point.name);
    }
  }
  return text;
}

}  // namespace numatlas
