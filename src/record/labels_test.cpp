// Points that show a cache where they are meant to show memory.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "record/labels.h"

namespace numatlas {
namespace {

using ::testing::StartsWith;

Case point(const char* name, std::initializer_list<const char*> levels, const char* kernel = "read",
           const char* stores = "") {
  Case result;
  result.name = name;
  for (const char* level : levels) {
    FlowResult& flow = result.flows.emplace_back();
    flow.level = level;
    flow.kernel = kernel;
    flow.stores = stores;
  }
  return result;
}

TEST(CacheLevel, MemorySideCachesAreNoMemory) {
  EXPECT_EQ(cache_text(point("a", {side_cache_level, "memory"})), side_cache_level);
}

TEST(CacheLevel, IsToldOfEachPoint) {
  EXPECT_EQ(level_text(point("a", {"L2", "memory", "L2"})), "L2/memory");
  EXPECT_EQ(level_text(point("a", {})), "-");
  EXPECT_EQ(cache_text(point("a", {"L2", "memory", "L3"})), "L2/L3");
  EXPECT_EQ(cache_text(point("a", {"memory"})), "");
  EXPECT_EQ(cache_text(point("a", {"-"})), "") << "unknown caches";
  EXPECT_EQ(cache_text(point("a", {})), "");
}

TEST(CacheLevel, WritesPastTheCachesAreOfMemory) {
  EXPECT_EQ(cache_text(point("a", {"L3"}, "write", "non-temporal")), "");
  EXPECT_EQ(cache_text(point("a", {"L3"}, "write", "regular")), "L3");
  EXPECT_EQ(cache_text(point("a", {"L3"}, "copy", "non-temporal")), "L3") << "it reads as well";
}

TEST(CacheLevel, AWarningNamesThePoints) {
  RunReport report;
  report.cases = {point("far", {"memory"})};
  EXPECT_TRUE(cache_warnings(report).empty());
  report.cases.push_back(point("near", {"L3"}));
  ASSERT_EQ(cache_warnings(report).size(), 1U);
  EXPECT_EQ(cache_warnings(report)[0].where, "near");
  EXPECT_THAT(cache_warnings(report)[0].text, StartsWith("a figure of L3, not of memory"));
}

}  // namespace

}  // namespace numatlas
