#include "simulation.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "analysis/rows.h"
#include "base/statistics.h"

namespace numatlas::simulation {
namespace {

constexpr double rate_of_process = 3e9;  // bytes/s: what a core of a busy node gets

}  // namespace

HostRow row_of_hosts(int host, int processes) {
  HostRow row;
  row.first_rank = host * processes;
  row.processes = row.workers = processes;
  row.placement = "node 0: 1536 pages of 4 KiB";
  return row;
}

RunReport empty_run() {
  constexpr double elements = 16e6;
  RunReport run;
  run.command = "stream";
  run.version = "simulated";
  run.started = "2026-01-01T00:00:00Z";
  run.complete = true;
  run.comm = "simulated";
  run.engine = "simulated";
  for (const auto& [name, arrays] :
       {std::pair("copy", 2), {"scale", 2}, {"add", 3}, {"triad", 3}}) {
    Case& one = run.cases.emplace_back();
    one.name = one.kernel = name;
    one.stores = "regular";
    one.labels = {{"mode", "memory"}, {"memory", "local"}, {"elements", "16000000"}};
    one.figures = {{pass_bytes_key, "B", Estimate(arrays * 8 * elements), {}},
                   {"pass_traffic", "B", Estimate(arrays * 8 * elements), {}}};
  }
  return run;
}

Rows make_rows(std::size_t hosts, std::size_t rounds, const Model& model, std::size_t planted,
               double severity, std::uint64_t seed) {
  constexpr int processes = 128;
  const RunReport run = empty_run();
  Rows made;
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  std::student_t_distribution<double> heavy(3);
  std::uniform_real_distribution<double> uniform;
  for (std::size_t i = 0; i < hosts; ++i) {
    made.hosts.push_back(fmt::format("cn{:05}", i));
    // Slower by a part of the bandwidth.
    const double apart = model.heavy ? heavy(random) / std::sqrt(3.0) : normal(random);
    const double own = (1 + model.host_spread * apart) / (i < planted ? 1 - severity : 1);
    std::vector<double> disturbed(rounds, 1);
    for (double& round : disturbed)
      if (uniform(random) < model.bad_rounds) round = 1.1 + 0.5 * uniform(random);
    for (const Case& kernel : run.cases) {
      const double bytes = *kernel.figures.front().value();
      const double base = bytes / rate_of_process;
      Row& row = made.rows.emplace_back();
      row.name = row.host_key = kernel.name;
      row.figure = "bandwidth";
      row.unit = "B/s";
      row.host = i;
      for (std::size_t round = 0; round < rounds; ++round) {
        double factor = own * disturbed[round] * (1 + model.noise * normal(random));
        if (uniform(random) < model.tails) factor *= 1.1 + 0.5 * uniform(random);
        factor *= 1 + model.drift * static_cast<double>(round) / static_cast<double>(rounds);
        const double seconds = base * std::max(0.1, factor);
        if (round > 0 || rounds == 1) row.rounds.push_back(bytes * processes / seconds);
      }
      row.estimate = summarize(row.rounds)->median;
    }
  }
  return made;
}

}  // namespace numatlas::simulation
