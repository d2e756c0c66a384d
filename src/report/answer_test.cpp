#include "report/answer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "record/test_report.h"

namespace numatlas {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

Fact fact(const char* heading, const char* line, const char* unit, double value) {
  Fact one{"key", {}, "", unit, Estimate(value)};
  one.heading = heading;
  one.line = line;
  return one;
}

TEST(Answer, TheFirstHeadingsInOneLine) {
  RunReport report = testing::report();
  report.facts.clear();
  EXPECT_EQ(answer_text(report), "") << "no facts";
  report.facts = {fact("Idle latency", "memory {} (256MiB)", "s", 163e-9),
                  fact("", "a miss {}", "s", 3e-9), fact("Bandwidth", "best {}", "B/s", 45.3e9)};
  EXPECT_EQ(answer_text(report),
            "Idle latency: memory 163 ns (256MiB); Bandwidth: best 45.3 GB/s\n");
  report.facts = {fact("Memory latency", "", "s", 123e-9), fact("Memory latency", "", "s", 338e-9)};
  EXPECT_EQ(answer_text(report), "Memory latency: 123 to 338 ns\n") << "a matrix is its span";
}

TEST(Answer, TheGravestDoubtStandsBelow) {
  RunReport report = testing::report();
  report.facts = {fact("Idle latency", "memory {}", "s", 163e-9)};
  report.warnings = {{"setting", "", "numa_balancing = 1"}, {"two-speeds", "", "two speeds"}};
  EXPECT_EQ(answer_text(report), "Idle latency: memory 163 ns\n! two speeds\n");
  report.scenarios.front().status = Status::failed;
  report.scenarios.front().reason = "no memory";
  EXPECT_THAT(answer_text(report), HasSubstr("\n! 1 of 3 cases: failed: no memory\n"));
  report.warnings = {{"other-processes", "", "other programs used 1.0 of 2 CPUs"}};
  EXPECT_THAT(answer_text(report),
              StartsWith("UNRELIABLE: other programs used 1.0 of 2 CPUs\n(Idle"));
}

}  // namespace
}  // namespace numatlas
