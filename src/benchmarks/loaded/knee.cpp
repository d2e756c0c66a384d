#include "benchmarks/loaded/knee.h"

#include <algorithm>
#include <cmath>
#include <optional>

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

}  // namespace numatlas
