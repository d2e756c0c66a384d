#include "report/csv.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <string>

#include "record/test_report.h"

namespace numatlas {
namespace {

TEST(Csv, FieldsAreQuotedWhereTheyMustBe) {
  EXPECT_EQ(csv_field("plain text"), "plain text");
  EXPECT_EQ(csv_field(""), "");
  EXPECT_EQ(csv_field("a,b"), "\"a,b\"");
  EXPECT_EQ(csv_field("say \"x\""), "\"say \"\"x\"\"\"");
  EXPECT_EQ(csv_field("two\nlines"), "\"two\nlines\"");
}

TEST(Csv, WhatASpreadsheetWouldCalculateIsText) {
  EXPECT_EQ(csv_field("=HYPERLINK(\"x\")"), "\"'=HYPERLINK(\"\"x\"\")\"");
  for (const char* text : {"+cmd", "-2+3", "@SUM(A1)", "\t=1", "=1"})
    EXPECT_EQ(csv_field(text), std::string("'") + text);
  for (const char* text : {"-", "-2.5", "-1e9", "a=b", "node-1"}) EXPECT_EQ(csv_field(text), text);
}

TEST(Csv, TotalsOfAllHaveEmptyFieldsForWhatIsOfWorkers) {
  RunReport report = testing::report();
  report.cases.front().figures = {{"bandwidth_sum", "B/s", 3e9, {}}};
  report.hosts = {"alpha", "beta"};
  report.workers[1].host = 1;
  report.cases.front().host_totals = {{1, {{"bandwidth_sum", "B/s", 1e9, {}}}}};
  EXPECT_NE(tidy_csv(report).find("\nbeta,,,,,,,1048576,base,,random,64,chase,,,,1,ok,,,,"
                                  "bandwidth_sum,B/s,1e+09,"),
            std::string::npos)
      << tidy_csv(report);
}

}  // namespace
}  // namespace numatlas
