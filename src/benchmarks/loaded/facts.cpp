#include "benchmarks/loaded/facts.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "kernels/traits.h"
#include "record/cache_level.h"
#include "record/labels.h"

namespace numatlas {
namespace {

/// Half the width of an interval, in the estimate's unit; nothing where it has none.
std::optional<double> reach(const Estimate& estimate) {
  const auto width = half_width(estimate);
  return width ? std::optional(*width * std::abs(estimate.value)) : std::nullopt;
}

/// Of a point's load: exactly none where nothing loads.
std::optional<double> load_reach(const ScenarioResult& point) {
  const auto sum = estimate_of(point, "bandwidth_sum");
  return sum ? reach(*sum) : std::optional(0.0);
}

}  // namespace

std::vector<std::string> curve_labels(const RunReport& report) {
  const bool on_gpus = !report.scenarios.empty() && find_label(report.scenarios.front(), "gpus");
  if (on_gpus) return {"pages", "gpus", "memory", "load_kernel"};
  return {"pages", "cpu_node", "memory_node", "load_kernel"};
}

std::vector<CaseGroup> curves_of(const RunReport& report) {
  return groups_of(report, curve_labels(report));
}

std::optional<Knee> knee_of(const CaseGroup& curve) {
  std::vector<LoadedPoint> points;
  for (const ScenarioResult* one : curve.cases) {
    if (const auto latency = estimate_of(*one, "latency"))
      points.push_back({estimate_of(*one, "bandwidth_sum").value_or(0), *latency});
  }
  return knee_of(std::span<const LoadedPoint>(points));
}

double load_rate_of(const ScenarioResult& point) {
  return estimate_of(point, "bandwidth_sum").value_or(0).value;
}

bool reached_its_rate(const ScenarioResult& point) {
  // Halfway from 50 to 40 % of the peak is 90 % of it: with less a point is nearer to another one.
  constexpr double enough = 0.9;
  const auto asked = estimate_of(point, "rate_asked");
  return !asked || load_rate_of(point) >= enough * asked->value;
}

std::optional<Estimate> latency_between(const ScenarioResult& before, const ScenarioResult& after,
                                        const ScenarioResult& peak, double part) {
  const auto low = estimate_of(before, "latency"), high = estimate_of(after, "latency");
  const double wanted = part * load_rate_of(peak), from = load_rate_of(before),
               to = load_rate_of(after);
  if (!low || !high || from > wanted || to < wanted || to <= from) return std::nullopt;
  // A straight line says nothing of a curve's bend between points this far apart.
  constexpr double most_apart = 1.0 / 3;
  if (to - from > most_apart * load_rate_of(peak)) return std::nullopt;
  const double way = (wanted - from) / (to - from);
  Estimate latency = between(*low, *high, way);
  const auto own = reach(latency), first = load_reach(before), second = load_reach(after),
             most = load_reach(peak);
  if (!own || !first || !second || !most) {
    latency.low = latency.high = std::nullopt;
    latency.method = Method::none;
    return latency;
  }
  // The peak may be the second point itself: its error moves both the same way then.
  const double load = &after == &peak ? std::hypot((part - way) * *most, (1 - way) * *first)
                                      : std::hypot(part * *most, (1 - way) * *first, way * *second);
  const double half = std::hypot(*own, (high->value - low->value) / (to - from) * load);
  latency.low = std::max(0.0, latency.value - half);
  latency.high = latency.value + half;
  return latency;
}

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

/// Who loads which memory.
struct Whereabouts {
  std::vector<std::pair<std::string, std::string>> labels;
  std::string heading, words, loaders;
};

Whereabouts whereabouts_of(const ScenarioResult& point) {
  if (const std::string gpu = label_of(point, "gpus"); !gpu.empty()) {
    Whereabouts place{{{"gpu", gpu}}, "GPU " + gpu, "GPU " + gpu, "multiprocessors"};
    const std::string memory = label_of(point, "memory");
    if (memory == "own") return place;
    place.labels.emplace_back("memory", memory);
    place.words = place.heading = fmt::format("GPU {}, memory {}", gpu, memory);
    return place;
  }
  const std::string cpus = label_of(point, "cpu_node"), memory = label_of(point, "memory_node");
  return {{{"cpu_node", cpus}, {"memory_node", memory}},
          "node " + cpus,
          fmt::format("CPUs of node {}, memory of node {}", cpus, memory),
          "CPUs"};
}

/// Whether the points are of memory, under reads.
bool is_told(const ScenarioResult& point) {
  const std::string kernel = label_of(point, "load_kernel");
  return (kernel.empty() || !traits_of(kernel).writes) && cache_text(point).empty();
}

/// The knee of each curve, or up to which load there is none.
void add_knees(std::vector<Fact>& facts, const RunReport& report) {
  for (const CaseGroup& curve : curves_of(report)) {
    const auto knee = knee_of(curve);
    const ScenarioResult& last = *curve.cases.back();
    if (!knee || !is_told(last)) continue;
    const Whereabouts place = whereabouts_of(last);
    const auto of_place = [&](const Fact& fact) { return fact.where == place.labels; };
    // Beside what is shown of the same nodes: behind the latency while idle, or at the end.
    const auto idle = std::ranges::find_if(facts, of_place);
    const auto after = std::ranges::find_if(facts.rbegin(), facts.rend(), of_place).base();
    if (idle == facts.end()) continue;
    const std::string heading = idle->heading;
    if (knee->load)
      facts.insert(idle + 1, Fact{"loaded_knee", place.labels,
                                  "load from which on the latency rises steeply, " + place.words,
                                  "B/s", *knee->load, heading, "knee at {}"});
    else
      facts.insert(after, Fact{"loaded_no_knee", place.labels,
                               "load up to which the latency has no knee, " + place.words, "B/s",
                               Estimate(knee->highest), heading, "no knee up to {}"});
  }
}

/// The line tells the knee, or the latency at 80 % of the peak, or that at half of it; and the
/// highest load once.
void shorten_line(std::vector<Fact>& facts) {
  const auto is_shown = [&](std::string_view key) {
    return std::ranges::any_of(
        facts, [&](const Fact& fact) { return fact.key == key && !fact.heading.empty(); });
  };
  const auto hide = [&](std::string_view key) {
    for (Fact& fact : facts)
      if (fact.key == key) fact.heading = fact.line = "";
  };
  if (is_shown("loaded_knee")) hide(at_80_key);
  if (is_shown("loaded_knee") || is_shown(at_80_key)) hide(half_key);
  if (is_shown("loaded_no_knee")) hide("loaded_bandwidth_peak");
}

}  // namespace

