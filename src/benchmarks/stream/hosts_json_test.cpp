// Rounds of hosts in the JSON of a report.
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/json_document.h"
#include "fleet/cases.h"
#include "fleet/summary.h"
#include "fleet/test_fleet.h"
#include "record/report_json.h"

namespace numatlas {
namespace {

using nlohmann::json;
using testing::even_fleet;
using ::testing::HasSubstr;

/// With something in every field.
RunReport full_run() {
  Fleet fleet = even_fleet(5);
  testing::add_noise(fleet, 0.03, 3);
  testing::slow_down(fleet.hosts[2], 1.5);
  fleet.clock_error = 2.5e-5;
  fleet.kernels[0].mode = "individual";
  fleet.kernels[1].stores = "";
  fleet.hosts[1].warnings = {{"setting", "", "of cn01"}};
  fleet.hosts[1].cpu_use = CpuUse{2.5, 64, 30.0, 1.5, 0.25, ""};
  fleet.hosts[2].cpu_use = CpuUse{0, 0, std::nullopt, std::nullopt, std::nullopt, "hidden"};
  fleet.hosts[1].processes = {{4, {{0, 0.5}, {0, 0}}, {{0.25, 0.5}, {1, 2}}},
                              {5, {{0.25}, {}}, {{0.125}, {}}}};
  fleet.retest = Retest{{fleet.hosts[2], fleet.hosts[0]}};
  fleet.hosts[4].rounds.clear();
  fleet.hosts[4].summaries = {HostSummary{0.1, 0.2, 0.3}, std::nullopt};
  RunReport run = testing::judged(fleet);
  run.complete = false;
  run.incomplete_reason = "interrupted";
  add_cases(run);
  run.warnings = {{"low-overlap", "", "one"}, {"other-processes", "x", "two, \"quoted\""}};
  return run;
}

Expected<RunReport> read(const std::string& text) {
  const auto document = parse_json(text);
  if (!document) return fail(document.error());
  return report_with_cases(**document);
}

std::string message_of(const std::string& text) {
  const auto run = read(text);
  EXPECT_FALSE(run);
  return run ? "" : full_text(run.error());
}

TEST(FleetJson, BackAsItWas) {
  const RunReport run = full_run();
  ASSERT_FALSE(run.fleet->slow->hosts.empty());
  const auto again = read(json_text(run));
  ASSERT_TRUE(again) << full_text(again.error());
  EXPECT_EQ(again->fleet->hosts, run.fleet->hosts);
  EXPECT_EQ(again->fleet->retest, run.fleet->retest);
  EXPECT_EQ(again->fleet->kinds, run.fleet->kinds);
  EXPECT_EQ(again->fleet->kernels, run.fleet->kernels);
  EXPECT_EQ(again->hosts, run.hosts);
  EXPECT_EQ(json_text(*again), json_text(run));
  const auto empty = read(json_text(testing::judged(even_fleet(0))));
  ASSERT_TRUE(empty) << full_text(empty.error());
  EXPECT_TRUE(empty->fleet->hosts.empty());
}

/// Hosts stand apart in the text, and are the same as in the value.
TEST(FleetJson, TheTextIsThatOfTheValue) {
  EXPECT_EQ(json::parse(json_text(full_run()))["fleet"], to_json(full_run())["fleet"]);
}

TEST(FleetJson, WhatReadersFind) {
  const json value = json::parse(json_text(full_run()));
  EXPECT_EQ(value["command"], "stream");
  EXPECT_EQ(value["schema_version"], 2);
  const json& fleet = value["fleet"];
  EXPECT_EQ(fleet["kernels"][1]["stores"], nullptr);
  EXPECT_EQ(fleet["hosts"][3]["rounds"][1]["node"].size(), 10u);
  EXPECT_EQ(fleet["hosts"][3]["rounds"][1]["slowest_rank"][0], 15);
  EXPECT_EQ(fleet["slow"]["hosts"][0]["host"], 2);
  EXPECT_EQ(fleet["slow"]["hosts"][0]["verdict"], "confirmed");
}

TEST(FleetJson, EveryTruncationIsAnError) {
  const std::string text = json_text(full_run());
  for (std::size_t length = 0; length + 2 < text.size(); length += 97)
    EXPECT_FALSE(read(text.substr(0, length))) << length;
  EXPECT_THAT(message_of(text.substr(0, text.size() / 2)),
              HasSubstr(fmt::format("is truncated after {} bytes", text.size() / 2)));
}

TEST(FleetJson, WrongFieldsAreNamed) {
  const json good = json::parse(json_text(full_run()));
  const auto with = [&](const char* pointer, const json& value) {
    json changed = good;
    changed[json::json_pointer(pointer)] = value;
    return message_of(changed.dump());
  };
  EXPECT_THAT(with("/fleet/hosts/1/kind", 1), HasSubstr("hosts[1]"));
  EXPECT_THAT(with("/fleet/hosts/1/rounds/0/node/3", "x"),
              HasSubstr("fleet.hosts[1].rounds[0].node"));
  EXPECT_THAT(with("/fleet/hosts/1/rounds/0/node/3", -1),
              HasSubstr("fleet.hosts[1].rounds[0].node"));
  EXPECT_THAT(with("/fleet/hosts/1/rounds/0/node", json::array()), HasSubstr("another length"));
  EXPECT_THAT(with("/fleet/hosts/1/rounds", json::array()), HasSubstr("each of 2 kernels"));
  EXPECT_THAT(with("/fleet/kinds/0/processes", 0), HasSubstr("fleet.kinds[0]"));
  EXPECT_THAT(with("/fleet/kernels/0", 5), HasSubstr("fleet.kernels[0]"));
  EXPECT_THAT(with("/fleet/slow/hosts/0/host", 5), HasSubstr("'slow'"));
  EXPECT_THAT(with("/fleet/slow/hosts/0/kernels/0/kernel", 2), HasSubstr("'slow'"));
  EXPECT_THAT(with("/cases", json::array()), HasSubstr("'cases' must have one for each of 2"));
  EXPECT_THAT(with("/cases/0/host_figures/0/host", 5), HasSubstr("'cases[0].host_figures'"));
  EXPECT_THAT(with("/complete", "yes"), HasSubstr("complete"));
  EXPECT_THAT(with("/machines", json::array({1})), HasSubstr("machines[0]"));
  // Each field missing in turn is an error, and no crash.
  for (const auto& [name, field] : good["fleet"].items()) {
    json without = good;
    without["fleet"].erase(name);
    EXPECT_FALSE(report_with_cases(without)) << name;
  }
}

TEST(FleetJson, FiguresHaveTheirIntervals) {
  const json value = json::parse(json_text(full_run()));
  const json& hosts = value["cases"][0]["host_figures"];
  const json& copy = hosts[0]["figures"][0];
  EXPECT_EQ(copy["unit"], "B/s");
  EXPECT_EQ(copy["summary"]["n"], 9);  // without the first round
  EXPECT_LE(copy["estimate"]["low"], copy["estimate"]["value"]);
  EXPECT_GE(copy["estimate"]["high"], copy["estimate"]["value"]);
  EXPECT_EQ(hosts[4]["figures"][0]["estimate"]["low"], nullptr);  // by its average alone
  EXPECT_EQ(value["cases"][1]["host_figures"].size(), 4);         // one host finished no round
  EXPECT_EQ(value["cases"][1]["status"], "incomplete");
}

/// What a run that was killed left: rounds, and neither verdicts nor figures.
TEST(FleetJson, RoundsWithoutVerdictsGetThem) {
  json value = json::parse(json_text(full_run()));
  const json cases = value["cases"];
  value["cases"] = json::array();
  value["fleet"]["slow"] = nullptr;
  const auto run = report_with_cases(value);
  ASSERT_TRUE(run) << full_text(run.error());
  EXPECT_EQ(json::parse(json_text(*run))["cases"], cases);
  EXPECT_EQ(run->fleet->slow->hosts.front().host, 2u);
}

}  // namespace
}  // namespace numatlas
