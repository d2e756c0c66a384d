// For the tests: the real engine with two workers on the machine at hand.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "base/signals.h"
#include "engine/engine.h"
#include "engine/test_engine.h"

namespace numatlas::testing {

class RealEngine : public ::testing::Test {
 protected:
  void SetUp() override {
    affinity_ = thread_affinity();
    const auto machine = read_live_machine();
    ASSERT_TRUE(machine);
    machine_ = *machine;
    const auto workers = workers_on(machine_, 2);
    ASSERT_TRUE(workers);
    const auto layout = gather_layout(*comm_, *workers);
    ASSERT_TRUE(layout);
    layout_ = *layout;
    make();
  }
  void TearDown() override {
    // Worker 0 is this thread: it must not stay on its CPU for the next test.
    EXPECT_TRUE(bind_thread(affinity_));
    reset_stop_for_tests();
  }
  void make(const EngineOptions& options = {}) {
    auto engine = make_engine(*comm_, layout_, machine_, options);
    ASSERT_TRUE(engine);
    engine_ = *std::move(engine);
  }
  Flow flow_of(int worker, Bytes size = Bytes{256 * kib}) const {
    Flow flow;
    flow.worker = worker;
    flow.kernel.as<ChaseParameters>().verify_full = true;
    flow.region.bytes = size;
    flow.region.placement = layout_.workers[static_cast<std::size_t>(worker)].placement.memory;
    flow.warm_up = Bytes{2 * size.value};
    return flow;
  }
  Scenario scenario_of(std::vector<Flow> flows,
                       Nanoseconds time = std::chrono::milliseconds(100)) const {
    Scenario scenario{"test", std::move(flows), {}};
    scenario.stop.time = time;
    return scenario;
  }

  std::unique_ptr<Comm> comm_ = make_single_comm();
  Machine machine_;
  Layout layout_;
  std::unique_ptr<Engine> engine_;
  CpuSet affinity_;
};

}  // namespace numatlas::testing
