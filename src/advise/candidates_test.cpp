#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "advise/candidates.h"
#include "base/test_data.h"
#include "machine/source.h"

namespace numatlas {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

Machine recorded(const std::string& name) {
  const std::string file = test_data() + "/topologies/" + name;
  return *read_recorded_machine(name.ends_with(".json") || name.ends_with(".xml") ? file : name);
}

Machine with_thp(Machine machine, const std::string& enabled) {
  machine.settings = {{"thp_enabled", enabled, "", ""}};
  return machine;
}

std::vector<Candidate> proposed(const Machine& machine, const ProgramTraits& program, Aspect axis,
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

/// As `numatlas matrix` measured it.
Fact matrix(const std::string& what, int from, int to, Unit unit, double value) {
  return {"matrix_" + what,
          {{"cpu_node", std::to_string(from)}, {"memory_node", std::to_string(to)}},
          "",
          unit,
          Estimate(value)};
}

TEST(Candidates, OfMemoryAreNodesAndTiersWithRoom) {
  const Machine machine = recorded("cxl-tiers.json");
  const auto all = proposed(machine, traits(4, Bytes{gib}), Aspect::memory);
  EXPECT_THAT(names(all), ElementsAre("as it is", "node 1", "interleave:0,1", "bind:2,3",
                                      "prefer:2,3", "bind:4", "prefer:4", "node 0"));
  EXPECT_EQ(named(all, "node 1").layout.memory->text(), "bind:1");
  EXPECT_EQ(named(all, "node 1").layout.cpus, machine.find_node(NodeId{1})->cpus);
  EXPECT_THAT(named(all, "bind:4").because, HasSubstr("firmware"));
  const auto large = proposed(machine, traits(4, Bytes{4096 * gib}), Aspect::memory);
  EXPECT_THAT(names(large), ElementsAre("as it is", "node 1, preferred", "interleave:0,1",
                                        "prefer:2,3", "prefer:4", "node 0, preferred"));
  EXPECT_THAT(names(large, false), ElementsAre("node 1", "node 0", "bind:2,3", "bind:4"));
  EXPECT_EQ(named(large, "node 0, preferred").layout.memory->text(), "prefer:0");
  EXPECT_EQ(named(large, "node 0, preferred").layout.cpus, machine.find_node(NodeId{0})->cpus);
  EXPECT_THAT(named(large, "bind:4").not_tried, HasSubstr("it requires 4 TiB, but "));
}

TEST(Candidates, OfMemoryAreNoNodesForMoreThreadsThanTheirCpus) {
  const auto all =
      proposed(recorded("guest-four-nodes.json"), traits(3, Bytes{mib}), Aspect::memory);
  EXPECT_THAT(names(all), ElementsAre("as it is", "interleave:0,1,2,3"));
  EXPECT_EQ(named(all, "one node").not_tried, "3 threads, but no node has more than 2 CPUs");
}

TEST(Candidates, OfMemoryBeginWithANodeThatHasRoom) {
  Machine machine = recorded("guest-four-nodes.json");
  for (NumaNode& node : machine.nodes) node.memory_free = Bytes{(node.id.value == 2 ? 2 : 1) * gib};
  Atlas atlas;
  atlas.facts = {matrix("latency", 0, 0, "s", 80e-9), matrix("latency", 2, 2, "s", 120e-9)};
  const auto of = [&](Bytes memory) {
    return names(proposed(machine, traits(1, memory), Aspect::memory, &atlas));
  };
  EXPECT_EQ(of(Bytes{gib / 2})[1], "node 0");
  EXPECT_EQ(of(Bytes{gib * 3 / 2})[1], "node 2");
  EXPECT_EQ(of(Bytes{gib * 3})[1], "node 0, preferred");
}

TEST(Candidates, OfWeightsFollowTheAtlasThenTheFirmware) {
  const Machine machine = recorded("cxl-tiers.json");
  EXPECT_THAT(names(proposed(machine, {}, Aspect::weights)),
              ElementsAre("as it is", "weighted:0=11,1=11,2=2,3=2"));
  Atlas atlas;
  atlas.facts = {{"weights_bandwidth", {{"weights", "0=3,2=1"}}, "measured", "B/s", Estimate(1e9)}};
  const auto all = proposed(machine, {}, Aspect::weights, &atlas);
  EXPECT_THAT(names(all), ElementsAre("as it is", "weighted:0=3,2=1"));
  EXPECT_EQ(named(all, "weighted:0=3,2=1").because, "measured");
}

TEST(Candidates, OfWeightsThatTheKernelDoesNotHaveAreNotTried) {
  const Machine machine = recorded("cxl-tiers.json");
  const auto all = propose({machine, {}, nullptr, {Aspect::weights}, false, [](const auto&) {
                              return std::string("other weights");
                            }});
  EXPECT_THAT(names(all), ElementsAre("as it is"));
  EXPECT_EQ(all.back().not_tried, "other weights");
}

TEST(Candidates, OfWeightsOnNearNodesFollowWhatTheirCpusMeasured) {
  const Machine machine = recorded("guest-four-nodes.json");
  Atlas atlas;
  for (int from = 0; from < 4; ++from)
    for (int to = 0; to < 4; ++to)
      atlas.facts.push_back(matrix("bandwidth", from, to, "B/s", from == to ? 30e9 : 10e9));
  atlas.facts.push_back(matrix("latency", 1, 1, "s", 1e-9));  // so node 1 is the best one
  const auto all = proposed(machine, traits(2, Bytes{gib}), Aspect::weights, &atlas);
  const std::string name = "weighted:0=1,1=3,2=1,3=1, CPUs of node 1";
  EXPECT_THAT(names(all), ElementsAre("as it is", name));
  EXPECT_EQ(to_list(*named(all, name).layout.cpus), "2-3");
  EXPECT_EQ(named(all, name).layout.memory->text(), "weighted:0=1,1=3,2=1,3=1");
  const auto many = proposed(machine, traits(3, Bytes{gib}), Aspect::weights, &atlas);
  EXPECT_THAT(named(many, "weighted").not_tried, HasSubstr("3 threads, but no node has as many"));
  const auto unknown = proposed(machine, traits(2, Bytes{gib}), Aspect::weights);
  EXPECT_THAT(named(unknown, "weighted").not_tried, HasSubstr("use --atlas"));
}

TEST(Candidates, OfWeightsAreAlsoThoseInForce) {
  const Machine machine = recorded("cxl-tiers.json");
  int last = 5;
  ProposalInput input{machine, {}, nullptr, {Aspect::weights}, false, {}};
  input.kernel_weight = [&](NodeId node) { return node.value == 4 ? last : 5; };
  EXPECT_THAT(names(propose(input)), ElementsAre("as it is", "weighted:0=11,1=11,2=2,3=2"));
  last = 1;
  EXPECT_THAT(names(propose(input)), ElementsAre("as it is", "weighted:0=11,1=11,2=2,3=2",
                                                 "weighted:0=5,1=5,2=5,3=5,4=1"));
}

TEST(Candidates, OfAnyMachineAndAxisAreThereOrTheReasonIs) {
  for (const char* name :
       {"cpus-without-memory.json", "cpuset-across-nodes.json", "cxl-two-sockets.xml",
        "grace-gpu-memory.json", "guest-cxl.json", "guest-pmem.json", "knl-flat.json",
        "small-limit.json", "snc-two-sockets.json"})
    for (const Aspect axis :
         {Aspect::memory, Aspect::weights, Aspect::pages, Aspect::cpus, Aspect::threads})
      for (const int threads : {1, 1000}) {
        const auto all = proposed(recorded(name), traits(threads, Bytes{gib}), axis);
        EXPECT_GE(all.size(), 2U) << name << ' ' << name_of(axis);
      }
}

TEST(Candidates, OfPagesFollowTheSystemsSetting) {
  const Machine machine = recorded("numa:1 core:2 pu:1");
  const auto of = [&](const std::string& setting, double huge) {
    ProgramTraits program;
    program.huge_share = huge;
    return names(proposed(with_thp(machine, setting), program, Aspect::pages));
  };
  EXPECT_THAT(of("madvise", 0), ElementsAre("as it is", "thp"));
  EXPECT_THAT(of("madvise", 0.9), ElementsAre("as it is", "thp", "base"));
  EXPECT_THAT(of("always", 0), ElementsAre("as it is", "base"));
  EXPECT_THAT(of("never", 0), ElementsAre("as it is"));
}

TEST(Candidates, OfHugePagesNeedAPoolThatHasThem) {
  Machine machine = recorded("numa:1 core:2 pu:1");
  machine.nodes[0].huge_pages = {{Bytes{2 * mib}, 600, 600}};
  EXPECT_THAT(names(proposed(machine, traits(1, Bytes{gib}), Aspect::pages)), Contains("2M"));
  const auto large = proposed(machine, traits(1, Bytes{2 * gib}), Aspect::pages);
  EXPECT_EQ(named(large, "2M").not_tried,
            "it requires 1024 pages of 2 MiB, but the system's pool has 600");
}

TEST(Candidates, OfCpusDependOnTheNumberOfThreads) {
  const Machine machine = recorded("package:2 numa:1 l3:1 core:4 pu:2");
  const auto of = [&](int threads) {
    return names(proposed(machine, traits(threads, Bytes{gib}), Aspect::cpus));
  };
  EXPECT_THAT(of(1), ElementsAre("as it is", "pinned"));
  EXPECT_THAT(of(4), ElementsAre("as it is", "packed", "spread", "one per core"));
  EXPECT_THAT(of(16), ElementsAre("as it is", "one per core"));
  const auto all = proposed(machine, traits(4, Bytes{gib}), Aspect::cpus);
  EXPECT_EQ(to_list(*named(all, "packed").layout.cpus), "0-3");
  EXPECT_EQ(to_list(*named(all, "spread").layout.cpus), "0,2,8,10");
  EXPECT_EQ(to_list(*named(all, "one per core").layout.cpus), "0,2,4,6,8,10,12,14");
}

TEST(Candidates, NearAGpuAreForProgramsThatUseOne) {
  const Machine machine = recorded("two-sockets-four-gpus.json");
  ProgramTraits program = traits(4, Bytes{gib});
  const auto has_gpu = HasSubstr("near GPU");
  EXPECT_THAT(names(proposed(machine, program, Aspect::cpus)), Not(Contains(has_gpu)));
  program.gpu = true;
  EXPECT_THAT(names(proposed(machine, program, Aspect::cpus)), Contains(has_gpu));
}

TEST(Candidates, OfThreadsAreForOpenMp) {
  const Machine machine = recorded("numa:1 core:4 pu:2");
  ProgramTraits program = traits(8, Bytes{gib});
  EXPECT_THAT(names(proposed(machine, program, Aspect::threads)), ElementsAre("as it is"));
  program.openmp = true;
  EXPECT_THAT(names(proposed(machine, program, Aspect::threads)),
              ElementsAre("as it is", "OMP_PROC_BIND=close", "OMP_PROC_BIND=spread",
                          "OMP_NUM_THREADS=4", "OMP_NUM_THREADS=2"));
}

}  // namespace
}  // namespace numatlas
