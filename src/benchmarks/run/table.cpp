#include "benchmarks/run/table.h"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/size_list.h"
#include "benchmarks/device_totals.h"
#include "benchmarks/metrics.h"
#include "kernels/kernel.h"
#include "report/worker_table.h"

namespace numatlas {
namespace {

using Row = std::vector<std::string>;

/// ns for times, GB/s for rates.
std::string value_text(const Figure* metric) {
  if (metric == nullptr || !metric->value()) return "-";
  return fmt::format("{:.2f}", *metric->value() * (metric->unit == "B/s" ? 1e-9 : 1e9));
}
std::string unit_text(const Figure* metric) {
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
/// Pages of a GPU's memory are on no node.
std::string found_text(const FlowResult& flow) {
  const auto side = [](const std::string& asked, const std::string& found) {
    return asked.starts_with("gpu:") ? asked : found;
  };
  if (!flow.source_residency) return side(flow.memory, memory_node_text(flow));
  return fmt::format("{} from {}", side(flow.memory, memory_node_text(flow)),
                     side(flow.source_memory, source_node_text(flow)));
}

Row flow_row(const RunReport& report, const ScenarioResult& point, const FlowResult& flow) {
  const WorkerRow& worker = report.workers[static_cast<std::size_t>(flow.worker)];
  const Figure* const metric = flow.figures.empty() ? nullptr : &flow.figures.front();
  return {point.name,
          cores_text(worker.cpus),
          worker.cpu_node.value < 0 ? "-" : std::to_string(worker.cpu_node.value),
          full_name(flow),
          flow.load ? "load" : "measured",
          asked_text(flow),
          found_text(flow),
          compact_text(flow.size),
          value_text(metric),
          part_text(half_width(flow)),
          unit_text(metric),
          flow.rate ? fmt::format("{:.2f}", *flow.rate * 1e-9) : "-"};
}

Row sum_row(const ScenarioResult& point, const Figure& sum) {
  return {
      point.name,      "all", "", "", "", "", "", "", value_text(&sum), part_text(half_width(sum)),
      unit_text(&sum), ""};
}

std::string how_text(const GpuResult& gpu) {
  if (!gpu.caches.empty()) return gpu.caches;
  return gpu.direction == "p2p" ? gpu.route : gpu.pinning;
}

/// Of flows of GPUs what the others have not: a row each; "" without any.
std::string gpu_table(const RunReport& report) {
  std::vector<Row> rows{{"scenario", "CPU", "GPU", "way", "how", "copy us", "p95 us",
                         "by its clock GB/s", "link GB/s", "pin ms"}};
  const auto scaled = [](const std::optional<double>& value, double unit) {
    return value ? fmt::format("{:.2f}", *value * unit) : "-";
  };
  const auto of = [&](const FlowResult& flow, const char* name, double unit) {
    const Figure* const metric = find_figure(flow, name);
    return scaled(metric != nullptr ? metric->value() : std::nullopt, unit);
  };
  for (const ScenarioResult& point : report.scenarios) {
    for (const FlowResult& flow : point.flows) {
      if (!flow.gpu) continue;
      const GpuResult& gpu = *flow.gpu;
      const Figure* const time = find_figure(flow, "copy_time");
      const bool spread = time != nullptr && time->summary;
      rows.push_back({point.name,
                      cores_text(report.workers[static_cast<std::size_t>(flow.worker)].cpus),
                      std::to_string(gpu.gpu), gpu.direction.empty() ? "chase" : gpu.direction,
                      how_text(gpu), of(flow, "copy_time", 1e6),
                      scaled(spread ? std::optional(time->summary->p95) : std::nullopt, 1e6),
                      of(flow, "event_bandwidth", 1e-9), scaled(gpu.link_limit, 1e-9),
                      of(flow, "pin_time", 1e3)});
    }
  }
  constexpr std::size_t left = 5;  // columns of words
  return rows.size() == 1 ? "" : "Flows of GPUs (link: its limit)\n" + aligned(rows, left) + "\n";
}

}  // namespace

std::string run_table(const RunReport& report, bool stats) {
  std::vector<Row> rows{{"scenario", "CPU", "node", "kernel", "role", "memory asked", "on node",
                         "size", "median", "+-", "unit", "at most GB/s"}};
  for (const ScenarioResult& point : report.scenarios) {
    for (const FlowResult& flow : point.flows) rows.push_back(flow_row(report, point, flow));
    if (const Figure* sum = find_total(point, "bandwidth_sum"); sum != nullptr)
      rows.push_back(sum_row(point, *sum));
  }
  std::string text = fmt::format(
      "Flows of each scenario, which ran together (kernels: {})\n"
      "CPU all: what its flows moved in their common time, as STREAM counts bytes\n",
      report.isa);
  const std::string gpus = gpu_table(report);
  if (!gpus.empty()) text += "device copy: no median, but what it moved in that time\n";
  constexpr std::size_t left = 7;  // columns of words
  text += aligned(rows, left) + "\n" + gpus;
  if (stats) {
    for (const char* metric : {"latency", "hand_over", "bandwidth", "copy_time"}) {
      const std::string table = stats_table(report, metric);
      if (table.find('\n') + 1 < table.size())  // more than its head
        text += fmt::format("All cells: {}\n{}\n", metric, table);
    }
  }
  return text + notes_text(report);
}

}  // namespace numatlas
