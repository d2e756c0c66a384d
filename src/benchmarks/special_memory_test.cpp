// Machines whose nodes without CPUs are not all slow and far: HBM, and memories of GPUs.
#include <gmock/gmock.h>

#include <algorithm>
#include <string>
#include <vector>

#include "benchmarks/parse.h"
#include "benchmarks/test_plan.h"

namespace numatlas {
namespace {

/// Two sockets, each with a node with CPUs (0 and 2) and one without, of this kind (1 and 3).
Machine machine_with(const char* kind) {
  auto machine = read_recorded_machine(
      "package:2 [numa(memory=64GiB)] [numa(memory=16GiB)] l3:1(size=104857600) core:2 pu:1");
  EXPECT_TRUE(machine);
  for (NumaNode& node : machine->nodes) {
    node.kind = node.cpus.empty() ? kind : "dram";
    for (const NumaNode& other : machine->nodes) {
      const bool near = node.id.value / 2 == other.id.value / 2;
      node.distance[other.id.value] = node.id == other.id ? 10 : near ? 13 : 23;
    }
  }
  return *machine;
}

/// The nodes that the flows of a plan name for their memory.
NodeSet nodes_of(const testing::Plan& plan) {
  NodeSet nodes;
  for (const PlannedCase& planned : plan) {
    for (const Flow& flow : planned.scenario.flows) {
      nodes = nodes | flow.region.placement.node_set();
      if (flow.source) nodes = nodes | flow.source->placement.node_set();
    }
  }
  return nodes;
}

TEST(SpecialMemory, OfGpusIsForThoseWhoNameIt) {
  const Machine machine = machine_with("gpu");
  const NodeSet of_gpus{NodeId{1}, NodeId{3}}, of_cpus{NodeId{0}, NodeId{2}};
  ASSERT_EQ(machine.ordinary_memory_nodes(), of_cpus);
  for (const auto& benchmark : all_benchmarks()) {
    const auto plan = testing::plan_on(benchmark.name, benchmark.survey(machine).words, machine);
    if (!plan) continue;  // transfer: no GPU here
    EXPECT_TRUE((nodes_of(*plan) & of_gpus).empty()) << benchmark.name;
  }
  for (const char* command : {"matrix", "copy", "migrate", "weights", "loaded"})
    EXPECT_EQ(nodes_of(testing::sure_plan(command, {}, machine)), of_cpus) << command;
  const auto named = [&](const char* command, testing::Words words) {
    return nodes_of(testing::sure_plan(command, words, machine)).contains(NodeId{1});
  };
  EXPECT_TRUE(named("matrix", {"--nodes", "0,1"}));
  EXPECT_TRUE(named("copy", testing::typed("--from bind:0 --to bind:1")));
  EXPECT_TRUE(named("migrate", testing::typed("--from 0 --to 1")));
  EXPECT_TRUE(named("weights", {"--nodes", "0,1"}));
  EXPECT_TRUE(named("loaded", {"--pairs", "0:1"}));
  EXPECT_TRUE(named("faults", {"--nodes", "1"}));
}

TEST(SpecialMemory, WeightsAreOfTwoKindsByTheCpusNearBoth) {
  const testing::Plan plan = testing::sure_plan("weights", {}, machine_with("hbm"));
  EXPECT_THAT(nodes_of(plan), (NodeSet{NodeId{0}, NodeId{1}}));
  EXPECT_EQ(plan.front().scenario.flows.size(), 2U) << "the CPUs of node 0";
}

TEST(SpecialMemory, SurveysAreSoonerPastTheCachesOfCpusThanPastThoseBesideTheMemory) {
  Machine machine = machine_with("cxl");
  const auto size = [&](const char* command) {
    const auto words = parse_run(command, {})->benchmark.survey(machine).words;
    return *(std::ranges::find(words, "--size") + 1);
  };
  EXPECT_EQ(size("touch"), "400MiB");
  EXPECT_EQ(size("weights"), "200MiB");
  for (NumaNode& node : machine.nodes) {
    if (!node.cpus.empty()) node.side_caches = {{1, Bytes{8 * gib}, {}}};
  }
  EXPECT_EQ(size("touch"), "16GiB");
}

}  // namespace
}  // namespace numatlas
