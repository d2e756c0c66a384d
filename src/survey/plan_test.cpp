#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <algorithm>
#include <chrono>
#include <numeric>
#include <set>
#include <string>

#include "base/test_data.h"
#include "benchmarks/parse.h"
#include "comm/comm.h"
#include "machine/source.h"
#include "run/estimate_time.h"
#include "run/setup.h"
#include "survey/plan.h"

namespace numatlas {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

const std::string recorded = test_data() + "/topologies/";
const std::string many_cpus =
    "package:2 group:4 [numa(memory=128GiB)] l3:2(size=32MiB) core:8 pu:2";

Expected<std::vector<SurveyItem>> planned(SurveyOptions options, const std::string& machine) {
  options.machine = machine;
  options.dry_run = true;
  const auto read = read_recorded_machine(machine);
  EXPECT_TRUE(read) << machine;
  const auto comm = make_single_comm();
  return plan_survey(options, *read, *comm);
}

const SurveyItem* item_named(const std::vector<SurveyItem>& items, const std::string& name) {
  const auto found = std::find_if(items.begin(), items.end(),
                                  [&](const SurveyItem& item) { return item.name == name; });
  return found == items.end() ? nullptr : &*found;
}

TEST(SurveyPlan, SharesAddUpToTheTime) {
  const auto items = planned({}, recorded + "guest-four-nodes.json");
  ASSERT_TRUE(items) << full_text(items.error());
  double seconds = 0;
  for (const SurveyItem& item : *items) {
    seconds += item.share;
    EXPECT_EQ(item.share > 0, item.skip.empty()) << item.name;
  }
  EXPECT_NEAR(seconds, 60, 1e-9);
  EXPECT_EQ(items->front().name, "matrix") << "what is worth most comes first";
  EXPECT_THAT(item_named(*items, "transfer")->skip, HasSubstr("GPU"));
  EXPECT_EQ(item_named(*items, "stream"), nullptr);
}

TEST(SurveyPlan, MemorySideCachesWithinTheTime) {
  auto machine =
      read_recorded_machine("numa:2(memory=549755813888) l3:1(size=104857600) core:4 pu:1");
  ASSERT_TRUE(machine);
  for (NumaNode& node : machine->nodes) node.side_caches = {{1, Bytes{64 * gib}, {}}};
  const auto comm = make_single_comm();
  const auto within = [&](int seconds) {
    SurveyOptions options;
    options.only = {"latency"};
    options.time = std::chrono::seconds(seconds);
    options.dry_run = true;
    const auto items = plan_survey(options, *machine, *comm);
    EXPECT_TRUE(items) << full_text(items.error());
    return items ? items->front() : SurveyItem{};
  };
  const SurveyItem soon = within(60), late = within(36000);
  EXPECT_THAT(soon.words, ::testing::Contains("--ignore-side-caches"));
  EXPECT_THAT(soon.left_out, HasSubstr("memory past the memory-side caches"));
  EXPECT_THAT(late.words, Not(::testing::Contains("--ignore-side-caches")));
  EXPECT_EQ(late.left_out, "");
}

TEST(SurveyPlan, AThousandCpusArePlannedWithinTheTime) {
  const auto items = planned({}, "package:8 [numa(memory=512GiB)] l3:8(size=32MiB) core:8 pu:2");
  ASSERT_TRUE(items) << full_text(items.error());
  double least = 0;
  for (const SurveyItem& item : *items) {
    if (item.skip.empty()) least += item.least_time;
  }
  EXPECT_LE(least, 60);
  EXPECT_NE(item_named(*items, "matrix")->left_out, "") << "8 x 8 x 5 cells have no room";
}

TEST(SurveyPlan, MoreTimeLeavesLessOut) {
  SurveyOptions options;
  options.only = {"matrix"};
  options.time = std::chrono::seconds(1);
  const auto little = planned(options, many_cpus);
  options.time = std::chrono::hours(1);
  const auto much = planned(options, many_cpus);
  ASSERT_TRUE(little && much);
  EXPECT_LT(little->front().least_time, much->front().least_time);
  EXPECT_NE(little->front().left_out, "");
  EXPECT_EQ(much->front().left_out, "");
}

TEST(SurveyPlan, EveryPartCanBePlannedAndThinned) {
  std::set<std::string> axes, thinned_axes;
  for (const char* file :
       {"guest-four-nodes.json", "cxl-tiers.json", "knl-flat.json", "cpus-without-memory.json",
        "two-sockets-four-gpus.json", "grace-gpu-memory.json", "cpuset-across-nodes.json"}) {
    const auto machine = read_recorded_machine(recorded + file);
    ASSERT_TRUE(machine) << file;
    for (const auto& benchmark : all_benchmarks()) {
      std::vector<SurveyPart> parts{benchmark.survey(*machine)};
      if (benchmark.by_gpus) parts.push_back(benchmark.by_gpus->survey(*machine));
      for (const auto& [question, survey] : benchmark.more_surveys)
        parts.push_back(survey(*machine));
      for (const SurveyPart& part : parts) {
        if (part.worth == 0) continue;
        SurveyOptions options;
        options.machine = recorded + file;
        options.dry_run = true;
        SurveyItem item;
        item.benchmark = benchmark.name;
        item.words = part.words;
        const auto parsed = parse_item(item, options, 10);
        ASSERT_TRUE(parsed) << file << ": " << full_text(parsed.error());
        EXPECT_TRUE(parsed->options.time_of_all);
        const auto comm = make_single_comm();
        const auto setup = set_up(parsed->benchmark, parsed->options, *comm, &*machine);
        EXPECT_TRUE(setup || setup.error().kind != ErrorKind::usage)
            << file << ": " << benchmark.name << ": " << full_text(setup.error());
        if (!setup) continue;
        for (const ThinnedAxis& axis : part.thins) {
          const Thinned rest =
              thinned(setup->plan, least_times_of(parsed->benchmark, *setup), {axis}, 0);
          EXPECT_GT(rest.seconds, 0) << file << ": " << benchmark.name << " " << axis.what;
          const std::string name = benchmark.name + " " + axis.what;
          axes.insert(name);
          if (!rest.text.empty()) thinned_axes.insert(name);
        }
      }
    }
  }
  EXPECT_EQ(thinned_axes, axes) << "each has cases with its labels on one of the machines";
}

TEST(SurveyPlan, NamesAndTimesThatAreWrong) {
  SurveyOptions options;
  options.only = {"matrix", "latency"};
  options.time = std::chrono::milliseconds(900);
  auto items = planned(options, "numa:1 core:2 pu:1");
  ASSERT_FALSE(items);
  EXPECT_THAT(full_text(items.error()), HasSubstr("at least 1 s"));
}

using ::testing::DoubleEq;
using ::testing::ElementsAre;

TEST(Share, IsByWorthAndNothingIsLeft) {
  EXPECT_THAT(shares_of(60, {4, 0, 2}), ElementsAre(DoubleEq(40), DoubleEq(0), DoubleEq(20)));
  const auto shares = shares_of(17, {4, 3, 3, 2, 1});
  EXPECT_DOUBLE_EQ(std::accumulate(shares.begin(), shares.end(), 0.0), 17);
}

TEST(Share, OfNothingIsNothing) {
  EXPECT_TRUE(shares_of(60, {}).empty());
  EXPECT_THAT(shares_of(60, {0, 0}), ElementsAre(DoubleEq(0), DoubleEq(0)));
  EXPECT_DOUBLE_EQ(next_share(60, {}), 0);
}

TEST(Share, WhatOneDoesNotUseGoesToThoseAfterIt) {
  // Of 60 s the first of three had 30 and used 10.
  EXPECT_DOUBLE_EQ(next_share(50, {2, 1}), 50.0 * 2 / 3);
  EXPECT_DOUBLE_EQ(next_share(50, {2, 0, 3}), 20);
}

TEST(Share, ThoseAfterOneThatTookTooLongStillMeasureSomething) {
  EXPECT_GT(next_share(-5, {1, 1}), 0);
  EXPECT_LT(next_share(-5, {1, 1}), 1);
}

TEST(KeptShare, IsTheLeastTimeUpToWhatWasPlannedWhereOthersTookTooLong) {
  EXPECT_DOUBLE_EQ(kept_share(5, 3, 1), 5);
  EXPECT_DOUBLE_EQ(kept_share(0.1, 3, 1), 1);
  EXPECT_DOUBLE_EQ(kept_share(0.1, 3, 4), 3);
  EXPECT_FALSE(is_too_little(kept_share(0.1, 3, 4), 4));
  EXPECT_TRUE(is_too_little(kept_share(0.1, 3, 20), 20));
}

TEST(Share, MoreBenchmarksNeedMore) {
  EXPECT_GT(least_survey_time(1), 0);
  EXPECT_DOUBLE_EQ(least_survey_time(6), 6 * least_survey_time(1));
}

}  // namespace

}  // namespace numatlas
