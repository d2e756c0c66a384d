#include "knees.h"

#include <algorithm>
#include <cstdio>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "benchmarks/loaded/curve.h"
#include "record/estimate.h"

namespace numatlas::truth {
namespace {

using Random = std::mt19937_64;

/// Idle it takes 100 ns, and up to the knee a little more with each load.
struct Memory {
  std::string name;
  double slope = 0;  ///< ns from no load to the peak, without the knee
  double knee = 1;   ///< a part of the peak; 1: none
  double bend = 0;   ///< ns that the slope becomes more there, to the peak
  double noise = 0;  ///< from visit to visit, of a latency; half of it of a load
};

double latency_of(const Memory& memory, double load) {
  return 100e-9 + 1e-9 * (memory.slope * load + memory.bend * std::max(0.0, load - memory.knee));
}

Estimate measured(double truth, double noise, Random& random) {
  constexpr int visits = 6;
  std::normal_distribution<> visit(truth, noise * truth);
  std::vector<double> values;
  for (int i = 0; i < visits; ++i) values.push_back(visit(random));
  return estimate_of_visits(values, std::nullopt, std::nullopt);
}

std::vector<LoadedPoint> curve_of(const Memory& memory, Random& random) {
  constexpr double peak = 136e9;
  std::vector<LoadedPoint> points;
  for (const double load : {0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95, 1.0})
    points.push_back({load > 0 ? measured(peak * load, memory.noise / 2, random) : Estimate(0),
                      measured(latency_of(memory, load), memory.noise, random)});
  return points;
}

std::vector<Memory> memories() {
  std::vector<Memory> all;
  for (const double noise : {0.005, 0.02}) {
    const auto add = [&](const char* name, double slope, double knee, double bend) {
      all.push_back(
          {fmt::format("knee, {}, noise {:g} %", name, 100 * noise), slope, knee, bend, noise});
    };
    add("none, flat", 0, 1, 0);
    add("none, straight to 130 ns", 30, 1, 0);
    add("none, straight to 300 ns", 200, 1, 0);
    add("at 60 % of the peak", 10, 0.6, 200);
    add("at 85 % of the peak", 10, 0.85, 1000);
  }
  return all;
}

}  // namespace

bool run_knees(const std::string& only, int replicates, bool wide) {
  const double slack = wide ? 0.05 : 0;
  bool good = true, any = false;
  for (const Memory& memory : memories()) {
    if (memory.name.find(only) == std::string::npos) continue;
    if (!any) fmt::print("{:<60} {:>8} {:>8}\n", "knees of loaded latency", "told", "holds");
    any = true;
    Random random(1);
    int told = 0, held = 0;
    for (int i = 0; i < replicates; ++i) {
      const auto knee = knee_of(curve_of(memory, random));
      if (!knee || !knee->load) continue;
      ++told;
      const double truth = 136e9 * memory.knee;
      held += *knee->load->low <= truth && truth <= *knee->load->high;
    }
    const double share = static_cast<double>(told) / replicates;
    const double covers = told > 0 ? static_cast<double>(held) / told : 0;
    const bool bends = memory.bend > 0;
    const bool holds =
        bends ? share >= 0.95 - slack && covers >= 0.9 - slack : share <= 0.01 + slack;
    fmt::print("{:<60} {:>6.1f} % {:>8}  {}\n", memory.name, 100 * share,
               bends ? fmt::format("{:.1f} %", 100 * covers) : "-", holds ? "ok" : "OUTSIDE");
    std::fflush(stdout);
    good = good && holds;
  }
  return good;
}

}  // namespace numatlas::truth
