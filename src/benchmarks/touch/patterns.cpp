#include "benchmarks/touch/patterns.h"

#include <vector>

#include "kernels/kernel.h"

namespace numatlas {
namespace {

constexpr double touch_line = 64;  // bytes; as the kernels count lines

/// Seconds for a line, from the flow's first figure.
std::optional<Estimate> seconds_per_line(const FlowResult& flow) {
  if (const Figure* latency = find_figure(flow, "latency")) return latency->estimate;
  const Figure* const bandwidth = find_figure(flow, "bandwidth");
  if (bandwidth == nullptr || !(bandwidth->value().value_or(0) > 0)) return std::nullopt;
  KernelSpec spec;
  spec.name = flow.kernel;
  const auto bytes = static_cast<double>(traffic_a_step(spec).counted());
  // An update reads and writes the same line; the others' bytes are each of a line of their own.
  const bool in_place = traits_of(flow.kernel).in_place;
  return divided_into(in_place ? bytes : touch_line, *bandwidth->estimate);
}

}  // namespace

int toucher_of(const std::string& pattern, int worker, int workers) {
  if (pattern == "other") return 0;
  return pattern == "crossed" ? (worker + 1) % workers : worker;
}

bool is_told(const Estimate& ratio) {
  return ratio.low && ratio.high && (*ratio.low > 1 || *ratio.high < 1);
}

const FlowResult* own_of(const RunReport& report, const ScenarioResult& point,
                         const FlowResult& flow) {
  for (const ScenarioResult& other : report.scenarios) {
    if (label_of(other, "pattern") != "own" || label_of(other, "run") != label_of(point, "run") ||
        other.kernel != point.kernel || other.size != point.size || other.pages != point.pages)
      continue;
    for (const FlowResult& own : other.flows)
      if (own.worker == flow.worker && seconds_per_line(own)) return &own;
  }
  return nullptr;
}

std::optional<Estimate> against_own(const RunReport& report, const ScenarioResult& point,
                                    const FlowResult& flow) {
  const auto mine = seconds_per_line(flow);
  const FlowResult* const own = own_of(report, point, flow);
  if (!mine || own == nullptr) return std::nullopt;
  return ratio_of(*mine, *seconds_per_line(*own));
}

std::vector<Figure> access_figures(const FlowResult& flow, const ScenarioResult& point) {
  const auto access = seconds_per_line(flow);
  if (!access) return {};
  const double lines = static_cast<double>(point.size.value) / touch_line;
  return {{"access_time", "s", *access, std::nullopt},
          {"pass_time", "s", scaled(*access, lines), std::nullopt}};
}

}  // namespace numatlas
