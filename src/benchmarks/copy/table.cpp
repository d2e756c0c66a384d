#include "benchmarks/copy/table.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "base/size_list.h"
#include "benchmarks/metrics.h"
#include "report/worker_table.h"

namespace numatlas {
namespace {

using Points = std::vector<const ScenarioResult*>;

/// Bytes read and written are twice the bytes copied.
constexpr double once = 0.5;

Summary scaled(Summary summary, double factor) {
  for (double* value : {&summary.median, &summary.p5, &summary.p25, &summary.p75, &summary.p95,
                        &summary.p99, &summary.min, &summary.max, &summary.mean, &summary.mad})
    *value *= factor;
  for (std::optional<double>* value : {&summary.ci_low, &summary.ci_high, &summary.stddev}) {
    if (*value) **value *= factor;
  }
  return summary;
}

std::string gb(const std::optional<double>& rate) {
  return rate ? fmt::format("{:.2f}", *rate * 1e-9) : "-";
}

/// Median over the workers of what each copied by itself.
std::optional<double> worker_median(const ScenarioResult& point) {
  std::vector<double> rates;
  for (const FlowResult& flow : point.flows) {
    const Metric* metric = find_metric(flow, "bandwidth");
    if (metric != nullptr && metric->value) rates.push_back(*metric->value * once);
  }
  const auto summary = summarize(rates);
  return summary ? std::optional<double>(summary->median) : std::nullopt;
}

/// Of all workers together; of the one in the middle where they ran in turn.
std::optional<double> rate_of(const ScenarioResult& point) {
  const Metric* rate = find_total(point, "copy_rate");
  return rate != nullptr ? rate->value : worker_median(point);
}

std::string half_width_text(const ScenarioResult& point) {
  const Metric* rate = find_total(point, "copy_rate");
  const auto width = rate != nullptr ? half_width_of_sum(*rate) : std::nullopt;
  return width ? fmt::format("{:.1f}%", *width * 100) : "-";
}

/// Marks of the CPUs that are not those of the node copied from.
const std::map<std::string, std::string>& marks() {
  static const std::map<std::string, std::string> marks{{"to", ">"}, {"nearest", "*"}};
  return marks;
}

/// "bind:2" of a matrix is the node 2.
std::string place_text(const std::string& label) {
  constexpr std::string_view bind = "bind:";
  return label.starts_with(bind) ? label.substr(bind.size()) : label;
}

std::string cell(const ScenarioResult& point, bool marked) {
  if (point.flows.empty()) return "-";
  const auto mark = marks().find(label_of(point, "side"));
  const std::string width = half_width_text(point);
  return gb(rate_of(point)) + (width == "-" ? "" : " +-" + width) +
         (!marked                 ? ""
          : mark == marks().end() ? "  "
                                  : " " + mark->second);
}

/// Names in the order in which they come.
std::vector<std::string> names_of(const Points& points, const char* label) {
  std::vector<std::string> names;
  for (const ScenarioResult* point : points) {
    const std::string name = label_of(*point, label);
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  return names;
}

std::string matrix(const Points& points, const RunReport& report) {
  const ScenarioResult& any = *points.front();
  std::set<std::string> sides;
  std::size_t least = any.flows.size(), most = 0;
  for (const ScenarioResult* point : points) {
    if (point->flows.empty()) continue;
    sides.insert(label_of(*point, "side"));
    least = least == 0 ? point->flows.size() : std::min(least, point->flows.size());
    most = std::max(most, point->flows.size());
  }
  const bool marked = sides.size() > 1;
  std::string text = fmt::format(
      "Copies in GB/s, down: node copied from, across: node copied to ({}, {} stores, pages: {}, "
      "kernels: {})\n"
      "{} worker{} a pair; bytes copied are counted once, where STREAM counts them as read and as "
      "written{}\n",
      compact_text(any.size), any.stores, any.pages, report.isa,
      least == most ? std::to_string(most) : fmt::format("{} to {}", least, most),
      most == 1 ? "" : "s",
      report.serial && most > 1 ? "; in turn: the median of the workers" : "");
  if (marked) {
    text += "Unmarked: CPUs of the node copied from";
    if (sides.contains("to")) text += "; >: of the node copied to";
    if (sides.contains("nearest")) text += "; *: the nearest, as neither has any";
    text += "\n";
  } else if (!sides.empty()) {
    const std::map<std::string, std::string> words{{"from", "of the node copied from"},
                                                   {"to", "of the node copied to"},
                                                   {"nearest", "the nearest to the node"},
                                                   {"any", "all, whatever their node"}};
    text += "CPUs " + words.at(*sides.begin()) + "\n";
  }
  std::vector<std::vector<std::string>> rows{{"from\\to"}};
  const auto targets = names_of(points, "to");
  for (const std::string& to : targets) rows[0].push_back(place_text(to) + (marked ? "  " : ""));
  for (const std::string& from : names_of(points, "from")) {
    rows.push_back({place_text(from)});
    for (const ScenarioResult* point : points) {
      if (label_of(*point, "from") == from) rows.back().push_back(cell(*point, marked));
    }
  }
  return text + aligned(rows, 1) + "\n";
}

/// Nodes that were seen to hold the pages of one side of a point, "-" where unknown.
std::string nodes_seen(const ScenarioResult& point, bool source) {
  NodeSet nodes;
  for (const FlowResult& flow : point.flows) {
    const Residency& seen =
        source && flow.source_residency ? *flow.source_residency : flow.residency;
    for (const auto& [id, pages] : seen.pages_by_node) {
      if (pages > 0) nodes.insert(NodeId{id});
    }
  }
  return nodes.empty() ? "-" : to_list(nodes);
}

std::string list(const RunReport& report) {
  std::vector<std::vector<std::string>> rows{{"from", "to", "nodes seen", "CPUs of", "stores",
                                              "size", "pages", "workers", "copied", "+-", "moved",
                                              "worker median"}};
  for (const ScenarioResult& point : report.scenarios) {
    if (point.flows.empty()) continue;
    const Metric* moved = find_total(point, "traffic_sum");
    const std::string cpu_nodes = label_of(point, "cpu_nodes");
    rows.push_back(
        {label_of(point, "from"), label_of(point, "to"),
         nodes_seen(point, true) + " -> " + nodes_seen(point, false),
         fmt::format("{} ({})", cpu_nodes.empty() ? "-" : cpu_nodes, label_of(point, "side")),
         point.stores, compact_text(point.size), point.pages, std::to_string(point.flows.size()),
         gb(find_total(point, "copy_rate") ? rate_of(point) : std::nullopt), half_width_text(point),
         gb(moved != nullptr ? moved->value : std::nullopt), gb(worker_median(point))});
  }
  return fmt::format(
             "Copies in GB/s (kernels: {}; size: read by a worker, and as much written)\n"
             "copied: bytes of all workers over their common time{}, each counted once, where "
             "STREAM counts them\n"
             "as read and as written; moved: read and written, with the line that an ordinary "
             "store fetches first\n"
             "CPUs of: their nodes, and whether those are what is copied from or to, the nearest, "
             "or any\n",
             report.isa, report.hosts.size() > 1 ? ", a time for each host" : "") +
         aligned(rows, 7) + "\n";
}

}  // namespace

std::vector<Metric> copy_totals(const ScenarioResult& point) {
  const Metric* sum = find_total(point, "bandwidth_sum");
  if (sum == nullptr || !sum->value) return {};
  Metric rate{"copy_rate", sum->unit, *sum->value * once, std::nullopt};
  if (sum->summary) rate.summary = scaled(*sum->summary, once);
  return {rate};
}

std::string copy_table(const RunReport& report, bool stats) {
  std::set<std::pair<std::string, std::string>> pairs;
  // Points of one matrix follow each other.
  std::vector<std::pair<std::string, Points>> matrices;
  for (const ScenarioResult& point : report.scenarios) {
    pairs.emplace(label_of(point, "from"), label_of(point, "to"));
    const std::string key = fmt::format("{} {} {} {}", point.pages, point.size.value, point.stores,
                                        label_of(point, "threads"));
    if (matrices.empty() || matrices.back().first != key) matrices.push_back({key, {}});
    matrices.back().second.push_back(&point);
  }
  std::string text;
  if (pairs.size() > 1) {
    for (const auto& [key, points] : matrices) text += matrix(points, report);
  } else {
    text = list(report);
  }
  if (stats)
    text += "All cells (GB/s, read and written)\n" + stats_table(report, "bandwidth") + "\n";
  return text + notes_text(report);
}

}  // namespace numatlas
