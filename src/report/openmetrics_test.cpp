#include "report/openmetrics.h"

#include <algorithm>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "record/test_report.h"

namespace numatlas {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

Figure sum_of(double value) {
  Estimate estimate = value;
  estimate.low = value * 0.5;
  estimate.high = value * 2;
  return {"bandwidth_sum", "B/s", estimate, std::nullopt};
}

const std::string run = "command=\"latency\",host=\"alpha\",options=\"--size 1,2\"";

TEST(OpenMetrics, CasesWithoutFiguresHaveThoseOfTheirWorkers) {
  const std::string text = report_openmetrics(testing::report());
  EXPECT_THAT(text, HasSubstr("# TYPE numatlas_latency_seconds gauge\n"
                              "# UNIT numatlas_latency_seconds seconds\n"));
  const std::string labels =
      "command=\"latency\",host=\"alpha\",options=\"--size "
      "1,2\",kernel=\"chase\",size_bytes=\"1048576\",pages=\"base\","
      "order=\"random\",rank=\"0\",thread=\"0\",worker_cpu_node=\"0\","
      "observed_memory_node=\"0,12\"";
  EXPECT_THAT(text, HasSubstr("numatlas_latency_seconds{" + labels + "} 4e-09\n"));
  EXPECT_THAT(text, HasSubstr("numatlas_latency_low_seconds{" + labels + "} 3.96875e-09\n"));
  EXPECT_THAT(text, HasSubstr("numatlas_cases{" + run + ",status=\"skipped\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("numatlas_complete{" + run + "} 1\n"));
  EXPECT_THAT(text, HasSubstr("numatlas_unreliable{" + run + "} 0\n"));
  EXPECT_THAT(text, HasSubstr("numatlas_last_run_seconds{" + run + "} 1704067200\n"));
  EXPECT_THAT(text, HasSubstr("# HELP numatlas_latency_low_seconds Time of one load, lower end of "
                              "the 95 % interval.\n"));
  EXPECT_THAT(text, EndsWith("# EOF\n"));
}

TEST(OpenMetrics, FiguresOfCasesAndHosts) {
  RunReport report = testing::report();
  report.hosts = {"alpha", "beta"};
  report.cases.front().figures = {sum_of(4e9)};
  report.cases.front().host_totals = {{1, {sum_of(1e9)}}};
  report.cases.front().labels = {{"cpu_node", "0"}, {"kernel", "taken"}};
  const std::string text = report_openmetrics(report);
  const std::string rest =
      "kernel=\"chase\",size_bytes=\"1048576\",pages=\"base\",order=\"random\",cpu_node=\"0\"}";
  EXPECT_THAT(text, HasSubstr("numatlas_bandwidth_sum_bytes_per_second{command=\"latency\",host="
                              "\"all\",options=\"--size 1,2\"," +
                              rest + " 4000000000\n"));
  EXPECT_THAT(text, HasSubstr("numatlas_bandwidth_sum_high_bytes_per_second{command=\"latency\","
                              "host=\"beta\",options=\"--size 1,2\"," +
                              rest + " 2000000000\n"));
}

TEST(OpenMetrics, WorkersOfASumAreLeftOut) {
  RunReport report = testing::report();
  report.cases.resize(1);
  report.cases[0].figures = {sum_of(4e9), {"latency_added", "s", 1e-9, {}}};
  report.cases[0].flows[1].figures[0].key = "bandwidth";
  const std::string text = report_openmetrics(report);
  EXPECT_THAT(text, HasSubstr("rank=\"0\""));  // what was measured beside them
  EXPECT_THAT(text, Not(HasSubstr("rank=\"1\"")));
}

std::set<std::string> series_of(const std::string& text) {
  std::set<std::string> series;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    if (!line.starts_with("#")) series.insert(line.substr(0, line.find("} ")));
  return series;
}

TEST(OpenMetrics, WhatWasFoundMakesNoOtherSeries) {
  RunReport report = testing::report();
  report.cases.resize(1);
  report.cases[0].figures = {sum_of(4e9)};
  report.cases[0].labels = {{"finding", "none"}, {"host", ""}, {"of_command", "stream"}};
  const auto before = series_of(report_openmetrics(report));
  report.cases[0].labels.insert(report.cases[0].labels.end(), {{"against", "6 hosts"},
                                                               {"evidence", "every round"},
                                                               {"since", "2026-11-04"},
                                                               {"reason", "NEW: is 0"},
                                                               {"shown", "yes"}});
  EXPECT_EQ(series_of(report_openmetrics(report)), before);
  EXPECT_THAT(report_openmetrics(report), HasSubstr("of_command=\"stream\""));
  EXPECT_THAT(report_openmetrics(report), Not(HasSubstr("finding=")));
  EXPECT_THAT(report_openmetrics(report), Not(HasSubstr("host=\"\"")));
}

TEST(OpenMetrics, WhatCannotBeReliedOnSaysSo) {
  RunReport report = testing::report();
  report.trust = "unreliable";
  report.complete = false;
  const std::string text = report_openmetrics(report);
  EXPECT_THAT(text, HasSubstr("numatlas_unreliable{" + run + "} 1\n"));
  EXPECT_THAT(text, HasSubstr("numatlas_complete{" + run + "} 0\n"));
}

TEST(OpenMetrics, LabelsOfTheUser) {
  const MetricLabels expected{{"rack", "3"}, {"site", "a=b"}};
  EXPECT_EQ(parse_labels("rack=3,site=a=b").value(), expected);
  for (const auto& [text, why] : {std::pair("rack", "'rack' is not NAME=VALUE"),
                                  {"rack=", "'rack=' is not NAME=VALUE"},
                                  {"=3", "'' is no name of a label"},
                                  {"3d=x", "'3d' is no name of a label"},
                                  {"a-b=x", "'a-b' is no name of a label"},
                                  {"host=x", "series have a label 'host' already"},
                                  {"rank=x", "series have a label 'rank' already"},
                                  {"a=1,a=2", "'a' stands twice"},
                                  {"a=1,", "'' is not NAME=VALUE"}})
    EXPECT_THAT(parse_labels(text).error().message, ::testing::StartsWith(why)) << text;
}

TEST(OpenMetrics, LabelsOfACaseStandBeforeThoseOfTheUser) {
  RunReport report = testing::report();
  report.cases.front().labels = {{"finding", "slow"}};
  const std::string text = report_openmetrics(report, {{"finding", "mine"}, {"rack", "3"}});
  EXPECT_THAT(text, HasSubstr(R"(finding="slow",rack="3")"));
}

TEST(OpenMetrics, LabelsAreEscaped) {
  RunReport report = testing::report();
  report.hosts = {"a\"b\\c\nd"};
  EXPECT_THAT(report_openmetrics(report), HasSubstr(R"(host="a\"b\\c\nd")"));
}

TEST(OpenMetrics, UnixSeconds) {
  EXPECT_EQ(unix_seconds("1970-01-01T00:00:10Z"), 10);
  EXPECT_EQ(unix_seconds("2000-02-29T12:00:00Z"), 951825600);
  EXPECT_FALSE(unix_seconds("2000-02-29 12:00:00Z"));
  EXPECT_FALSE(unix_seconds(""));
}

}  // namespace
}  // namespace numatlas
