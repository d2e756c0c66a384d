#include "report/fleet_dat.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <fstream>
#include <sstream>

#include "base/test_data.h"
#include "fleet/summary.h"
#include "fleet/test_fleet.h"

namespace numatlas {
namespace {

using testing::even_fleet;
using ::testing::HasSubstr;
using testing::run_of;

const std::string example = test_data() + "/golden/fleet/memory_results-48x1-100101042021.dat";

std::string text_of(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::string changed(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

std::string problem_of(const std::string& text) {
  const auto fleet = report_from_dat(text, "x.dat");
  EXPECT_FALSE(fleet);
  return fleet ? "" : full_text(fleet.error());
}

TEST(FleetDat, TheExampleOfItsReadme) {
  const auto run = report_from_dat(text_of(example), "memory_results-48x1-100101042021.dat");
  ASSERT_TRUE(run) << full_text(run.error());
  const auto& fleet = run->fleet;
  EXPECT_EQ(run->started, "2021-04-01T10:01:00Z");
  EXPECT_EQ(fleet->hosts.size(), 23u);
  EXPECT_EQ(run->ranks, 1104);
  EXPECT_EQ(fleet->elements, 5'000'000u);
  EXPECT_EQ(fleet->kinds[0].processes, 48);
  // The rows that the README prints: MB/s and seconds.
  struct Row {
    double summed, average, maximum, minimum_time, minimum, maximum_time;
    const char* where;
  };
  const Row rows[] = {
      {135686.9, 0.028300, 134939.7, 0.028457, 131574.2, 0.029185, "cn04"},
      {134561.0, 0.028537, 133905.3, 0.028677, 129790.8, 0.029586, "cn12"},
      {153921.6, 0.037422, 152663.7, 0.037730, 149532.3, 0.038520, "cn11"},
      {154258.6, 0.037340, 152911.1, 0.037669, 143874.1, 0.040035, "cn17"},
  };
  const auto found = rows_of(*fleet);
  ASSERT_EQ(found.size(), 4u);
  for (std::size_t i = 0; i < 4; ++i) {
    const auto near = [&](double value, double mega) {
      EXPECT_NEAR(value / 1e6, mega, mega * 2e-5) << i;  // its times have 6 decimals
    };
    near(found[i]->summed_rate, rows[i].summed);
    near(found[i]->host.maximum_rate, rows[i].maximum);
    near(found[i]->host.minimum_rate, rows[i].minimum);
    EXPECT_NEAR(found[i]->process.average, rows[i].average, 5e-7);
    EXPECT_EQ(found[i]->host.minimum, rows[i].minimum_time);
    EXPECT_EQ(found[i]->host.maximum, rows[i].maximum_time);
    EXPECT_EQ(fleet->hosts[found[i]->host.slowest_host].name, rows[i].where);
  }
  EXPECT_TRUE(find_slow(*fleet).hosts.empty());
  EXPECT_EQ(dat_name(*run), "memory_results-48x1-100101042021.dat");
}

TEST(FleetDat, Layout) {
  Fleet fleet = even_fleet(5);
  fleet.hosts.resize(1);
  EXPECT_EQ(dat_text(run_of(fleet)),
            R"(<?xml version="1.0" encoding="utf-8"?>
<stream_run>
 <experiment>memory_results-4x2-100121112026.dat</experiment>
 <configuration>
  <processes_per_node>4</processes_per_node>
  <threads_per_process>2</threads_per_process>
  <number_of_nodes>1</number_of_nodes>
  <copy_size>1000000000</copy_size>
  <triad_size>1500000000</triad_size>
 </configuration>
 <results>
  <node>
   <name>cn00</name>
   <Copy>
    <Average>0.21875</Average>
    <Minimum>0.25</Minimum>
    <Maximum>0.25</Maximum>
   </Copy>
   <Triad>
    <Average>0.4375</Average>
    <Minimum>0.5</Minimum>
    <Maximum>0.5</Maximum>
   </Triad>
  </node>
 </results>
</stream_run>
)");
}

TEST(FleetDat, BackToTheLastDigit) {
  Fleet fleet = even_fleet(5);
  testing::add_noise(fleet, 0.02, 5);
  fleet.hosts[1].name = "a<b>&\"c";
  const auto read = report_from_dat(dat_text(run_of(fleet)), dat_name(run_of(fleet)));
  ASSERT_TRUE(read) << full_text(read.error());
  EXPECT_EQ(read->started, "2026-11-21T10:01:00Z");  // minutes
  ASSERT_EQ(read->fleet->hosts.size(), fleet.hosts.size());
  EXPECT_EQ(read->fleet->hosts[1].name, "a<b>&\"c");
  for (std::size_t i = 0; i < fleet.hosts.size(); ++i) {
    const auto times = times_of(fleet, fleet.hosts[i], 1);
    EXPECT_EQ(*read->fleet->hosts[i].summaries[1],
              (HostSummary{times->process_average, times->minimum, times->maximum}));
  }
  const auto twice = report_from_dat(dat_text(*read), dat_name(*read));
  ASSERT_TRUE(twice);
  EXPECT_EQ(twice->fleet, read->fleet);
}

TEST(FleetDat, UnlikeHostsAndModes) {
  Fleet fleet = even_fleet(5);
  HostKind small = fleet.kinds[0];
  small.processes = small.workers = 2;
  fleet.kinds.push_back(small);
  fleet.hosts[2].kind = 1;
  fleet.kernels[1].name = "copy";
  fleet.kernels[1].mode = "individual";
  EXPECT_EQ(dat_name(run_of(fleet)), "memory_results-4x2-100121112026.dat");
  const std::string text = dat_text(run_of(fleet));
  EXPECT_THAT(text, HasSubstr("<copy_individual_size>1500000000</copy_individual_size>"));
  EXPECT_THAT(text, HasSubstr("<Copy_individual>"));
  const auto read = report_from_dat(text, "x");
  ASSERT_TRUE(read) << full_text(read.error());
  EXPECT_EQ(read->fleet->kernels[1].mode, "individual");
  EXPECT_EQ(read->fleet->kinds[read->fleet->hosts[2].kind].processes, 2);
  EXPECT_EQ(read->fleet->kinds[read->fleet->hosts[3].kind].processes, 4);
  EXPECT_EQ(read->ranks, 18);  // four hosts of four, one of two
}

TEST(FleetDat, WhatIsWrongIsSaid) {
  const std::string good = text_of(example);
  EXPECT_THAT(problem_of(good.substr(0, good.size() / 2)), HasSubstr("not complete XML"));
  EXPECT_THAT(problem_of("<html></html>"), HasSubstr("no <stream_run>"));
  EXPECT_THAT(problem_of(changed(good, "<processes_per_node>48", "<processes_per_node>0")),
              HasSubstr("<processes_per_node>"));
  EXPECT_THAT(problem_of(changed(good, "<number_of_nodes>23", "<number_of_nodes>22")),
              HasSubstr("<number_of_nodes> is 22, but <results> has 23"));
  EXPECT_THAT(problem_of(changed(good, "<Average>0.0", "<Average>x0.0")),
              HasSubstr("<Average> of <Copy> is 'x0.0"));
  EXPECT_THAT(problem_of(changed(good, "<Minimum>0.0", "<Minimum>0.9")),
              HasSubstr("the minimum is above the maximum"));
  EXPECT_THAT(problem_of(changed(good, "<name>cn01</name>", "")), HasSubstr("has no <name>"));
  EXPECT_THAT(problem_of("<stream_run/>"), HasSubstr("has no <configuration>"));
}

TEST(FleetDat, WhenItRan) {
  const std::string text = changed(text_of(example), "memory_results<", "memory_results-a<");
  const auto start = [&](const std::string& name) { return report_from_dat(text, name)->started; };
  EXPECT_EQ(start("memory_results-1x1-235931122024.dat"), "2024-12-31T23:59:00Z");
  EXPECT_EQ(start("memory_results-1x1-245931122024.dat"), "");
  EXPECT_EQ(start("memory_results-1x1-2359311220245.dat"), "");
  EXPECT_EQ(start("renamed.dat"), "");
}

}  // namespace
}  // namespace numatlas
