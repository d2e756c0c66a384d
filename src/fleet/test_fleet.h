// Test helper: fleets whose figures are known.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "fleet/cases.h"
#include "fleet/summary.h"

namespace numatlas::testing {

inline PassTimes pass(double slowest, int processes, int rank) {
  return {slowest, 0.001, slowest, slowest * 0.75, slowest * 0.875 * processes, 0.9375, rank};
}

/// Equal hosts cn00, cn01, .. of one kind: 4 processes of 2 threads each, copy and triad, each
/// round as long as the other; a process moves 1 GB of copy in 0.25 s and 1.5 GB of triad in 0.5 s.
inline Fleet even_fleet(std::size_t hosts, std::size_t rounds = 10) {
  Fleet fleet;
  fleet.elements = 62'500'000;
  fleet.elements_source = "--elements";
  fleet.repeats = static_cast<int>(rounds);
  fleet.memory = "local";
  fleet.kernels = {{"copy", "memory", "regular", 1'000'000'000, 1'500'000'000},
                   {"triad", "memory", "regular", 1'500'000'000, 2'000'000'000}};
  fleet.kinds = {{"AMD EPYC 7742", "Linux 6.1.0", 8, 2, Bytes{64 * gib}, 4, 8}};
  for (std::size_t i = 0; i < hosts; ++i) {
    FleetHost host;
    host.name = fmt::format("cn{:02}", i);
    host.first_rank = static_cast<int>(i) * 4;
    host.rounds = {std::vector<PassTimes>(rounds, pass(0.25, 4, host.first_rank)),
                   std::vector<PassTimes>(rounds, pass(0.5, 4, host.first_rank + 3))};
    host.placement = "node 0: 1536 pages of 4 KiB";
    fleet.hosts.push_back(std::move(host));
  }
  return fleet;
}

/// A run that gave this fleet, not judged yet.
inline RunReport run_of(Fleet fleet) {
  RunReport run;
  run.command = "stream";
  run.version = "0.0";
  run.arguments = {"stream", "--repeats", std::to_string(fleet.repeats)};
  run.started = "2026-11-21T10:01:05Z";
  run.seconds = 12.5;
  run.complete = true;
  run.comm = "none";
  run.engine = "null";
  run.isa = "AVX3";
  run.ranks = static_cast<int>(fleet.hosts.size()) * 4;
  run.fleet = std::move(fleet);
  add_cases(run);
  return run;
}
/// The same, judged.
inline RunReport judged(Fleet fleet, const SlowRule& rule = {}) {
  fleet.slow = find_slow(fleet, rule);
  return run_of(std::move(fleet));
}

inline void scale(std::vector<PassTimes>& rounds, double factor) {
  for (PassTimes& pass : rounds) {
    pass.node *= factor;
    pass.slowest *= factor;
    pass.fastest *= factor;
    pass.sum *= factor;
  }
}
/// All times of a host, of all kernels, this many times as long.
inline void slow_down(FleetHost& host, double factor) {
  for (auto& rounds : host.rounds) scale(rounds, factor);
}

/// Every pass of every host longer or shorter by a normal part of this size.
inline void add_noise(Fleet& fleet, double deviation, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> part(1, deviation);
  for (FleetHost& host : fleet.hosts) {
    for (auto& rounds : host.rounds) {
      for (PassTimes& pass : rounds) {
        const double factor = std::max(0.1, part(random));
        pass.node *= factor;
        pass.slowest *= factor;
        pass.fastest *= factor;
        pass.sum *= factor;
      }
    }
  }
}

}  // namespace numatlas::testing
