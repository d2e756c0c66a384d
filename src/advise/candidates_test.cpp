#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "advise/candidates.h"
#include "machine/source.h"

namespace numatlas {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

Machine recorded(const std::string& name) {
  const std::string file = std::string(NUMATLAS_TEST_DATA) + "/topologies/" + name;
  return *read_recorded_machine(name.ends_with(".json") || name.ends_with(".xml") ? file : name);
}

Machine with_thp(Machine machine, const std::string& enabled) {
  machine.settings = {{"thp_enabled", enabled, "", ""}};
  return machine;
}

std::vector<Candidate> proposed(const Machine& machine, const ProgramTraits& program, Axis axis,
                                const Atlas* atlas = nullptr) {
  return propose({machine, program, atlas, {axis}, false, {}});
}

std::vector<std::string> names(const std::vector<Candidate>& candidates, bool tried = true) {
  std::vector<std::string> all;
  for (const Candidate& one : candidates)
    if (one.not_tried.empty() == tried) all.push_back(one.name);
  return all;
}

const Candidate& named(const std::vector<Candidate>& candidates, const std::string& name) {
  const auto found = std::find_if(candidates.begin(), candidates.end(),
                                  [&](const Candidate& one) { return one.name == name; });
  EXPECT_NE(found, candidates.end()) << name;
  return *found;
}

ProgramTraits traits(int threads, Bytes memory) {
  ProgramTraits program;
  program.threads = threads;
  program.memory = memory;
  return program;
}

TEST(Candidates, BeginWithTheProgramAsItIs) {
  const auto all = proposed(recorded("numa:1 core:2 pu:1"), {}, Axis::memory);
  EXPECT_THAT(names(all), ElementsAre("as it is"));
  EXPECT_TRUE(all.front().layout.is_empty());
  EXPECT_THAT(named(all, "memory").not_tried, HasSubstr("one node has memory"));
}

TEST(Candidates, OfMemoryAreNodesAndTiersWithRoom) {
  const Machine machine = recorded("cxl-tiers.json");
  const auto all = proposed(machine, traits(4, Bytes{gib}), Axis::memory);
  EXPECT_THAT(names(all), ElementsAre("as it is", "node 1", "interleave:0,1", "bind:2,3",
                                      "prefer:2,3", "bind:4", "prefer:4"));
  EXPECT_EQ(named(all, "node 1").layout.memory->text(), "bind:1");
  EXPECT_EQ(named(all, "node 1").layout.cpus, machine.find_node(NodeId{1})->cpus);
  EXPECT_THAT(named(all, "bind:4").because, HasSubstr("firmware"));
  const auto large = proposed(machine, traits(4, Bytes{4096 * gib}), Axis::memory);
  EXPECT_THAT(names(large), ElementsAre("as it is", "interleave:0,1", "prefer:2,3", "prefer:4"));
  EXPECT_THAT(named(large, "bind:4").not_tried, HasSubstr("it requires 4 TiB, but "));
}

TEST(Candidates, OfMemoryPreferWhatTheAtlasMeasured) {
  Atlas atlas;
  for (const auto& [node, seconds] : {std::pair{"0", 80e-9}, {"1", 120e-9}})
    atlas.facts.push_back({"matrix_latency",
                           {{"cpu_node", node}, {"memory_node", node}},
                           "",
                           "s",
                           Estimate(seconds)});
  const auto all =
      proposed(recorded("cxl-tiers.json"), traits(1, Bytes{gib}), Axis::memory, &atlas);
  EXPECT_THAT(names(all), Contains("node 0"));
  EXPECT_EQ(named(all, "node 0").because, "memory of node 0 from node 0: 80 ns");
}

TEST(Candidates, OfWeightsFollowTheAtlasThenTheFirmware) {
  const Machine machine = recorded("cxl-tiers.json");
  EXPECT_THAT(names(proposed(machine, {}, Axis::weights)),
              ElementsAre("as it is", "weighted:0=11,1=11,2=2,3=2"));
  Atlas atlas;
  atlas.facts = {{"weights_bandwidth", {{"weights", "0=3,2=1"}}, "measured", "B/s", Estimate(1e9)}};
  const auto all = proposed(machine, {}, Axis::weights, &atlas);
  EXPECT_THAT(names(all), ElementsAre("as it is", "weighted:0=3,2=1"));
  EXPECT_EQ(named(all, "weighted:0=3,2=1").because, "measured");
}

TEST(Candidates, OfWeightsThatTheKernelDoesNotHaveAreNotTried) {
  const Machine machine = recorded("cxl-tiers.json");
  const auto all = propose({machine, {}, nullptr, {Axis::weights}, false, [](const auto&) {
                              return std::string("other weights");
                            }});
  EXPECT_THAT(names(all), ElementsAre("as it is"));
  EXPECT_EQ(all.back().not_tried, "other weights");
}

TEST(Candidates, OfPagesFollowTheSystemsSetting) {
  const Machine machine = recorded("numa:1 core:2 pu:1");
  const auto of = [&](const std::string& setting, double huge) {
    ProgramTraits program;
    program.huge_share = huge;
    return names(proposed(with_thp(machine, setting), program, Axis::pages));
  };
  EXPECT_THAT(of("madvise", 0), ElementsAre("as it is", "thp"));
  EXPECT_THAT(of("madvise", 0.9), ElementsAre("as it is", "thp", "base"));
  EXPECT_THAT(of("always", 0), ElementsAre("as it is", "base"));
  EXPECT_THAT(of("never", 0), ElementsAre("as it is"));
}

TEST(Candidates, OfHugePagesNeedAPoolThatHasThem) {
  Machine machine = recorded("numa:1 core:2 pu:1");
  machine.nodes[0].huge_pages = {{Bytes{2 * mib}, 600, 600}};
  EXPECT_THAT(names(proposed(machine, traits(1, Bytes{gib}), Axis::pages)), Contains("2M"));
  const auto large = proposed(machine, traits(1, Bytes{2 * gib}), Axis::pages);
  EXPECT_EQ(named(large, "2M").not_tried,
            "it requires 1024 pages of 2 MiB, but the system's pool has 600");
}

TEST(Candidates, OfCpusDependOnTheNumberOfThreads) {
  const Machine machine = recorded("package:2 numa:1 l3:1 core:4 pu:2");
  const auto of = [&](int threads) {
    return names(proposed(machine, traits(threads, Bytes{gib}), Axis::cpus));
  };
  EXPECT_THAT(of(1), ElementsAre("as it is", "pinned"));
  EXPECT_THAT(of(4), ElementsAre("as it is", "packed", "spread", "one per core"));
  EXPECT_THAT(of(16), ElementsAre("as it is", "one per core"));
  const auto all = proposed(machine, traits(4, Bytes{gib}), Axis::cpus);
  EXPECT_EQ(to_list(*named(all, "packed").layout.cpus), "0-3");
  EXPECT_EQ(to_list(*named(all, "spread").layout.cpus), "0,2,8,10");
  EXPECT_EQ(to_list(*named(all, "one per core").layout.cpus), "0,2,4,6,8,10,12,14");
}

TEST(Candidates, NearAGpuAreForProgramsThatUseOne) {
  const Machine machine = recorded("two-sockets-four-gpus.json");
  ProgramTraits program = traits(4, Bytes{gib});
  const auto has_gpu = HasSubstr("near GPU");
  EXPECT_THAT(names(proposed(machine, program, Axis::cpus)), Not(Contains(has_gpu)));
  program.gpu = true;
  EXPECT_THAT(names(proposed(machine, program, Axis::cpus)), Contains(has_gpu));
}

TEST(Candidates, OfThreadsAreForOpenMp) {
  const Machine machine = recorded("numa:1 core:4 pu:2");
  ProgramTraits program = traits(8, Bytes{gib});
  EXPECT_THAT(names(proposed(machine, program, Axis::threads)), ElementsAre("as it is"));
  program.openmp = true;
  EXPECT_THAT(names(proposed(machine, program, Axis::threads)),
              ElementsAre("as it is", "OMP_PROC_BIND=close", "OMP_PROC_BIND=spread",
                          "OMP_NUM_THREADS=4", "OMP_NUM_THREADS=2"));
}

TEST(Candidates, OfRanksAreListsByRank) {
  const Machine machine = recorded("numa:2(memory=34359738368) l3:1 core:2 pu:1");
  ProgramTraits program;
  program.ranks = 2;
  const auto all = proposed(machine, program, Axis::memory);
  EXPECT_THAT(names(all),
              ElementsAre("as it is", "ranks in order", "ranks in order, with bound memory",
                          "ranks spread", "ranks packed"));
  EXPECT_THAT(named(all, "ranks in order, with bound memory").rank_options,
              ElementsAre("--cpus", "0-1/2-3", "--memory", "each:0,1"));
  EXPECT_THAT(named(all, "ranks spread").rank_options,
              ElementsAre("--cpus", "0/2", "--memory", "each:0,1"));
  program.ranks = 9;
  EXPECT_THAT(names(proposed(machine, program, Axis::memory), false), Not(IsEmpty()));
}

}  // namespace
}  // namespace numatlas