std::vector<Fact> loaded_facts(const RunReport& report) {
  std::vector<Fact> facts;
  // One pair of nodes is shown, and how many more there are: all are in the files.
  std::string shown;
  std::set<std::string> others;
  const auto add_point = [&](const FactLoad& load, const ScenarioResult& point) {
    const auto latency = latency_at(load, point);
    if (!latency || !is_told(point)) return;
    const Whereabouts place = whereabouts_of(point);
    const std::string& nodes = place.words;
    const auto add = [&](std::string_view key, const std::string& words, Unit unit,
                         const std::string& line, const std::optional<Estimate>& estimate) {
      if (!estimate) return;
      const bool first = facts.empty();
      facts.push_back({std::string(key), place.labels, words, unit, *estimate});
      if (first) shown = nodes;
      if (shown != nodes) {
        others.insert(nodes);
        return;
      }
      facts.back().heading = "Under load";
      facts.back().line = (first ? place.heading + ": " : "") + line;
    };
    add(load.key, fmt::format("latency {}, {}", load.words, nodes), "s", std::string(load.line),
        latency);
    if (load.label == "peak")
      add("loaded_bandwidth_peak",
          fmt::format("bandwidth of the loading {} at that peak, {}", place.loaders, nodes), "B/s",
          fmt::format("{{}} read by the loading {}", place.loaders),
          host_estimate_of(point, "bandwidth_sum"));
  };
  for (const FactLoad& load : fact_loads) {
    for (const ScenarioResult& point : report.scenarios) add_point(load, point);
  }
  add_knees(facts, report);
  shorten_line(facts);
  const auto last = std::ranges::find_if(facts.rbegin(), facts.rend(),
                                         [](const Fact& fact) { return !fact.heading.empty(); });
  if (!others.empty() && last != facts.rend())
    last->line +=
        fmt::format("; {} more pair{} of nodes", others.size(), others.size() == 1 ? "" : "s");
  return facts;
}

}  // namespace numatlas
