// Synthetic descriptions, hwloc XML and snapshots: good ones and broken ones.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>
#include <cstddef>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "base/test_data.h"
#include "base/test_folder.h"
#include "base/test_tree.h"
#include "machine/source.h"

namespace numatlas {
namespace {

using nlohmann::json;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using testing::RecordedTree;
using ::testing::StartsWith;

const std::string data = test_data() + "/topologies/";

using testing::cpus;
using testing::nodes;

Machine recorded(const std::string& spec) {
  auto machine = read_recorded_machine(spec);
  EXPECT_TRUE(machine) << full_text(machine.error());
  return machine.value_or(Machine{});
}

std::string content_of(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

/// As lstopo writes a Xeon Max in cache mode.
TEST(Xml, MemorySideCaches) {
  const testing::TestFolder folder;
  const std::string file = folder.file("memory-side.xml");
  std::ofstream(file) << R"(<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE topology SYSTEM "hwloc2.dtd">
<topology version="2.0">
  <object type="Machine" os_index="0" cpuset="0x1" complete_cpuset="0x1" allowed_cpuset="0x1" nodeset="0x1" complete_nodeset="0x1" allowed_nodeset="0x1" gp_index="1">
    <object type="MemCache" cpuset="0x1" complete_cpuset="0x1" nodeset="0x1" complete_nodeset="0x1" gp_index="7" cache_size="68719476736" depth="1" cache_linesize="64" cache_associativity="0" cache_type="0">
      <object type="NUMANode" os_index="0" cpuset="0x1" complete_cpuset="0x1" nodeset="0x1" complete_nodeset="0x1" gp_index="6" local_memory="549755813888"/>
    </object>
    <object type="Core" os_index="0" cpuset="0x1" complete_cpuset="0x1" nodeset="0x1" complete_nodeset="0x1" gp_index="3">
      <object type="PU" os_index="0" cpuset="0x1" complete_cpuset="0x1" nodeset="0x1" complete_nodeset="0x1" gp_index="2"/>
    </object>
  </object>
</topology>
)";
  const Machine machine = recorded(file);
  ASSERT_EQ(machine.nodes.size(), 1U);
  EXPECT_EQ(machine.nodes[0].side_caches,
            (std::vector<MemorySideCache>{{1, Bytes{64 * gib}, Bytes{64}}}));
  EXPECT_TRUE(machine.caches.empty()) << "none of a CPU";
}

/// A small file of lstopo with one part of each line replaced.
std::string damaged(const std::string& from, const std::string& to) {
  std::string text = R"(<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE topology SYSTEM "hwloc2.dtd">
<topology version="2.0">
  <object type="Machine" os_index="0" cpuset="0x3" complete_cpuset="0x3" allowed_cpuset="0x3" nodeset="0x1" complete_nodeset="0x1" allowed_nodeset="0x1" gp_index="1">
    <info name="HostName" value="small"/>
    <object type="NUMANode" os_index="0" cpuset="0x3" complete_cpuset="0x3" nodeset="0x1" complete_nodeset="0x1" gp_index="6" local_memory="1073741824"/>
    <object type="Core" os_index="0" cpuset="0x1" complete_cpuset="0x1" nodeset="0x1" complete_nodeset="0x1" gp_index="3">
      <object type="PU" os_index="0" cpuset="0x1" complete_cpuset="0x1" nodeset="0x1" complete_nodeset="0x1" gp_index="2"/>
    </object>
    <object type="Core" os_index="1" cpuset="0x2" complete_cpuset="0x2" nodeset="0x1" complete_nodeset="0x1" gp_index="5">
      <object type="PU" os_index="1" cpuset="0x2" complete_cpuset="0x2" nodeset="0x1" complete_nodeset="0x1" gp_index="4"/>
    </object>
  </object>
</topology>
)";
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
  return text;
}

Expected<Machine> read_text(const std::string& content) {
  const RecordedTree tree;
  tree.file("/machine.xml", content);
  return read_recorded_machine(tree.root() + "/machine.xml");
}

TEST(DamagedXml, EntitiesAreNotExpanded) {
  // libxml2's tree of an entity in an attribute is one that libhwloc crashes on.
  std::string text = damaged("\"small\"", "\"&host;\"");
  const std::string type = "<!DOCTYPE topology SYSTEM \"hwloc2.dtd\">";
  text.replace(text.find(type), type.size(), "<!DOCTYPE topology [<!ENTITY host \"planted\">]>");
  const auto machine = read_text(text);
  if (machine) {
    EXPECT_THAT(machine->host, ::testing::Not(HasSubstr("planted")));
  } else {
    EXPECT_EQ(machine.error().kind, ErrorKind::usage);
  }
}

TEST(Synthetic, MistakesNameTheDescription) {
  for (const char* bad : {"foo:3", "package:2 core:", "pu:1000000000", "core:0 pu:1", "numa",
                          "package:70000 core:70000 pu:4", "", " ", "pu:-4"}) {
    const auto machine = read_recorded_machine(bad);
    ASSERT_FALSE(machine) << bad;
    EXPECT_EQ(machine.error().kind, ErrorKind::usage);
    EXPECT_THAT(full_text(machine.error()), AnyOf(StartsWith(fmt::format("'{}': ", bad)), "empty"));
  }
  EXPECT_THAT(full_text(read_recorded_machine("lost.json").error()),
              StartsWith("'lost.json': there is no such file"));
}

TEST(Files, XmlOfOtherProgramsIsNamed) {
  const RecordedTree tree;
  const auto message = [&](const std::string& content) {
    tree.file("/topo.xml", content);
    const auto machine = read_recorded_machine(tree.root() + "/topo.xml");
    return machine ? "" : full_text(machine.error());
  };
  const std::string system = "<system version=\"1\"><cpu numaid=\"0\"/></system>";
  EXPECT_THAT(message(system), HasSubstr("is a topology of NCCL or RCCL: it has nodes, CPU masks "
                                         "and GPUs, but no memory"));
  EXPECT_THAT(message("<?xml version=\"1.0\"?>\n<!DOCTYPE a>\n<!-- <topology> -->\n" + system),
              HasSubstr("NCCL"));
  EXPECT_THAT(message("<graphs version=\"1\"/>"), HasSubstr("graph of NCCL"));
  EXPECT_THAT(message("<?xml version=\"1.0\"?><nvidia_smi_log><gpu/></nvidia_smi_log>"),
              HasSubstr("nvidia-smi"));
  EXPECT_THAT(message("<topology version=\"2.0\"><object"), HasSubstr("not a complete hwloc XML"));
  EXPECT_THAT(message("<!-- nothing"), HasSubstr("not a complete hwloc XML"));
}

/// Cuts a file at many points: every piece is an error that names the file, or still whole.
void truncate_everywhere(const std::string& content, std::size_t step) {
  const RecordedTree tree;
  const std::string path = tree.root() + "/cut";
  for (std::size_t length = 1; length + 12 < content.size(); length += step) {
    std::ofstream(path, std::ios::trunc) << content.substr(0, length);
    const auto machine = read_recorded_machine(path);
    ASSERT_FALSE(machine) << "cut at " << length;
    ASSERT_EQ(machine.error().subject, "'" + path + "'") << "cut at " << length;
  }
}

TEST(Files, TruncatedXmlIsAnError) {
  truncate_everywhere(content_of(data + "cxl-two-sockets.xml"), 37);
}

TEST(Snapshot, AFileOfALiveMachineIsNotLive) {
  const RecordedTree tree;
  Machine machine = recorded("pu:2");
  machine.source = "live";
  std::ofstream(tree.root() + "/s.json") << "\n " << to_json(machine).dump();
  const Machine back = recorded(tree.root() + "/s.json");
  EXPECT_FALSE(back.is_live());
  EXPECT_EQ(back.cpus, machine.cpus);
}

TEST(Snapshot, OlderOnesHaveEmptyTexts) {
  const Machine machine = recorded("pu:1");
  json snapshot = to_json(machine);
  snapshot["nodes"][0]["kind"] = "";
  snapshot["allowance"]["memory_limit_source"] = "";
  const auto back = machine_from_json(snapshot);
  ASSERT_TRUE(back) << full_text(back.error());
  EXPECT_EQ(*back, machine);
}

TEST(Snapshot, BytesThatAreNotUtf8DoNotBreakIt) {
  Machine machine = recorded("pu:1");
  machine.host = "caf\xe9";
  EXPECT_NO_THROW(to_json(machine).dump());
}

struct BadField {
  const char* pointer;
  json value;
  const char* message;
};

TEST(Snapshot, ResultsAreNoMachine) {
  json result = to_json(recorded(data + "cxl-two-sockets.xml"));
  result["cases"] = json::array();
  const auto read = machine_from_json(result);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().message, "it has results, and is no machine");
}

