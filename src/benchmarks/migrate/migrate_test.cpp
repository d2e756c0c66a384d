#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "base/test_data.h"
#include "benchmarks/test_plan.h"
#include "record/labels.h"

namespace numatlas::migrate_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr const char* migrate_machine =
    "numa:2(memory=34359738368) l3:1(size=16777216) core:2 pu:1";

TEST(MigratePlan, PagesComeFromMemoryAndNotFromALargeCache) {
  const auto plan = testing::sure_plan(
      "migrate", {}, "numa:2(memory=68719476736) l3:1(size=503316480) core:2 pu:1");
  for (const PlannedCase& planned : plan)
    EXPECT_EQ(planned.head.size, Bytes{1920 * mib}) << planned.head.name;
}

TEST(MigratePlan, ThreadsUpToTheCpus) {
  const testing::Words words{"--from", "0", "--to", "1", "--beside", "none", "--threads", "1,4,9"};
  EXPECT_THAT(testing::names_and_skips_of(testing::sure_plan("migrate", words, migrate_machine)),
              ElementsAre("move base 0 -> 1", "move base 0 -> 1 4 threads",
                          "move base 0 -> 1 9 threads skipped"));
}

TEST(MigratePlan, OneNodeHasNowhereToGo) {
  const auto one = testing::plan_on("migrate", {}, "numa:1(memory=34359738368) core:2 pu:1");
  ASSERT_FALSE(one);
  EXPECT_EQ(one.error().kind, ErrorKind::unavailable);
  EXPECT_THAT(full_text(one.error()), HasSubstr("only one node has memory"));
  EXPECT_THAT(full_hint(one.error()), HasSubstr("several NUMA nodes"));
  const auto grace =
      testing::plan_on("migrate", {}, test_data() + "/topologies/grace-gpu-memory.json");
  ASSERT_FALSE(grace);
  EXPECT_THAT(full_text(grace.error()), HasSubstr("besides GPUs' memory"));
  const auto same = testing::plan_on("migrate", testing::typed("--from 1 --to 1"), migrate_machine);
  ASSERT_FALSE(same);
  EXPECT_EQ(same.error().kind, ErrorKind::usage);
  const auto alone = testing::sure_plan(
      "migrate", testing::typed("--cpus 0 --from 0 --to 1 --beside read"), migrate_machine);
  ASSERT_TRUE(alone.back().skip);
  EXPECT_THAT(alone.back().skip->message, HasSubstr("a second CPU"));
}

Case reader_at(const std::string& run, double seconds) {
  Case one;
  one.name = run;
  one.kernel = "chase";
  one.pages = "base";
  one.labels = {{"run", run},     {"from", "0"},    {"to", "1"},
                {"threads", "1"}, {"page", "4KiB"}, {"reader", "chase"}};
  FlowResult flow;
  flow.stop = "converged";
  flow.figures = {{"latency", "s", seconds, std::nullopt}};
  one.flows = {flow};
  return one;
}

TEST(MigrateReaders, AreComparedWithTheMiddleOfBothNodes) {
  RunReport report;
  report.hosts = {"alpha"};
  report.complete = true;
  report.workers = {{0, 0, 0, {CpuId{0}}, NodeId{0}, ""}};
  report.cases = {reader_at("rest before", 100e-9), reader_at("rest after", 200e-9),
                  reader_at("beside", 300e-9)};
  parse_run("migrate", {})->benchmark.figures.conclude(report);
  const auto times = estimate_of(report.cases[2], "reader_times");
  ASSERT_TRUE(times);
  EXPECT_DOUBLE_EQ(times->value, 2);
  EXPECT_FALSE(estimate_of(report.cases[0], "reader_times"));
  const auto facts = parse_run("migrate", {})->benchmark.shown.facts(report);
  ASSERT_EQ(facts.size(), 1U);
  EXPECT_EQ(facts[0].key, "migration_reader_times");
  EXPECT_EQ(facts[0].words,
            "a reader of pages that are moved, against the same at rest, from node "
            "0 to node 1 (base pages)");
}

}  // namespace
}  // namespace numatlas::migrate_test
