#include "placement/words.h"

#include <optional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/test_data.h"
#include "machine/source.h"

namespace numatlas {
namespace {

using ::testing::HasSubstr;
using Kind = PlacementWord::Kind;

Machine machine(const std::string& name) {
  auto read = read_recorded_machine(test_data() + "/topologies/" + name);
  EXPECT_TRUE(read) << read.error().message;
  return *std::move(read);
}

PlacementWord word(const std::string& text) {
  const auto parsed = parse_placement_word(text);
  EXPECT_TRUE(parsed && *parsed) << text;
  return parsed && *parsed ? **parsed : PlacementWord{};
}

int memory_of(const std::string& text, const Machine& machine,
              const MeasuredPlaces* measured = nullptr, const CpuSet& cpus = {}) {
  const auto chosen = choose_memory(word(text), machine, measured, cpus);
  EXPECT_TRUE(chosen) << chosen.error().message;
  return chosen ? chosen->node.value : -1;
}

int cpus_of(const std::string& text, const Machine& machine,
            const MeasuredPlaces* measured = nullptr) {
  const auto chosen = choose_cpus(word(text), machine, measured);
  EXPECT_TRUE(chosen) << chosen.error().message;
  return chosen ? chosen->node.value : -1;
}

TEST(PlacementWords, AreWhatIsWrittenAndNothingElse) {
  for (const char* text : {"gpu:0", "gpu:12", "nearest:gpu:3", "fastest"})
    EXPECT_EQ(word(text).text(), text);
  for (const char* text :
       {"", "bind:0", "local", "0-3", "node:1", "fast", "largest", "pmem:/mnt/gpu:0"}) {
    const auto parsed = parse_placement_word(text);
    ASSERT_TRUE(parsed) << text;
    EXPECT_FALSE(*parsed) << text;
  }
  for (const char* text : {"gpu:", "gpu:x", "gpu:0,1", "gpu", "nearest", "nearest:0", "gpu:-1"}) {
    const auto parsed = parse_placement_word(text);
    ASSERT_FALSE(parsed) << text;
    EXPECT_EQ(parsed.error().kind, ErrorKind::usage);
    EXPECT_EQ(parsed.error().subject, "") << "options name themselves";
    EXPECT_THAT(parsed.error().hint, HasSubstr("gpu:0"));
  }
}

TEST(PlacementWords, OfAGpuFollowTheSystemWithoutMeasurement) {
  const Machine two = machine("two-sockets-four-gpus.json");
  for (const auto& [gpu, node] : {std::pair(0, 0), {1, 0}, {2, 1}, {3, 1}}) {
    EXPECT_EQ(memory_of("gpu:" + std::to_string(gpu), two), node);
    EXPECT_EQ(cpus_of("nearest:gpu:" + std::to_string(gpu), two), node);
  }
  const auto why = choose_memory(word("gpu:2"), two, nullptr, {});
  EXPECT_EQ(why->why, "the system names it as the node of GPU 2");
}

TEST(PlacementWords, OfAGpuFollowMeasuredCopies) {
  const Machine two = machine("two-sockets-four-gpus.json");
  MeasuredPlaces measured;
  measured.gpu_rate[0] = {{NodeId{0}, {20e9, 19e9, 21e9}}, {NodeId{1}, {50e9, 49e9, 51e9}}};
  EXPECT_EQ(memory_of("gpu:0", two, &measured), 1);
  EXPECT_EQ(cpus_of("gpu:0", two, &measured), 1);
  EXPECT_EQ(memory_of("gpu:2", two, &measured), 1);  // not measured: as the system says
  // Rates that cannot be told apart do not move it from the node that the system names.
  measured.gpu_rate[0][NodeId{0}] = {49.5e9, 48e9, 50e9};
  EXPECT_EQ(memory_of("gpu:0", two, &measured), 0);
  const auto why = choose_memory(word("gpu:0"), two, &measured, {});
  EXPECT_EQ(why->why,
            "copies of GPU 0 measured at 49.5 GB/s there; node 1 is not clearly different");
}

TEST(PlacementWords, NearestLooksOnlyAtNodesThatMayBeUsed) {
  Machine two = machine("two-sockets-four-gpus.json");
  two.allowance.memory_nodes = NodeSet{NodeId{1}, NodeId{2}};
  EXPECT_EQ(memory_of("gpu:0", two), 0);          // told by what places it afterwards
  EXPECT_EQ(memory_of("nearest:gpu:0", two), 2);  // the CXL node is nearer than the other socket
  two.allowance.memory_nodes = NodeSet{NodeId{1}};
  const auto chosen = choose_memory(word("nearest:gpu:0"), two, nullptr, {});
  ASSERT_TRUE(chosen);
  EXPECT_EQ(chosen->node, NodeId{1});
  EXPECT_EQ(chosen->why, "by distance the nearest usable node to node 0 of GPU 0");
}

TEST(PlacementWords, OfAGpuThatNobodyPlacesIsAnError) {
  Machine lost = machine("two-sockets-four-gpus.json");
  lost.gpus[1].node.reset();
  const auto unknown = choose_memory(word("gpu:1"), lost, nullptr, {});
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().message, "the system does not say which node this GPU is near");
  EXPECT_THAT(unknown.error().hint, HasSubstr("--atlas"));
}

TEST(PlacementWords, FastestFollowsMeasurementFromTheCpusInUse) {
  const Machine four = machine("guest-four-nodes.json");
  MeasuredPlaces measured;
  measured.file = "survey.json";
  for (int cpus = 0; cpus < 4; ++cpus) {
    for (int memory = 0; memory < 4; ++memory) {
      const double rate = (cpus == memory ? 10e9 : 5e9) + (memory == 3 ? 1e9 : 0);
      measured.bandwidth[{NodeId{cpus}, NodeId{memory}}] = {rate, rate * 0.99, rate * 1.01};
    }
  }
  EXPECT_EQ(memory_of("fastest", four, &measured), 3);
  EXPECT_EQ(cpus_of("fastest", four, &measured), 3);
  EXPECT_EQ(memory_of("fastest", four, &measured, four.find_node(NodeId{1})->cpus), 1);
  MeasuredPlaces gpus_only;
  gpus_only.file = "transfer.json";
  const auto nothing = choose_memory(word("fastest"), four, &gpus_only, {});
  ASSERT_FALSE(nothing);
  EXPECT_EQ(nothing.error().message,
            "transfer.json has no bandwidth from CPUs of nodes 0-3 to a usable node");
}

/// Of rates that are alike not a little less latency decides, but the distance.
TEST(PlacementWords, OfNodesThatAreAlikeTheNearestIsTheFastest) {
  const Machine four = machine("guest-four-nodes.json");
  MeasuredPlaces measured;
  measured.file = "survey.json";
  for (int memory = 0; memory < 4; ++memory) {
    measured.bandwidth[{NodeId{0}, NodeId{memory}}] = {10e9, 9e9, 11e9};
    measured.latency[{NodeId{0}, NodeId{memory}}] = memory == 2 ? 99e-9 : 100e-9;
  }
  const CpuSet cpus = four.find_node(NodeId{0})->cpus;
  const auto chosen = choose_memory(word("fastest"), four, &measured, cpus);
  ASSERT_TRUE(chosen);
  EXPECT_EQ(chosen->node, NodeId{0});
  EXPECT_THAT(chosen->why, HasSubstr("; nodes 1-3 are not clearly different"));
  Machine even = four;
  for (NumaNode& node : even.nodes) node.distance = {{0, 20}, {1, 20}, {2, 20}, {3, 20}};
  measured.bandwidth.erase({NodeId{0}, NodeId{0}});
  const auto by_latency = choose_memory(word("fastest"), even, &measured, cpus);
  ASSERT_TRUE(by_latency);
  EXPECT_EQ(by_latency->node, NodeId{2});
}

TEST(PlacementWords, AnAtlasOfAnotherMachineIsTold) {
  const Machine two = machine("two-sockets-four-gpus.json");
  MeasuredPlaces measured;
  measured.file = "survey.json";
  measured.gpu_rate[0] = {{NodeId{1}, {50e9, 49e9, 51e9}}};
  const auto notes_of = [&] {
    PlacementSpec spec;
    std::vector<std::string> notes;
    EXPECT_TRUE(put_in_place({std::nullopt, word("gpu:0")}, two, &measured, spec, notes));
    return notes;
  };
  measured.cpu_model = two.cpu_model;
  for (const NumaNode& node : two.nodes)
    if (node.has_memory()) measured.nodes.insert(node.id);
  EXPECT_EQ(notes_of().size(), 1U);
  measured.nodes.insert(NodeId{7});
  ASSERT_EQ(notes_of().size(), 2U);
  EXPECT_THAT(notes_of()[0],
              HasSubstr("--atlas survey.json is of another machine, or of this one"));
  measured.cpu_model = "Another CPU";
  EXPECT_THAT(notes_of()[0], HasSubstr("'Another CPU'"));
}

TEST(PlacementWords, FastestWithoutMeasurementFollowsFirmwareOrKind) {
  // HBM before DRAM; where all is DRAM the nearest to the CPUs.
  const Machine knl = machine("knl-flat.json");
  Machine named = knl;
  for (NumaNode& node : named.nodes)
    if (node.kind.empty()) node.kind = "dram";
  const auto hbm = choose_memory(word("fastest"), named, nullptr, {});
  ASSERT_TRUE(hbm) << hbm.error().message;
  EXPECT_EQ(named.find_node(hbm->node)->kind, "hbm");
  const Machine four = machine("guest-four-nodes.json");
  EXPECT_EQ(memory_of("fastest", four, nullptr, four.find_node(NodeId{2})->cpus), 2);
  Machine unknown = four;
  for (NumaNode& node : unknown.nodes) {
    node.kind.clear();
    node.hmat.reset();
    node.memory_tier.reset();
  }
  const auto chosen = choose_memory(word("fastest"), unknown, nullptr, {});
  ASSERT_FALSE(chosen);
  EXPECT_EQ(chosen.error().kind, ErrorKind::unavailable);
  const auto cpus = choose_cpus(word("fastest"), unknown, nullptr);
  ASSERT_FALSE(cpus);
  EXPECT_EQ(cpus.error().subject, "fastest");
}

}  // namespace
}  // namespace numatlas