void expect_errors(const std::string& file, const std::vector<BadField>& cases) {
  const json good = to_json(recorded(data + file));
  for (const BadField& bad : cases) {
    json snapshot = good;
    snapshot[json::json_pointer(bad.pointer)] = bad.value;
    const auto machine = machine_from_json(snapshot);
    ASSERT_FALSE(machine) << bad.pointer;
    EXPECT_THAT(full_text(machine.error()), HasSubstr(bad.message));
  }
}

TEST(Snapshot, ErrorsNameTheField) {
  expect_errors("cxl-two-sockets.xml",
                {{"/schema_version", 2, "'schema_version' is 2; this program reads 1"},
                 {"/nodes/1/memory_total", -5, "'nodes[1].memory_total'"},
                 {"/nodes/1/memory_total", "much", "'nodes[1].memory_total'"},
                 {"/nodes/0/id", 9, "'nodes' has the id 9 twice"},
                 {"/nodes/0/id", nullptr, "'nodes[0]' has no id"},
                 {"/nodes/0/id", 1 << 21, "'nodes[0].id' must be a whole number from 0 to 1048576"},
                 {"/nodes/0/memory_tier", -4, "'nodes[0]' has the memory_tier -4"},
                 {"/nodes/0/kind", 4, "'nodes[0].kind' must be a string"},
                 {"/nodes/0/cpus", "3-1", "'nodes[0].cpus'"},
                 {"/nodes/0/cpus", "0-3,99", "gives node 0 the CPU 99, which is not in 'cpus'"},
                 {"/nodes/0/cpus", "0-2", "puts CPU 3 on node 0"},
                 {"/nodes/0/distance", {{"x", 10}}, "'nodes[0].distance.x'"},
                 {"/nodes/0/hmat/read_latency", "fast", "'nodes[0].hmat.read_latency'"},
                 {"/nodes", json::array(), "'nodes' must not be empty"},
                 {"/cpus/2/core", 18446744073709551615U, "'cpus[2].core'"},
                 {"/cpus/2/core", -1, "'cpus[2]' has the core -1, which is not from 0 to 1048576"},
                 {"/cpus/2/id", nullptr, "'cpus[2]' has no id"},
                 {"/cpus/2/node", -1, "'cpus[2].node' must be a whole number from 0 to 1048576"},
                 {"/cpus/2", nullptr, "'cpus[2]' must be an object"},
                 {"/caches/0/type", "victim", "'caches[0]' has the type 'victim'"},
                 {"/caches/0/level", 17, "'caches[0]' has the level 17, which is not from 1 to 16"},
                 {"/allowance/affinity", "0-900", "'allowance.affinity' has CPUs that are not"},
                 {"/allowance", nullptr, "'allowance' must be an object"},
                 {"/notes", {1}, "'notes[0]' must be a string"},
                 {"/unread", 3, "'unread' must be an object"},
                 {"/unread/gpus", 3, "'unread.gpus' must be a string"},
                 {"/hypervisor", 7, "'hypervisor' must be a string"}});
  EXPECT_FALSE(machine_from_json(json(3)));
  EXPECT_FALSE(machine_from_json(json::array()));
}

