#include "report/csv.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
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

/// Fields of a line in which only whole fields are quoted.
std::size_t count_fields(const std::string& line) {
  std::size_t fields = 1;
  bool quoted = false;
  for (char c : line) {
    if (c == '"') quoted = !quoted;
    if (c == ',' && !quoted) ++fields;
  }
  return fields;
}

/// Rows below the head, each with as many fields.
std::size_t even_rows(const std::string& text) {
  std::istringstream lines(text);
  std::string line;
  std::getline(lines, line);
  const std::size_t columns = count_fields(line);
  std::size_t rows = 0;
  for (; std::getline(lines, line); ++rows) EXPECT_EQ(count_fields(line), columns) << line;
  return rows;
}

TEST(Csv, TidyIsInBaseUnits) {
  const std::string text = tidy_csv(testing::report());
  EXPECT_TRUE(text.starts_with("host,rank,thread,cpu,cpu_node,memor")) << text;
  EXPECT_EQ(even_rows(text), 4U) << "two workers at two sizes; a skipped size has no rows";
  EXPECT_NE(text.find("alpha,0,0,1,0,\"0,12\",bind:0,1048576,base,"), std::string::npos) << text;
  EXPECT_NE(text.find(",latency,s,4e-09,7,"), std::string::npos) << text;
  EXPECT_NE(text.find("\"weighted:0=3,2=1\""), std::string::npos);
  EXPECT_EQ(text.find("nan"), std::string::npos);
}

TEST(Csv, TotalsOfAllHaveAsManyFieldsAsTheRest) {
  RunReport report = testing::report();
  report.cases.front().figures = {{"bandwidth_sum", "B/s", 3e9, {}}};
  report.hosts = {"alpha", "beta"};
  report.workers[1].host = 1;
  report.cases.front().host_totals = {{1, {{"bandwidth_sum", "B/s", 1e9, {}}}}};
  EXPECT_NE(tidy_csv(report).find("\nbeta,,,,,,,1048576,base,,random,64,chase,,,,1,ok,,,,"
                                  "bandwidth_sum,B/s,1e+09,"),
            std::string::npos)
      << tidy_csv(report);
  EXPECT_EQ(even_rows(tidy_csv(report)), 6U);
}

TEST(Csv, WhatWasJudgedHasOnlyTheColumnsThatItFills) {
  RunReport report;
  report.answer = "SLOW 1 of 1: n1 (triad -18 %)";
  Case& one = report.cases.emplace_back();
  one.name = "n1";
  one.labels = {{"finding", "slow"}, {"host", "n1"}, {"metric", "bandwidth_sum"}};
  Estimate change = -0.18;
  change.low = -0.2;
  change.high = -0.15;
  one.figures = {{"change", "1", change, {}},
                 {"host_slow", "", Estimate(1), {}},
                 {"host_newest_run", "s", Estimate(1'762'913'347), {}}};
  EXPECT_EQ(tidy_csv(report),
            "status,metric,unit,value,ci95_low,ci95_high,finding,host,label_metric\n"
            "ok,change,1,-0.18,-0.2,-0.15,slow,n1,bandwidth_sum\n"
            "ok,host_slow,,1,,,slow,n1,bandwidth_sum\n"
            "ok,host_newest_run,s,1762913347,,,slow,n1,bandwidth_sum\n");
}

TEST(Csv, FlowsOfSeveralKernelsHaveTheirOwnColumns) {
  RunReport report = testing::report();
  Case& one = report.cases.front();
  one.kernel = "chase+mix 3:1";
  one.stores = "non-temporal";  // of the load
  FlowResult& load = one.flows[1];
  load.kernel = "mix";
  load.mix = "3:1";
  load.stores = "non-temporal";
  load.order = "";
  load.load = true;
  load.rate = 2e9;
  load.size = Bytes{4096};
  load.memory = "bind:3";
  const std::string text = tidy_csv(report);
  EXPECT_NE(text.find(",bind:0,1048576,base,4 KiB + 50 % THP,random,64,chase,,measured,,2,"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find(",bind:3,4096,base,"), std::string::npos) << text;
  EXPECT_NE(text.find(",,,mix 3:1,non-temporal,load,2e+09,2,"), std::string::npos) << text;
}

}  // namespace
}  // namespace numatlas
