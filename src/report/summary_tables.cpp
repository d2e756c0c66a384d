// The tables below the worker table: pairs of nodes, statistics, page kinds, notes.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/size_list.h"
#include "record/cache_level.h"
#include "report/worker_table.h"

namespace numatlas {
namespace {

std::string ns(double seconds) { return fmt::format("{:.2f}", seconds * 1e9); }
/// ns for times, GB/s for rates.
std::string scaled(double value, const std::string& unit) {
  return fmt::format("{:.2f}", unit == "B/s" ? value * 1e-9 : value * 1e9);
}

std::string node_text(NodeId node) { return node.value < 0 ? "-" : std::to_string(node.value); }

/// CPU node (-1 unknown) and observed memory nodes: numbers, so that node 10 comes after node 2.
using Pair = std::pair<int, std::vector<int>>;

Pair pair_of(const RunReport& report, const FlowResult& flow) {
  Pair pair{report.workers[static_cast<std::size_t>(flow.worker)].cpu_node.value, {}};
  for (const auto& [node, pages] : observed_memory(flow).pages_by_node) {
    if (pages > 0) pair.second.push_back(node);
  }
  return pair;
}

std::string pair_text(const Pair& pair) {
  NodeSet memory;
  for (int node : pair.second) memory.insert(NodeId{node});
  return fmt::format("{} -> {}", node_text(NodeId{pair.first}),
                     memory.empty() ? "-" : to_list(memory));
}

/// Medians of all workers of a pair at one point.
std::vector<double> values_of(const RunReport& report, const ScenarioResult& point,
                              const Pair& pair, const std::string& metric) {
  std::vector<double> values;
  for (const FlowResult& flow : point.flows) {
    const Figure* found = find_figure(flow, metric);
    if (found != nullptr && found->value() && pair_of(report, flow) == pair) {
      values.push_back(*found->value());
    }
  }
  return values;
}

/// All workers of one size and page kind: the median of their medians, and how far it may be off.
struct KindCell {
  double median;
  double margin;  ///< the widest of the workers' intervals
};

std::optional<KindCell> kind_cell(const RunReport& report, const std::string& metric, Bytes size,
                                  const std::string& kind) {
  std::vector<double> values;
  double margin = 0;
  for (const ScenarioResult& scenario : report.scenarios) {
    if (scenario.size != size || scenario.pages != kind) continue;
    for (const FlowResult& flow : scenario.flows) {
      const Figure* found = find_figure(flow, metric);
      if (found == nullptr || !found->value()) continue;
      values.push_back(*found->value());
      margin = std::max(margin, half_width(*found).value_or(0) * *found->value());
    }
  }
  const auto summary = summarize(values);
  if (!summary) return std::nullopt;
  return KindCell{summary->median, margin};
}

/// Of a point that was cut off: why its workers have figures and all of them together have none.
std::string missing_sum_text(const ScenarioResult& point) {
  const bool rates =
      std::any_of(point.flows.begin(), point.flows.end(),
                  [](const FlowResult& flow) { return find_figure(flow, "bandwidth") != nullptr; });
  const bool without = point.status == Status::incomplete && rates && point.figures.empty();
  return without ? "; its workers have what they had recorded, their time together has no end and "
                   "so no sum"
                 : "";
}

}  // namespace

std::string pair_table(const RunReport& report, const std::string& metric,
                       const std::string& pages) {
  std::vector<const ScenarioResult*> points;
  std::set<Pair> pairs;
  for (const ScenarioResult& scenario : report.scenarios) {
    if (scenario.pages != pages) continue;
    points.push_back(&scenario);
    for (const FlowResult& flow : scenario.flows) {
      const Figure* found = find_figure(flow, metric);
      if (found != nullptr && found->value()) pairs.insert(pair_of(report, flow));
    }
  }
  std::vector<std::vector<std::string>> rows;
  rows.push_back({"CPU node -> memory node", "workers", ""});
  rows.push_back({"", "", "fits"});
  for (const ScenarioResult* point : points) {
    rows[0].push_back(compact_text(point->size));
    rows[1].push_back(level_text(*point));
  }
  for (const Pair& pair : pairs) {
    std::vector<std::string> median{pair_text(pair), "", "median"};
    std::vector<std::string> low{"", "", "lowest"};
    std::vector<std::string> high{"", "", "highest"};
    std::size_t workers = 0;
    for (const ScenarioResult* point : points) {
      const auto summary = summarize(values_of(report, *point, pair, metric));
      median.push_back(summary ? ns(summary->median) : "-");
      low.push_back(summary ? ns(summary->min) : "-");
      high.push_back(summary ? ns(summary->max) : "-");
      workers = std::max(workers, summary ? summary->n : 0);
    }
    median[1] = std::to_string(workers);
    rows.push_back(median);
    if (workers > 1) {
      rows.push_back(low);
      rows.push_back(high);
    }
  }
  return aligned(rows, 1);
}

std::string stats_table(const RunReport& report, const std::string& metric) {
  std::vector<std::vector<std::string>> rows;
  rows.push_back({report.command == "latency" ? "size" : "point", "pages", "observed", "rank",
                  "thread", "n", "median", "ci95 low", "ci95 high", "+-", "p5", "p25", "p75", "p95",
                  "p99", "min", "max", "overlap", "stop"});
  for (const ScenarioResult& scenario : report.scenarios) {
    for (const FlowResult& flow : scenario.flows) {
      const Figure* found = find_figure(flow, metric);
      if (found == nullptr || !found->summary) continue;
      const Summary& s = *found->summary;
      const auto number = [&](std::optional<double> value) {
        return value ? scaled(*value, found->unit) : "-";
      };
      const auto end = [&](std::optional<double> Estimate::*side) {
        return found->estimate ? (*found->estimate).*side : std::nullopt;
      };
      const WorkerRow& worker = report.workers[static_cast<std::size_t>(flow.worker)];
      rows.push_back({report.command == "latency" ? compact_text(scenario.size) : scenario.name,
                      scenario.pages, observed_memory(flow).page_text(),
                      fmt::format("{:03}", worker.rank), std::to_string(worker.thread),
                      std::to_string(s.n), number(s.median), number(end(&Estimate::low)),
                      number(end(&Estimate::high)),
                      half_width(*found) ? fmt::format("{:.1f}%", *half_width(*found) * 100) : "-",
                      number(s.p5), number(s.p25), number(s.p75), number(s.p95), number(s.p99),
                      number(s.min), number(s.max),
                      flow.overlap ? fmt::format("{:.0f}%", *flow.overlap * 100) : "-", flow.stop});
    }
  }
  return aligned(rows, 4);
}

std::string stats_text(const RunReport& report) {
  std::vector<std::pair<std::string, std::string>> shown;  // key and unit, in order
  for (const ScenarioResult& scenario : report.scenarios) {
    for (const FlowResult& flow : scenario.flows) {
      for (const Figure& figure : flow.figures) {
        const std::pair<std::string, std::string> one{figure.key,
                                                      figure.unit == "B/s" ? "GB/s" : "ns"};
        if (figure.summary && std::find(shown.begin(), shown.end(), one) == shown.end())
          shown.push_back(one);
      }
    }
  }
  std::string text;
  for (const auto& [key, unit] : shown)
    text += fmt::format("All workers: {} ({})\n{}\n", key, unit, stats_table(report, key));
  return text;
}

std::string page_kind_table(const RunReport& report, const std::string& metric) {
  const auto kinds = page_kinds_of(report);
  if (kinds.size() < 2) return "";
  std::vector<Bytes> sizes;
  for (const ScenarioResult& scenario : report.scenarios) {
    if (std::find(sizes.begin(), sizes.end(), scenario.size) == sizes.end()) {
      sizes.push_back(scenario.size);
    }
  }
  std::vector<std::vector<std::string>> rows{{"pages"}};
  for (Bytes size : sizes) rows[0].push_back(compact_text(size));
  for (const std::string& kind : kinds) {
    rows.push_back({kind});
    for (Bytes size : sizes) {
      const auto cell = kind_cell(report, metric, size, kind);
      rows.back().push_back(cell ? ns(cell->median) : "-");
    }
    if (kind == kinds.front()) continue;
    rows.push_back({fmt::format("{} - {}", kinds.front(), kind)});
    for (Bytes size : sizes) {
      const auto base = kind_cell(report, metric, size, kinds.front());
      const auto huge = kind_cell(report, metric, size, kind);
      if (!base || !huge) {
        rows.back().push_back("-");
      } else if (std::abs(base->median - huge->median) <= base->margin + huge->margin) {
        rows.back().push_back("noise");
      } else {
        rows.back().push_back(ns(base->median - huge->median));
      }
    }
  }
  return aligned(rows, 1);
}

std::string notes_text(const RunReport& report) {
  std::string text;
  std::map<std::string, std::set<std::string>> observed;
  std::size_t cells = 0;
  std::size_t converged = 0;
  std::vector<std::string> not_converged;
  for (const ScenarioResult& scenario : report.scenarios) {
    if (scenario.status != Status::ok) {
      text += fmt::format("{}: {}: {}{}\n", scenario.name, name_of(scenario.status),
                          scenario.reason, missing_sum_text(scenario));
    }
    std::size_t open = 0;
    std::size_t measured = 0;
    std::optional<double> widest;
    for (const FlowResult& flow : scenario.flows) {
      // A load has no figure, and perhaps no memory of its own.
      if (flow.load || flow.wrong) continue;
      const bool between_gpus = flow.gpu && flow.gpu->direction == "p2p";
      if (!between_gpus) observed[scenario.pages].insert(observed_memory(flow).page_text());
      ++measured;
      if (flow.stop == "converged") continue;
      ++open;
      if (const auto width = half_width(flow)) widest = std::max(widest.value_or(0), *width);
    }
    cells += measured;
    converged += measured - open;
    if (open > 0) {
      not_converged.push_back(
          fmt::format("{} ({} of {} workers, {})", scenario.name, open, measured,
                      widest ? fmt::format("to {:.1f} %", *widest * 100) : "too few samples"));
    }
  }
  if (!report.scenarios.empty()) {
    const ScenarioResult& first = report.scenarios.front();
    if (!first.order.empty()) {
      text += fmt::format("order: {}, stride {}, seed {}\n", first.order, to_text(first.stride),
                          report.seed);
    }
  }
  for (const auto& [kind, sizes] : observed) {
    text += fmt::format("pages: {} asked, {} observed\n", kind, fmt::join(sizes, " and "));
  }
  const bool own_rules =
      std::any_of(report.scenarios.begin(), report.scenarios.end(),
                  [](const ScenarioResult& s) { return s.precision || s.time_cap; });
  text += fmt::format(
      "{} of {} cells converged to {} within {}", converged, cells,
      own_rules ? "their precision" : fmt::format("{:g} %", report.precision * 100),
      own_rules ? "their time"
                : fmt::format("{:g} s{}", report.time_cap, report.time_of_all ? " in all" : ""));
  // A list of all would bury what else is said here.
  constexpr std::size_t most_named = 4;
  const std::size_t unnamed =
      not_converged.size() > most_named ? not_converged.size() - most_named : 0;
  not_converged.resize(not_converged.size() - unnamed);
  text += not_converged.empty()
              ? "\n"
              : fmt::format("; not converged: {}{}\n", fmt::join(not_converged, ", "),
                            unnamed == 0 ? ""
                                         : fmt::format(" and {} more points "
                                                       "(--stats)",
                                                       unnamed));
  if (!report.complete) text += fmt::format("incomplete: {}\n", report.incomplete_reason);
  for (const std::string& warning : counted(report.warnings)) text += "warning: " + warning + "\n";
  return text;
}

}  // namespace numatlas