TEST(Snapshot, ErrorsNameTheFieldOfAGpu) {
  expect_errors(
      "two-sockets-four-gpus.json",
      {{"/gpus/1/path/2/speed", -1, "'gpus[1].path[2]' has the speed -1, which is not 0 or more"},
       {"/gpus/1/path/2/max_speed", "fast", "'gpus[1].path[2].max_speed'"},
       {"/gpus/0/path/0/width", 0,
        "'gpus[0].path[0]' has the width 0, which is not from 1 to 1024"},
       {"/gpus/0/path/0/max_width", 16.5, "'gpus[0].path[0].max_width'"},
       {"/gpus/2/path/1", 3, "'gpus[2].path[1]' must be an object"},
       {"/gpus/2/path", nullptr, "'gpus[2].path' must be an array"},
       {"/gpus/2/memory_node", -1, "'gpus[2].memory_node'"},
       {"/gpus/2/index", "one", "'gpus[2].index'"},
       {"/gpus/2/index", -1, "'gpus[2]' has the index -1, which is not from 0 to 1048576"},
       {"/gpus/2/memory", -5, "'gpus[2].memory'"},
       {"/gpus/2", json::array(), "'gpus[2]' must be an object"}});
}

/// Any field that is taken away is an error with its name, at every depth.
void every_field_is_needed(const json& good) {
  const json flat = good.flatten();
  for (const auto& [path, value] : flat.items()) {
    const json::json_pointer pointer(path);
    if (path.starts_with("/unread") || path.find("/distance") != std::string::npos ||
        good[pointer.parent_pointer()].is_array()) {
      continue;
    }
    json snapshot = good;
    snapshot[pointer.parent_pointer()].erase(pointer.back());
    const auto machine = machine_from_json(snapshot);
    ASSERT_FALSE(machine) << path;
    EXPECT_THAT(full_text(machine.error()), HasSubstr(pointer.back() + "'")) << path;
  }
}

TEST(Snapshot, EveryFieldIsNeeded) {
  every_field_is_needed(to_json(recorded(data + "cxl-two-sockets.xml")));
  every_field_is_needed(to_json(recorded(data + "two-sockets-four-gpus.json")));
}

}  // namespace
}  // namespace numatlas
