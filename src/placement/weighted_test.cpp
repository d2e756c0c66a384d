#include "placement/weighted.h"

#include <gtest/gtest.h>

#include <vector>

#include "placement/kernel_calls.h"
#include "placement/test_page_nodes.h"

namespace numatlas {
namespace {

using testing::weighted_pattern;

TEST(NodeMask, WideAndSparse) {
  const NodeSet nodes{NodeId{0}, NodeId{63}, NodeId{64}, NodeId{1000}};
  const auto mask = kernel::to_mask(nodes);
  EXPECT_EQ(mask.size(), 1000 / 64 + 1u);
  EXPECT_EQ(mask[0], 1UL | 1UL << 63);
  EXPECT_EQ(mask[1], 1UL);
  EXPECT_EQ(kernel::from_mask(mask), nodes);
  EXPECT_TRUE(kernel::to_mask({}).empty());
}

TEST(WeightedPattern, RunsInAscendingOrder) {
  const WeightedNodes nodes{{NodeId{2}, 1}, {NodeId{0}, 3}};
  std::vector<int> seen;
  for (std::size_t i = 0; i < 9; ++i) seen.push_back(weighted_pattern(i, nodes).value);
  EXPECT_EQ(seen, (std::vector<int>{0, 0, 0, 2, 0, 0, 0, 2, 0}));
}

TEST(WeightedPattern, CountsAreThoseOfThePattern) {
  const WeightedNodes nodes{{NodeId{5}, 2}, {NodeId{1}, 4}, {NodeId{9}, 1}};
  for (std::size_t pages = 0; pages < 30; ++pages) {
    std::vector<std::size_t> counted(nodes.size(), 0);
    for (std::size_t i = 0; i < pages; ++i) {
      for (std::size_t n = 0; n < nodes.size(); ++n) {
        if (weighted_pattern(i, nodes) == nodes[n].first) ++counted[n];
      }
    }
    EXPECT_EQ(weighted_counts(pages, nodes), counted) << pages;
  }
}

}  // namespace
}  // namespace numatlas
