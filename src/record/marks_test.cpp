#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "record/drawn.h"
#include "record/test_report.h"

namespace numatlas {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

Estimate well_known(double value) {
  return numatlas::testing::with_interval(value, value * 0.99, value * 1.01);
}

/// A machine with a node with CPUs and one without, which their firmware tells of.
RunReport report_with_caches(std::string command) {
  RunReport report;
  report.command = std::move(command);
  report.machines.resize(1);
  Machine& machine = report.machines[0];
  machine.hypervisor = "";
  machine.nodes.resize(2);
  machine.nodes[0].id = NodeId{0};
  machine.nodes[0].cpus = {CpuId{0}};
  machine.nodes[0].hmat.emplace().read_bandwidth = 2e11;
  machine.nodes[1].id = NodeId{2};
  const auto add = [&](int level, const char* type, std::uint64_t size) {
    Cache& cache = machine.caches.emplace_back();
    cache.level = level;
    cache.type = type;
    cache.size = Bytes{size};
  };
  add(1, "instruction", 64 * kib);
  add(1, "data", 32 * kib);
  add(2, "unified", mib);
  return report;
}

/// Loads of 25, 50 and 100 GB/s with their latencies; the second has what is found of the curve.
RunReport loads() {
  RunReport report = report_with_caches("loaded");
  for (const double load : {25.0, 50.0, 100.0}) {
    Case one;
    one.labels = {{"memory_node", "0"}};
    one.figures = {{"bandwidth_sum", "B/s", well_known(load * 1e9), {}},
                   {"latency", "s", well_known((50 + load) * 1e-9), {}}};
    report.cases.push_back(one);
  }
  auto& figures = report.cases[1].figures;
  figures.push_back({"latency_at_80_percent", "s", well_known(130e-9), {}});
  figures.push_back({"knee", "B/s", well_known(75e9), {}});
  figures.push_back({"knee_latency", "s", well_known(110e-9), {}});
  const auto fact = [](const char* key, Unit unit, double value) {
    return Fact{key, {{"memory_node", "0"}}, "", unit, well_known(value)};
  };
  report.facts = {fact("loaded_latency_idle", "s", 60e-9),
                  fact("loaded_bandwidth_peak", "B/s", 100e9)};
  View view;
  view.kind = ViewKind::curve;
  view.where = {{"memory_node", "0"}};
  view.rows = "bandwidth_sum";
  view.cells = {figure_column("load", "bandwidth_sum", in_gb_per_s),
                figure_column("ns", "latency", in_ns, Part::with_interval)};
  report.views = {view};
  return report;
}

std::vector<std::string> texts_of(const Drawn& drawn) {
  std::vector<std::string> texts;
  for (const DrawnMark& mark : drawn.marks) texts.push_back(mark.text);
  return texts;
}

TEST(Marks, ACurveUnderLoadHasItsKneeAndItsEnds) {
  const RunReport report = loads();
  const Drawn drawn = drawn_of(report, report.views[0]).front();
  EXPECT_THAT(texts_of(drawn),
              ElementsAre("idle 60.0 ns", "highest load 100 GB/s", "firmware's claim 200 GB/s"));
  EXPECT_TRUE(drawn.marks[0].level);
  EXPECT_TRUE(drawn.marks[2].wanted);
  ASSERT_THAT(drawn.special, SizeIs(2));
  EXPECT_EQ(drawn.special[0].text, "130 ns ±1.0 % at 80 %");
  EXPECT_DOUBLE_EQ(drawn.special[0].x, 80) << "between two rows";
  EXPECT_DOUBLE_EQ(drawn.special[0].y, 130);
  EXPECT_EQ(drawn.special[1].text, "knee 75.0 GB/s");
  EXPECT_DOUBLE_EQ(drawn.special[1].x, 75);
}

TEST(Marks, TheLatencyAt80PercentIsThatOfItsRow) {
  RunReport report = loads();
  report.cases[1].figures[2].estimate = well_known(100e-9);
  EXPECT_DOUBLE_EQ(drawn_of(report, report.views[0]).front().special[0].x, 50);
  report.cases[1].figures[0].estimate = numatlas::testing::with_interval(50e9, 0, 150e9);
  EXPECT_THAT(drawn_of(report, report.views[0]).front().special, SizeIs(1)) << "no known place";
}

TEST(Marks, AKneeOfNoLoadIsNotMarked) {
  RunReport report = loads();
  report.cases[1].figures[0].estimate = well_known(0);
  const Drawn drawn = drawn_of(report, report.views[0]).front();
  for (const DrawnSpecial& one : drawn.special)
    EXPECT_THAT(one.text, ::testing::Not(::testing::HasSubstr("knee")));
}

TEST(Marks, CurvesInOnePictureShareThePeakOfOneMemoryOnly) {
  RunReport report = loads();
  report.views.push_back(report.views[0]);
  EXPECT_THAT(texts_of(drawn_of(report, report.views[0]).front()),
              ElementsAre("firmware's claim 200 GB/s"));
  report.views[1].where = {{"memory_node", "2"}};
  EXPECT_THAT(drawn_of(report, report.views[0]).front().marks, IsEmpty());
}

TEST(Marks, TheModulesOfAVirtualMachineAreNotItsOwn) {
  RunReport report = loads();
  MemorySlots& slots = report.machines[0].memory_slots;
  MemorySlot& slot = slots.slots.emplace_back();
  slot.channel = "A";
  slot.size = Bytes{gib};
  slot.rated_speed = 4.8e9;
  slot.width = 64;
  EXPECT_EQ(texts_of(drawn_of(report, report.views[0]).front()).back(),
            "theoretical peak 38.4 GB/s");
  report.machines[0].hypervisor = "KVM";
  EXPECT_EQ(texts_of(drawn_of(report, report.views[0]).front()).back(),
            "firmware's claim 200 GB/s");
  report.machines[0].nodes[0].hmat.reset();
  EXPECT_EQ(texts_of(drawn_of(report, report.views[0]).front()).back(), "highest load 100 GB/s");
}

TEST(Marks, SizesHaveTheCaches) {
  RunReport report = report_with_caches("latency");
  for (const std::uint64_t count : {1U, 2U, 4U}) {
    Case one;
    one.size = Bytes{count * mib};
    one.figures = {{"latency", "s", well_known(1e-9), {}}};
    report.cases.push_back(one);
  }
  View view;
  view.cells = {label_column("size", "size"),
                figure_column("ns", "latency", in_ns, Part::with_interval)};
  EXPECT_THAT(texts_of(drawn_of(report, view).front()), ElementsAre("L1 32 KiB", "L2 1 MiB"));
}

}  // namespace
}  // namespace numatlas
