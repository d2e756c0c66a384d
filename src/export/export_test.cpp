#include "export/export.h"

#include <algorithm>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <hwloc.h>
#include <nlohmann/json.hpp>

#include "base/child_process.h"
#include "base/test_data.h"
#include "export/hwloc.h"
#include "machine/hwloc_reader.h"
#include "machine/source.h"
#include "published/table.h"

namespace numatlas {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

const std::string machines = test_data() + "/topologies/";

Machine machine(const std::string& name) {
  auto read = read_recorded_machine(machines + name);
  EXPECT_TRUE(read) << read.error().message;
  return *std::move(read);
}

Estimate around(double value) {
  Estimate estimate = value;
  estimate.low = value * 0.75;
  estimate.high = value * 1.5;
  estimate.n = 5;
  return estimate;
}

Fact fact_of(const std::string& key, std::vector<std::pair<std::string, std::string>> where,
             Unit unit, double value) {
  return {key, std::move(where), "words of " + key, unit, around(value)};
}

/// Two nodes seen from node 0, and what lies between no nodes.
ExportInput input_of(const std::string& name) {
  ExportInput input;
  input.stored.file = "survey.json";
  input.stored.command = "survey";
  Rows run;
  run.command = "matrix";
  run.version = "9.8.7";
  run.started = "2026-11-21T10:01:05Z";
  run.engine = "threads";
  run.hosts = {"node7"};
  run.arguments = {"--size", "64"};
  run.machines = {machine(name)};
  run.facts = {
      fact_of("matrix_latency", {{"cpu_node", "0"}, {"memory_node", "0"}}, "s", 94.6e-9),
      fact_of("matrix_latency", {{"cpu_node", "0"}, {"memory_node", "1"}}, "s", 141e-9),
      fact_of("matrix_bandwidth", {{"cpu_node", "0"}, {"memory_node", "1"}, {"kernel", "read"}},
              "B/s", 40 * 1024.0 * 1024.0),
      fact_of("loaded_latency_peak", {{"cpu_node", "0"}, {"memory_node", "0"}}, "s", 3e-7),
      fact_of("remote_latency_times", {{"cpu_node", "0"}, {"memory_node", "1"}}, "1", 1.5),
      fact_of("tlb_miss_cost", {{"level", "L1 TLB"}, {"page_kind", "it's"}}, "s", 5e-9)};
  input.stored.runs = {run};
  return input;
}

/// With the topology that a survey would have written.
ExportInput four_nodes() {
  const std::string spec = "numa:4(memory=1073741824) core:2 pu:1";
  ExportInput input = input_of("guest-four-nodes.json");
  input.stored.runs[0].machines = {*read_recorded_machine(spec)};
  input.topology = *hwloc_xml(spec);
  return input;
}

const ExportForm& form(const std::string& name) {
  const auto& forms = export_forms();
  const auto found = std::find_if(forms.begin(), forms.end(),
                                  [&](const ExportForm& one) { return one.name == name; });
  EXPECT_NE(found, forms.end()) << name;
  return *found;
}

std::string text_of(const std::string& name, const ExportInput& input) {
  const auto exported = form(name).write(input);
  EXPECT_TRUE(exported) << exported.error().message;
  return exported ? exported->text : "";
}

TEST(ExportHwloc, HwlocReadsEveryFigureBack) {
  const ExportInput input = four_nodes();
  const std::string xml = text_of("hwloc", input);
  const CpuSet from = input.stored.runs[0].machines[0].find_node(NodeId{0})->cpus;
  const auto values = memory_values_of(
      xml, {"MeasuredLatency", "MeasuredReadBandwidth", "MeasuredLoadedLatencyPeak", "Latency"});
  const std::vector<MemoryValue> expected{
      {"MeasuredLatency", true, from, NodeId{0}, 95},
      {"MeasuredLatency", true, from, NodeId{1}, 141},
      {"MeasuredReadBandwidth", false, from, NodeId{1}, 40},
      {"MeasuredLoadedLatencyPeak", true, from, NodeId{0}, 300}};
  EXPECT_THAT(values, ::testing::UnorderedElementsAreArray(expected));
  for (const char* text :
       {"numatlas 9.8.7 on node7, 2026-11-21T10:01:05Z", "numatlas matrix --size 64",
        "MeasuredLatency from node 0", "94.6 ns, 95 % interval 70.95 to 141.9"})
    EXPECT_THAT(xml, HasSubstr(text));
}

TEST(ExportHwloc, AFigureWithAWideIntervalIsLeftOut) {
  ExportInput input = four_nodes();
  Fact& latency = input.stored.runs[0].facts[0];
  ASSERT_EQ(latency.key, "matrix_latency");
  latency.estimate.low = latency.estimate.value / 10;
  const auto exported = form("hwloc").write(input);
  ASSERT_TRUE(exported);
  EXPECT_EQ(memory_values_of(exported->text, {"MeasuredLatency"}).size(), 1U);
  EXPECT_THAT(exported->notes.at(0),
              HasSubstr("from node 0 to node 0 is left out: 94.6 ns (9.46 to 142)"));
}

TEST(ExportHwloc, StandardAttributesOnlyWhereTheyAreAskedFor) {
  ExportInput input = four_nodes();
  EXPECT_TRUE(memory_values_of(text_of("hwloc", input), {"Latency", "Bandwidth"}).empty());
  input.standard = true;
  const std::string xml = text_of("hwloc", input);
  const auto latency = memory_values_of(xml, {"Latency"});
  ASSERT_EQ(latency.size(), 2U);
  EXPECT_EQ(latency[0].value, 95U);
  const auto bandwidth = memory_values_of(xml, {"Bandwidth"});
  ASSERT_EQ(bandwidth.size(), 1U);
  EXPECT_EQ(bandwidth[0].value, 40U);
  EXPECT_EQ(bandwidth[0].target, NodeId{1});
}

TEST(ExportHwloc, TheFirmwaresClaimsGiveWayToStandardAttributes) {
  ExportInput input = input_of("cxl-two-sockets.xml");
  input.machine_spec = machines + "cxl-two-sockets.xml";
  input.topology = *hwloc_xml(input.machine_spec);
  input.standard = true;
  input.machine = machine("cxl-two-sockets.xml");
  const auto values = memory_values_of(text_of("hwloc", input), {"Latency"});
  const auto measured = std::count_if(values.begin(), values.end(), [](const MemoryValue& one) {
    return one.value == 95 || one.value == 141;
  });
  EXPECT_EQ(measured, 2);
}

/// What was written in MiB/s is not read as the kernel's MB/s, nor called the firmware's claim.
TEST(ExportHwloc, IsReadBackAsMeasured) {
  ExportInput input = four_nodes();
  input.stored.runs[0].facts.push_back(
      fact_of("matrix_bandwidth", {{"cpu_node", "0"}, {"memory_node", "0"}, {"kernel", "read"}},
              "B/s", 80e9));
  for (const bool standard : {false, true}) {
    input.standard = standard;
    const std::string xml = text_of("hwloc", input);
    const auto snapshot = in_child([&] {
      const auto topology = load_xml_topology(xml);
      return topology ? to_json(translate(topology->get())).dump() : topology.error().message;
    });
    ASSERT_TRUE(snapshot);
    const auto read = machine_from_json(nlohmann::json::parse(*snapshot, nullptr, false));
    ASSERT_TRUE(read) << *snapshot;
    const auto& hmat = read->nodes[0].hmat;
    ASSERT_TRUE(hmat);
    EXPECT_TRUE(hmat->measured);
    EXPECT_NEAR(*hmat->read_bandwidth, 80e9, 1.1 * mib);
    EXPECT_NEAR(*hmat->read_latency, 94.6e-9, 1e-9);
    EXPECT_FALSE(hmat->write_latency);
    EXPECT_EQ(*read->nodes[1].hmat->read_bandwidth, 40.0 * mib);
  }
}

TEST(ExportGpuNodes, AreNumbersInTheOrderOfTheGpus) {
  ExportInput input;
  input.machine = machine("two-sockets-four-gpus.json");
  const auto exported = form("gpu-nodes").write(input);
  ASSERT_TRUE(exported) << exported.error().message;
  EXPECT_EQ(exported->text, "0 0 1 1\n");
  ASSERT_EQ(exported->notes.size(), 4U);
  EXPECT_EQ(exported->notes[2], "GPU 2: node 1: the system names it as the node of GPU 2");
}

TEST(ExportGpuNodes, MeasuredCopiesDecide) {
  ExportInput input = input_of("two-sockets-four-gpus.json");
  auto& facts = input.stored.runs[0].facts;
  for (const auto& [node, rate] : {std::pair("bind:0", 20e9), {"bind:1", 55e9}, {"bind:2", 60e9}}) {
    facts.push_back(fact_of("gpu_copy_rate", {{"gpu", "0"}, {"memory", node}, {"direction", "h2d"}},
                            "B/s", rate));
    facts.back().estimate.low = rate * 0.99;
    facts.back().estimate.high = rate * 1.01;
  }
  const auto exported = form("gpu-nodes").write(input);
  ASSERT_TRUE(exported) << exported.error().message;
  // Node 2 has no CPUs; the other GPUs were not measured.
  EXPECT_EQ(exported->text, "1 0 1 1\n");
  EXPECT_EQ(exported->notes[0], "GPU 0: node 1: copies of GPU 0 measured at 55 GB/s there");
}

TEST(ExportGpuNodes, ErrorsNameWhatWasTyped) {
  ExportInput input;
  input.machine = machine("two-sockets-four-gpus.json");
  input.machine_spec = "node7.json";
  input.machine->gpus[1].node.reset();
  const auto unknown = form("gpu-nodes").write(input);
  ASSERT_FALSE(unknown);
  EXPECT_THAT(full_text(unknown.error()), HasSubstr("--machine 'node7.json': GPU 1: "));
  EXPECT_THAT(full_text(unknown.error()), Not(HasSubstr("--cpus")));
  input.machine->gpus.clear();
  input.machine->unread["gpus"] = "no devices";
  EXPECT_THAT(full_text(form("gpu-nodes").write(input).error()),
              HasSubstr("--machine 'node7.json': the GPUs of this machine are not known: no dev"));
}

TEST(ExportPublished, ARowWithoutTheHost) {
  ExportInput input = input_of("two-sockets-four-gpus.json");
  const auto none = form("published").write(input);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().kind, ErrorKind::unavailable);
  Row reads;
  reads.kernel = "read";
  reads.figure = "bandwidth_sum";
  reads.unit = "B/s";
  reads.estimate = around(490e9);
  Rows run = input.stored.runs.front();
  run.command = "bandwidth";
  run.complete = true;
  run.worker_cpus = {to_list(run.machines.front().all_cpus())};
  run.rows = {reads};
  run.facts.clear();
  input.stored.runs.push_back(run);
  const auto exported = form("published").write(input);
  ASSERT_TRUE(exported) << full_text(exported.error());
  EXPECT_EQ(exported->text, R"(# name: own figures
# source: https://example.org/survey.json
# date: 2026-11
# licence: facts
processor,sockets,cores,channels,mts,virtual,program,read_gb_s,latency_ns,conditions
Xeon Platinum 8480+,2,,,,,numatlas,490.0,94.6,"numatlas 9.8.7, all CPUs"
)");
  EXPECT_THAT(exported->text, Not(HasSubstr("node7")));
  const auto rows = parse_published(exported->text, "row");
  ASSERT_TRUE(rows) << full_text(rows.error());
  // A guest, with modules that are all alike.
  Machine& guest = input.stored.runs.back().machines.front();
  guest.hypervisor = "KVM";
  for (const char* channel : {"A", "B"}) {
    MemorySlot slot;
    slot.channel = channel;
    slot.size = Bytes{gib};
    slot.configured_speed = 4400e6;
    guest.memory_slots.slots.push_back(slot);
  }
  EXPECT_THAT(full_hint(form("published").write(input).error()), HasSubstr("--machine-type NAME"));
  guest.hypervisor = "";
  EXPECT_THAT(form("published").write(input)->text, HasSubstr("\nXeon Platinum 8480+,2,,1,4400,"));
  guest.hypervisor = "KVM";
  input.machine_type = "m7i.4xlarge";
  EXPECT_THAT(form("published").write(input)->text,
              HasSubstr("\naws,m7i.4xlarge,Xeon Platinum 8480+,16,"));
  guest.identity = {"", "", "", "Amazon EC2 m5.large", "aws"};
  const std::string cloud = form("published").write(input)->text;
  EXPECT_THAT(cloud, HasSubstr("\naws,m5.large,Xeon Platinum 8480+,16,1,210,numatlas,490.0,94.6,"));
  EXPECT_TRUE(parse_published(cloud, "row"));
}

}  // namespace
}  // namespace numatlas
