#include "run/estimate_time.h"

#include <cstdint>

#include <gtest/gtest.h>

namespace numatlas {
namespace {

Flow chase_over(std::uint64_t bytes) {
  Flow flow;
  flow.region.bytes = Bytes{bytes};
  return flow;
}

TEST(EstimateTime, MoreMemoryTakesLonger) {
  Scenario small, large;
  small.flows = {chase_over(mib)};
  large.flows = {chase_over(gib)};
  EXPECT_GT(preparation_of(large), 10 * preparation_of(small));
  EXPECT_GT(preparation_of(small), 0);
}

TEST(EstimateTime, FlowsAreReadiedTogetherUntilTheMemoryHasNoMore) {
  Scenario one, few, many;
  one.flows = {chase_over(gib)};
  few.flows = {chase_over(gib), chase_over(gib)};
  many.flows.assign(100, chase_over(gib));
  EXPECT_DOUBLE_EQ(preparation_of(few), preparation_of(one));
  EXPECT_GT(preparation_of(many), 2 * preparation_of(one));
}

TEST(EstimateTime, SharedMemoryIsReadiedOnce) {
  Scenario scenario;
  scenario.flows = {chase_over(mib), chase_over(gib)};
  scenario.flows[1].shares = 0;
  Scenario alone;
  alone.flows = {chase_over(mib)};
  EXPECT_DOUBLE_EQ(preparation_of(scenario), preparation_of(alone));
}

}  // namespace
}  // namespace numatlas
