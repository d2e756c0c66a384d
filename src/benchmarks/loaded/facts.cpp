#include "benchmarks/loaded/facts.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "benchmarks/loaded/knee.h"
#include "kernels/traits.h"
#include "record/cache_level.h"
#include "record/labels.h"

namespace numatlas {
namespace {

/// `label`: of the points that were asked for this load; "": the benchmark says where it is.
struct FactLoad {
  std::string_view label, key, words, line;
};
constexpr std::string_view half_key = "loaded_latency_half", at_80_key = "loaded_latency_80";
constexpr FactLoad fact_loads[] = {
    {"idle", "loaded_latency_idle", "while nothing else runs", "{} idle"},
    {"", at_80_key, "at 80 % of the peak of reads", "{} at 80 % of the peak"},
    {"50%", half_key, "at half of the peak", "{} at half of the peak"},
    {"peak", "loaded_latency_peak", "at the peak", "{} at the peak"}};

std::optional<Estimate> latency_at(const FactLoad& load, const ScenarioResult& point) {
  if (load.label.empty()) return estimate_of(point, "latency_at_80_percent");
  if (label_of(point, "load") != load.label || !reached_its_rate(point)) return std::nullopt;
  return host_estimate_of(point, "latency");
}

/// One of the two is enough for a line.
void show_no_half_beside_80(std::vector<Fact>& facts) {
  const auto is_shown_80 = [](const Fact& fact) {
    return fact.key == at_80_key && !fact.heading.empty();
  };
  if (std::ranges::none_of(facts, is_shown_80)) return;
  for (Fact& fact : facts)
    if (fact.key == half_key) fact.heading = fact.line = "";
}

}  // namespace

std::vector<Fact> loaded_facts(const RunReport& report) {
  std::vector<Fact> facts;
  // One pair of nodes is shown, and how many more there are: all are in the files.
  std::string shown;
  std::set<std::string> others;
  const auto add_point = [&](const FactLoad& load, const ScenarioResult& point) {
    const std::string kernel = label_of(point, "load_kernel");
    const auto latency = latency_at(load, point);
    if (!latency || (!kernel.empty() && traits_of(kernel).writes) || !cache_text(point).empty())
      return;
    const std::string cpus = label_of(point, "cpu_node"), memory = label_of(point, "memory_node");
    const std::string nodes = fmt::format("CPUs of node {}, memory of node {}", cpus, memory);
    const auto add = [&](std::string_view key, const std::string& words, Unit unit,
                         std::string_view line, const std::optional<Estimate>& estimate) {
      if (!estimate) return;
      const bool first = facts.empty();
      facts.push_back({std::string(key),
                       {{"cpu_node", cpus}, {"memory_node", memory}},
                       words,
                       unit,
                       *estimate});
      if (first) shown = nodes;
      if (shown != nodes) {
        others.insert(nodes);
        return;
      }
      facts.back().heading = "Under load";
      facts.back().line = (first ? fmt::format("node {}: ", cpus) : "") + std::string(line);
    };
    add(load.key, fmt::format("latency {}, {}", load.words, nodes), "s", load.line, latency);
    if (load.label == "peak")
      add("loaded_bandwidth_peak", "bandwidth of the loading CPUs at that peak, " + nodes, "B/s",
          "{} read by the loading CPUs", host_estimate_of(point, "bandwidth_sum"));
  };
  for (const FactLoad& load : fact_loads) {
    for (const ScenarioResult& point : report.scenarios) add_point(load, point);
  }
  show_no_half_beside_80(facts);
  for (Fact& fact : facts) {
    if (others.empty() || fact.key != "loaded_bandwidth_peak" || fact.heading.empty()) continue;
    fact.line +=
        fmt::format("; {} more pair{} of nodes", others.size(), others.size() == 1 ? "" : "s");
  }
  return facts;
}

}  // namespace numatlas
