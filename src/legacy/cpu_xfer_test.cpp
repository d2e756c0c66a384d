#include "legacy/programs.h"

#include <gtest/gtest.h>

namespace numatlas::legacy {
namespace {

TEST(CpuXfer, OtherTextHasNoFigures) {
  EXPECT_TRUE(parse_peak_injection("mlc: cannot open msr\n").rates.empty());
  EXPECT_TRUE(parse_bandwidth_matrix("Numa node\n 0 1 2\n").rows.empty());
}

}  // namespace
}  // namespace numatlas::legacy
