// Which width is chosen, from times that are made up.
#include "kernels/vector_width.h"

#include <gtest/gtest.h>

namespace numatlas {
namespace {

TEST(FastestWidth, HasTheLeastTime) {
  EXPECT_EQ(fastest_width({{64, 10}, {32, 9}, {16, 8}, {64, 10}, {32, 9}, {16, 8}}), 16u);
  EXPECT_EQ(fastest_width({{64, 10}, {32, 8}, {16, 9}}), 32u);
  EXPECT_EQ(fastest_width({{64, 9}, {32, 10}, {16, 10}}), 64u);
  EXPECT_EQ(fastest_width({{16, 9}, {16, 8}}), 16u);
}

TEST(FastestWidth, IsTheWidestWhereNoneIsClearlyFaster) {
  EXPECT_EQ(fastest_width({{64, 10}, {32, 9.95}, {16, 9.92}}), 64u);
  EXPECT_EQ(fastest_width({{64, 10}, {32, 9.85}, {16, 9.86}}), 32u);
}

TEST(FastestWidth, IsOfTurnsWhateverTheMachinesSpeedInEach) {
  EXPECT_EQ(fastest_width({{64, 10}, {16, 9}, {64, 20}, {16, 18}, {64, 5}, {16, 4.5}}), 16u);
  // One turn in which something else ran decides nothing.
  EXPECT_EQ(fastest_width({{64, 10}, {16, 5}, {64, 10}, {16, 11}, {64, 10}, {16, 11}}), 64u);
  EXPECT_EQ(fastest_width({{64, 10}, {16, 9}, {64, 10}, {16, 9}, {64, 10}, {16, 99}}), 16u);
}

TEST(FastestWidth, OfNothingIsNone) { EXPECT_EQ(fastest_width({}), 0u); }

TEST(Loop, IsNamedByWhatMatters) {
  KernelSpec spec{PassesParameters{}};
  spec.stores = Stores::non_temporal;
  const VectorWidth triad = loop_of(spec, Operation::triad, PageKind::thp, 2);
  EXPECT_EQ(triad, (VectorWidth{"triad", "non-temporal", "thp", 2}));
  EXPECT_EQ(loop_of(spec, Operation::read, PageKind::thp, 2).stores, "");
  spec.parameters = MixParameters{};
  EXPECT_EQ(loop_of(spec, Operation::mix, PageKind::base, 1).kernel, "mix 2:1");
  VectorWidth found = triad;
  found.width = 16;
  EXPECT_TRUE(triad.same_loop(found));
  found.workers = 3;
  EXPECT_FALSE(triad.same_loop(found));
}

}  // namespace
}  // namespace numatlas
