#include "analysis/judge.h"

#include <gtest/gtest.h>

#include <vector>

namespace numatlas {
namespace {

TEST(PeersReference, IsThatOfMostOfThem) {
  const Uncertain peers = reference_of_peers({4, 1, 100, 3, 2}, 0);
  EXPECT_EQ(peers.value, 3);
  EXPECT_DOUBLE_EQ(peers.deviation(), 1.4826 * 1.206) << "their MAD is 1, of five";
  EXPECT_EQ(peers.freedom, 4);
  EXPECT_DOUBLE_EQ(reference_of_peers({4, 1, 100, 3, 2}, 1).deviation(), 3);
  EXPECT_EQ(reference_of_peers({1, 2, 4, 8}, 0).value, 3);
}

TEST(Standing, HolmStopsAtTheFirstThatIsLikelyEnough) {
  const std::vector<double> chances{0.5, 0.02, 0.01, 0.03};
  EXPECT_EQ(standing(chances, Procedure::holm, 0.05),
            (std::vector<bool>{false, false, true, false}))
      << "0.01 of 0.05 / 4, and 0.02 is more than 0.05 / 3";
}

TEST(Standing, BenjaminiAndHochbergTakeAllUpToTheLast) {
  const std::vector<double> chances{0.5, 0.02, 0.01, 0.03};
  EXPECT_EQ(standing(chances, Procedure::benjamini_hochberg, 0.05),
            (std::vector<bool>{false, true, true, true}));
  EXPECT_EQ(standing({0.04, 0.045}, Procedure::benjamini_hochberg, 0.05),
            (std::vector<bool>{true, true}))
      << "the first stands because the second does";
  EXPECT_EQ(standing({0.04, 0.045}, Procedure::holm, 0.05), (std::vector<bool>{false, false}));
}

TEST(Standing, OfNoneIsNone) { EXPECT_TRUE(standing({}, Procedure::holm, 0.05).empty()); }

}  // namespace
}  // namespace numatlas
