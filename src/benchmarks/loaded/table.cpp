#include "benchmarks/loaded/table.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/size_list.h"
#include "benchmarks/metrics.h"
#include "record/cache_level.h"
#include "report/worker_table.h"

namespace numatlas {
namespace {

// Of the rate asked for. Halfway from 50 to 40 % of the peak is 90 % of it: with less a point is
// nearer to another one.
constexpr double least_reached = 0.9;
// Half a step between the parts of the peak: wider, and two of them cannot be told apart.
constexpr double widest_peak = 0.05;

std::string percent(const std::optional<double>& part) {
  return part ? fmt::format("{:.1f}%", *part * 100) : "-";
}

std::optional<LoadPoint> load_point(const ScenarioResult& result) {
  LoadPoint point;
  point.load = label_of(result, "load");
  point.cache = cache_text(result);
  for (const FlowResult& flow : result.flows) {
    if (flow.rate) point.asked = point.asked.value_or(0) + *flow.rate;
    if (flow.load) continue;
    const Figure* latency = find_figure(flow, "latency");
    if (latency == nullptr || !latency->value()) return std::nullopt;
    point.latency = *latency->value();
    point.latency_half_width = half_width(*latency);
  }
  const Figure* sum = find_total(result, "bandwidth_sum");
  if (sum != nullptr && sum->value()) {
    point.bandwidth = *sum->value();
    point.bandwidth_half_width = half_width(*sum);
  }
  if (result.flows.empty()) return std::nullopt;
  return point;
}

/// The points that belong to one curve: those of the peak's nodes and kernel, and the idle one of
/// the same nodes, by the rate asked.
std::vector<LoadPoint> curve_of(const RunReport& report, const ScenarioResult& peak) {
  std::vector<LoadPoint> curve;
  for (const ScenarioResult& other : report.scenarios) {
    const bool same_nodes =
        label_of(other, "cell_cpu_node") == label_of(peak, "cell_cpu_node") &&
        label_of(other, "cell_memory_node") == label_of(peak, "cell_memory_node") &&
        other.pages == peak.pages;
    const bool idle = label_of(other, "load") == "idle";
    if (!same_nodes || (!idle && (other.kernel != peak.kernel || other.stores != peak.stores)))
      continue;
    if (auto point = load_point(other)) curve.push_back(*std::move(point));
  }
  // Idle first, then by what was asked; the peak asked for all there is.
  const auto key = [](const LoadPoint& point) {
    if (point.asked) return *point.asked;
    return point.load == "idle" ? 0.0 : 1e300;
  };
  std::stable_sort(curve.begin(), curve.end(),
                   [&](const LoadPoint& a, const LoadPoint& b) { return key(a) < key(b); });
  return curve;
}

std::string knee_text(const Knee& knee) {
  const auto ns = [](const std::optional<double>& value) {
    return value ? fmt::format("{:.1f} ns", *value * 1e9) : std::string("-");
  };
  if (!(knee.peak > 0)) {
    return fmt::format("unloaded {}; the peak was not measured, so there are no parts of it\n",
                       ns(knee.unloaded));
  }
  return fmt::format(
      "unloaded {}; at 80 % of the peak ({:.2f} GB/s) {}; peak {:.2f} GB/s at {}{}\n",
      ns(knee.unloaded), 0.8 * knee.peak * 1e-9, ns(knee.at_80_percent), knee.peak * 1e-9,
      ns(knee.at_peak),
      knee.peak_load == "peak" ? "" : fmt::format(" (of all points: at {})", knee.peak_load));
}

bool is_peak(const ScenarioResult& point) {
  return label_of(point, "load") == "peak" && !point.flows.empty();
}

/// What a row has to be read with; explained by the warnings.
std::string mark_of(const LoadPoint& point, double precision) {
  if (!point.cache.empty()) return fmt::format("in {}, not memory", point.cache);
  if (point.short_of_rate()) return "rate not reached";
  if (point.load == "peak" && point.loosely_known(precision)) return "wide";
  return "";
}

std::string curve_text(const RunReport& report, const ScenarioResult& peak) {
  const std::vector<LoadPoint> curve = curve_of(report, peak);
  std::vector<std::vector<std::string>> rows{
      {"load", "asked", "achieved", "+-", "latency", "+-", "over idle"}};
  const bool marked = std::any_of(curve.begin(), curve.end(), [&](const LoadPoint& point) {
    return !mark_of(point, report.precision).empty();
  });
  if (marked) rows.front().push_back("note");
  const Knee knee = knee_of(curve);
  for (const LoadPoint& point : curve) {
    rows.push_back({point.load, point.asked ? fmt::format("{:.2f}", *point.asked * 1e-9) : "-",
                    point.bandwidth > 0 ? fmt::format("{:.2f}", point.bandwidth * 1e-9) : "-",
                    percent(point.bandwidth_half_width), fmt::format("{:.1f}", point.latency * 1e9),
                    percent(point.latency_half_width),
                    knee.unloaded ? fmt::format("{:.2f}x", point.latency / *knee.unloaded) : "-"});
    if (marked) rows.back().push_back(mark_of(point, report.precision));
  }
  const std::size_t loaders = peak.flows.empty() ? 0 : peak.flows.size() - 1;
  const std::string stores = peak.stores.empty() ? "" : ", " + peak.stores + " stores";
  return fmt::format("CPUs of node {} to memory of node {}: {} by {} loader{} of {}{}, {} pages\n",
                     label_of(peak, "cell_cpu_node"), label_of(peak, "cell_memory_node"),
                     peak.kernel, loaders, loaders == 1 ? "" : "s", compact_text(peak.size), stores,
                     peak.pages) +
         aligned(rows, 1) + knee_text(knee) + "\n";
}

Warning rates_warning(const std::vector<LoadPoint>& curve) {
  std::vector<std::string> loads;
  double least = 1;
  for (const LoadPoint& point : curve) {
    if (!point.short_of_rate()) continue;
    loads.push_back(point.load);
    least = std::min(least, point.bandwidth / *point.asked);
  }
  if (loads.empty()) return {};
  return {"rate-not-reached", "",
          fmt::format("the rate asked for was not reached at {} (least: {:.0f} % of it); these "
                      "latencies are those "
                      "of what was achieved",
                      fmt::join(loads, ", "), least * 100)};
}

Warning peak_warning(const std::vector<LoadPoint>& curve, double precision) {
  const auto peak = std::find_if(curve.begin(), curve.end(),
                                 [](const LoadPoint& point) { return point.load == "peak"; });
  if (peak == curve.end() || !peak->loosely_known(precision)) return {};
  const bool has_parts = std::any_of(
      curve.begin(), curve.end(), [](const LoadPoint& point) { return point.load.ends_with("%"); });
  const auto& width = peak->bandwidth_half_width;
  return {"peak-uncertain", "",
          fmt::format("the peak is {}{}; more --time helps",
                      width ? fmt::format("known to +-{:.1f} % only", *width * 100)
                            : "known from too few samples for an interval",
                      has_parts ? ", and parts of it no better" : "")};
}

}  // namespace

bool LoadPoint::short_of_rate() const { return asked && bandwidth < least_reached * *asked; }

bool LoadPoint::loosely_known(double precision) const {
  return !bandwidth_half_width || *bandwidth_half_width > std::max(widest_peak, precision);
}

std::vector<Warning> loaded_warnings(const RunReport& report) {
  std::vector<Warning> warnings;
  for (const ScenarioResult& point : report.scenarios) {
    if (!is_peak(point)) continue;
    const std::vector<LoadPoint> curve = curve_of(report, point);
    for (Warning warning : {peak_warning(curve, report.precision), rates_warning(curve)}) {
      if (warning.code.empty()) continue;
      warning.where = point.name;
      warnings.push_back(std::move(warning));
    }
  }
  return warnings;
}

Knee knee_of(std::vector<LoadPoint> curve) {
  Knee knee;
  std::stable_sort(curve.begin(), curve.end(), [](const LoadPoint& a, const LoadPoint& b) {
    return a.bandwidth < b.bandwidth;
  });
  if (curve.empty()) return knee;
  for (const LoadPoint& point : curve) {
    if (point.load == "idle") knee.unloaded = point.latency;
  }
  knee.peak = curve.back().bandwidth;
  knee.peak_load = curve.back().load;
  if (knee.peak > 0) knee.at_peak = curve.back().latency;
  const double wanted = 0.8 * knee.peak;
  for (std::size_t i = 1; i < curve.size(); ++i) {
    const LoadPoint& low = curve[i - 1];
    const LoadPoint& high = curve[i];
    if (low.bandwidth > wanted || high.bandwidth < wanted || high.bandwidth <= low.bandwidth)
      continue;
    const double part = (wanted - low.bandwidth) / (high.bandwidth - low.bandwidth);
    knee.at_80_percent = low.latency + part * (high.latency - low.latency);
    break;
  }
  return knee;
}

std::string loaded_table(const RunReport& report, bool stats) {
  std::string text =
      "Latency in ns of one chase while others load the memory; bandwidth in GB/s as STREAM counts "
      "it,\nachieved by the loaders in the time in which the latency was measured\n\n";
  for (const ScenarioResult& point : report.scenarios) {
    if (is_peak(point)) text += curve_text(report, point);
  }
  if (stats) text += stats_text(report);
  return text + notes_text(report);
}

}  // namespace numatlas
