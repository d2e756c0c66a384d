#include "fleet/fleet_json.h"
#include "base/pretty_json.h"

#include <cstddef>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "fleet/slow_nodes.h"
#include "fleet/test_fleet.h"
#include "record/report_json.h"

namespace numatlas {
namespace {

using nlohmann::json;
using testing::even_fleet;
using ::testing::HasSubstr;

/// With something in every field.
Fleet full_fleet() {
  Fleet fleet = even_fleet(5);
  testing::add_noise(fleet, 0.03, 3);
  testing::slow_down(fleet.hosts[2], 1.5);
  fleet.clock_error = 2.5e-5;
  fleet.kernels[0].mode = "individual";
  fleet.kernels[1].stores = "";
  fleet.complete = false;
  fleet.incomplete_reason = "interrupted";
  fleet.warnings = {{"low-overlap", "", "one"}, {"other-processes", "x", "two, \"quoted\""}};
  fleet.hosts[1].warnings = {{"setting", "", "of cn01"}};
  fleet.hosts[1].cpu_use = CpuUse{2.5, 64, 30.0, 1.5, 0.25, ""};
  fleet.hosts[2].cpu_use = CpuUse{0, 0, std::nullopt, std::nullopt, std::nullopt, "hidden"};
  fleet.hosts[1].processes = {{4, {{0, 0.5}, {0, 0}}, {{0.25, 0.5}, {1, 2}}},
                              {5, {{0.25}, {}}, {{0.125}, {}}}};
  fleet.retest = Retest{{fleet.hosts[2], fleet.hosts[0]}};
  fleet.hosts[4].rounds.clear();
  fleet.hosts[4].summaries = {HostSummary{0.1, 0.2, 0.3}, std::nullopt};
  return fleet;
}

std::string message_of(const std::string& text) {
  const auto fleet = fleet_from_json_text(text);
  EXPECT_FALSE(fleet);
  return fleet ? "" : full_text(fleet.error());
}

TEST(FleetJson, BackAsItWas) {
  const Fleet fleet = full_fleet();
  const SlowReport slow = find_slow(fleet);
  ASSERT_FALSE(slow.hosts.empty());
  for (const SlowReport* beside : {static_cast<const SlowReport*>(nullptr), &slow}) {
    const auto read = fleet_from_json_text(json_text(fleet, beside));
    ASSERT_TRUE(read) << full_text(read.error());
    EXPECT_EQ(*read, fleet);
  }
  const auto empty = fleet_from_json_text(json_text(even_fleet(0)));
  ASSERT_TRUE(empty) << full_text(empty.error());
  EXPECT_EQ(*empty, even_fleet(0));
}

TEST(FleetJson, WhatReadersFind) {
  const Fleet fleet = full_fleet();
  const SlowReport slow = find_slow(fleet);
  const json value = json::parse(json_text(fleet, &slow));
  EXPECT_EQ(value["command"], "stream");
  EXPECT_EQ(value["schema_version"], 2);
  EXPECT_EQ(value["kernels"][1]["stores"], nullptr);
  EXPECT_EQ(value["hosts"][3]["rounds"][1]["node"].size(), 10u);
  EXPECT_EQ(value["hosts"][3]["rounds"][1]["slowest_rank"][0], 15);
  EXPECT_EQ(value["slow"][0]["host"], "cn02");
  EXPECT_EQ(value["slow"][0]["verdict"], "confirmed");
}

TEST(FleetJson, EveryTruncationIsAnError) {
  const std::string text = json_text(full_fleet());
  for (std::size_t length = 0; length + 2 < text.size(); length += 97)
    EXPECT_FALSE(fleet_from_json_text(text.substr(0, length))) << length;
  EXPECT_THAT(message_of(text.substr(0, text.size() / 2)),
              HasSubstr(fmt::format("is cut off after {} bytes", text.size() / 2)));
}

TEST(FleetJson, ForeignFilesAreNamed) {
  json value = json::parse(json_text(full_fleet()));
  value["command"] = "latency";
  EXPECT_EQ(message_of(value.dump()), "results of 'numatlas latency', not of 'numatlas stream'");
  value["command"] = "stream";
  value["schema_version"] = 7;
  EXPECT_EQ(message_of(value.dump()), "schema_version is 7; this program reads 1 and 2");
  EXPECT_EQ(message_of("{}"), "no results of numatlas");
  EXPECT_EQ(message_of("[1]"), "no results of numatlas");
  EXPECT_EQ(message_of("{\"command\": \"stream\"}"), "no results of numatlas");
}

TEST(FleetJson, WrongFieldsAreNamed) {
  const json good = json::parse(json_text(full_fleet()));
  const auto with = [&](const char* pointer, const json& value) {
    json changed = good;
    changed[json::json_pointer(pointer)] = value;
    return message_of(changed.dump());
  };
  EXPECT_THAT(with("/hosts/1/kind", 1), HasSubstr("hosts[1].kind"));
  EXPECT_THAT(with("/hosts/1/rounds/0/node/3", "x"), HasSubstr("hosts[1].rounds[0].node"));
  EXPECT_THAT(with("/hosts/1/rounds/0/node/3", -1), HasSubstr("hosts[1].rounds[0].node"));
  EXPECT_THAT(with("/hosts/1/rounds/0/node", json::array()), HasSubstr("another length"));
  EXPECT_THAT(with("/hosts/1/rounds", json::array()), HasSubstr("each of 2 kernels"));
  EXPECT_THAT(with("/kinds/0/processes", 0), HasSubstr("kinds[0]"));
  EXPECT_THAT(with("/kernels/0", 5), HasSubstr("kernels[0]"));
  EXPECT_THAT(with("/complete", "yes"), HasSubstr("complete"));
  EXPECT_THAT(with("/machines", json::array({1})), HasSubstr("machines[0]"));
  // Each field missing in turn is an error, and no crash.
  for (const auto& [name, field] : good.items()) {
    if (name == "clock_error") continue;  // files of earlier versions lack it
    json without = good;
    without.erase(name);
    EXPECT_FALSE(fleet_from_json(without)) << name;
  }
}

TEST(FleetJson, FiguresHaveTheirIntervals) {
  const json value = json::parse(json_text(full_fleet()));
  const json& copy = value["hosts"][0]["figures"][0];
  EXPECT_EQ(copy["unit"], "B/s");
  EXPECT_EQ(copy["summary"]["n"], 9);  // without the first round
  EXPECT_LE(copy["estimate"]["low"], copy["estimate"]["value"]);
  EXPECT_GE(copy["estimate"]["high"], copy["estimate"]["value"]);
  EXPECT_EQ(value["hosts"][4]["figures"][0]["estimate"]["low"], nullptr);  // by its average alone
  EXPECT_EQ(value["hosts"][4]["figures"][1], nullptr);
}

/// Version 1 had warnings without codes, and left out what was empty.
TEST(FleetJson, ReadsVersion1) {
  Fleet fleet = even_fleet(2);
  fleet.warnings = {{"version-1", "", "one"}};
  json old = json::parse(json_text(fleet));
  old["schema_version"] = 1;
  old["warnings"] = {"one"};
  for (json& host : old["hosts"]) {
    for (const char* name : {"cpu_use", "processes", "summaries", "figures"}) host.erase(name);
    host["rounds"][0].erase("start");
  }
  for (FleetHost& host : fleet.hosts)
    for (PassTimes& pass : host.rounds[0]) pass.start = -1;
  const auto read = fleet_from_json(old);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(*read, fleet);
  old["hosts"][0].erase("rounds");
  EXPECT_THAT(message_of(old.dump()), HasSubstr("numatlas 0.1: key 'rounds' not found"));
}

TEST(FleetJson, ClocksOfEarlierFilesAreNotKnown) {
  json earlier = json::parse(json_text(full_fleet()));
  ASSERT_EQ(earlier["clock_error"], 2.5e-5);
  earlier.erase("clock_error");
  const auto fleet = fleet_from_json(earlier);
  ASSERT_TRUE(fleet) << full_text(fleet.error());
  EXPECT_EQ(fleet->clock_error, 0);
}

/// As of reports (record/report_json_test.cpp).
TEST(FleetJson, SchemaIsThatOfTheWriter) {
  const std::string path = NUMATLAS_TEST_DATA "/../docs/stream.schema.json";
  if (std::getenv("NUMATLAS_UPDATE_GOLDEN") != nullptr)
    std::ofstream(path) << pretty(fleet_schema());
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  EXPECT_TRUE(json::parse(text.str(), nullptr, false) == fleet_schema()) << path;
}

}  // namespace
}  // namespace numatlas
