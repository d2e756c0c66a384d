#include "benchmarks/matrix/table.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/size_list.h"
#include "benchmarks/metrics.h"
#include "report/worker_table.h"

namespace numatlas {
namespace {

/// What one matrix shows.
struct Quantity {
  std::string kernel, stores;
  friend bool operator==(const Quantity&, const Quantity&) = default;
};

Quantity quantity_of(const ScenarioResult& point) { return {point.kernel, point.stores}; }

std::string with_spread(double value, int decimals, const std::optional<double>& half_width) {
  return half_width ? fmt::format("{:.{}f} +-{:.1f}%", value, decimals, *half_width * 100)
                    : fmt::format("{:.{}f}", value, decimals);
}

std::string cell_of(const ScenarioResult& point) {
  if (point.kernel == "chase") {
    const Metric* latency =
        point.flows.empty() ? nullptr : find_metric(point.flows.front(), "latency");
    if (latency == nullptr || !latency->value) return "-";
    return with_spread(*latency->value * 1e9, 1, point.flows.front().half_width);
  }
  const Metric* sum = find_total(point, "bandwidth_sum");
  return sum != nullptr && sum->value ? with_spread(*sum->value * 1e-9, 2, half_width_of_sum(*sum))
                                      : "-";
}

/// "memory without CPUs": a column's node in the words of its head.
std::string column_head(const RunReport& report, const std::string& node) {
  for (const Machine& machine : report.machines) {
    const NumaNode* found = machine.find_node(NodeId{std::stoi(node)});
    if (found != nullptr && !found->cpus.empty()) return node;
  }
  return node + "*";
}

std::string title_of(const ScenarioResult& point) {
  const std::string pages = point.pages + " pages";
  if (point.kernel == "chase") {
    return fmt::format("Idle latency in ns (one CPU of the node, {} chase over {}, {})",
                       point.order, compact_text(point.size), pages);
  }
  const std::string stores = point.stores.empty() ? "" : ", " + point.stores + " stores";
  return fmt::format("Bandwidth of {} in GB/s (all workers of the node, {} each, {}{})",
                     point.kernel, compact_text(point.size), pages, stores);
}

std::string one_matrix(const RunReport& report, const std::string& pages,
                       const Quantity& quantity) {
  std::vector<const ScenarioResult*> points;
  std::vector<std::string> rows, columns;
  const auto note = [](std::vector<std::string>& names, const std::string& name) {
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  };
  for (const ScenarioResult& point : report.scenarios) {
    if (point.pages != pages || quantity_of(point) != quantity) continue;
    points.push_back(&point);
    note(rows, label_of(point, "cell_cpu_node"));
    note(columns, label_of(point, "cell_memory_node"));
  }
  std::vector<std::vector<std::string>> cells;
  cells.push_back({"CPUs of node"});
  for (const std::string& column : columns)
    cells.back().push_back("memory " + column_head(report, column));
  for (const std::string& row : rows) {
    cells.push_back({row});
    for (const std::string& column : columns) {
      std::string cell = "-";
      for (const ScenarioResult* point : points) {
        if (label_of(*point, "cell_cpu_node") == row &&
            label_of(*point, "cell_memory_node") == column)
          cell = cell_of(*point);
      }
      cells.back().push_back(cell);
    }
  }
  return title_of(*points.front()) + "\n" + aligned(cells, 1) + "\n";
}

std::string matrices_of(const RunReport& report, const std::string& pages) {
  std::string text;
  std::vector<Quantity> done;
  for (const ScenarioResult& point : report.scenarios) {
    const Quantity quantity = quantity_of(point);
    if (point.pages != pages || std::find(done.begin(), done.end(), quantity) != done.end())
      continue;
    done.push_back(quantity);
    text += one_matrix(report, pages, quantity);
  }
  return text;
}

bool has_node_without_cpus(const RunReport& report) {
  for (const Machine& machine : report.machines) {
    for (const NumaNode& node : machine.nodes) {
      if (node.cpus.empty() && node.has_memory()) return true;
    }
  }
  return false;
}

}  // namespace

std::string matrix_table(const RunReport& report, bool stats) {
  std::string text;
  for (const std::string& pages : page_kinds_of(report)) {
    if (report.hosts.size() == 1) {
      text += matrices_of(report, pages);
      continue;
    }
    for (std::size_t host = 0; host < report.hosts.size(); ++host) {
      text += fmt::format("Host {}\n\n", report.hosts[host]) +
              matrices_of(of_host(report, static_cast<int>(host)), pages);
    }
  }
  text += "+-: half the 95 % interval of the median (latency), of the sum (bandwidth)\n";
  if (has_node_without_cpus(report)) text += "*: a node without CPUs\n";
  text += "\n";
  if (stats) text += stats_text(report);
  return text + notes_text(report);
}

}  // namespace numatlas
