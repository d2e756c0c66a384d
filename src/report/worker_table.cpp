#include "report/worker_table.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "base/size_list.h"
#include "report/grouped_table.h"

namespace numatlas {

std::string cores_text(const CpuSet& cpus) {
  if (cpus.size() == 2) return fmt::format("{},{}", cpus[0].value, cpus[1].value);
  return to_list(cpus);
}

namespace {

std::string cell_text(const ScenarioResult& scenario, int worker, const std::string& metric) {
  for (const FlowResult& flow : scenario.flows) {
    const Figure* found = flow.worker == worker ? find_figure(flow, metric) : nullptr;
    if (found != nullptr && found->value()) return fmt::format("{:.2f}", *found->value() * 1e9);
  }
  return "-";
}

std::string head_text(Bytes size, bool mb_heads) {
  if (mb_heads && size.value % mib == 0) return fmt::format("{}MB", size.value / mib);
  return compact_text(size);
}

std::vector<const ScenarioResult*> points_of(const RunReport& report, const std::string& pages) {
  std::vector<const ScenarioResult*> points;
  for (const ScenarioResult& scenario : report.scenarios) {
    if (pages.empty() || scenario.pages == pages) points.push_back(&scenario);
  }
  return points;
}

/// Address and observed nodes of a worker's memory: the last point's, whose memory is the largest
/// of an ascending list.
std::pair<std::string, std::string> memory_of(const std::vector<const ScenarioResult*>& points,
                                              int worker) {
  std::pair<std::string, std::string> found{"-", "-"};
  for (const ScenarioResult* point : points) {
    for (const FlowResult& flow : point->flows) {
      if (flow.worker != worker) continue;
      found = {fmt::format("{:#x}", flow.address), memory_node_text(flow)};
    }
  }
  return found;
}

}  // namespace

std::string worker_table(const RunReport& report, const std::string& metric,
                         const std::string& pages, bool mb_heads) {
  const auto points = points_of(report, pages);
  const bool hosts = report.hosts.size() > 1;
  const bool threads = std::any_of(report.workers.begin(), report.workers.end(),
                                   [](const WorkerRow& w) { return w.thread > 0; });
  // Widths and places as in the original's own output; `NUMA` and ranks stand in the middle.
  TableGroup mpi{"MPI", {}, std::nullopt};
  if (hosts) mpi.columns.push_back({"Host", 6});
  mpi.columns.push_back({"Ranks", 7, true});
  if (threads) mpi.columns.push_back({"Thread", 8});
  const TableGroup cpu{"CPU", {{"Cores", 9}, {"NUMA", 6, true}}, 8};
  const TableGroup memory{"MEMORY", {{"Address", 11, false, true}, {"NUMA", 7, true}}, 9};
  TableGroup values{"LATENCY (ns)", {}, std::nullopt};
  for (const ScenarioResult* point : points) {
    values.columns.push_back({head_text(point->size, mb_heads), 8});
  }
  std::vector<std::vector<std::string>> rows;
  for (std::size_t i = 0; i < report.workers.size(); ++i) {
    const WorkerRow& worker = report.workers[i];
    const auto [address, node] = memory_of(points, static_cast<int>(i));
    std::vector<std::string>& cells = rows.emplace_back();
    if (hosts) cells.push_back(report.hosts[static_cast<std::size_t>(worker.host)]);
    cells.push_back(fmt::format("{:03}", worker.rank));
    if (threads) cells.push_back(std::to_string(worker.thread));
    cells.push_back(cores_text(worker.cpus));
    cells.push_back(worker.cpu_node.value < 0 ? "-" : std::to_string(worker.cpu_node.value));
    cells.push_back(address);
    cells.push_back(node);
    for (const ScenarioResult* point : points) {
      cells.push_back(cell_text(*point, static_cast<int>(i), metric));
    }
  }
  return grouped_table({mpi, cpu, memory, values}, rows);
}

std::vector<std::string> page_kinds_of(const RunReport& report) {
  std::vector<std::string> kinds;
  for (const ScenarioResult& scenario : report.scenarios) {
    if (std::find(kinds.begin(), kinds.end(), scenario.pages) == kinds.end()) {
      kinds.push_back(scenario.pages);
    }
  }
  return kinds;
}

std::string aligned(const std::vector<std::vector<std::string>>& rows, std::size_t left) {
  std::vector<std::size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text;
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (i > 0) line += "  ";
      line += i < left ? fmt::format("{:<{}}", row[i], widths[i])
                       : fmt::format("{:>{}}", row[i], widths[i]);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + '\n';
  }
  return text;
}

}  // namespace numatlas
