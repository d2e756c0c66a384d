// The plan of STREAM.
#include <cstdint>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "benchmarks/test_plan.h"

namespace numatlas::stream_test {
namespace {

using ::testing::ElementsAre;
using testing::sure_plan;

constexpr const char* one_node = "numa:1(memory=34359738368) l3:1(size=16777216) core:4 pu:1";

TEST(StreamPlan, ArraysAreDividedAmongThreadsInWholeLines) {
  const auto plan =
      sure_plan("stream", testing::typed("--elements 1001 --threads 3 --repeats 5"), one_node);
  ASSERT_EQ(plan.size(), 1u);
  const Scenario& scenario = plan[0].scenario;
  EXPECT_EQ(scenario.stop.steps, 4u);
  EXPECT_TRUE(scenario.stop.whole_passes);
  std::vector<std::uint64_t> lines;
  for (const Flow& flow : scenario.flows)
    lines.push_back(flow.kernel.as<PassesParameters>().array_lines);
  EXPECT_THAT(lines, ElementsAre(42, 42, 42));  // 1001 elements are 126 lines
}

/// Also of pools whose free pages are a power of two times the workers: arrays lie a little apart.
TEST(StreamPlan, ArraysFitThePoolThatTheyAreMadeFor) {
  auto machine = read_recorded_machine(one_node);
  ASSERT_TRUE(machine);
  for (const std::uint64_t pages : {2u, 4u, 16u, 30u}) {
    machine->nodes[0].huge_pages = {{Bytes{2 * mib}, pages, pages}};
    const auto prepared =
        testing::prepare("stream", testing::typed("--threads 2 --pages 2M"), *machine);
    ASSERT_TRUE(prepared);
    const auto plan = prepared->run.benchmark.plan(prepared->input());
    ASSERT_TRUE(plan);
    std::uint64_t taken = 0;
    for (const Flow& flow : plan->front().scenario.flows)
      taken += (flow.region.bytes.value + 2 * mib - 1) / (2 * mib);
    EXPECT_LE(taken, pages);
    EXPECT_GE(2 * taken, pages);
  }
}

}  // namespace
}  // namespace numatlas::stream_test
