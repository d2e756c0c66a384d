// What STREAM over hosts says: tables, metrics.
#include <cstddef>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <CLI/CLI.hpp>

#include "analysis/test_hosts.h"
#include "benchmarks/parse.h"
#include "benchmarks/stream/summary.h"
#include "report/openmetrics.h"
#include "report/reporter.h"

namespace numatlas::stream_writers_test {
namespace {

using testing::change_kind;
using testing::even_hosts;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::passes;
using testing::slow_down;

/// As the benchmark leaves it.
RunReport judged(RunReport run) {
  const Benchmark stream = parse_run("stream", {})->benchmark;
  stream.figures.conclude(run);
  for (Warning& warning : stream.shown.warnings(run)) run.warnings.push_back(std::move(warning));
  run.views = stream.shown.views(run);
  return run;
}

RunReport with_a_slow_host() {
  RunReport run = even_hosts(46);
  slow_down(run, 17, 1.25);
  passes(run, 0, 17)[4].slowest_rank = 70;
  return run;
}

TEST(StreamTable, TellsHowManyWereJudged) {
  EXPECT_EQ(judged(even_hosts(46)).answer, "OK: none of 46 hosts is slow; 0 not judged");
  EXPECT_THAT(tables_text(judged(even_hosts(2)), {}),
              HasSubstr("warning: not judged: cn00, cn01: only 2 of this kind"));
  // One host is asked for a verdict by --check alone.
  EXPECT_THAT(tables_text(judged(even_hosts(1)), {}), Not(HasSubstr("judged")));
}

TEST(StreamTable, MediansOfEachKind) {
  RunReport run = even_hosts(6);
  change_kind(run, {0, 1, 2});
  for (const std::size_t host : {0U, 1U, 2U}) slow_down(run, host, 2);
  EXPECT_THAT(tables_text(judged(run), {}), HasSubstr("  median copy 8.00, triad 6.00 GB/s\n"));
}

TEST(StreamTable, AnIncompleteRunSaysHowFarItCame) {
  RunReport run = even_hosts(4, 4);
  run.complete = false;
  run.incomplete_reason = "interrupted";
  const std::string text = tables_text(judged(run), {});
  EXPECT_THAT(text, HasSubstr("4 of 10 rounds, the first excluded"));
  EXPECT_THAT(text, HasSubstr("incomplete: interrupted\n"));
  for (const std::size_t host : {0U, 1U, 2U, 3U}) passes(run, 1, host).clear();
  const RunReport cut = judged(run);
  EXPECT_EQ(cut.cases[1].status, Status::incomplete);
  EXPECT_EQ(cut.cases[0].status, Status::ok);
  EXPECT_THAT(tables_text(cut, {}), Not(HasSubstr("\ntriad ")));
}

TEST(StreamConclude, TwiceIsAsOnce) {
  const RunReport once = judged(with_a_slow_host());
  RunReport twice = once;
  parse_run("stream", {})->benchmark.figures.conclude(twice);
  EXPECT_EQ(twice.cases.size(), once.cases.size());
  EXPECT_EQ(twice.cases[0].figures.size(), once.cases[0].figures.size());
}

TEST(StreamOpenMetrics, HasAllHostsAndTheirLabels) {
  RunReport run = with_a_slow_host();
  run.hosts[5] = "odd\"na\\me\n";
  const std::string text = report_openmetrics(judged(run));
  EXPECT_THAT(text, HasSubstr("numatlas_host_slow{command=\"stream\",host=\"cn17\","
                              "options=\"--repeats 10\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("numatlas_host_slow{command=\"stream\",host=\"cn16\","
                              "options=\"--repeats 10\"} 0\n"));
  EXPECT_THAT(text, HasSubstr("host=\"odd\\\"na\\\\me\\n\""));
  EXPECT_THAT(
      text,
      HasSubstr(
          "numatlas_bandwidth_bytes_per_second{command=\"stream\",host="
          "\"cn17\",options=\"--repeats 10\",kernel=\"triad\",stores=\"regular\",mode=\"memory\","
          "memory=\"local\",elements=\"62500000\"} 9600000000\n"));
  // 2026-11-21T10:01:05Z and 12.5 s.
  EXPECT_THAT(text, HasSubstr("numatlas_last_run_seconds{command=\"stream\",host=\"all\",options="
                              "\"--repeats 10\"} 1795255277.5\n"));
}

TEST(StreamOpenMetrics, WhoCouldNotBeJudgedIsNeitherSlowNorNot) {
  RunReport run = with_a_slow_host();
  change_kind(run, {3});
  const std::string text = report_openmetrics(judged(run));
  const auto line = [](const char* what, const char* host) {
    return std::string("numatlas_host_") + what + "{command=\"stream\",host=\"" + host +
           "\",options=\"--repeats 10\"";
  };
  EXPECT_THAT(text, HasSubstr(line("judged", "cn03") + "} 0\n"));
  EXPECT_THAT(text, Not(HasSubstr(line("slow", "cn03"))));
  EXPECT_THAT(text, HasSubstr(line("slow", "cn17") + "} 1\n"));
}

}  // namespace
}  // namespace numatlas::stream_writers_test
