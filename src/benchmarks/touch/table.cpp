#include <set>

#include <fmt/format.h>

#include "base/size_list.h"
#include "benchmarks/touch/patterns.h"
#include "report/worker_table.h"

namespace numatlas {
namespace {

std::string scaled_cell(const FlowResult& flow, const char* name, double factor, int decimals) {
  const Metric* const found = find_metric(flow, name);
  return found != nullptr && found->value ? fmt::format("{:.{}f}", *found->value * factor, decimals)
                                          : "-";
}

std::string node_word(NodeId node) { return node.value < 0 ? "-" : std::to_string(node.value); }

int first_toucher_of(const FlowResult& flow) { return flow.first_touch.value_or(flow.worker); }

/// Points of one kind of pages, kernel and size, in their order.
struct PointGroup {
  std::string title;
  std::vector<const ScenarioResult*> points;
};

std::vector<PointGroup> groups_of(const RunReport& report) {
  std::vector<PointGroup> groups;
  for (const ScenarioResult& point : report.scenarios) {
    const std::string title =
        fmt::format("{}, {}, pages {}", point.kernel, compact_text(point.size), point.pages);
    if (groups.empty() || groups.back().title != title) groups.push_back({title, {}});
    groups.back().points.push_back(&point);
  }
  return groups;
}

std::string rows_text(const RunReport& report, const PointGroup& group) {
  std::vector<std::vector<std::string>> rows{{"pattern", "run", "worker", "CPU", "node",
                                              "touched by", "pages on", "ms a pass", "ns an access",
                                              "GB/s", "+-"}};
  for (const ScenarioResult* point : group.points) {
    for (const FlowResult& flow : point->flows) {
      const WorkerRow& worker = report.workers[static_cast<std::size_t>(flow.worker)];
      rows.push_back(
          {label_of(*point, "pattern"), label_of(*point, "run"), std::to_string(flow.worker),
           to_list(worker.cpus), node_word(worker.cpu_node), std::to_string(first_toucher_of(flow)),
           memory_node_text(flow), scaled_cell(flow, "pass_time", 1e3, 3),
           scaled_cell(flow, "access_time", 1e9, 2), scaled_cell(flow, "bandwidth", 1e-9, 2),
           flow.half_width ? fmt::format("{:.1f}%", *flow.half_width * 100) : "-"});
    }
  }
  return rows.size() > 1 ? aligned(rows, 2) + "\n" : "";
}

std::string times_text(const TimesAsLong& times) {
  if (!times.low || !times.high)
    return fmt::format("{:.2f} times as long (too few samples for an interval)", times.ratio);
  return times.told()
             ? fmt::format("{:.2f} times as long ({:.2f} to {:.2f})", times.ratio, *times.low,
                           *times.high)
             : fmt::format("no difference that can be told ({:.2f} times, {:.2f} to {:.2f})",
                           times.ratio, *times.low, *times.high);
}

std::string worker_word(const RunReport& report, int index) {
  const WorkerRow& worker = report.workers[static_cast<std::size_t>(index)];
  return fmt::format("worker {} on CPU {} (node {})", index, to_list(worker.cpus),
                     node_word(worker.cpu_node));
}

/// "worker 1 on CPU 8 (node 1), memory first touched by worker 0 on CPU 0 (node 0), against its
/// own: alone 1.63 times as long (1.60 to 1.66); together 1.90 times as long (1.85 to 1.95)".
std::string words_text(const RunReport& report, const PointGroup& group) {
  // With two workers one row may stand for two patterns: each is said where it was measured.
  std::vector<std::string> lines;
  for (const char* pattern : {"other", "crossed"}) {
    for (std::size_t i = 0; i < report.workers.size(); ++i) {
      std::string line;
      for (const ScenarioResult* point : group.points) {
        if (label_of(*point, "pattern") != pattern) continue;
        for (const FlowResult& flow : point->flows) {
          if (flow.worker != static_cast<int>(i) || first_toucher_of(flow) == flow.worker) continue;
          const auto times = against_own(report, *point, flow);
          if (!times) continue;
          if (line.empty()) {
            line = fmt::format("{}: {}, memory first touched by {}, against its own: ", pattern,
                               worker_word(report, flow.worker),
                               worker_word(report, first_toucher_of(flow)));
          } else {
            line += "; ";
          }
          line += fmt::format("{} {}", label_of(*point, "run"), times_text(*times));
        }
      }
      if (!line.empty()) lines.push_back(line);
    }
  }
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text.empty() ? "" : text + "\n";
}

std::string one_node_text(const RunReport& report) {
  std::set<int> nodes;
  for (const WorkerRow& worker : report.workers) nodes.insert(worker.cpu_node.value);
  if (nodes.size() > 1 || report.workers.size() < 2) return "";
  const bool only = report.machines.front().nodes.size() < 2;
  return fmt::format(
      "no difference to see: {}, and memory is as near to all of them whoever touches it "
      "first;\nwhat differs above is what changes here from one measurement to the next\n",
      only ? "this machine shows one NUMA node"
           : fmt::format("all workers are on node {} (--cpus names others)", *nodes.begin()));
}

bool has_metric(const RunReport& report, const std::string& name) {
  for (const ScenarioResult& point : report.scenarios) {
    for (const FlowResult& flow : point.flows) {
      if (find_metric(flow, name) != nullptr) return true;
    }
  }
  return false;
}

}  // namespace

std::string touch_table(const RunReport& report, bool stats) {
  std::string text;
  for (const PointGroup& group : groups_of(report)) {
    const std::string rows = rows_text(report, group);
    if (rows.empty()) continue;
    text += fmt::format(
        "Memory used by a worker and first touched by the same or another ({})\n"
        "access: one line of 64 bytes, read, written or both as the kernel does; a pass: all "
        "lines\n"
        "run: alone, the others sleep; together, all at the same time\n",
        group.title);
    text += rows + words_text(report, group);
  }
  for (const auto& [metric, unit] : {std::pair("latency", "ns"), std::pair("bandwidth", "GB/s")}) {
    if (stats && has_metric(report, metric))
      text += fmt::format("All cells ({})\n", unit) + stats_table(report, metric) + "\n";
  }
  return text + one_node_text(report) + notes_text(report);
}

}  // namespace numatlas
