// Facts of the memory as CPUs reach it: matrix, latency, bandwidth, loaded.
#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/size_list.h"
#include "benchmarks/metrics.h"
#include "record/cache_level.h"
#include "survey/facts.h"

namespace numatlas {
namespace {

/// A cell of a matrix.
struct Cell {
  std::string cpus, memory;
  Estimate estimate;
};

std::vector<Cell> cells_of(const RunReport& report, const std::string& kernel) {
  std::vector<Cell> cells;
  for (const ScenarioResult& point : report.scenarios) {
    if (point.kernel != kernel || !cache_text(point).empty()) continue;
    const auto estimate =
        kernel == "chase" ? median_over_flows(point, "latency") : sum_of(point, "bandwidth_sum");
    if (estimate)
      cells.push_back(
          {label_of(point, "cell_cpu_node"), label_of(point, "cell_memory_node"), *estimate});
  }
  return cells;
}

/// What a node's CPUs are compared with: their own node's memory, else the best that they reach.
const Cell* nearest_cell(const std::vector<Cell>& cells, const std::string& cpus, bool least) {
  const Cell* best = nullptr;
  for (const Cell& cell : cells) {
    if (cell.cpus != cpus) continue;
    if (cell.memory == cpus) return &cell;
    const bool better = best != nullptr && (least ? cell.estimate.value < best->estimate.value
                                                  : cell.estimate.value > best->estimate.value);
    if (best == nullptr || better) best = &cell;
  }
  return best;
}

/// The cell that compares worst with the nearest memory of its CPUs.
std::optional<SurveyFact> worst_remote(const std::vector<Cell>& cells, bool latency) {
  std::optional<SurveyFact> worst;
  for (const Cell& cell : cells) {
    const Cell* const near = nearest_cell(cells, cell.cpus, latency);
    if (near == nullptr || near == &cell || !(near->estimate.value > 0)) continue;
    const Estimate times = ratio_of(cell.estimate, near->estimate);
    if (worst && (latency ? times.value <= worst->value : times.value >= worst->value)) continue;
    const std::string nearest = near->memory == near->cpus
                                    ? "their own node's"
                                    : fmt::format("that of node {}, their nearest", near->memory);
    const std::string places =
        fmt::format("from CPUs of node {} to memory of node {}", cell.cpus, cell.memory);
    worst = fact_of(
        latency ? "remote_latency_times" : "remote_bandwidth_part",
        {{"cpu_node", cell.cpus},
         {"memory_node", cell.memory},
         {"compared_with_node", near->memory}},
        fmt::format("{} {}, against {}", latency ? "latency" : "read bandwidth", places, nearest),
        "1", times);
  }
  return worst;
}

void add_cells(std::vector<SurveyFact>& facts, const std::vector<Cell>& cells, bool latency,
               const std::string& kernel) {
  for (const Cell& cell : cells) {
    std::vector<std::pair<std::string, std::string>> where{{"cpu_node", cell.cpus},
                                                           {"memory_node", cell.memory}};
    if (!latency) where.emplace_back("kernel", kernel);
    facts.push_back(fact_of(
        latency ? "matrix_latency" : "matrix_bandwidth", std::move(where),
        fmt::format("{} from CPUs of node {} to memory of node {}",
                    latency ? "latency of one CPU alone" : kernel + " bandwidth of all CPUs",
                    cell.cpus, cell.memory),
        latency ? "s" : "B/s", cell.estimate));
  }
}

/// Of all points of one cache level the one farthest from both its borders; of memory the largest.
const ScenarioResult* typical_point(std::vector<const ScenarioResult*> points, bool memory) {
  std::sort(points.begin(), points.end(),
            [](const auto* a, const auto* b) { return a->size < b->size; });
  // The largest size that a level holds shares it with whatever else is there.
  const std::size_t at = memory || points.size() == 1 ? points.size() - 1 : points.size() - 2;
  return points[at];
}

std::string level_of(const ScenarioResult& point) {
  return point.flows.empty() ? "-" : point.flows.front().level;
}

std::string stores_words(const ScenarioResult& point) {
  return point.stores == "non-temporal" ? " with non-temporal stores" : "";
}

/// Whether no two flows share a CPU: ranks of a launcher that binds nothing may.
bool each_has_its_cpu(const ScenarioResult& point, const RunReport& report) {
  std::set<std::pair<int, std::string>> taken;
  for (const FlowResult& flow : point.flows) {
    const WorkerRow& worker = report.workers[static_cast<std::size_t>(flow.worker)];
    if (worker.cpus.size() != 1 || !taken.insert({worker.host, to_list(worker.cpus)}).second)
      return false;
  }
  return true;
}

}  // namespace

std::vector<SurveyFact> matrix_facts(const RunReport& report) {
  std::vector<SurveyFact> facts;
  const auto latency = cells_of(report, "chase"), reads = cells_of(report, "read");
  add_cells(facts, latency, true, "");
  add_cells(facts, reads, false, "read");
  for (const auto& [cells, of_latency] : {std::pair(latency, true), std::pair(reads, false)}) {
    if (auto worst = worst_remote(cells, of_latency)) facts.push_back(*std::move(worst));
  }
  return facts;
}

std::vector<SurveyFact> latency_facts(const RunReport& report) {
  std::vector<SurveyFact> facts;
  std::vector<std::string> kinds;
  for (const ScenarioResult& point : report.scenarios) {
    if (std::find(kinds.begin(), kinds.end(), point.pages) == kinds.end())
      kinds.push_back(point.pages);
  }
  for (const char* level : {"L1", "L2", "L3", "L4", "memory"}) {
    for (const std::string& pages : kinds) {
      const bool memory = std::string(level) == "memory";
      // Of a cache without the misses of the TLB, which those of the largest pages are nearest to.
      if (!memory && pages != kinds.back()) continue;
      std::vector<const ScenarioResult*> points;
      for (const ScenarioResult& point : report.scenarios) {
        if (point.pages == pages && level_of(point) == level && median_over_flows(point, "latency"))
          points.push_back(&point);
      }
      if (points.empty()) continue;
      const ScenarioResult& point = *typical_point(points, memory);
      const std::string size = compact_text(point.size);
      facts.push_back(
          fact_of(memory ? "memory_latency" : "cache_latency",
                  {{"level", level}, {"size", std::to_string(point.size.value)}, {"pages", pages}},
                  fmt::format("latency of {} ({} at random, {} pages)", level, size, pages), "s",
                  *median_over_flows(point, "latency")));
    }
  }
  return facts;
}

std::vector<SurveyFact> bandwidth_facts(const RunReport& report) {
  const ScenarioResult *peak = nullptr, *alone = nullptr;
  const auto more = [](const ScenarioResult& point, const ScenarioResult* than) {
    return than == nullptr ||
           sum_of(point, "bandwidth_sum")->value > sum_of(*than, "bandwidth_sum")->value;
  };
  for (const ScenarioResult& point : report.scenarios) {
    if (!cache_text(point).empty() || !sum_of(point, "bandwidth_sum")) continue;
    if (more(point, peak)) peak = &point;
    if (point.flows.size() == 1 && more(point, alone)) alone = &point;
  }
  std::vector<SurveyFact> facts;
  const auto add = [&](const char* key, const ScenarioResult& point) {
    const std::size_t workers = point.flows.size();
    const char* const what = each_has_its_cpu(point, report) ? "CPUs" : "workers";
    const std::size_t hosts = point.host_totals.size();  // none where there is one
    const std::string together =
        hosts > 1 ? fmt::format("{} {} of {} hosts, the median host's sum", workers, what, hosts)
                  : fmt::format("{} {} together", workers, what);
    facts.push_back(fact_of(
        key,
        {{"kernel", point.kernel}, {"stores", point.stores}, {"workers", std::to_string(workers)}},
        fmt::format("{}{}, {}, memory local to each", full_name(point.flows.front()),
                    stores_words(point), workers == 1 ? "1 CPU alone" : together),
        "B/s", *sum_of(point, "bandwidth_sum")));
  };
  // One CPU is no peak where there are more.
  const bool together = peak != nullptr && (peak->flows.size() > 1 || report.workers.size() < 2);
  if (together) add("peak_bandwidth", *peak);
  if (!together) peak = nullptr;
  if (alone != nullptr && alone != peak) add("one_cpu_bandwidth", *alone);
  return facts;
}

namespace {

/// Whether the loaders moved what they were asked to: starved ones are no load of so many percent.
/// As the table of `loaded` has it.
bool reached_its_rate(const ScenarioResult& point) {
  constexpr double enough = 0.9;
  double asked = 0;
  for (const FlowResult& flow : point.flows) asked += flow.rate.value_or(0);
  const auto achieved = sum_of(point, "bandwidth_sum");
  return asked <= 0 || (achieved && achieved->value >= enough * asked);
}

}  // namespace

std::vector<SurveyFact> loaded_facts(const RunReport& report) {
  std::vector<SurveyFact> facts;
  const std::map<std::string, std::pair<const char*, const char*>> loads{
      {"idle", {"loaded_latency_idle", "while nothing else runs"}},
      {"50%", {"loaded_latency_half", "at half of the peak"}},
      {"peak", {"loaded_latency_peak", "at the peak"}}};
  for (const ScenarioResult& point : report.scenarios) {
    const auto load = loads.find(label_of(point, "load"));
    if (load == loads.end()) continue;
    const std::string kernel = label_of(point, "load_kernel");
    if (!kernel.empty() && kernel != "read") continue;
    if (!reached_its_rate(point) || !cache_text(point).empty()) continue;
    const std::string cpus = label_of(point, "cell_cpu_node"),
                      memory = label_of(point, "cell_memory_node");
    const std::string nodes = fmt::format("CPUs of node {}, memory of node {}", cpus, memory);
    const std::vector<std::pair<std::string, std::string>> where{{"cpu_node", cpus},
                                                                 {"memory_node", memory}};
    if (const auto latency = median_over_flows(point, "latency")) {
      facts.push_back(fact_of(load->second.first, where,
                              fmt::format("latency {}, {}", load->second.second, nodes), "s",
                              *latency));
    }
    const auto rate = sum_of(point, "bandwidth_sum");
    if (load->first == "peak" && rate) {
      facts.push_back(fact_of("loaded_bandwidth_peak", where,
                              "bandwidth of the others at that peak, " + nodes, "B/s", *rate));
    }
  }
  return facts;
}

}  // namespace numatlas
