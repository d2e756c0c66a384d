#include "report/openmetrics.h"

#include <algorithm>
#include <optional>
#include <set>
#include <sstream>
#include <string>

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

TEST(OpenMetrics, CasesWithoutFiguresHaveThoseOfTheirWorkers) {
  const std::string text = report_openmetrics(testing::report());
  EXPECT_THAT(text, HasSubstr("# TYPE numatlas_latency_seconds gauge\n"
                              "# UNIT numatlas_latency_seconds seconds\n"));
  const std::string labels =
      "command=\"latency\",host=\"alpha\",kernel=\"chase\",size_bytes=\"1048576\",pages=\"base\","
      "order=\"random\",rank=\"0\",thread=\"0\",worker_cpu_node=\"0\","
      "observed_memory_node=\"0,12\"";
  EXPECT_THAT(text, HasSubstr("numatlas_latency_seconds{" + labels + "} 4e-09\n"));
  EXPECT_THAT(text, HasSubstr("numatlas_latency_low_seconds{" + labels + "} 3.96875e-09\n"));
  EXPECT_THAT(text, HasSubstr("numatlas_cases{command=\"latency\",status=\"skipped\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("numatlas_complete{command=\"latency\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("numatlas_last_run_seconds{command=\"latency\"} 1704067200\n"));
  EXPECT_THAT(text, EndsWith("# EOF\n"));
}

TEST(OpenMetrics, FiguresOfCasesAndHosts) {
  RunReport report = testing::report();
  report.hosts = {"alpha", "beta"};
  report.scenarios.front().figures = {sum_of(4e9)};
  report.scenarios.front().host_totals = {{1, {sum_of(1e9)}}};
  report.scenarios.front().labels = {{"cpu_node", "0"}, {"kernel", "taken"}};
  const std::string text = report_openmetrics(report);
  const std::string rest =
      "kernel=\"chase\",size_bytes=\"1048576\",pages=\"base\",order=\"random\",cpu_node=\"0\"}";
  EXPECT_THAT(text, HasSubstr("numatlas_bandwidth_sum_bytes_per_second{command=\"latency\",host="
                              "\"all\"," +
                              rest + " 4000000000\n"));
  EXPECT_THAT(text, HasSubstr("numatlas_bandwidth_sum_high_bytes_per_second{command=\"latency\","
                              "host=\"beta\"," +
                              rest + " 2000000000\n"));
}

TEST(OpenMetrics, WorkersOfASumAreLeftOut) {
  RunReport report = testing::report();
  report.scenarios.resize(1);
  report.scenarios[0].figures = {sum_of(4e9), {"latency_added", "s", 1e-9, {}}};
  report.scenarios[0].flows[1].figures[0].key = "bandwidth";
  const std::string text = report_openmetrics(report);
  EXPECT_THAT(text, HasSubstr("rank=\"0\""));  // what was measured beside them
  EXPECT_THAT(text, Not(HasSubstr("rank=\"1\"")));
}

TEST(OpenMetrics, NoSeriesStandsTwice) {
  RunReport report = testing::report();
  report.scenarios[1] = report.scenarios[0];
  report.warnings = {{"setting", "", "one"}, {"setting", "", "another \"quoted\"\n"}};
  const std::string text = report_openmetrics(report);
  std::istringstream lines(text);
  std::set<std::string> series;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("#")) continue;
    EXPECT_TRUE(series.insert(line.substr(0, line.find("} "))).second) << line;
  }
  EXPECT_THAT(text, HasSubstr("numatlas_warnings{command=\"latency\",code=\"setting\"} 2\n"));
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
