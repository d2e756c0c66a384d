#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "advise/metric.h"

namespace numatlas {
namespace {

using testing::HasSubstr;

const char* const triad = "Triad: *([0-9.e+-]+)";

std::string problem(const std::string& output) {
  const auto value = Metric::parse(triad, true)->find_in(output);
  return value ? "" : value.error().message;
}

TEST(Metric, IsTheNumberThatAProgramPrints) {
  const auto metric = Metric::parse(triad, true);
  ASSERT_TRUE(metric);
  EXPECT_FALSE(metric->is_time());
  EXPECT_DOUBLE_EQ(*metric->find_in("Copy: 3\nTriad:   1.5e3 MB/s\nend\n"), 1500);
  EXPECT_DOUBLE_EQ(metric->cost_of(4), 0.25);
  EXPECT_DOUBLE_EQ(Metric::parse(triad, false)->cost_of(4), 4);
}

TEST(Metric, TellsWhyThereIsNone) {
  EXPECT_EQ(problem("Copy: 3\n"), "printed no metric");
  EXPECT_THAT(problem("Triad: 3\nTriad: 4\n"), HasSubstr("more than once ('3' and '4')"));
  EXPECT_THAT(problem("Triad: 1.2.3\n"), HasSubstr("not a number"));
  EXPECT_THAT(problem("Triad: 0\n"), HasSubstr("above 0"));
}

TEST(Metric, IsCheckedBeforeAnythingRuns) {
  EXPECT_EQ(Metric::parse("a(", false).error().subject, "--metric");
  EXPECT_EQ(Metric::parse("no group", false).error().subject, "--metric");
  EXPECT_EQ(Metric::parse("(a)(b)", false).error().subject, "--metric");
  EXPECT_EQ(Metric::parse("time", true).error().subject, "--higher");
  EXPECT_TRUE(Metric::parse("time", false)->is_time());
}

TEST(Metric, IsNotSearchedInLinesOfAnyLength) {
  // The standard library's search would end the process.
  const auto metric = Metric::parse(".*rate: ([0-9.]+)", false);
  const std::string long_line(1000000, 'a');
  EXPECT_DOUBLE_EQ(*metric->find_in(long_line + "\nrate: 5\n"), 5);
  EXPECT_THAT(metric->find_in(long_line).error().message, HasSubstr("more than 4096 characters"));
}

}  // namespace
}  // namespace numatlas
