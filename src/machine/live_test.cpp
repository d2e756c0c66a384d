// The machine that the test runs on, and recorded trees.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "base/test_data.h"
#include "base/test_tree.h"
#include "base/test_tree_text.h"
#include "base/tree.h"
#include "machine/identity.h"
#include "machine/source.h"

namespace numatlas {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using testing::RecordedTree;

TEST(Live, AgreesWithSysfsAndProc) {
  const auto machine = read_live_machine();
  ASSERT_TRUE(machine) << full_text(machine.error());
  const Tree tree("");
  EXPECT_TRUE(machine->is_live());
  if (const auto online = tree.list<CpuId>("/sys/devices/system/cpu/online")) {
    EXPECT_EQ(machine->all_cpus(), *online);
  }
  if (const auto online = tree.list<NodeId>("/sys/devices/system/node/online")) {
    NodeSet found;
    for (const NumaNode& node : machine->nodes) found.insert(node.id);
    EXPECT_EQ(found, *online);
    for (const NumaNode& node : machine->nodes) {
      const auto own =
          tree.list<CpuId>(fmt::format("/sys/devices/system/node/node{}/cpulist", node.id.value));
      EXPECT_EQ(node.cpus, *own);
      EXPECT_EQ(node.distance.at(node.id.value), 10);
    }
  }
  const auto status = tree.text("/proc/self/status");
  EXPECT_EQ(to_list(machine->allowance.affinity), value_of(*status, "Cpus_allowed_list"));
  EXPECT_FALSE(machine->usable_cpus().empty());
  EXPECT_FALSE(machine->usable_memory_nodes().empty());
  EXPECT_EQ(machine->page_size, Bytes{static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE))});
  for (const NumaNode& node : machine->nodes) {
    if (node.has_memory()) {
      EXPECT_LE(*node.memory_free, *node.memory_total);
    }
  }
}

/// The field of a snapshot, null for none: nodes and CPUs by id, settings and memory by name,
/// others by place.
const json* field_of(const json& snapshot, const std::string& path) {
  const json* place = &snapshot;
  std::istringstream words(path);
  for (std::string word; place != nullptr && std::getline(words, word, '/');) {
    const json* found = nullptr;
    if (place->is_object() && place->contains(word)) found = &place->at(word);
    for (std::size_t i = 0; place->is_array() && i < place->size(); ++i) {
      const json& one = (*place)[i];
      std::string own = std::to_string(i);
      if (one.contains("id")) own = one["id"].dump();
      if (one.is_object() && one.contains("name") && one["name"].is_string()) own = one["name"];
      if (own == word) found = &one;
    }
    place = found;
  }
  return place;
}

bool same(const json& found, const json& wanted) {
  if (found.is_number_float() && wanted.is_number())
    return std::abs(found.get<double>() / wanted.get<double>() - 1) < 1e-12;
  return found == wanted;
}

/// "" or why a line of facts does not hold.
std::string wrong_fact(const json& snapshot, const std::string& line) {
  const std::string path = line.substr(0, line.find(' '));
  const std::string wanted = line.substr(path.size());
  const json* found = field_of(snapshot, path);
  bool holds = false;
  if (wanted == " absent") holds = found == nullptr;
  if (wanted.starts_with(" = "))
    holds = found != nullptr && same(*found, json::parse(wanted.substr(3)));
  if (wanted.starts_with(" ~ "))
    holds = found != nullptr && found->dump().find(wanted.substr(3)) != wanted.npos;
  return holds ? "" : line + ", but it is " + (found == nullptr ? "absent" : found->dump());
}

TEST(RecordedTree, EachMachineIsReadAsItsTextSays) {
  std::ostringstream text;
  text << std::ifstream(test_data() + "/trees/live.txt").rdbuf();
  const auto trees = testing::trees_in(text.str());
  EXPECT_GT(trees.size(), 20U);
  for (const testing::TreeText& one : trees) {
    const RecordedTree tree;
    testing::write_tree(tree, trees, one);
    const auto machine = read_live_machine(tree.root());
    ASSERT_TRUE(machine) << one.name << ": " << full_text(machine.error());
    EXPECT_FALSE(machine->is_live());
    const json snapshot = to_json(*machine);
    EXPECT_FALSE(one.facts.empty()) << one.name;
    for (const std::string& fact : one.facts) EXPECT_EQ(wrong_fact(snapshot, fact), "") << one.name;
    const auto again = machine_from_json(snapshot);
    ASSERT_TRUE(again) << one.name << ": " << full_text(again.error());
    EXPECT_EQ(*again, *machine) << one.name;
  }
}

TEST(RecordedTree, AnEmptyFolderOfNodesIsAnErrorAndNoAbort) {
  const RecordedTree tree;
  tree.cpus(2, 2);
  EXPECT_TRUE(read_live_machine(tree.root())) << "a kernel without NUMA";
  std::filesystem::create_directories(tree.root() + "/sys/devices/system/node");
  const auto machine = read_live_machine(tree.root());
  ASSERT_FALSE(machine);
  EXPECT_EQ(machine.error().kind, ErrorKind::unavailable);
  EXPECT_THAT(full_text(machine.error()), HasSubstr("/sys/devices/system/node has no NUMA node"));
}

TEST(ArmCores, UnknownOnesKeepTheirNumbers) {
  EXPECT_EQ(arm_core_name("0x46", "0x001"), "Fujitsu A64FX");
  EXPECT_EQ(arm_core_name("0x61", "0x7ff"), "Arm implementer 0x61 part 0x7ff");
}

}  // namespace
}  // namespace numatlas
