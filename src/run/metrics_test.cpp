#include "run/metrics.h"

#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "engine/sampler.h"
#include "engine/sharing.h"
#include "record/labels.h"

namespace numatlas {
namespace {

/// A latency, known relatively to `width`, of a worker with memory on that node.
FlowResult measured(int worker, int node, double seconds, std::optional<double> width) {
  FlowResult flow;
  flow.worker = worker;
  flow.residency.pages_by_node = {{node, 4}};
  Estimate estimate = seconds;
  if (width) {
    estimate.low = seconds * (1 - *width);
    estimate.high = seconds * (1 + *width);
  }
  flow.figures = {{"latency", "s", estimate, std::nullopt}};
  return flow;
}

RunReport report_of(std::vector<FlowResult> flows) {
  RunReport report;
  report.hosts = {"alpha"};
  report.workers.resize(4);
  for (WorkerRow& worker : report.workers) worker.cpu_node = NodeId{0};
  Case one;
  one.flows = std::move(flows);
  report.cases = {one};
  report.cases[0].groups = medians_of(one, report);
  return report;
}

TEST(Medians, AreAsSureAsTheLeastSure) {
  FlowResult load = measured(3, 0, 1, 0.5);
  load.load = true;
  const RunReport report = report_of({measured(0, 0, 100e-9, 0.01), measured(1, 0, 120e-9, 0.03),
                                      measured(2, 0, 300e-9, 0.02), load});
  const Case& one = report.cases[0];
  ASSERT_EQ(one.groups.size(), 1U);
  EXPECT_EQ(one.groups[0].workers, 3U);
  const auto median = estimate_of(one, "latency");
  ASSERT_TRUE(median);
  EXPECT_DOUBLE_EQ(median->value, 120e-9);
  EXPECT_NEAR(*half_width(*median), 0.03, 1e-12);
  EXPECT_DOUBLE_EQ(one.groups[0].figures[0].summary->max, 300e-9);
}

TEST(Medians, WithoutAllIntervalsThereIsNone) {
  const RunReport report =
      report_of({measured(0, 0, 100e-9, 0.01), measured(1, 0, 120e-9, std::nullopt)});
  EXPECT_FALSE(estimate_of(report.cases[0], "latency")->low);
}

TEST(Medians, OfOneFlowAreItsOwn) {
  const RunReport report = report_of({measured(0, 0, 100e-9, 0.01)});
  EXPECT_TRUE(report.cases[0].groups.empty());
  EXPECT_DOUBLE_EQ(estimate_of(report.cases[0], "latency")->value, 100e-9);
}

TEST(Medians, OfEachPairOfNodesInTheOrderOfTheirNumbers) {
  const RunReport report = report_of(
      {measured(0, 10, 300e-9, 0.01), measured(1, 2, 100e-9, 0.01), measured(2, 2, 120e-9, 0.01)});
  const auto& groups = report.cases[0].groups;
  ASSERT_EQ(groups.size(), 3U);
  EXPECT_TRUE(groups[0].labels.empty()) << "all of them";
  EXPECT_EQ(groups[1].labels[0].second, "0 -> 2");
  EXPECT_EQ(groups[1].workers, 2U);
  EXPECT_DOUBLE_EQ(groups[1].figures[0].estimate->value, 110e-9);
  EXPECT_EQ(groups[2].labels[0].second, "0 -> 10");
  EXPECT_DOUBLE_EQ(estimate_of(report.cases[0], "latency")->value, 120e-9);
}

/// A chase of 100 ns a load in blocks of 20 us, among which are some that took so long.
Trace chase_trace(std::vector<std::int64_t> others_ns) {
  Trace trace;
  trace.steps_per_sample = 200;
  std::int64_t start = 0;
  const auto add = [&](std::int64_t ns) {
    trace.samples.push_back({start, ns});
    start += ns;
  };
  for (const std::int64_t other : others_ns) {
    for (int i = 0; i < 100; ++i) add(20'000);
    add(other);
  }
  return trace;
}

Flow flow_of(const char* kernel) {
  Flow flow;
  flow.kernel = kernel_named(kernel);
  return flow;
}

/// With the stops that an engine finds.
Trace noted(const char* kernel, Trace trace) {
  Scenario scenario;
  scenario.flows = {flow_of(kernel)};
  std::vector<Trace> traces{std::move(trace)};
  note_stops(scenario, traces, false);
  return traces.front();
}

TEST(Stops, AreNoPartOfALatency) {
  const auto latency_in = [](const Trace& trace) {
    return *find_figure(figures_of(flow_of("chase"), noted("chase", trace)), "latency")->value();
  };
  const Trace quiet = chase_trace({20'000});
  Trace switched = chase_trace({20'000, 90'000});
  switched.stopped = {201};
  EXPECT_NEAR(latency_in(quiet), 100e-9, 1e-15);
  EXPECT_NEAR(latency_in(switched), 100e-9, 1e-15) << "something else had its CPU";
  EXPECT_NEAR(latency_in(chase_trace({20'000, 4'000'000, 3'000'000})), 100e-9, 1e-15)
      << "a hypervisor tells nothing";
  EXPECT_GT(latency_in(chase_trace({20'000, 90'000})), 101e-9) << "what is slow is part of it";
}

TEST(Stops, OfWhatMovesMemoryArePartOfItsRate) {
  Trace trace = chase_trace({20'000, 4'000'000});
  EXPECT_TRUE(noted("read", trace).stopped.empty()) << "memory may be crowded";
  EXPECT_EQ(noted("chase", trace).stopped.size(), 1U);
  trace.stopped = {201};
  const auto figures = figures_of(flow_of("read"), trace);
  const Figure& rate = *find_figure(figures, "bandwidth");
  EXPECT_EQ(rate.summary->n, 202U);
  const auto a_step = static_cast<double>(traffic_per_step(flow_of("read").kernel).counted());
  const double bytes = a_step * 200 * 202;
  EXPECT_NEAR(*rate.value(), bytes / (201 * 20e-6 + 4e-3), bytes * 1e-3);
}

TEST(Stops, OfTheThreadOfAGpuAreToldBesideWhatTheGpuTimed) {
  Trace trace = chase_trace({4'000'000, 30'000});
  trace.stopped = {100, 201};
  trace.device.emplace().steps = {{0, 20'000}, {30'000, 4'000'000}};
  Scenario scenario;
  Flow& flow = scenario.flows.emplace_back();
  flow.kernel.parameters = DeviceChaseParameters{};
  flow.kernel.as<DeviceChaseParameters>().loads = 1;
  std::vector<Trace> traces{trace};
  note_stops(scenario, traces, false);
  EXPECT_EQ(traces[0].stopped, std::vector<std::size_t>{100}) << "it hears of several at once";
  EXPECT_EQ(running_samples_of(flow, traces[0]).size(), 2U);
}

TEST(Stops, OfNothingButStopsThereIsNoFigure) {
  Trace trace = chase_trace({});
  trace.samples = {{0, 20'000}, {20'000, 20'000}};
  trace.stopped = {0, 1};
  trace.steps_per_sample = 200;
  const auto figures = figures_of(flow_of("chase"), noted("chase", trace));
  ASSERT_EQ(figures.size(), 1U);
  EXPECT_FALSE(figures[0].value());
}

/// Two CPUs that add to one counter: 33 ns an addition while both do, 5 ns while one has lost its
/// CPU. Something else has each for `away_ns` of every 8 ms, the second 3 ms after the first.
struct Adder {
  std::int64_t away_ns = 0, first_ns = 0;
  static constexpr std::int64_t every_ns = 8'000'000;
  bool is_away(double at_ns) const {
    return std::fmod(at_ns + static_cast<double>(every_ns - first_ns),
                     static_cast<double>(every_ns)) < static_cast<double>(away_ns);
  }
};

Trace additions_of(int flow, const Adder& mine, const Adder& other) {
  constexpr double both_ns = 33, alone_ns = 5;
  ScriptedClock clock(20);
  StopRule rule;
  rule.time = std::chrono::milliseconds(40);
  Sampler sampler(clock, rule, [&](std::uint64_t steps) {
    for (std::uint64_t step = 0; step < steps; ++step) {
      if (mine.is_away(clock.time_ns())) clock.lose_cpu(static_cast<double>(mine.away_ns));
      clock.advance(other.is_away(clock.time_ns()) ? alone_ns : both_ns);
    }
  });
  sampler.calibrate();
  while (!sampler.done()) sampler.record();
  Trace trace;
  std::move(sampler).finish(trace);
  trace.flow = flow;
  return trace;
}

/// The time of an addition by each of two CPUs that are away for so long.
std::vector<std::optional<double>> addition_times(std::int64_t first_away_ns,
                                                  std::int64_t second_away_ns, bool share_cpus) {
  Scenario scenario;
  scenario.flows.assign(2, flow_of("fetch-add"));
  for (Flow& flow : scenario.flows) flow.kernel.as<CounterParameters>().workers = 2;
  scenario.flows[1].shares = 0;
  const Adder first{first_away_ns, 0}, second{second_away_ns, 3'000'000};
  std::vector<Trace> traces{additions_of(0, first, second), additions_of(1, second, first)};
  note_stops(scenario, traces, share_cpus);
  std::vector<std::optional<double>> times;
  for (const Trace& trace : traces)
    times.push_back(
        figures_of(scenario.flows[static_cast<std::size_t>(trace.flow)], trace)[0].value());
  return times;
}

TEST(Stops, OfOneWorkerOnACounterAreNoTimeOfTheOthers) {
  for (const auto& time : addition_times(4'000'000, 0, false)) {
    ASSERT_TRUE(time);
    EXPECT_NEAR(*time, 33e-9, 1e-9) << "not 5 ns, as while the other was away";
  }
  for (const auto& time : addition_times(2'000'000, 3'000'000, false)) {
    ASSERT_TRUE(time);
    EXPECT_NEAR(*time, 33e-9, 1e-9);
  }
  const auto in_turn = addition_times(4'000'000, 0, true);
  EXPECT_LT(*in_turn[1], 15e-9) << "who shares its CPU measures that";
}

TEST(Stops, WorkersThatNeverRanTogetherHaveNoFigure) {
  Scenario scenario;
  scenario.flows.assign(2, flow_of("fetch-add"));
  scenario.flows[1].shares = 0;
  Trace ran = chase_trace({20'000}), stood = ran;
  ran.flow = 0;
  stood.flow = 1;
  stood.samples = {{0, 2'020'000}};
  stood.stopped = {0};
  std::vector<Trace> traces{ran, stood};
  note_stops(scenario, traces, false);
  EXPECT_EQ(traces[0].stopped.size(), ran.samples.size());
  for (const Trace& trace : traces)
    EXPECT_FALSE(figures_of(scenario.flows[0], trace)[0].value()) << trace.flow;
}

}  // namespace
}  // namespace numatlas
