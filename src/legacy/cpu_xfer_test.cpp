#include <string>

#include "legacy/programs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace numatlas::legacy {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Lines as MLC arranges them, with figures of our own.
const std::string injection =
    "Measuring Peak Injection Memory Bandwidths for the system\n"
    "ALL Reads        :\t70000.5\t\n"
    "3:1 Reads-Writes :\t60000.0\t\n"
    "Stream-triad like:\t50000.0\t\n";
const std::string matrix =
    "\t\tNuma node\n"
    "Numa node\t     0\t     1\t\n"
    "       0\t70000.0\t30000.5\t\n"
    "       1\t-\t71000.0\t\n";

TEST(CpuXfer, ReadsWhatMlcPrints) {
  const PeakInjection peaks = parse_peak_injection(injection);
  ASSERT_EQ(peaks.rates.size(), 3U);
  EXPECT_EQ(peaks.rates[0].first, "ALL Reads");
  EXPECT_DOUBLE_EQ(*peaks.rates[0].second, 70000.5e6);
  const NodeMatrix nodes = parse_bandwidth_matrix(matrix);
  EXPECT_THAT(nodes.columns, ElementsAre(0, 1));
  ASSERT_EQ(nodes.rows.size(), 2U);
  EXPECT_DOUBLE_EQ(*nodes.rows[0].second[1], 30000.5e6);
  EXPECT_FALSE(nodes.rows[1].second[0]);
}

TEST(CpuXfer, OtherTextHasNoFigures) {
  EXPECT_TRUE(parse_peak_injection("mlc: cannot open msr\n").rates.empty());
  EXPECT_TRUE(parse_bandwidth_matrix("Numa node\n 0 1 2\n").rows.empty());
}

TEST(CpuXfer, OursIsPrintedAsMlcsIs) {
  const std::string text = bandwidth_matrix_text(parse_bandwidth_matrix(matrix), nullptr);
  EXPECT_THAT(text, HasSubstr(matrix));
  EXPECT_THAT(peak_injection_text(parse_peak_injection(injection), nullptr),
              HasSubstr("ALL Reads        :\t70000.5\t\n3:1 Reads-Writes :\t60000.0\t\n"));
}

TEST(CpuXfer, BothSideBySide) {
  PeakInjection ours = parse_peak_injection(injection);
  ours.rates[0].second = 35000.25e6;
  const PeakInjection theirs = parse_peak_injection(injection);
  EXPECT_THAT(peak_injection_text(ours, &theirs), HasSubstr("35000.2\t   70000.5\t 0.50"));
  const NodeMatrix nodes = parse_bandwidth_matrix(matrix);
  const std::string text = bandwidth_matrix_text(nodes, &nodes);
  EXPECT_THAT(text, HasSubstr("70000.0 / 70000.0 = 1.00"));
  EXPECT_THAT(text, HasSubstr("- / - = -"));
}

}  // namespace
}  // namespace numatlas::legacy
