#include "benchmarks/loaded/facts.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
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

/// Of a curve of memory under reads; of others while idle. The line tells the knee, or the latency
/// at 80 % of the peak, or that at half of it; and the highest load once.
std::vector<Fact> facts_of(const CaseGroup& curve, std::set<const ScenarioResult*>& told_idle) {
  const Whereabouts place = whereabouts_of(*curve.cases.back());
  const std::string kernel = label_of(*curve.cases.back(), "load_kernel");
  const bool reads = kernel.empty() || !traits_of(kernel).writes;
  std::vector<Fact> facts;
  const auto add = [&](const char* key, const std::string& words, Unit unit,
                       const std::optional<Estimate>& estimate, const std::string& line) {
    if (!estimate) return;
    facts.push_back({key, place.labels, words + ", " + place.words, unit, *estimate,
                     line.empty() ? "" : "Under load", line});
  };
  std::optional<Estimate> idle, half, at_80, peak, most;
  for (const ScenarioResult* one : curve.cases) {
    const std::string load = label_of(*one, "load");
    if (!cache_text(*one).empty()) continue;
    const auto latency = host_estimate_of(*one, "latency");
    if (load == idle_load && told_idle.insert(one).second) idle = latency;
    if (load == "50%" && reached_its_rate(*one)) half = latency;
    if (load == peak_load) peak = latency;
    if (load == peak_load) most = host_estimate_of(*one, "bandwidth_sum");
    if (const auto its = estimate_of(*one, at_80_percent)) at_80 = its;
  }
  add("loaded_latency_idle", "latency while nothing else runs", "s", idle, "{} idle");
  if (!reads) return facts;
  const bool of_memory = cache_text(*curve.cases.back()).empty();
  const auto knee = of_memory ? knee_of(curve) : std::nullopt;
  const bool bends = knee && knee->load;
  if (bends)
    add("loaded_knee", "load from which on the latency rises steeply", "B/s", knee->load,
        "knee at {}");
  add("loaded_latency_80", "latency at 80 % of the peak of reads", "s", at_80,
      bends ? "" : "{} at 80 % of the peak");
  add("loaded_latency_half", "latency at half of the peak", "s", half,
      bends || at_80 ? "" : "{} at half of the peak");
  add("loaded_latency_peak", "latency at the peak", "s", peak, "{} at the peak");
  add("loaded_bandwidth_peak",
      fmt::format("bandwidth of the loading {} at that peak", place.loaders), "B/s", most,
      knee && !bends ? "" : fmt::format("{{}} read by the loading {}", place.loaders));
  if (knee && !bends)
    add("loaded_no_knee", "load up to which the latency has no knee", "B/s",
        Estimate(knee->highest), "no knee up to {}");
  return facts;
}

}  // namespace

std::vector<Fact> loaded_facts(const RunReport& report) {
  std::vector<Fact> facts;
  std::set<const ScenarioResult*> told_idle;
  // One pair of nodes is shown, and how many more there are: all are in the files.
  std::string shown;
  std::set<std::string> others;
  const auto is_shown = [](const Fact& fact) { return !fact.heading.empty(); };
  for (const CaseGroup& curve : curves_of(report)) {
    const Whereabouts place = whereabouts_of(*curve.cases.back());
    std::vector<Fact> its = facts_of(curve, told_idle);
    if (its.empty()) continue;
    if (const auto first = std::ranges::find_if(its, is_shown);
        facts.empty() && first != its.end()) {
      shown = place.words;
      first->line = place.heading + ": " + first->line;
    }
    if (place.words != shown) others.insert(place.words);
    for (Fact& fact : its) {
      if (place.words != shown) fact.heading = fact.line = "";
      facts.push_back(std::move(fact));
    }
  }
  const auto last = std::ranges::find_if(facts.rbegin(), facts.rend(), is_shown);
  if (!others.empty() && last != facts.rend())
    last->line += fmt::format("; {} of nodes", count_text(others.size(), "more pair"));
  return facts;
}

}  // namespace numatlas
