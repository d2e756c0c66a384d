#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "benchmarks/parse.h"
#include "benchmarks/test_plan.h"
#include "machine/source.h"
#include "memory/source.h"
#include "run/metrics.h"

namespace numatlas::copy_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using Words = std::vector<std::string>;

/// Nodes 0 and 1 with two CPUs each, node 2 without any, nearer to node 1.
Machine machine_with_far_node() {
  auto machine =
      read_recorded_machine("numa:2(memory=34359738368) l3:1(size=16777216) core:2 pu:1");
  EXPECT_TRUE(machine);
  NumaNode far;
  far.id = NodeId{2};
  far.memory_total = far.memory_free = Bytes{32 * gib};
  machine->nodes[0].distance = {{0, 10}, {1, 20}, {2, 40}};
  machine->nodes[1].distance = {{0, 20}, {1, 10}, {2, 30}};
  machine->nodes.push_back(far);
  machine->allowance.memory_nodes.insert(far.id);
  return *machine;
}

/// Workers on the machine's CPUs in turn; `ranks` of them, each with as many.
Layout layout_on(const Machine& machine, int workers, int ranks = 1) {
  PlacementSpec spec;
  spec.threads = workers;
  const auto placed = resolve_placement(spec, machine, TaskContext{}, workers);
  EXPECT_TRUE(placed);
  Layout layout;
  layout.hosts = {"alpha"};
  for (int i = 0; i < workers; ++i) {
    layout.workers.push_back({i * ranks / workers, 0, (*placed)[static_cast<std::size_t>(i)]});
  }
  return layout;
}

Expected<std::vector<PlannedCase>> plan(Words words, int workers = 4, int ranks = 1) {
  words.push_back("--dry-run");
  const auto run = parse_run("copy", words);
  if (!run) return fail(run.error());
  const std::vector<Machine> machines{machine_with_far_node()};
  const Layout layout = layout_on(machines.front(), workers, ranks);
  return run->benchmark.plan(
      {run->options, layout, machines, testing::pages_of(run->options, machines.front())});
}

struct Team {
  std::vector<int> workers;
  std::string side;
};

/// Who copies, as the plan has it.
Team team(const std::string& from, const std::string& to, const std::string& side, Words words = {},
          int ranks = 1) {
  words.insert(words.end(), {"--from", from, "--to", to, "--side", side, "--size", "4"});
  const auto planned = plan(words, 4, ranks);
  EXPECT_TRUE(planned) << full_text(planned.error());
  Team team;
  for (const Flow& flow : planned->front().scenario.flows) team.workers.push_back(flow.worker);
  team.side = label_of(planned->front().head, "side");
  return team;
}

