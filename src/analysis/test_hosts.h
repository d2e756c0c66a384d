// Test helper: runs over hosts whose figures are known.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "analysis/rows.h"
#include "machine/source.h"
#include "record/report.h"

namespace numatlas::testing {

inline PassTimes pass(double slowest, int processes, int rank) {
  return {slowest, slowest, slowest * 0.75, slowest * 0.875 * processes, 0.9375, rank};
}

inline Case kernel_case(const std::string& name, double bytes) {
  Case one;
  one.name = one.kernel = name;
  one.stores = "regular";
  one.labels = {{"mode", "memory"}, {"memory", "local"}, {"elements", "62500000"}};
  one.figures = {{pass_bytes_key, "B", Estimate(bytes), {}}, {"pass_traffic", "B", {}, {}}};
  return one;
}

/// Equal hosts cn00, cn01, .. of one kind: 4 processes of 2 threads each, copy and triad, each
/// round as long as the other; a process moves 1 GB of copy in 0.25 s and 1.5 GB of triad in 0.5 s.
inline RunReport even_hosts(std::size_t hosts, std::size_t rounds = 10) {
  RunReport run;
  run.command = "stream";
  run.version = "0.0";
  run.arguments = {"stream", "--repeats", std::to_string(rounds)};
  run.started = "2026-11-21T10:01:05Z";
  run.seconds = 12.5;
  run.complete = true;
  run.comm = "none";
  run.engine = "null";
  run.isa = "AVX3";
  run.ranks = static_cast<int>(hosts) * 4;
  run.machines = {
      *read_recorded_machine("numa:2(memory=34359738368) l3:1(size=16777216) core:4 pu:1")};
  run.machines[0].cpu_model = "AMD EPYC 7742";
  run.machines[0].os = "Linux 6.1.0";
  run.cases = {kernel_case("copy", 1e9), kernel_case("triad", 1.5e9)};
  for (std::size_t i = 0; i < hosts; ++i) {
    const int index = static_cast<int>(i), rank = index * 4;
    run.hosts.push_back(fmt::format("cn{:02}", i));
    run.host_rows.push_back({0, rank, 4, 8, "node 0: 1536 pages of 4 KiB"});
    run.cases[0].host_totals.push_back(
        {index, {}, std::vector<PassTimes>(rounds, pass(0.25, 4, rank))});
    run.cases[1].host_totals.push_back(
        {index, {}, std::vector<PassTimes>(rounds, pass(0.5, 4, rank + 3))});
  }
  return run;
}

inline std::vector<PassTimes>& passes(RunReport& run, std::size_t kernel, std::size_t host) {
  return run.cases[kernel].host_totals[host].passes;
}
/// Of all kernels.
inline std::vector<std::reference_wrapper<std::vector<PassTimes>>> passes_of(RunReport& run,
                                                                             std::size_t host) {
  std::vector<std::reference_wrapper<std::vector<PassTimes>>> all;
  for (std::size_t kernel = 0; kernel < 2; ++kernel) all.push_back(passes(run, kernel, host));
  return all;
}

/// The hosts' figures, as STREAM makes them.
inline RunReport with_figures(RunReport run) {
  for (Case& one : run.cases)
    for (HostTotals& host : one.host_totals)
      host.figures = {bandwidth_of(rates_of(run, one, host.host, host.passes))};
  return run;
}

/// Only these hosts, in this order.
inline RunReport only_hosts(const RunReport& run, const std::vector<std::size_t>& hosts) {
  RunReport part = run;
  part.hosts.clear();
  part.host_rows.clear();
  for (Case& one : part.cases) one.host_totals.clear();
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    part.hosts.push_back(run.hosts[hosts[i]]);
    part.host_rows.push_back(run.host_rows[hosts[i]]);
    for (std::size_t kernel = 0; kernel < run.cases.size(); ++kernel) {
      auto& totals = part.cases[kernel].host_totals;
      totals.push_back(run.cases[kernel].host_totals[hosts[i]]);
      totals.back().host = static_cast<int>(i);
    }
  }
  return part;
}

/// Another kind of host, with another CPU.
inline void change_kind(RunReport& run, const std::vector<std::size_t>& hosts) {
  run.machines.push_back(run.machines[0]);
  run.machines.back().cpu_model = "another";
  for (const std::size_t host : hosts) run.host_rows[host].kind = run.machines.size() - 1;
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
inline void slow_down(RunReport& run, std::size_t host, double factor) {
  for (std::vector<PassTimes>& rounds : passes_of(run, host)) scale(rounds, factor);
}
/// A second run of these hosts; times as in the first one.
inline void run_again(RunReport& run, const std::vector<std::size_t>& hosts) {
  for (const std::size_t host : hosts)
    for (Case& one : run.cases) one.host_totals[host].again = one.host_totals[host].passes;
}
inline void slow_down_again(RunReport& run, std::size_t host, double factor) {
  for (Case& one : run.cases) scale(one.host_totals[host].again, factor);
}

/// Every pass of every host longer or shorter by a normal part of this size.
inline void add_noise(RunReport& run, double deviation, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> part(1, deviation);
  for (std::size_t host = 0; host < run.hosts.size(); ++host) {
    for (std::vector<PassTimes>& rounds : passes_of(run, host)) {
      for (PassTimes& pass : rounds) {
        std::vector<PassTimes> one{pass};
        scale(one, std::max(0.1, part(random)));
        pass = one.front();
      }
    }
  }
}

}  // namespace numatlas::testing
