#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/size_list.h"
#include "benchmarks/touch/patterns.h"
#include "record/cache_level.h"
#include "record/labels.h"

namespace numatlas {
namespace {

int first_toucher_of(const FlowResult& flow) { return flow.first_touch.value_or(flow.worker); }

std::string times_text(const Estimate& times) {
  if (!times.low || !times.high)
    return fmt::format("{:.2f} times as long (too few samples for an interval)", times.value);
  return is_told(times) ? fmt::format("{:.2f} times as long ({:.2f} to {:.2f})", times.value,
                                      *times.low, *times.high)
                        : fmt::format("no significant difference ({:.2f} times, {:.2f} to {:.2f})",
                                      times.value, *times.low, *times.high);
}

std::string cpu_words(const RunReport& report, int index) {
  const WorkerRow& worker = report.workers[static_cast<std::size_t>(index)];
  return fmt::format("CPU {} (node {})", to_list(worker.cpus),
                     worker.cpu_node.value < 0 ? "-" : std::to_string(worker.cpu_node.value));
}

std::string worker_words(const RunReport& report, int index) {
  return fmt::format("worker {} on {}", index, cpu_words(report, index));
}

/// "worker 1 on CPU 8 (node 1), memory first touched by worker 0 on CPU 0 (node 0), against its
/// own: alone 1.63 times as long (1.60 to 1.66); together 1.90 times as long (1.85 to 1.95)".
std::vector<std::string> words_of(const RunReport& report, const CaseGroup& group) {
  // With two workers one row may stand for two patterns: each is said where it was measured.
  std::vector<std::string> lines;
  for (const char* pattern : {"other", "crossed"}) {
    for (std::size_t i = 0; i < report.workers.size(); ++i) {
      std::string line;
      for (const ScenarioResult* point : group.cases) {
        if (label_of(*point, "pattern") != pattern) continue;
        for (const FlowResult& flow : point->flows) {
          if (flow.worker != static_cast<int>(i) || first_toucher_of(flow) == flow.worker) continue;
          const auto times = against_own(report, *point, flow);
          if (!times) continue;
          if (line.empty()) {
            line = fmt::format("{}: {}, memory first touched by {}, against its own: ", pattern,
                               worker_words(report, flow.worker),
                               worker_words(report, first_toucher_of(flow)));
          } else {
            line += "; ";
          }
          line += fmt::format("{} {}", label_of(*point, "run"), times_text(*times));
        }
      }
      if (!line.empty()) lines.push_back(line);
    }
  }
  return lines;
}

std::string one_node_words(const RunReport& report) {
  std::set<int> nodes;
  for (const WorkerRow& worker : report.workers) nodes.insert(worker.cpu_node.value);
  if (nodes.size() > 1 || report.workers.size() < 2) return "";
  const bool only = report.machines.front().nodes.size() < 2;
  return fmt::format(
      "no difference expected: {}; all are equally far from every page",
      only ? "this machine has one NUMA node"
           : fmt::format("all workers are on node {} (--cpus names others)", *nodes.begin()));
}

}  // namespace

std::vector<View> touch_views(const RunReport& report) {
  std::vector<View> views;
  for (const CaseGroup& group : groups_of(report, {"kernel", "size", "pages"})) {
    const ScenarioResult& any = *group.cases.front();
    View view;
    view.level = ViewLevel::flows;
    view.where = group.labels;
    view.title = fmt::format(
        "Memory used by a worker and first touched by the same or another ({}, {}, pages {})",
        any.kernel, to_text(any.size), any.pages);
    view.notes = {"access: one line of 64 bytes, read, written or both; a pass: all lines",
                  "run: alone, the others sleep; together, all at the same time"};
    view.cells = {label_column("pattern", "pattern"),
                  label_column("run", "run"),
                  label_column("worker", "worker"),
                  label_column("CPU", "cpu"),
                  label_column("node", "cpu_node"),
                  label_column("touched by", "first_touch"),
                  label_column("pages on", "memory_node"),
                  figure_column("ms/pass", "pass_time", 1e3, Part::value, 3),
                  figure_column("ns/access", "access_time", in_ns),
                  figure_column("GB/s", "bandwidth", in_gb_per_s),
                  figure_column(plus_minus(), "access_time", in_ns, Part::half_width)};
    view.verdict = words_of(report, group);
    if (auto words = one_node_words(report); !words.empty()) view.verdict.push_back(words);
    views.push_back(std::move(view));
  }
  return views;
}

std::vector<Fact> touch_facts(const RunReport& report) {
  std::vector<Fact> worst;
  for (const ScenarioResult& point : report.scenarios) {
    if (label_of(point, "pattern") == "own" || label_of(point, "run") != "alone") continue;
    for (const FlowResult& flow : point.flows) {
      const auto times = against_own(report, point, flow);
      if (!times || !flow.first_touch) continue;
      if (!worst.empty() && times->value <= worst.front().estimate.value) continue;
      const Figure* const own = find_figure(own_of(report, point, flow)->figures, "access_time");
      const std::string user = cpu_words(report, flow.worker);
      const std::string toucher = cpu_words(report, *flow.first_touch);
      const std::string cache = cache_text(point).empty() ? "" : " in " + cache_text(point);
      worst = {
          {"first_touch_times",
           {{"used_by", user}, {"touched_by", toucher}},
           fmt::format("an access by {} to memory first touched by {}, relative to memory that "
                       "it touched itself",
                       user, toucher),
           "1",
           *times,
           "First touch",
           fmt::format("memory touched by another at worst {{}} as slow ({}used by "
                       "{}, touched by {})",
                       is_told(*times) ? "" : "no significant difference; ", user, toucher)}};
      if (own == nullptr || !own->estimate) continue;
      worst.push_back({"first_touch_own",
                       {{"used_by", user}},
                       fmt::format("an access by {} to memory that it touched itself", user),
                       own->unit,
                       *own->estimate,
                       "First touch",
                       fmt::format("own memory{} {{}} per access", cache)});
    }
  }
  return worst;
}

}  // namespace numatlas
