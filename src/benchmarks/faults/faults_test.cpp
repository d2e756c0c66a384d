#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "benchmarks/test_plan.h"
#include "record/labels.h"

namespace numatlas::faults_test {
namespace {

using ::testing::HasSubstr;

constexpr const char* faults_machine = "numa:2(memory=34359738368) l3:1(size=16777216) core:2 pu:1";

TEST(FaultsPlan, SizesAreWholeSteps) {
  const auto size_of = [](const testing::Words& more) {
    testing::Words words{"--how", "touch", "--threads", "1"};
    words.insert(words.end(), more.begin(), more.end());
    return testing::sure_plan("faults", words, faults_machine).front().head.size;
  };
  EXPECT_EQ(size_of({}), Bytes{64 * mib});
  EXPECT_EQ(size_of({"--size", "5MiB"}), Bytes{4 * mib});
  EXPECT_EQ(size_of({"--pages", "1G"}), Bytes{gib}) << "a page at least";
  const auto small = testing::plan_on("faults", {"--size", "1MiB"}, faults_machine);
  ASSERT_FALSE(small);
  EXPECT_THAT(full_text(small.error()), HasSubstr("--size: 1 MiB are less than a step of 2 MiB"));
}

}  // namespace
}  // namespace numatlas::faults_test
