// Steps of the real engine, and steps of a whole pass: so many, each begun together.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
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
Scenario passes_of(std::uint64_t passes) {
  Scenario scenario;
  scenario.name = "passes";
  for (int worker : {0, 1}) {
    Flow flow;
    flow.worker = worker;
    flow.kernel.parameters = PassesParameters{{Operation::copy, Operation::triad}, 500};
    flow.region.bytes = stream_region_bytes(500);
    scenario.flows.push_back(flow);
  }
  scenario.stop.steps = passes;
  scenario.stop.whole_passes = true;
  return scenario;
}

TEST_F(RealEngine, TakesRoundsOfWholePassesOnTheSameMemory) {
  EngineOptions options;
  std::size_t prepared = 0;
  options.when_prepared = [&](const std::vector<const Trace*>& traces) {
    prepared += traces.size();
    for (const Trace* trace : traces) EXPECT_GT(trace->residency.pages_total, 0u);
  };
  make(options);
  Scenario scenario = passes_of(4);
  std::vector<std::vector<Trace>> rounds;
  for (scenario.round = 0; scenario.round < 3; ++scenario.round) {
    scenario.keep_memory = scenario.round < 2;
    auto traces = engine_->run(scenario);
    ASSERT_TRUE(traces) << full_text(traces.error());
    rounds.push_back(*std::move(traces));
  }
  EXPECT_EQ(prepared, 2u) << "once";
  for (const std::vector<Trace>& traces : rounds) {
    ASSERT_EQ(traces.size(), 2u);
    for (const Trace& trace : traces) {
      EXPECT_EQ(trace.stop, StopReason::passes);
      EXPECT_FALSE(trace.wrong) << full_text(*trace.wrong);
      EXPECT_EQ(trace.steps_per_sample, 500u);
      ASSERT_EQ(trace.samples.size(), 4u);
      for (std::size_t pass = 1; pass < 4; ++pass) {
        EXPECT_GT(trace.samples[pass].duration_ns, 0);
        // A pass begins when all have ended the one before.
        for (const Trace& other : traces) {
          const Sample& before = other.samples[pass - 1];
          EXPECT_GE(trace.samples[pass].start_ns, before.start_ns + before.duration_ns);
        }
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

TEST_F(RealEngine, AStopEndsPassesAtOnceHoweverManyThereAre) {
  std::jthread other([] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    request_stop(0);
  });
  const auto traces = engine_->run(passes_of(100'000'000));
  ASSERT_TRUE(traces) << full_text(traces.error());
  for (const Trace& trace : *traces) EXPECT_EQ(trace.stop, StopReason::interrupted);
}

}  // namespace
}  // namespace numatlas
