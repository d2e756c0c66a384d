// Passes and steps of the real engine: so many, each begun together.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/signals.h"
#include "engine/test_real_engine.h"

namespace numatlas {
namespace {

using testing::RealEngine;

/// Two passes of triad by each worker, on little memory.
Scenario passes_of(int passes) {
  Scenario scenario;
  scenario.name = "passes";
  for (int worker : {0, 1}) {
    Flow flow;
    flow.worker = worker;
    flow.kernel.parameters = PassesParameters{{Operation::copy, Operation::triad}, 500};
    flow.region.bytes = stream_region_bytes(500);
    scenario.flows.push_back(flow);
  }
  scenario.stop.passes = passes;
  return scenario;
}

TEST_F(RealEngine, TakesSoManyPassesAndTellsOfEach) {
  EngineOptions options;
  std::vector<int> told;
  std::vector<std::vector<Sample>> times;
  std::size_t prepared = 0;
  options.when_prepared = [&](const std::vector<const Trace*>& traces) {
    prepared += traces.size();
    for (const Trace* trace : traces) EXPECT_GT(trace->residency.pages_total, 0u);
  };
  options.after_pass = [&](int pass, std::span<const Sample> of_host) -> Expected<void> {
    told.push_back(pass);
    times.emplace_back(of_host.begin(), of_host.end());
    return {};
  };
  make(options);
  const auto traces = engine_->run(passes_of(4));
  ASSERT_TRUE(traces) << full_text(traces.error());
  EXPECT_EQ(prepared, 2u);
  EXPECT_EQ(told, (std::vector<int>{0, 1, 2, 3}));
  ASSERT_EQ(traces->size(), 2u);
  for (std::size_t worker = 0; worker < 2; ++worker) {
    const Trace& trace = (*traces)[worker];
    EXPECT_EQ(trace.stop, StopReason::passes);
    EXPECT_FALSE(trace.wrong);
    EXPECT_EQ(trace.steps_per_sample, 500u);
    ASSERT_EQ(trace.samples.size(), 4u);
    for (std::size_t pass = 0; pass < 4; ++pass) {
      EXPECT_GT(trace.samples[pass].duration_ns, 0);
      EXPECT_GE(times[pass][worker].start_ns, 0);  // after the time agreed on
      EXPECT_EQ(trace.samples[pass].duration_ns, times[pass][worker].duration_ns);
      // A pass begins when all have ended the one before.
      if (pass == 0) continue;
      for (const Trace& other : *traces) {
        const Sample& before = other.samples[pass - 1];
        EXPECT_GE(trace.samples[pass].start_ns, before.start_ns + before.duration_ns);
      }
    }
  }
}

TEST_F(RealEngine, FlowsBeginEachStepTogether) {
  Scenario scenario = scenario_of({flow_of(0, Bytes{64 * kib}), flow_of(1, Bytes{mib})});
  scenario.stop.steps = 50;
  // Also after one whose time was over.
  scenario.stop.time = Nanoseconds(1);
  ASSERT_TRUE(engine_->run(scenario));
  scenario.stop.time = std::chrono::seconds(10);
  const auto traces = engine_->run(scenario);
  ASSERT_TRUE(traces) << full_text(traces.error());
  for (const Trace& trace : *traces) {
    ASSERT_EQ(trace.samples.size(), 50U);
    for (std::size_t step = 1; step < trace.samples.size(); ++step) {
      for (const Trace& other : *traces) {
        const Sample& before = other.samples[step - 1];
        EXPECT_GE(trace.samples[step].start_ns, before.start_ns + before.duration_ns);
      }
    }
  }
}

TEST_F(RealEngine, AStopBetweenPassesIsAnErrorAfterTheOneAtHand) {
  EngineOptions options;
  int told = 0;
  options.after_pass = [&](int pass, auto) -> Expected<void> {
    ++told;
    if (pass == 2) request_stop(0);
    return {};
  };
  make(options);
  const auto traces = engine_->run(passes_of(1000));
  ASSERT_FALSE(traces);
  EXPECT_EQ(traces.error().kind, ErrorKind::interrupted);
  EXPECT_EQ(told, 3);
}

TEST_F(RealEngine, AnErrorOfWhoIsToldEndsThePasses) {
  EngineOptions options;
  int told = 0;
  options.after_pass = [&](int, auto) -> Expected<void> {
    ++told;
    return fail(ErrorKind::peer, "gone");
  };
  make(options);
  const auto traces = engine_->run(passes_of(1000));
  ASSERT_FALSE(traces);
  EXPECT_EQ(full_text(traces.error()), "gone");
  EXPECT_EQ(told, 1);
}

}  // namespace
}  // namespace numatlas
