#include "simulation.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace numatlas::simulation {
namespace {

constexpr double rate_of_process = 3e9;  // bytes/s: what a core of a busy node gets

}  // namespace

HostKind kind_of_hosts(int processes) {
  return {"AMD EPYC 7742", "Linux 5.14.0", 256, 8, Bytes{503 * gib}, processes, processes};
}

RunReport empty_run() {
  RunReport run;
  run.command = "stream";
  run.version = "simulated";
  run.started = "2026-01-01T00:00:00Z";
  run.complete = true;
  run.comm = "simulated";
  run.engine = "simulated";
  Fleet& fleet = run.fleet.emplace();
  fleet.elements = 16'000'000;
  fleet.elements_source = "simulated";
  fleet.memory = "local";
  for (const auto& [name, arrays] :
       {std::pair("copy", 2), {"scale", 2}, {"add", 3}, {"triad", 3}}) {
    const std::uint64_t bytes = static_cast<std::uint64_t>(arrays) * 8 * fleet.elements;
    fleet.kernels.push_back({name, "memory", "regular", bytes, bytes});
  }
  return run;
}

Fleet make_fleet(std::size_t hosts, std::size_t rounds, const Model& model, std::size_t planted,
                 double severity, std::uint64_t seed) {
  constexpr int processes = 128;
  Fleet fleet = *empty_run().fleet;
  fleet.repeats = static_cast<int>(rounds);
  fleet.kinds = {kind_of_hosts(processes)};
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  std::student_t_distribution<double> heavy(3);
  std::uniform_real_distribution<double> uniform;
  for (std::size_t i = 0; i < hosts; ++i) {
    FleetHost host;
    host.name = fmt::format("cn{:05}", i);
    host.first_rank = static_cast<int>(i) * processes;
    // Slower by a part of the bandwidth.
    const double apart = model.heavy ? heavy(random) / std::sqrt(3.0) : normal(random);
    const double own = (1 + model.host_spread * apart) / (i < planted ? 1 - severity : 1);
    std::vector<double> disturbed(rounds, 1);
    for (double& round : disturbed)
      if (uniform(random) < model.bad_rounds) round = 1.1 + 0.5 * uniform(random);
    for (const FleetKernel& kernel : fleet.kernels) {
      const double base = static_cast<double>(kernel.bytes) / rate_of_process;
      auto& passes = host.rounds.emplace_back();
      for (std::size_t round = 0; round < rounds; ++round) {
        double factor = own * disturbed[round] * (1 + model.noise * normal(random));
        if (uniform(random) < model.tails) factor *= 1.1 + 0.5 * uniform(random);
        factor *= 1 + model.drift * static_cast<double>(round) / static_cast<double>(rounds);
        const double seconds = base * std::max(0.1, factor);
        passes.push_back({seconds, 0, seconds * 0.99, seconds * 0.96, seconds * 0.975 * processes,
                          0.95, host.first_rank});
      }
    }
    fleet.hosts.push_back(std::move(host));
  }
  return fleet;
}

}  // namespace numatlas::simulation
