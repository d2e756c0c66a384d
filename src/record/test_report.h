// Test helpers: estimates with given intervals, and a small report in which every field has a value
// of its own.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "record/estimate.h"
#include "record/report.h"
#include "record/view.h"

namespace numatlas::testing {

/// `visits`: those of Student's interval over them; 0 for an interval of other kind.
inline Estimate with_interval(double value, double low, double high, std::size_t visits = 0) {
  Estimate estimate = value;
  estimate.low = low;
  estimate.high = high;
  estimate.n = visits;
  estimate.method = visits > 0 ? Method::visits : Method::derived;
  return estimate;
}

inline FlowResult flow(int worker, double seconds) {
  FlowResult f;
  f.worker = worker;
  f.kernel = "chase";
  f.order = "random";
  f.stride = Bytes{64};
  std::vector<double> samples{seconds, seconds * 1.25, seconds * 0.75, seconds,
                              seconds, seconds * 1.5,  seconds};
  const auto summary = summarize(samples);
  Estimate estimate = seconds;
  estimate.low = seconds * 0.9921875;
  estimate.high = seconds * 1.0078125;
  estimate.n = summary->n;
  estimate.method = Method::samples;
  f.figures = {{"latency", "s", estimate, summary}};
  std::sort(samples.begin(), samples.end());
  f.distribution = distribution_of(samples);
  f.stop = "converged";
  f.overlap = 0.984375;
  f.address = 0x7f0000000000 + static_cast<std::uint64_t>(worker) * 0x1000;
  f.cpu_before = CpuId{worker};
  f.cpu_after = CpuId{worker + 1};
  f.level = "L2";
  f.residency.pages_by_node = {{0, 3}, {12, 5}};
  f.residency.untouched = 1;
  f.residency.errors = 2;
  f.residency.pages_total = 4096;
  f.residency.pages_asked = 11;
  f.residency.page_size = Bytes{4096};
  f.residency.thp_fraction = 0.5;
  f.residency.problem = "a problem";
  f.policy = {"mbind", "a note"};
  f.steps_per_sample = 256;
  f.warm_up_steps = 1024;
  f.involuntary_switches = 3;
  f.timer_overhead = 2.5e-8;
  f.prepare_time = 0.25;
  f.warnings = {{"placement", "", "one"}, {"low-overlap", "", "two, \"quoted\""}};
  return f;
}

/// A flow of which nothing is known.
inline FlowResult bare_flow(int worker) {
  FlowResult f;
  f.worker = worker;
  f.kernel = "chase";
  f.figures = {{"latency", "s", std::nullopt, std::nullopt}};
  f.stop = "interrupted";
  f.level = "L2";
  f.address = 0x7f0000000000 + static_cast<std::uint64_t>(worker) * 0x1000;
  return f;
}

/// Two ranks on one host: 1 MiB and 1.5 MiB measured, 1 GiB skipped.
inline RunReport report() {
  RunReport r;
  r.command = "latency";
  r.version = "0.0";
  r.arguments = {"latency", "--size", "1,2"};
  r.started = "2024-01-01T00:00:00Z";
  r.complete = true;
  r.comm = "none";
  r.engine = "null";
  r.ranks = 2;
  r.seed = 1;
  r.precision = 0.01;
  r.time_cap = 0.5;
  r.hosts = {"alpha"};
  r.workers = {{0, 0, 0, {CpuId{0}, CpuId{64}}, NodeId{0}, "bind:0"},
               {1, 0, 0, {CpuId{1}}, NodeId{1}, "weighted:0=3,2=1"}};
  const auto point = [&](const char* name, Bytes size, Status status, const char* reason) {
    Case s;
    s.name = name;
    s.size = size;
    s.pages = "base";
    s.order = "random";
    s.stride = Bytes{64};
    s.status = status;
    s.reason = reason;
    r.cases.push_back(s);
  };
  point("1MiB base", Bytes{mib}, Status::ok, "");
  r.cases.back().flows = {flow(0, 4e-9), flow(1, 5.125e-9)};
  point("1536KiB base", Bytes{1536 * kib}, Status::ok, "");
  r.cases.back().flows = {flow(0, 80e-9), bare_flow(1)};
  for (Case& scenario : r.cases) {
    for (FlowResult& flow : scenario.flows) {
      flow.size = scenario.size;
      flow.memory = r.workers[static_cast<std::size_t>(flow.worker)].memory;
    }
  }
  r.facts = {{"memory_latency",
              {{"level", "memory"}},
              "latency of memory",
              "s",
              Estimate(80e-9),
              "Idle latency",
              "memory {}"},
             {"cache_latency", {{"level", "L2"}}, "latency of L2", "s", Estimate(4e-9)}};
  point("1GiB base", Bytes{gib}, Status::skipped, "--size: does not fit");
  return r;
}

}  // namespace numatlas::testing
