#include <gtest/gtest.h>

#include "benchmarks/common.h"
#include "machine/source.h"

namespace numatlas {
namespace {

TEST(Counts, AreOfNodesAndSocketsBetweenOneAndAll) {
  const auto machine = read_recorded_machine("pack:2 numa:4 core:8 pu:2");
  ASSERT_TRUE(machine);
  EXPECT_EQ(scaling_counts(*machine), "1,2,4,8,16,32,64,128");
  const auto small = read_recorded_machine("numa:1 core:1 pu:1");
  ASSERT_TRUE(small);
  EXPECT_EQ(scaling_counts(*small), "1");
}

}  // namespace
}  // namespace numatlas
