#include "run/pilots.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/test_data.h"
#include "benchmarks/test_plan.h"
#include "engine/simulated/test_noise.h"
#include "run/runner.h"

namespace numatlas {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr const char* two_nodes = "numa:2(memory=64GiB) core:2 pu:1";

std::vector<PlannedPilot> pilots_on(const std::string& command, const testing::Words& words,
                                    const std::string& machine = two_nodes) {
  const auto prepared = testing::prepare(command, words, machine);
  EXPECT_TRUE(prepared) << full_text(prepared.error());
  Setup setup;
  setup.machines = prepared->machines;
  setup.machine = setup.machines.front();
  setup.layout = prepared->layout;
  setup.plan = *prepared->run.benchmark.plan(prepared->input());
  setup.skips.resize(setup.plan.size());
  return plan_pilots(setup, prepared->run.options, {});
}

std::vector<std::string> keys_on(const std::string& command, const testing::Words& words,
                                 const std::string& machine = two_nodes) {
  std::vector<std::string> keys;
  for (const PlannedPilot& pilot : pilots_on(command, words, machine))
    keys.push_back(pilot.head.key);
  return keys;
}

TEST(PilotPlan, IsOfWhatTheRunMeasures) {
  EXPECT_THAT(keys_on("bandwidth", {"--time", "5s"}), ElementsAre("pilot_bandwidth"));
  EXPECT_THAT(keys_on("latency", {"--time", "20s"}), ElementsAre("pilot_latency"));
  EXPECT_THAT(keys_on("matrix", {"--time", "20s"}),
              ElementsAre("pilot_bandwidth", "pilot_latency"));
  EXPECT_THAT(keys_on("cores", {"--time", "5s"}), IsEmpty());
  EXPECT_THAT(
      keys_on("transfer", {"--time", "5s"}, test_data() + "/topologies/two-sockets-four-gpus.json"),
      IsEmpty());
}

TEST(PilotPlan, HasAllCpusReadAndOneOfAHostChase) {
  const auto read = pilots_on("bandwidth", {"--time", "5s"});
  ASSERT_THAT(read, SizeIs(1));
  EXPECT_THAT(read[0].scenario.flows, SizeIs(4));
  const auto chase = pilots_on("latency", {"--time", "20s", "--cpus", "0-3", "--threads", "4"});
  ASSERT_THAT(chase, SizeIs(1));
  EXPECT_THAT(chase[0].scenario.flows, SizeIs(1));
}

TEST(PilotPlan, IsEmptyWhereItWouldBeTooMuchOfTheRun) {
  EXPECT_THAT(keys_on("bandwidth", {"--time", "50ms", "--kernels", "read"}), IsEmpty());
  EXPECT_THAT(keys_on("bandwidth", {"--time", "5s", "--visits", "1"}), IsEmpty());
  EXPECT_THAT(keys_on("bandwidth", {"--time", "5s"}, "numa:1(memory=256MiB) core:4 pu:1"),
              IsEmpty());
}

TEST(PilotPlan, HasHalfTheSizeWhereAllOfItIsTooMuch) {
  const std::string large_cache =
      "numa:1(memory=32GiB) l3:1(size=503316480) l2:1(size=2097152) core:2 pu:1";
  const auto size_of = [&](const char* time) {
    const auto read = pilots_on("bandwidth", {"--kernels", "read", "--time", time}, large_cache);
    return read.empty() ? Bytes{} : read[0].head.size;
  };
  EXPECT_EQ(size_of("20s"), Bytes{960 * mib}) << "four times the cache, by two workers";
  EXPECT_EQ(size_of("5s"), Bytes{480 * mib});
  EXPECT_EQ(size_of("1s"), Bytes{}) << "none: preparing it would take too much of the run";
}

PilotSeries series_of(Unit unit, const std::vector<double>& values) {
  PilotSeries pilot;
  pilot.unit = unit;
  pilot.values = values;
  for (std::size_t i = 0; i < values.size(); ++i) {
    pilot.start.push_back(static_cast<double>(i));
    pilot.end.push_back(static_cast<double>(i) + 0.1);
  }
  return pilot;
}

TEST(PilotAround, IsTheMeanOfTheOnesBeforeAndAfter) {
  const PilotSeries pilot = series_of("B/s", {10, 20, 40});
  EXPECT_EQ(pilot_around(pilot, 0.2, 0.9), 15);
  EXPECT_EQ(pilot_around(pilot, 0.2, 1.5), 25) << "the visit took longer than from one to the next";
  EXPECT_EQ(pilot_around(pilot, 2.5, 3), 40) << "the run ended";
  EXPECT_EQ(pilot_around(series_of("B/s", {}), 0, 1), std::nullopt);
}

/// A machine that reads at half its speed in some visits, and a case that follows it.
Case moody_case(Unit unit, const std::string& level) {
  Case result;
  FlowResult flow;
  flow.kernel = "copy";
  flow.level = level;
  result.flows.push_back(flow);
  result.visits.emplace();
  result.visits->figures.push_back({"bandwidth", unit, {5, 10, 5, 10, 5}, 10});
  return result;
}

TEST(RelateToPilots, TakesOutWhatTheWholeMachineDid) {
  PilotSeries pilot = series_of("B/s", {10, 10, 20, 20, 10, 10, 20, 20, 10, 10});
  std::vector<std::pair<double, double>> times;
  for (int i = 0; i < 5; ++i) times.emplace_back(2 * i + 0.2, 2 * i + 0.9);
  Case result = moody_case("B/s", "memory");
  relate_to_pilots(result, times, {pilot});
  const auto& relative = result.visits->figures.front().relative;
  ASSERT_TRUE(relative);
  EXPECT_DOUBLE_EQ(relative->value, 0.5);
  EXPECT_DOUBLE_EQ(*relative->low, 0.5);
  EXPECT_EQ(relative->method, Method::visits);
  EXPECT_EQ(relative->n, 5U);
}

TEST(RelateToPilots, LeavesOutWhatNoPilotGoesWith) {
  const std::vector<std::pair<double, double>> times(5, {0.2, 0.9});
  const auto related = [&](Case result, const PilotSeries& pilot) {
    relate_to_pilots(result, times, {pilot});
    return result.visits->figures.front().relative.has_value();
  };
  const PilotSeries pilot = series_of("B/s", {10, 10});
  EXPECT_TRUE(related(moody_case("B/s", "memory"), pilot));
  EXPECT_FALSE(related(moody_case("B/s", "L2"), pilot)) << "in a cache";
  EXPECT_FALSE(related(moody_case("s", "memory"), pilot));
  EXPECT_FALSE(related(moody_case("s", "memory"), series_of("s", {1, 1}))) << "no latency";
  EXPECT_TRUE(related(moody_case("B/s", "-"), pilot));
  Case of_gpu = moody_case("B/s", "-");
  of_gpu.flows.front().gpu.emplace();
  EXPECT_FALSE(related(of_gpu, pilot));
  Case few = moody_case("B/s", "memory");
  few.visits->figures.front().values.resize(4);
  EXPECT_FALSE(related(few, pilot));
}

TEST(RunWithPilots, FollowsASimulatedMachine) {
  auto parsed = parse_run("bandwidth", {"--machine", "numa:1(memory=64GiB) core:2 pu:1", "--engine",
                                        "null", "--kernels", "copy", "--size", "256MiB", "--visits",
                                        "10", "--time", "5s", "--quiet"});
  ASSERT_TRUE(parsed) << full_text(parsed.error());
  parsed->options.noise = testing::two_speeds(1.5e9, 1.5e9, 0.5);
  RunHooks hooks;
  hooks.table = [](const RunReport&) { return std::string(); };
  const auto comm = make_single_comm();
  const auto report = run_benchmark(parsed->benchmark, parsed->options, *comm, hooks);
  ASSERT_TRUE(report) << full_text(report.error());
  ASSERT_THAT(report->pilots, SizeIs(1));
  const PilotSeries& pilot = report->pilots.front();
  EXPECT_GE(pilot.values.size(), 11U) << "one before each visit, and one at the end";
  const auto [least, most] = std::minmax_element(pilot.values.begin(), pilot.values.end());
  EXPECT_NEAR(*least / *most, 0.5, 0.02) << "both speeds are seen";
  const VisitValues& figure = report->cases.front().visits->figures.front();
  ASSERT_TRUE(figure.relative);
  const auto relative = half_width(*figure.relative);
  const auto absolute =
      half_width(*find_figure(report->cases.front().flows.front(), "bandwidth")->estimate);
  ASSERT_TRUE(relative && absolute);
  EXPECT_LT(*relative, *absolute) << "known better than the figure itself";
  RunHooks without = hooks;
  without.pilots = false;
  const auto plain = run_benchmark(parsed->benchmark, parsed->options, *comm, without);
  ASSERT_TRUE(plain);
  EXPECT_THAT(plain->pilots, IsEmpty());
}

}  // namespace
}  // namespace numatlas
