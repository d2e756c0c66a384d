// Widths of vectors are tried where no cache holds the memory, once for each loop.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "engine/test_engine.h"
#include "placement/kernel_calls.h"

namespace numatlas {
namespace {

using ::testing::Contains;

class Widths : public ::testing::Test {
 protected:
  void SetUp() override {
    affinity_ = thread_affinity();
    machine_ = *read_live_machine();
    layout_ = *gather_layout(*comm_, *testing::workers_on(machine_, 2));
    EngineOptions options;
    options.widths = &found_;
    engine_ = *make_engine(*comm_, layout_, machine_, options);
  }
  void TearDown() override { EXPECT_TRUE(bind_thread(affinity_)); }

  void run(const std::string& kernel, bool in_memory, std::vector<Operation> passes = {}) {
    Scenario scenario{"test", {}, {}};
    scenario.stop.time = std::chrono::milliseconds(5);
    for (int worker = 0; worker < 2; ++worker) {
      Flow flow;
      flow.worker = worker;
      flow.kernel = kernel_named(kernel);
      flow.region.bytes = Bytes{mib};
      flow.region.placement = layout_.workers.front().placement.memory;
      flow.in_memory = in_memory;
      if (!passes.empty()) {
        flow.kernel.parameters = PassesParameters{passes, 3000};
        flow.region.bytes = stream_region_bytes(3000);
        scenario.stop.steps = 3 * passes.size();
        scenario.stop.whole_passes = true;
      }
      scenario.flows.push_back(flow);
    }
    const auto traces = engine_->run(scenario);
    ASSERT_TRUE(traces) << full_text(traces.error());
    for (const Trace& trace : *traces) {
      EXPECT_FALSE(trace.wrong) << full_text(*trace.wrong);
      EXPECT_TRUE(passes.empty() || trace.samples.size() == 3 * passes.size());
    }
  }
  bool several() const { return vector_widths().size() > 1; }

  std::unique_ptr<Comm> comm_ = make_single_comm();
  Machine machine_;
  Layout layout_;
  std::vector<VectorWidth> found_;
  std::unique_ptr<Engine> engine_;
  CpuSet affinity_;
};

TEST_F(Widths, AreTriedOnceForEachLoopInMemory) {
  if (!several()) GTEST_SKIP() << "one width here";
  run("triad", true);
  ASSERT_EQ(found_.size(), 1u);
  EXPECT_EQ(found_[0].kernel, "triad");
  EXPECT_EQ(found_[0].stores, "regular");
  EXPECT_EQ(found_[0].workers, 2u);
  EXPECT_EQ(found_[0].tried.size(), vector_widths().size());
  EXPECT_THAT(vector_widths(), Contains(found_[0].width));
  run("triad", true);
  EXPECT_EQ(found_.size(), 1u);
  run("read", true);
  EXPECT_EQ(found_.size(), 2u);
}

TEST_F(Widths, AreNotTriedInCachesNorWhereTheInstructionSetWasAskedFor) {
  run("triad", false);
  EXPECT_TRUE(found_.empty());
  ASSERT_TRUE(use_instruction_set(instruction_sets().front()));
  run("triad", true);
  EXPECT_TRUE(found_.empty());
  ASSERT_TRUE(use_instruction_set(""));
}

TEST_F(Widths, OfPassesAreThoseOfEachOperation) {
  if (!several()) GTEST_SKIP() << "one width here";
  run("stream", true, {Operation::copy, Operation::scale, Operation::add, Operation::triad});
  ASSERT_EQ(found_.size(), 4u);
  run("stream", true, {Operation::read});
  EXPECT_EQ(found_.size(), 5u);
}

}  // namespace
}  // namespace numatlas
