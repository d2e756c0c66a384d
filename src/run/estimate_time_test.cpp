#include "run/estimate_time.h"

#include <cstdint>
#include <initializer_list>

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

TEST(EstimateTime, CheckingMemoryTakesTimeInEachVisit) {
  Scenario small, large;
  small.flows = {chase_over(mib)};
  large.flows = {chase_over(gib)};
  for (Scenario* one : {&small, &large}) one->flows.front().kernel = kernel_named("read");
  EXPECT_GT(visiting_of(large), 10 * visiting_of(small));
  EXPECT_LT(visiting_of(large), preparation_of(large));
  large.flows.front().kernel = kernel_named("random-update");
  EXPECT_GT(visiting_of(large), 0.3) << "every access is undone";
}

TEST(EstimateTime, OnlyLinesThatAChainTouchesAreWritten) {
  Scenario dense, sparse;
  dense.flows = sparse.flows = {chase_over(gib)};
  sparse.flows.front().kernel.as<ChaseParameters>().stride = Bytes{2 * mib};
  EXPECT_LT(preparation_of(sparse), preparation_of(dense) / 2);
}

TEST(EstimateTime, WhatTheOneBeforeLeftIsNotMadeAgain) {
  Scenario read, copy;
  read.flows = copy.flows = {chase_over(gib)};
  read.flows.front().kernel = kernel_named("read");
  copy.flows.front().kernel = kernel_named("copy");
  const double anew = preparation_of(copy);
  EXPECT_LT(preparation_of(copy, {&read, true}), anew / 2) << "its pages";
  EXPECT_DOUBLE_EQ(preparation_of(copy, {&copy, false}), preparation_of(copy, {&read, true}));
  EXPECT_LT(preparation_of(copy, {&copy, true}), anew / 10) << "and what they hold";
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
