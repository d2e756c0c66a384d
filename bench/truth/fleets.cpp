#include "fleets.h"

#include <cmath>
#include <cstddef>
#include <cstdio>
#include <functional>
#include <numbers>
#include <random>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "analysis/rows.h"
#include "benchmarks/stream/summary.h"

namespace numatlas::truth {
namespace {

using Random = std::mt19937_64;

/// How far a host lies from the median of its kind: a relative deviation whose median is 0.
struct Spread {
  const char* name;
  std::function<double(Random&)> draw;
};

std::vector<Spread> spreads() {
  const auto normal = [](Random& random) { return std::normal_distribution<>(0, 0.02)(random); };
  // Most hosts are alike, and a few are much slower.
  const auto skewed = [](Random& random) {
    return 0.05 * (std::numbers::ln2 - std::exponential_distribution<>(1)(random));
  };
  return {{"normal", normal}, {"skewed", skewed}};
}

/// Hosts of one process each that move 1 GB a pass; a host at the median takes 1 s, and a round of
/// a host differs from the others by `noise`.
RunReport drawn_hosts(std::size_t hosts, const Spread& spread, double noise, Random& random) {
  constexpr std::size_t rounds = 10;
  RunReport run;
  run.machines.resize(1);
  Case& triad = run.cases.emplace_back();
  triad.figures = {{pass_bytes_key, "B", Estimate(1e9), {}}};
  std::normal_distribution<> part(0, noise);
  for (std::size_t i = 0; i < hosts; ++i) {
    const double rate = std::exp(spread.draw(random));
    std::vector<PassTimes> passes(rounds);
    for (PassTimes& pass : passes) {
      const double seconds = std::exp(part(random)) / rate;
      pass = {seconds, seconds, seconds, seconds, 1, 0};
    }
    run.hosts.emplace_back();
    run.host_rows.emplace_back().processes = 1;
    triad.host_totals.push_back({static_cast<int>(i), {}, std::move(passes)});
  }
  return run;
}

}  // namespace

bool run_fleets(const std::string& only, int replicates, bool wide) {
  constexpr double true_rate = 1e9, noise = 0.002;
  const double slack = wide ? 0.05 : 0;
  bool good = true, any = false;
  for (const Spread& spread : spreads()) {
    for (const std::size_t hosts : {6U, 7U, 8U, 10U, 16U, 32U, 64U}) {
      const std::string name = fmt::format("fleet of {} hosts, {}", hosts, spread.name);
      if (name.find(only) == std::string::npos) continue;
      if (!any) fmt::print("{:<60} {:>8}\n", "median over hosts: intervals that hold it", "share");
      any = true;
      Random random(1);
      int held = 0;
      for (int i = 0; i < replicates; ++i) {
        const auto rows = kernel_rows(drawn_hosts(hosts, spread, noise, random));
        const Estimate& median = *rows.front()->host.median;
        held += median.low && *median.low <= true_rate && true_rate <= *median.high;
      }
      const double share = static_cast<double>(held) / replicates;
      const bool holds = share >= 0.93 - slack && share <= 0.97 + slack;
      fmt::print("{:<60} {:>6.1f} %  {}\n", name, 100 * share, holds ? "ok" : "OUTSIDE");
      std::fflush(stdout);
      good = good && holds;
    }
  }
  return good;
}

}  // namespace numatlas::truth