TEST(CopyTeam, CpusOfTheSideAskedFor) {
  EXPECT_THAT(team("bind:1", "bind:0", "from").workers, ElementsAre(2, 3));
  EXPECT_EQ(team("bind:1", "bind:0", "from").side, "from");
  EXPECT_THAT(team("bind:1", "bind:0", "to").workers, ElementsAre(0, 1));
  EXPECT_EQ(team("bind:1", "bind:0", "to").side, "to");
  EXPECT_THAT(team("interleave:0,1", "bind:0", "from").workers, ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(team("bind:1", "bind:0", "any").workers, ElementsAre(0, 1, 2, 3));
}

TEST(CopyTeam, TheOtherSideForANodeWithoutCpus) {
  EXPECT_THAT(team("bind:2", "bind:0", "from").workers, ElementsAre(0, 1));
  EXPECT_EQ(team("bind:2", "bind:0", "from").side, "to");
  EXPECT_THAT(team("bind:0", "bind:2", "to").workers, ElementsAre(0, 1));
  EXPECT_EQ(team("bind:0", "bind:2", "to").side, "from");
}

TEST(CopyTeam, TheNearestWhereNeitherSideHasCpus) {
  EXPECT_THAT(team("bind:2", "bind:2", "from").workers, ElementsAre(2, 3));
  EXPECT_EQ(team("bind:2", "bind:2", "from").side, "nearest");
}

TEST(CopyTeam, LocalIsEverywhere) {
  EXPECT_THAT(team("local", "bind:0", "from").workers, ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(team("local", "bind:0", "to").workers, ElementsAre(0, 1));
}

TEST(CopyTeam, AtMostSoManyOfEachRank) {
  EXPECT_THAT(team("bind:1", "bind:0", "from", {"--threads", "1"}).workers, ElementsAre(2));
  EXPECT_THAT(team("bind:1", "bind:0", "any", {"--threads", "1"}, 2).workers, ElementsAre(0, 2));
}

TEST(CopyPlan, AllPairsOfNodesWithMemory) {
  const auto planned = plan({"--size", "4"});
  ASSERT_TRUE(planned) << full_text(planned.error());
  ASSERT_EQ(planned->size(), 9U);
  const PlannedCase& last = planned->at(7);  // from 2 to 1
  EXPECT_EQ(last.scenario.name, "bind:2 -> bind:1 4MiB base");
  EXPECT_EQ(last.head.labels,
            (std::vector<std::pair<std::string, std::string>>{
                {"from", "bind:2"}, {"to", "bind:1"}, {"side", "to"}, {"cpu_nodes", "1"}}));
  EXPECT_TRUE(last.optional);
  ASSERT_EQ(last.scenario.flows.size(), 2U);
  const Flow& flow = last.scenario.flows[0];
  EXPECT_EQ(flow.worker, 2);
  EXPECT_EQ(name_of(flow.kernel), "copy");
  EXPECT_EQ(flow.region.placement.text(), "bind:1");
  EXPECT_EQ(flow.region.bytes, Bytes{4 * mib});
  ASSERT_TRUE(flow.source);
  EXPECT_EQ(flow.source->placement.text(), "bind:2");
  EXPECT_EQ(flow.source->bytes, Bytes{4 * mib});
}

TEST(CopyPlan, OnePairWithEachNumberOfThreadsAndKindOfStores) {
  const auto planned = plan({"--from", "bind:0", "--to", "interleave:1,2", "--threads", "1,2",
                             "--stores", "regular,non-temporal"});
  if (!planned) GTEST_SKIP() << full_text(planned.error());  // no such stores here
  ASSERT_EQ(planned->size(), 4U);
  EXPECT_FALSE(planned->front().optional);
  std::vector<std::size_t> flows;
  for (const auto& point : *planned) flows.push_back(point.scenario.flows.size());
  EXPECT_THAT(flows, ElementsAre(1, 2, 1, 2));
  EXPECT_EQ(planned->at(3).head.name, "bind:0 -> interleave:1,2 nt 32MiB base 2 threads");
  EXPECT_EQ(planned->at(3).head.stores, "non-temporal");
  EXPECT_EQ(planned->at(3).head.labels.back().second, "2");
}

TEST(CopyPlan, MoreThreadsThanTheSideHas) {
  const auto planned = plan({"--from", "bind:0", "--to", "bind:1", "--threads", "2,3"});
  ASSERT_TRUE(planned);
  EXPECT_FALSE(planned->at(0).skip);
  EXPECT_THAT(full_text(planned->at(1).skip.value()),
              HasSubstr("--threads: 3 asked for; of the workers 2 are on CPUs of node 0"));
  EXPECT_TRUE(planned->at(1).scenario.flows.empty());
}

TEST(CopyPlan, IsPastTheCachesOfItsOwnWorkersAndNodes) {
  const auto size = [](const Words& words) { return plan(words)->front().head.size; };
  // Four times the cache of 16 MiB of node 0, for two workers or one.
  EXPECT_EQ(size({"--from", "bind:0", "--to", "bind:0"}), Bytes{32 * mib});
  EXPECT_EQ(size({"--from", "bind:0", "--to", "bind:0", "--threads", "1"}), Bytes{64 * mib});
  EXPECT_EQ(size({"--from", "bind:0", "--to", "bind:2"}), Bytes{32 * mib});
  EXPECT_GT(size({"--from", "local", "--to", "local"}), Bytes{});
}

TEST(CopyPlan, OfLocalMemoryBesideAMemorySideCache) {
  const auto run = parse_run("copy", {"--from", "local", "--to", "local", "--dry-run"});
  ASSERT_TRUE(run);
  std::vector<Machine> machines{machine_with_far_node()};
  for (NumaNode& node : machines.front().nodes) node.side_caches.emplace_back().size = Bytes{gib};
  const Layout layout = layout_on(machines.front(), 4);
  const auto planned = run->benchmark.plan({run->options, layout, machines, {PageKind::base}});
  ASSERT_TRUE(planned) << full_text(planned.error());
  EXPECT_GE(planned->front().head.size, Bytes{gib}) << "two workers a node, twice its cache";
}

TEST(CopyPlan, SerialKeepsAPointThatIsSkipped) {
  const auto planned = plan({"--from", "bind:0", "--to", "bind:1", "--threads", "2,3", "--serial"});
  ASSERT_TRUE(planned);
  ASSERT_EQ(planned->size(), 3U);
  EXPECT_EQ(planned->at(1).number, 0);
  EXPECT_EQ(planned->at(2).number, 1);
  EXPECT_TRUE(planned->at(2).skip);
}

TEST(CopyPlan, ErrorsNameTheirOption) {
  const auto message = [](const Words& words) {
    const auto planned = plan(words);
    return planned ? "planned" : full_text(planned.error());
  };
  EXPECT_THAT(message({"--from", "bind:7"}), HasSubstr("--from: this machine has no NUMA node 7"));
  EXPECT_THAT(message({"--to", "bind:7"}), HasSubstr("--to: this machine has no NUMA node 7"));
  EXPECT_THAT(message({"--to", "auto"}), HasSubstr("--to: 'auto' differs from worker to worker"));
  EXPECT_THAT(message({"--memory", "bind:0"}),
              HasSubstr("--memory: a copy requires a source and a target"));
}

/// A worker that copied these bytes (read and written) in each stretch of one second in all.
FlowResult copied(int worker, double bytes) {
  FlowResult flow;
  flow.worker = worker;
  flow.kernel = "copy";
  flow.together = 1;
  flow.stretch_bytes.assign(20, bytes / 20);
  flow.figures = {{"bandwidth", "B/s", bytes, std::nullopt},
                  {"traffic", "B/s", bytes * 1.5, std::nullopt}};
  flow.residency.pages_by_node = {{1, 10}};
  flow.source_residency = Residency{};
  flow.source_residency->pages_by_node = {{0, 10}};
  return flow;
}

RunReport report_of(const std::vector<std::pair<std::string, std::string>>& pairs) {
  RunReport report;
  report.hosts = {"alpha"};
  report.isa = "AVX9";
  report.workers.resize(2);
  report.complete = true;
  for (const auto& [from, to] : pairs) {
    Case one;
    one.name = from + " -> " + to;
    one.pages = "base";
    one.size = Bytes{mib};
    one.kernel = "copy";
    one.stores = "regular";
    one.labels = {
        {"from", from}, {"to", to}, {"side", from == to ? "nearest" : "from"}, {"cpu_nodes", "0"}};
    one.flows = {copied(0, 6e9), copied(1, 10e9)};
    one.figures = sums_of(one, report);
    for (Figure& metric : parse_run("copy", {})->benchmark.figures.totals(one, {}))
      one.figures.push_back(metric);
    one.groups = medians_of(one, report);
    report.cases.push_back(one);
  }
  return report;
}

TEST(CopyTotals, BytesCountOnce) {
  const Case one = report_of({{"bind:0", "bind:1"}}).cases.front();
  const Figure* rate = find_total(one, "copy_rate");
  ASSERT_NE(rate, nullptr);
  EXPECT_DOUBLE_EQ(*rate->value(), 8e9);
  EXPECT_DOUBLE_EQ(*find_total(one, "bandwidth_sum")->value(), 16e9);
  EXPECT_EQ(rate->estimate->n, 20U);
  EXPECT_TRUE(parse_run("copy", {})->benchmark.figures.totals({}, {}).empty());
}

std::string table_of(const RunReport& report) {
  return testing::tables_of(parse_run("copy", {})->benchmark, report);
}

TEST(CopyTable, ARowForOnePair) {
  const std::string text = table_of(report_of({{"bind:0", "bind:1"}}));
  EXPECT_THAT(text,
              HasSubstr("bind:0  bind:1  0 -> 1      0             from    regular  1 MiB  base"));
  EXPECT_THAT(text, HasSubstr("each byte counts once"));
  EXPECT_THAT(text, HasSubstr("8.00  <0.1 %  24.00           4.00\n"));
}

TEST(CopyTable, AMatrixForSeveralWithTheCpusMarked) {
  RunReport report = report_of(
      {{"bind:0", "bind:0"}, {"bind:0", "bind:1"}, {"bind:1", "bind:0"}, {"bind:1", "bind:1"}});
  report.cases[2].flows.clear();
  report.cases[2].figures.clear();
  report.cases[2].status = Status::skipped;
  report.cases[2].reason = "no room";
  const std::string text = table_of(report);
  EXPECT_THAT(text, HasSubstr("bind:0  8.00 ±<0.1 % nearest     8.00 ±<0.1 % from\n"));
  EXPECT_THAT(text, HasSubstr("bind:1                     -  8.00 ±<0.1 % nearest\n"));
  EXPECT_THAT(text, HasSubstr("nearest: copied by CPUs, those nearest to the node\n"));
  EXPECT_THAT(text, HasSubstr("bind:1 -> bind:0: skipped: no room"));
}

}  // namespace
}  // namespace numatlas::copy_test
