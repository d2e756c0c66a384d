#include "benchmarks/matrix/facts.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "base/size_list.h"
#include "benchmarks/matrix/relative.h"
#include "kernels/traits.h"
#include "record/cache_level.h"
#include "record/labels.h"

namespace numatlas {
namespace {

/// A cell of a matrix.
struct Cell {
  std::string cpus, memory;
  Estimate estimate;
  std::string on;  ///< "256 MiB, thp pages": of each worker
};

std::vector<Cell> cells_of(const RunReport& report, const std::string& kernel) {
  std::vector<Cell> cells;
  for (const ScenarioResult& point : report.scenarios) {
    if (point.kernel != kernel || !cache_text(point).empty()) continue;
    const auto estimate =
        host_estimate_of(point, traits_of(kernel).chases() ? "latency" : "bandwidth_sum");
    if (estimate)
      cells.push_back({label_of(point, "cpu_node"), label_of(point, "memory_node"), *estimate,
                       fmt::format("{}, {} pages", to_text(point.size), point.pages)});
  }
  return cells;
}

/// The cell that compares worst with the nearest memory of its CPUs.
std::optional<Fact> worst_remote(const std::vector<Cell>& cells, bool latency) {
  std::optional<Fact> worst;
  for (const Cell& cell : cells) {
    const Cell* const near = nearest_cell(cells, cell.cpus, latency);
    if (near == nullptr || near == &cell || !(near->estimate.value > 0)) continue;
    const Estimate times = ratio_of(cell.estimate, near->estimate);
    const double most = worst ? worst->estimate.value : times.value;
    if (worst && (latency ? times.value <= most : times.value >= most)) continue;
    const bool own = near->memory == near->cpus;
    const std::string nearest = own ? "that of their own node"
                                    : fmt::format("that of node {}, their nearest", near->memory);
    const std::string what = latency ? "latency" : "read bandwidth";
    const std::string places =
        fmt::format("from CPUs of node {} to memory of node {}", cell.cpus, cell.memory);
    worst =
        Fact{latency ? "remote_latency_times" : "remote_bandwidth_part",
             {{"cpu_node", cell.cpus},
              {"memory_node", cell.memory},
              {"compared_with_node", near->memory}},
             fmt::format("{} {}, against {}", what, places, nearest),
             "1",
             times,
             "Remote",
             fmt::format("{} {{}} {} (node {} to {})", latency ? "latency up to" : "read bandwidth",
                         own ? "local" : "that of node " + near->memory, cell.cpus, cell.memory)};
  }
  return worst;
}

/// What "all" are: this process may be kept from some.
std::string cpus_of(const RunReport& report) {
  const bool all = std::all_of(
      report.machines.begin(), report.machines.end(),
      [](const Machine& machine) { return machine.usable_cpus().size() == machine.cpus.size(); });
  return all ? "CPUs" : "allowed CPUs";
}

void add_cells(std::vector<Fact>& facts, const std::vector<Cell>& cells, bool latency,
               const std::string& cpus) {
  for (const Cell& cell : cells) {
    facts.push_back(
        {latency ? "matrix_latency" : "matrix_bandwidth",
         {{"cpu_node", cell.cpus}, {"memory_node", cell.memory}},
         fmt::format("{} from CPUs of node {} to memory of node {}",
                     latency ? "latency of one CPU alone" : "read bandwidth of all " + cpus,
                     cell.cpus, cell.memory),
         latency ? Unit("s") : Unit("B/s"),
         cell.estimate,
         fmt::format("{}, {}",
                     latency ? "Memory latency, one CPU alone"
                             : "Read bandwidth, all " + cpus + " of the node",
                     cell.on)});
    if (!latency) facts.back().where.emplace_back("kernel", "read");
  }
}

}  // namespace

std::vector<Fact> matrix_facts(const RunReport& report) {
  std::vector<Fact> facts;
  const auto latency = cells_of(report, "chase"), reads = cells_of(report, "read");
  const std::string cpus = cpus_of(report);
  add_cells(facts, latency, true, cpus);
  add_cells(facts, reads, false, cpus);
  for (const auto& [cells, of_latency] : {std::pair(latency, true), std::pair(reads, false)}) {
    if (auto worst = worst_remote(cells, of_latency)) facts.push_back(*std::move(worst));
  }
  return facts;
}

}  // namespace numatlas
