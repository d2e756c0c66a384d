#include <cstddef>
#include <string>
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

TEST(CopyTeam, LocalIsEverywhere) {
  EXPECT_THAT(team("local", "bind:0", "from").workers, ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(team("local", "bind:0", "to").workers, ElementsAre(0, 1));
}

TEST(CopyTeam, AtMostSoManyOfEachRank) {
  EXPECT_THAT(team("bind:1", "bind:0", "from", {"--threads", "1"}).workers, ElementsAre(2));
  EXPECT_THAT(team("bind:1", "bind:0", "any", {"--threads", "1"}, 2).workers, ElementsAre(0, 2));
}

TEST(CopyPlan, IsPastTheCachesOfItsOwnWorkersAndNodes) {
  const auto size = [](const Words& words) { return plan(words)->front().head.size; };
  // Four times the cache of 16 MiB of node 0, for two workers or one.
  EXPECT_EQ(size(testing::typed("--from bind:0 --to bind:0")), Bytes{32 * mib});
  EXPECT_EQ(size(testing::typed("--from bind:0 --to bind:0 --threads 1")), Bytes{64 * mib});
  EXPECT_EQ(size(testing::typed("--from bind:0 --to bind:2")), Bytes{32 * mib});
  EXPECT_GT(size(testing::typed("--from local --to local")), Bytes{});
}

TEST(CopyPlan, OfLocalMemoryBesideAMemorySideCache) {
  const auto run = parse_run("copy", testing::typed("--from local --to local --dry-run"));
  ASSERT_TRUE(run);
  std::vector<Machine> machines{machine_with_far_node()};
  for (NumaNode& node : machines.front().nodes) node.side_caches.emplace_back().size = Bytes{gib};
  const Layout layout = layout_on(machines.front(), 4);
  const auto planned = run->benchmark.plan({run->options, layout, machines, {PageKind::base}});
  ASSERT_TRUE(planned) << full_text(planned.error());
  EXPECT_GE(planned->front().head.size, Bytes{gib}) << "two workers a node, twice its cache";
}

TEST(CopyPlan, SerialKeepsAPointThatIsSkipped) {
  const auto planned = plan(testing::typed("--from bind:0 --to bind:1 --threads 2,3 --serial"));
  ASSERT_TRUE(planned);
  ASSERT_EQ(planned->size(), 3U);
  EXPECT_EQ(planned->at(1).number, 0);
  EXPECT_EQ(planned->at(2).number, 1);
  EXPECT_TRUE(planned->at(2).skip);
}

}  // namespace
}  // namespace numatlas::copy_test
