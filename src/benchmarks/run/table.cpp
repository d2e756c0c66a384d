#include "benchmarks/run/table.h"

#include <fmt/format.h>

#include "base/size_list.h"
#include "benchmarks/metrics.h"
#include "report/worker_table.h"

namespace numatlas {
namespace {

using Row = std::vector<std::string>;

/// ns for times, GB/s for rates.
std::string value_text(const Metric* metric) {
  if (metric == nullptr || !metric->value) return "-";
  return fmt::format("{:.2f}", *metric->value * (metric->unit == "B/s" ? 1e-9 : 1e9));
}
std::string unit_text(const Metric* metric) {
  if (metric == nullptr) return "-";
  return metric->unit == "B/s" ? "GB/s" : "ns";
}
std::string part_text(const std::optional<double>& part) {
  return part ? fmt::format("{:.1f}%", *part * 100) : "-";
}

/// "bind:1", or "bind:1 from bind:0" where it reads from memory apart.
std::string asked_text(const FlowResult& flow) {
  if (flow.source_memory.empty()) return flow.memory;
  return fmt::format("{} from {}", flow.memory, flow.source_memory);
}
std::string found_text(const FlowResult& flow) {
  if (!flow.source_residency) return memory_node_text(flow);
  return fmt::format("{} from {}", memory_node_text(flow), source_node_text(flow));
}

Row flow_row(const RunReport& report, const ScenarioResult& point, const FlowResult& flow) {
  const WorkerRow& worker = report.workers[static_cast<std::size_t>(flow.worker)];
  const Metric* const metric = flow.metrics.empty() ? nullptr : &flow.metrics.front();
  return {point.name,
          cores_text(worker.cpus),
          worker.cpu_node.value < 0 ? "-" : std::to_string(worker.cpu_node.value),
          full_name(flow),
          flow.load ? "load" : "measured",
          asked_text(flow),
          found_text(flow),
          compact_text(flow.size),
          value_text(metric),
          metric == nullptr ? "-" : part_text(flow.half_width),
          unit_text(metric),
          flow.rate ? fmt::format("{:.2f}", *flow.rate * 1e-9) : "-"};
}

Row sum_row(const ScenarioResult& point, const Metric& sum) {
  return {point.name,
          "all",
          "",
          "",
          "",
          "",
          "",
          "",
          value_text(&sum),
          part_text(half_width_of_sum(sum)),
          unit_text(&sum),
          ""};
}

}  // namespace

std::string run_table(const RunReport& report, bool stats) {
  std::vector<Row> rows{{"scenario", "CPU", "node", "kernel", "role", "memory asked", "on node",
                         "size", "median", "+-", "unit", "at most GB/s"}};
  for (const ScenarioResult& point : report.scenarios) {
    for (const FlowResult& flow : point.flows) rows.push_back(flow_row(report, point, flow));
    if (const Metric* sum = find_total(point, "bandwidth_sum"); sum != nullptr)
      rows.push_back(sum_row(point, *sum));
  }
  std::string text = fmt::format(
      "Flows of each scenario, which ran together (kernels: {})\n"
      "CPU all: what its flows moved in their common time, as STREAM counts bytes\n",
      report.isa);
  constexpr std::size_t left = 7;  // columns of words
  text += aligned(rows, left) + "\n";
  if (stats) {
    for (const char* metric : {"latency", "hand_over", "bandwidth"}) {
      const std::string table = stats_table(report, metric);
      if (table.find('\n') + 1 < table.size())  // more than its head
        text += fmt::format("All cells: {}\n{}\n", metric, table);
    }
  }
  return text + notes_text(report);
}

}  // namespace numatlas
