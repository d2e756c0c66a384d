#include "report/dat.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <fstream>
#include <sstream>
#include <string>

#include "analysis/test_hosts.h"
#include "base/test_data.h"
#include "benchmarks/stream/summary.h"

namespace numatlas::dat_test {
namespace {

using testing::even_hosts;
using ::testing::HasSubstr;

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
  const auto read = report_from_dat(text, "x.dat");
  EXPECT_FALSE(read);
  return read ? "" : full_text(read.error());
}

TEST(Dat, TheExampleOfItsReadme) {
  const auto run = report_from_dat(text_of(example), "memory_results-48x1-100101042021.dat");
  ASSERT_TRUE(run) << full_text(run.error());
  EXPECT_EQ(run->started, "2021-04-01T10:01:00Z");
  EXPECT_EQ(run->hosts.size(), 23u);
  EXPECT_EQ(run->ranks, 1104);
  EXPECT_EQ(elements_of(*run), 5'000'000u);
  EXPECT_EQ(run->host_rows[0].processes, 48);
  // The averages that the README prints: MB/s of a node by the average time of its processes.
  const double summed[] = {135686.9, 134561.0, 153921.6, 154258.6};
  ASSERT_EQ(run->scenarios.size(), 4u);
  for (std::size_t i = 0; i < 4; ++i) {
    double seconds = 0;
    for (const HostTotals& host : run->scenarios[i].host_totals)
      seconds += bytes_of_host(*run, run->scenarios[i], host.host) / *host.figures.front().value() /
                 static_cast<double>(run->hosts.size());
    EXPECT_NEAR(bytes_of_host(*run, run->scenarios[i], 0) / seconds / 1e6, summed[i],
                summed[i] * 2e-5)  // its times have 6 decimals
        << i;
  }
  EXPECT_EQ(dat_name(*run), "memory_results-48x1-100101042021.dat");
}

TEST(Dat, Layout) {
  EXPECT_EQ(dat_text(even_hosts(1)),
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

TEST(Dat, BackToTheLastDigit) {
  RunReport run = even_hosts(5);
  testing::add_noise(run, 0.02, 5);
  run.hosts[1] = "a<b>&\"c";
  const auto read = report_from_dat(dat_text(run), dat_name(run));
  ASSERT_TRUE(read) << full_text(read.error());
  EXPECT_EQ(read->started, "2026-11-21T10:01:00Z");  // minutes
  EXPECT_EQ(read->hosts, run.hosts);
  for (std::size_t host = 0; host < 5; ++host) {
    double seconds = 0;
    for (const PassTimes& pass : counted(testing::passes(run, 1, host)))
      seconds += pass.sum / 4 / 9;
    EXPECT_DOUBLE_EQ(*read->scenarios[1].host_totals[host].figures.front().value(), 6e9 / seconds);
  }
}

TEST(Dat, UnlikeHostsAndModes) {
  RunReport run = even_hosts(5);
  run.host_rows[2].processes = run.host_rows[2].workers = 2;
  run.scenarios[1].kernel = "copy";
  run.scenarios[1].labels[0].second = "individual";
  EXPECT_EQ(dat_name(run), "memory_results-4x2-100121112026.dat");
  const std::string text = dat_text(run);
  EXPECT_THAT(text, HasSubstr("<copy_individual_size>1500000000</copy_individual_size>"));
  EXPECT_THAT(text, HasSubstr("<Copy_individual>"));
  const auto read = report_from_dat(text, "x");
  ASSERT_TRUE(read) << full_text(read.error());
  EXPECT_EQ(label_of(read->scenarios[1], "mode"), "individual");
  EXPECT_EQ(read->host_rows[2].processes, 2);
  EXPECT_EQ(read->host_rows[3].processes, 4);
  EXPECT_EQ(read->host_rows[2].kind, 1u);
  EXPECT_EQ(read->ranks, 18);  // four hosts of four, one of two
}

TEST(Dat, WhatIsWrongIsSaid) {
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

TEST(Dat, WhenItRan) {
  const std::string text = changed(text_of(example), "memory_results<", "memory_results-a<");
  const auto start = [&](const std::string& name) { return report_from_dat(text, name)->started; };
  EXPECT_EQ(start("memory_results-1x1-235931122024.dat"), "2024-12-31T23:59:00Z");
  EXPECT_EQ(start("memory_results-1x1-245931122024.dat"), "");
  EXPECT_EQ(start("memory_results-1x1-2359311220245.dat"), "");
  EXPECT_EQ(start("renamed.dat"), "");
}

}  // namespace
}  // namespace numatlas::dat_test
