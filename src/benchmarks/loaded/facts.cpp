#include "benchmarks/loaded/facts.h"

#include <optional>
#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "benchmarks/loaded/knee.h"
#include "kernels/traits.h"
#include "record/cache_level.h"
#include "record/labels.h"

namespace numatlas {
namespace {

struct FactLoad {
  const char *label, *key, *words, *line;
};
constexpr FactLoad fact_loads[] = {
    {"idle", "loaded_latency_idle", "while nothing else runs", "{} idle"},
    {"50%", "loaded_latency_half", "at half of the peak", "{} at half of the peak"},
    {"peak", "loaded_latency_peak", "at the peak", "{} at the peak"}};

}  // namespace

std::vector<Fact> loaded_facts(const RunReport& report) {
  std::vector<Fact> facts;
  // One pair of nodes is shown, and how many more there are: all are in the files.
  std::string shown;
  std::set<std::string> others;
  const auto add_point = [&](const FactLoad& load, const ScenarioResult& point) {
    const std::string kernel = label_of(point, "load_kernel");
    if (label_of(point, "load") != load.label || (!kernel.empty() && traits_of(kernel).writes))
      return;
    if (!reached_its_rate(point) || !cache_text(point).empty()) return;
    const std::string cpus = label_of(point, "cell_cpu_node"),
                      memory = label_of(point, "cell_memory_node");
    const std::string nodes = fmt::format("CPUs of node {}, memory of node {}", cpus, memory);
    const auto add = [&](const char* key, const std::string& words, Unit unit,
                         const std::string& line, const std::optional<Estimate>& estimate) {
      if (!estimate) return;
      const bool first = facts.empty();
      facts.push_back({key, {{"cpu_node", cpus}, {"memory_node", memory}}, words, unit, *estimate});
      if (first) shown = nodes;
      if (shown != nodes) {
        others.insert(nodes);
        return;
      }
      facts.back().heading = "Under load";
      facts.back().line = (first ? fmt::format("node {}: ", cpus) : "") + line;
    };
    add(load.key, fmt::format("latency {}, {}", load.words, nodes), "s", load.line,
        host_estimate_of(point, "latency"));
    if (load.label == std::string("peak"))
      add("loaded_bandwidth_peak", "bandwidth of the loading CPUs at that peak, " + nodes, "B/s",
          "{} read by the loading CPUs", host_estimate_of(point, "bandwidth_sum"));
  };
  for (const FactLoad& load : fact_loads) {
    for (const ScenarioResult& point : report.scenarios) add_point(load, point);
  }
  for (const ScenarioResult& point : report.scenarios) {
    const auto knee = estimate_of(point, "latency_at_80_percent");
    const std::string kernel = label_of(point, "load_kernel");
    if (!knee || traits_of(kernel).writes || !cache_text(point).empty()) continue;
    const std::string cpus = label_of(point, "cell_cpu_node"),
                      memory = label_of(point, "cell_memory_node");
    facts.push_back(
        {"loaded_latency_80",
         {{"cpu_node", cpus}, {"memory_node", memory}},
         fmt::format("latency at 80 % of the peak of reads, CPUs of node {}, memory of node {}",
                     cpus, memory),
         "s",
         *knee});
  }
  for (Fact& fact : facts) {
    if (others.empty() || fact.key != "loaded_bandwidth_peak" || fact.heading.empty()) continue;
    fact.line +=
        fmt::format("; {} more pair{} of nodes", others.size(), others.size() == 1 ? "" : "s");
  }
  return facts;
}

}  // namespace numatlas
