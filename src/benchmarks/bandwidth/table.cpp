#include "benchmarks/bandwidth/table.h"

#include <optional>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/size_list.h"
#include "benchmarks/metrics.h"
#include "report/worker_table.h"

namespace numatlas {
namespace {

std::string gb(const std::optional<double>& rate) {
  return rate ? fmt::format("{:.2f}", *rate * 1e-9) : "-";
}

std::string levels_of(const ScenarioResult& point) {
  std::set<std::string> levels;
  for (const FlowResult& flow : point.flows) levels.insert(flow.level);
  return levels.empty() ? "-" : fmt::format("{}", fmt::join(levels, "/"));
}

/// Within the caches nothing is fetched from memory; stores past them go there at any size.
bool goes_to_memory(const ScenarioResult& point) {
  return levels_of(point) == "memory" || point.stores == "non-temporal";
}

/// Medians of the workers alone.
std::vector<double> worker_rates(const ScenarioResult& point) {
  std::vector<double> rates;
  for (const FlowResult& flow : point.flows) {
    const Metric* metric = find_metric(flow, "bandwidth");
    if (metric != nullptr && metric->value) rates.push_back(*metric->value);
  }
  return rates;
}

/// "0,1 -> 2": nodes of the workers' CPUs and of their memory as observed.
std::string nodes_of(const RunReport& report, const ScenarioResult& point) {
  NodeSet cpus, memory;
  for (const FlowResult& flow : point.flows) {
    const NodeId node = report.workers[static_cast<std::size_t>(flow.worker)].cpu_node;
    if (node.value >= 0) cpus.insert(node);
    for (const auto& [id, pages] : flow.residency.pages_by_node) {
      if (pages > 0) memory.insert(NodeId{id});
    }
  }
  const auto text = [](const NodeSet& set) { return set.empty() ? "-" : to_list(set); };
  return text(cpus) + " -> " + text(memory);
}

std::vector<std::string> row_of(const RunReport& report, const ScenarioResult& point,
                                bool several_workers) {
  const auto workers = summarize(worker_rates(point));
  const Metric* sum = find_total(point, "bandwidth_sum");
  const Metric* traffic = find_total(point, "traffic_sum");
  const auto value = [](const Metric* metric) { return metric ? metric->value : std::nullopt; };
  const auto width = sum != nullptr ? half_width_of_sum(*sum) : std::nullopt;
  std::vector<std::string> row{point.kernel,
                               point.stores.empty() ? "-" : point.stores,
                               compact_text(point.size),
                               levels_of(point),
                               nodes_of(report, point),
                               std::to_string(point.flows.size()),
                               gb(value(sum)),
                               width ? fmt::format("{:.1f}%", *width * 100) : "-",
                               goes_to_memory(point) ? gb(value(traffic)) : "-",
                               workers ? gb(workers->median) : "-"};
  if (several_workers) {
    row.insert(row.end(), {workers ? gb(workers->min) : "-", workers ? gb(workers->max) : "-"});
  }
  return row;
}

}  // namespace

std::string bandwidth_table(const RunReport& report, bool stats) {
  bool several = false;
  for (const ScenarioResult& point : report.scenarios) several = several || point.flows.size() > 1;
  std::string text;
  for (const std::string& kind : page_kinds_of(report)) {
    std::vector<std::vector<std::string>> rows;
    rows.push_back({"kernel", "stores", "size/worker", "fits", "nodes", "workers", "sum", "+-",
                    "moved", "worker median"});
    if (several) rows.back().insert(rows.back().end(), {"lowest", "highest"});
    for (const ScenarioResult& point : report.scenarios) {
      if (point.pages == kind && !point.flows.empty())
        rows.push_back(row_of(report, point, several));
    }
    text += fmt::format(
        "Bandwidth in GB/s (pages: {}; kernels: {}; nodes: of the CPUs -> of the memory)\n"
        "sum: bytes as STREAM counts them, of all workers over their common time{}; moved: with "
        "the\n"
        "line that an ordinary store fetches first (CPUs that spare this move less)\n"
        "+-: half the 95 % interval of the sum; what converged is each worker's own median\n",
        kind, report.isa, report.hosts.size() > 1 ? ", a time for each host" : "");
    text += aligned(rows, 2) + "\n";
  }
  if (stats) text += "All cells (GB/s)\n" + stats_table(report, "bandwidth") + "\n";
  return text + notes_text(report);
}

}  // namespace numatlas
