// Claims on recorded machines against figures that were made up: what lies is contradicted, what is
// honest is confirmed, what nobody measured is neither.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>

#include <algorithm>
#include <cstddef>
#include <fstream>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "audit/audit.h"
#include "audit/claim.h"
#include "audit/test_figures.h"
#include "base/signals.h"
#include "base/test_data.h"
#include "comm/comm.h"
#include "record/report_json.h"
#include "record/test_report.h"
#include "report/reporter.h"

namespace numatlas {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;
using enum ClaimOutcome;

ClaimVerdict verdict_of(const std::string& claim, const std::string& about) {
  ClaimVerdict verdict{.about = about};
  verdict.claim = claim;
  return verdict;
}

/// All memory of guests is equally fast: distances of 10 and 30 are a lie, 10 and 12 are not.
TEST(SlitClaim, AFactorOfThreeOverEqualMemory) {
  Figures lying;
  lying.machine = recorded("guest-four-nodes.json");
  for (int from = 0; from < 4; ++from)
    for (int to = 0; to < 4; ++to) lying.cell(from, to, 100);
  const ClaimVerdict verdict = lying.judge(slit_claim, "from node 0");
  EXPECT_EQ(verdict.outcome, contradicted);
  EXPECT_THAT(verdict.claimed, HasSubstr("3.20 times the distance of node 0 (32 against 10)"));
  EXPECT_THAT(verdict.found, HasSubstr("1.00 times (0.96 to 1.04) its latency"));
  EXPECT_THAT(verdict.next, HasSubstr("SLIT"));
  for (NumaNode& node : lying.machine.nodes)
    for (auto& [other, distance] : node.distance) distance = std::min(distance, 12);
  EXPECT_EQ(lying.judge(slit_claim, "from node 0").outcome, confirmed);
}

TEST(SlitClaim, AFartherNodeThatIsFaster) {
  Figures figures;
  figures.machine = recorded("guest-four-nodes.json");
  for (int from = 0; from < 4; ++from)
    for (int to = 0; to < 4; ++to) figures.cell(from, to, to == from ? 100 : to == 1 ? 200 : 150);
  const ClaimVerdict verdict = figures.judge(slit_claim, "from node 0");
  EXPECT_EQ(verdict.outcome, contradicted);
  EXPECT_THAT(verdict.claimed, HasSubstr("of node 1"));
  EXPECT_THAT(verdict.found, HasSubstr("0.75 times"));
}

TEST(SlitClaim, IntervalsThatOverlapContradictNothing) {
  Figures figures;
  figures.machine = recorded("guest-four-nodes.json");
  for (int from = 0; from < 4; ++from)
    for (int to = 0; to < 4; ++to) figures.cell(from, to, to == from ? 100 : 95, 0, 0.7);
  const ClaimVerdict verdict = figures.judge(slit_claim, "from node 0");
  EXPECT_EQ(verdict.outcome, not_measurable);  // nor is a factor of three confirmed
  EXPECT_THAT(verdict.reason, HasSubstr("too uncertain"));
}

TEST(SlitClaim, WhatWasNotMeasured) {
  Figures figures;
  figures.machine = recorded("guest-four-nodes.json");
  const ClaimVerdict verdict = figures.judge(slit_claim, "from node 3");
  EXPECT_EQ(verdict.outcome, not_measurable);
  EXPECT_THAT(verdict.reason, HasSubstr("matrix did not run"));
}

TEST(HmatClaim, RatiosBetweenNodes) {
  Figures figures;
  figures.machine = recorded("cxl-tiers.json");
  const double honest[5] = {105, 105, 255, 255, 420};
  for (int to = 0; to < 5; ++to) {
    figures.cell(0, to, honest[to] + (to == 1 || to == 3 || to == 4 ? 60 : 0), to < 2 ? 250 : 45);
    figures.cell(1, to, honest[to] + (to == 0 || to == 2 ? 60 : 0),
                 to < 2    ? 250
                 : to == 4 ? 22
                           : 45);
  }
  for (const ClaimVerdict& one : figures.judge(hmat_claim))
    EXPECT_NE(one.outcome, contradicted) << one.about << " " << to_text(one);
  EXPECT_EQ(figures.judge(hmat_claim, "node 2 latency").outcome, confirmed);
  figures.machine.nodes[2].hmat->read_latency = 105e-9;  // as DRAM's
  ClaimVerdict lie = figures.judge(hmat_claim, "node 2 latency");
  EXPECT_EQ(lie.outcome, contradicted);
  EXPECT_THAT(lie.found, HasSubstr("2.43 times"));
  lie.claim = "hmat";
  EXPECT_EQ(report_of({lie}).answer,
            "numatlas audit: 1 of 1 claim contradicted: hmat node 2 latency: 2.43 times node 0's, "
            "claimed 1.00");
}

TEST(HmatClaim, AFactorOfOneAndAHalfIsFoundHalfAsSure) {
  Figures figures;
  figures.machine = recorded("cxl-tiers.json");
  for (int to = 0; to < 5; ++to) {
    figures.cell(0, to, to == 2 ? 170 : 105, 0, 0.03);
    figures.cell(1, to, 105, 0, 0.03);
  }
  // Claimed 2.43 times, found 1.62.
  EXPECT_EQ(figures.judge(hmat_claim, "node 2 latency").outcome, contradicted);
}

TEST(HmatClaim, CpusThatAreNotTheNearest) {
  Figures figures;
  figures.machine = recorded("cxl-tiers.json");
  figures.cell(0, 2, 400);
  figures.cell(1, 2, 255);
  const ClaimVerdict verdict = figures.judge(hmat_claim, "node 2 access class");
  EXPECT_EQ(verdict.outcome, contradicted);
  EXPECT_THAT(verdict.found, HasSubstr("those of node 1"));
}

TEST(TiersClaim, CxlInTheTierOfDram) {
  Figures figures;
  figures.machine = recorded("cxl-tiers.json");
  for (int to = 0; to < 5; ++to) {
    figures.cell(0, to, to < 2 ? 105 : 255, to < 2 ? 250 : 45);
    figures.cell(1, to, to < 2 ? 105 : 255, to < 2 ? 250 : 45);
  }
  EXPECT_EQ(figures.judge(tiers_claim, "node 2").outcome, confirmed);
  EXPECT_EQ(figures.judge(tiers_claim, "demotion from node 0").outcome, confirmed);
  for (NumaNode& node : figures.machine.nodes) node.memory_tier = 4;
  const ClaimVerdict verdict = figures.judge(tiers_claim, "node 2");
  EXPECT_EQ(verdict.outcome, contradicted);
  EXPECT_THAT(verdict.next, HasSubstr("although demotion is on"));
}

TEST(TiersClaim, ASlowerTierThatIsNot) {
  Figures figures;
  figures.machine = recorded("cxl-tiers.json");
  for (int to = 0; to < 5; ++to) {
    figures.cell(0, to, 105, 250, 0.01);
    figures.cell(1, to, 105, 250, 0.01);
  }
  EXPECT_EQ(figures.judge(tiers_claim, "node 2").outcome, contradicted);
  EXPECT_EQ(figures.judge(tiers_claim, "demotion from node 0").outcome, contradicted);
}

Figures with_modules(const std::string& name, double gb) {
  Figures figures;
  figures.machine = recorded("cxl-tiers.json");
  figures.machine.memory_slots = modules(name);
  figures.add("bandwidth", {"peak_bandwidth", {}, "read, 64 CPUs", "B/s", about_value(gb * 1e9)});
  return figures;
}

// Sixteen channels of 38.4 GB/s.
TEST(DimmsClaim, TheShareOfThePeak) {
  EXPECT_EQ(with_modules("even", 500).judge(dimms_claim, "peak").outcome, confirmed);
  EXPECT_EQ(with_modules("even", 700).judge(dimms_claim, "peak").outcome, contradicted);
  const ClaimVerdict little = with_modules("even", 350).judge(dimms_claim, "peak");
  EXPECT_EQ(little.outcome, contradicted);
  EXPECT_THAT(little.claimed, HasSubstr("614 GB/s of all channels of 2 sockets together"));
  EXPECT_THAT(little.found, HasSubstr("57 %"));
}

TEST(DimmsClaim, APeakForEachSocketThatWasMeasured) {
  Figures figures = with_modules("even", 500);
  figures.cell(0, 0, 100, 250);
  EXPECT_EQ(figures.judge(dimms_claim, "peak").outcome, confirmed);  // of both together
  figures.cell(1, 1, 100, 150);
  EXPECT_EQ(figures.judge(dimms_claim, "peak socket 0").outcome, confirmed);
  const ClaimVerdict slow = figures.judge(dimms_claim, "peak socket 1");
  EXPECT_EQ(slow.outcome, contradicted);
  EXPECT_THAT(slow.claimed, HasSubstr("307 GB/s"));
  for (const ClaimVerdict& one : figures.judge(dimms_claim)) EXPECT_NE(one.about, "peak");
}

TEST(DimmsClaim, AGuestHasNoPeakToReach) {
  Figures figures = with_modules("even", 100);
  figures.machine.hypervisor = "KVM";
  const ClaimVerdict verdict = figures.judge(dimms_claim, "peak");
  EXPECT_EQ(verdict.outcome, not_measurable);
  EXPECT_THAT(verdict.reason, HasSubstr("virtual machine"));
}

TEST(DimmsClaim, ChannelsThatDiffer) {
  EXPECT_EQ(with_modules("even", 500).judge(dimms_claim, "channels").outcome, confirmed);
  const ClaimVerdict empty = with_modules("empty-slot", 500).judge(dimms_claim, "channels");
  EXPECT_EQ(empty.outcome, contradicted);
  EXPECT_THAT(empty.found, StartsWith("none in socket 1 channel C"));
  EXPECT_THAT(empty.found, HasSubstr("32 GiB in each of the other 15"));
  EXPECT_THAT(empty.next, StartsWith("the module in 'P1 CHANNEL C DIMM 0': missing"));
  const ClaimVerdict uneven = with_modules("uneven", 500).judge(dimms_claim, "channels");
  EXPECT_EQ(uneven.outcome, contradicted);
  EXPECT_THAT(uneven.found,
              StartsWith("64 GiB in socket 0 channel A, 32 GiB in each of the other"));
  EXPECT_THAT(uneven.next, HasSubstr("'P0 CHANNEL A DIMM 0'"));
  EXPECT_THAT(uneven.next, Not(HasSubstr("missing")));
}

/// Boards whose banks and locators count differently (tests/smbios/make).
TEST(DimmsClaim, BoardsThatCountInTwoWays) {
  const ClaimVerdict nodes = with_modules("supermicro-nodes", 500).judge(dimms_claim, "channels");
  EXPECT_EQ(nodes.outcome, confirmed);
  EXPECT_EQ(nodes.claimed, "16 of 16 slots filled, 16 channels");
  EXPECT_THAT(with_modules("supermicro-nodes", 500).judge(dimms_claim, "peak").claimed,
              HasSubstr("614 GB/s of all channels of 2 sockets"));
  const ClaimVerdict banks = with_modules("no-dimm-bank", 200).judge(dimms_claim, "channels");
  EXPECT_EQ(banks.outcome, confirmed);
  EXPECT_EQ(banks.claimed, "12 of 16 slots filled, 12 channels");
}

TEST(DimmsClaim, AllThatAreMissing) {
  Figures figures = with_modules("even", 500);
  for (const std::size_t i : {1U, 2U, 3U, 4U, 5U, 6U, 7U, 8U, 9U})
    figures.machine.memory_slots.slots[i].size = Bytes{0};
  const ClaimVerdict verdict = figures.judge(dimms_claim, "channels");
  EXPECT_EQ(verdict.outcome, contradicted);
  EXPECT_THAT(verdict.found, HasSubstr("and 5 more, 32 GiB in each of the other 7"));
  EXPECT_THAT(verdict.next, HasSubstr("the modules in"));
  EXPECT_THAT(verdict.next, HasSubstr("and 5 more: missing"));
}

TEST(DimmsClaim, AModuleBelowItsSpeed) {
  EXPECT_EQ(with_modules("even", 500).judge(dimms_claim, "speed").outcome, confirmed);
  const ClaimVerdict slow = with_modules("slow-slot", 500).judge(dimms_claim, "speed");
  EXPECT_EQ(slow.outcome, contradicted);
  EXPECT_THAT(slow.found,
              HasSubstr("1 of them runs at less: 'P0 CHANNEL B DIMM 0' 4000 of 5600 MT/s"));
  EXPECT_THAT(slow.found, HasSubstr("not rated alike, down to 4800 MT/s"));
}

/// A module of a slower kind that runs as fast as it can is no fault of its own.
TEST(DimmsClaim, EachModuleByItsOwnRating) {
  Figures figures = with_modules("even", 500);
  auto& slots = figures.machine.memory_slots.slots;
  slots[3].rated_speed = slots[3].configured_speed = 4400e6;
  const ClaimVerdict mixed = figures.judge(dimms_claim, "speed");
  EXPECT_EQ(mixed.outcome, confirmed);
  EXPECT_THAT(mixed.found, HasSubstr("not rated alike, down to 4400 MT/s"));
  slots[5].configured_speed = 4000e6;
  slots[1].configured_speed = 4400e6;
  const ClaimVerdict slow = figures.judge(dimms_claim, "speed");
  EXPECT_EQ(slow.outcome, contradicted);
  EXPECT_THAT(slow.found, StartsWith("2 of them run at less: 'P0 CHANNEL F DIMM 0' 4000 of 4800 "
                                     "MT/s, 'P0 CHANNEL B DIMM 0' 4400"));
}

TEST(DimmsClaim, SlotsAreNotTakenForChannels) {
  Figures counted = with_modules("counted", 500);
  EXPECT_EQ(counted.judge(dimms_claim, "peak").outcome, not_measurable);
  EXPECT_FALSE(dimms_claim.applies(counted.machine));
  counted.machine.memory_slots = {"", "only root may read them", {}};
  EXPECT_EQ(counted.judge(dimms_claim, "modules").reason, "only root may read them");
}

Fact copies(const char* memory, const char* direction, double gb) {
  return {"gpu_copy_rate",
          {{"gpu", "0"}, {"memory", memory}, {"direction", direction}, {"pinning", "pinned"}},
          "copies",
          "B/s",
          about_value(gb * 1e9)};
}

TEST(LinksClaim, HalfTheLanes) {
  Figures figures;
  figures.machine = recorded("two-sockets-four-gpus.json");
  Gpu& gpu = figures.machine.gpus[0];
  ASSERT_GT(gpu.path.size(), 1U);
  gpu.path[0].link = gpu.path[1].link = {32e9, 32e9, 16, 16};
  EXPECT_EQ(figures.judge(links_claim, "gpu 0 link").outcome, confirmed);
  gpu.path[0].link.width = gpu.path[1].link.width = 8;
  const ClaimVerdict verdict = figures.judge(links_claim, "gpu 0 link");
  EXPECT_EQ(verdict.outcome, contradicted);
  EXPECT_THAT(verdict.next, HasSubstr(gpu.pci_address));
  // An idle link steps down in speed, and nothing is wrong with it.
  gpu.path[0].link = gpu.path[1].link = {2.5e9, 32e9, 16, 16};
  EXPECT_EQ(figures.judge(links_claim, "gpu 0 link").outcome, confirmed);
}

TEST(LinksClaim, RatesAndTheNearestNode) {
  Figures figures;
  figures.machine = recorded("two-sockets-four-gpus.json");
  for (PciStep& step : figures.machine.gpus[0].path) step.link = {32e9, 32e9, 16, 16};
  ASSERT_EQ(figures.machine.gpus[0].node, NodeId{0});
  for (const char* direction : {"h2d", "d2h"}) {
    figures.add("transfer", copies("bind:0", direction, 25));
    figures.add("transfer", copies("bind:1", direction, 20));
  }
  EXPECT_EQ(figures.judge(links_claim, "gpu 0 node").outcome, confirmed);
  EXPECT_EQ(figures.judge(links_claim, "gpu 0 rate").outcome, contradicted);  // of 63 GB/s
  figures.add("transfer", copies("bind:1", "d2h", 50));
  const ClaimVerdict verdict = figures.judge(links_claim, "gpu 0 node");
  EXPECT_EQ(verdict.outcome, contradicted);
  EXPECT_THAT(verdict.found, HasSubstr("node 1 has 2.00 times"));
}

TEST(GpuMemoryClaim, ReadsAgainstTheBus) {
  Figures figures;
  figures.machine = recorded("two-sockets-four-gpus.json");
  figures.machine.gpus.resize(2);
  figures.machine.gpus[0].memory_bandwidth = 3.352e12;
  EXPECT_THAT(figures.judge(gpu_memory_claim, "gpu 1 memory").reason,
              HasSubstr("does not tell the width"));
  const auto reading_of = [&](double gb) {
    Figures its = figures;
    its.add("gpu", {"gpu_read", {{"gpu", "0"}}, "reads", "B/s", about_value(gb * 1e9)});
    return its.judge(gpu_memory_claim, "gpu 0 memory");
  };
  EXPECT_EQ(reading_of(3056).outcome, confirmed);
  EXPECT_EQ(reading_of(1100).outcome, contradicted);
  EXPECT_THAT(reading_of(1100).claimed, HasSubstr("carries 3.35 TB/s"));
  figures.machine.gpus[0].mig = true;
  EXPECT_THAT(reading_of(1100).reason, HasSubstr("a slice of a GPU (MIG)"));
}

TEST(SettingsClaim, ByUse) {
  Figures figures;
  figures.machine = recorded("cxl-tiers.json");  // NUMA balancing 2 (tiering), SMT active
  EXPECT_TRUE(figures.judge(settings_claim).empty());
  figures.use = MachineUse::latency;
  EXPECT_EQ(figures.judge(settings_claim, "numa_balancing").outcome, confirmed);
  for (Setting& setting : figures.machine.settings)
    if (setting.name == "numa_balancing") setting.value = "1";
  const ClaimVerdict balancing = figures.judge(settings_claim, "numa_balancing");
  EXPECT_EQ(balancing.outcome, contradicted);
  EXPECT_THAT(balancing.claimed, HasSubstr("suit latency"));
  EXPECT_THAT(balancing.found, StartsWith("numa_balancing is '1': "));
  EXPECT_EQ(figures.judge(settings_claim, "smt").outcome, contradicted);
  EXPECT_EQ(figures.judge(settings_claim, "governor").outcome, confirmed);
  figures.use = MachineUse::throughput;
  for (const ClaimVerdict& one : figures.judge(settings_claim)) EXPECT_NE(one.about, "smt");
  EXPECT_EQ(figures.judge(settings_claim, "thp_enabled").outcome, confirmed);
}

TEST(AuditReport, ExitCodes) {
  EXPECT_EQ(exit_code_of_audit(report_of({})), 3);
  ClaimVerdict one = verdict_of("hmat", "node 2 latency");
  EXPECT_EQ(exit_code_of_audit(report_of({one})), 3);
  one.outcome = confirmed;
  EXPECT_EQ(exit_code_of_audit(report_of({one})), 0);
  one.outcome = contradicted;
  RunReport report = report_of({verdict_of("slit", "all nodes"), one});
  EXPECT_EQ(exit_code_of_audit(report), 1);
  report.trust = "unreliable";
  report.doubt = "other programs used 1.9 of 2 CPUs";
  EXPECT_EQ(exit_code_of_audit(report), 9);
}

TEST(AuditReport, OneLineFirst) {
  ClaimVerdict one = verdict_of("hmat", "node 2 latency");
  one.outcome = contradicted;
  one.claimed = "105 ns";
  one.found = "2.43 times";
  RunReport report = report_of(std::vector<ClaimVerdict>(12, one));
  report.complete = true;
  EXPECT_THAT(report.answer,
              StartsWith("numatlas audit: 12 of 12 claims contradicted: hmat node 2 latency"));
  EXPECT_THAT(report.answer, HasSubstr("and "));
  EXPECT_LT(report.answer.size(), 240U);
  EXPECT_EQ(text_in("line", report), report.answer + "\n");
  EXPECT_THAT(text_in("table", report), StartsWith(report.answer + "\n\nClaims\nverdict "));
  EXPECT_THAT(text_in("openmetrics", report), HasSubstr("numatlas_contradicted{command=\"audit\""));
  report.trust = "unreliable";
  report.doubt = "other programs used 1.9 of 2 CPUs";
  EXPECT_EQ(text_in("line", report),
            "UNRELIABLE: other programs used 1.9 of 2 CPUs (" + report.answer + ")\n");
  one.found = std::string(1000, 'x');
  EXPECT_LT(report_of({one, one}).answer.size(), 240U);
  EXPECT_EQ(report_of({verdict_of("hmat", "all nodes")}).answer,
            "numatlas audit: the claim could not be judged");
}

/// Programs read labels and figures; what is contradicted comes first.
TEST(AuditReport, IsACommonRecord) {
  ClaimVerdict good = verdict_of("caches", "L1"), bad = verdict_of("slit", "from node 0");
  good.outcome = confirmed;
  bad.outcome = contradicted;
  bad.unit = "1";
  bad.claimed_value = 3.2;
  bad.measured = about_value(1);
  const ClaimVerdict open = numatlas::not_measurable({"all nodes"}, "the firmware has no HMAT");
  RunReport report = report_of({good, open, bad});
  EXPECT_EQ(label_of(report.cases[0], "verdict"), "contradicted");
  EXPECT_EQ(find_total(report.cases[0], "claimed")->value(), 3.2);
  EXPECT_TRUE(find_total(report.cases[0], "measured")->estimate->high);
  EXPECT_EQ(report.cases[2].status, Status::skipped);
  EXPECT_EQ(report.cases[2].reason, "the firmware has no HMAT");
  const auto again = report_from_json(nlohmann::json::parse(json_text(report)));
  ASSERT_TRUE(again) << full_text(again.error());
  EXPECT_EQ(text_in("table", *again), text_in("table", report));
}

/// What is there when a signal comes is judged and written.
TEST(Audit, AStopKeepsWhatThereIs) {
  AuditOptions options;
  options.measuring.machine = test_data() + "/topologies/cxl-tiers.json";
  options.measuring.null_engine = options.measuring.quiet = true;
  options.only = {"slit", "settings"};
  options.use = MachineUse::latency;
  options.format = "json";
  const auto comm = make_single_comm();
  request_stop(SIGINT);
  ::testing::internal::CaptureStdout();
  const auto code = run_audit(options, *comm);
  const std::string text = ::testing::internal::GetCapturedStdout();
  reset_stop_for_tests();
  ASSERT_FALSE(code);
  EXPECT_EQ(code.error().kind, ErrorKind::interrupted);
  EXPECT_THAT(text, HasSubstr("\"complete\": false"));
  EXPECT_THAT(text, HasSubstr("\"incomplete_reason\": \""));
  EXPECT_THAT(text, HasSubstr("zone_reclaim_mode"));
}

}  // namespace
}  // namespace numatlas
