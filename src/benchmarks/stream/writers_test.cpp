// What STREAM over hosts says: tables, metrics.
#include <cstddef>
#include <map>
#include <memory>
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

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

RunReport with_a_slow_host() {
  RunReport run = even_hosts(46);
  slow_down(run, 17, 1.25);
  passes(run, 0, 17)[4].slowest_rank = 70;
  return run;
}

TEST(StreamTable, RowsKindsAndWords) {
  RunReport run = with_a_slow_host();
  run.warnings = {{"setting", "cn03, cn04", "numa_balancing = 1"}};
  EXPECT_EQ(tables_text(judged(run), {}),
            R"(SLOW 1 of 46: cn17 (copy -20 %, triad -20 %); 0 not judged

STREAM on 46 hosts, 184 processes, 3 arrays of 62500000 elements (476.8 MiB) each: hosts, GB/s
10 rounds, the first excluded; memory: local; stores: regular; kernels: AVX3
       average       s   best       s  worst       s         median  worst at
copy     15.91  0.2514  16.00  0.2500  12.80  0.3125  16.00 ±<0.1 %      cn17
triad    11.94  0.5027  12.00  0.5000   9.60  0.6250  12.00 ±<0.1 %      cn17
46 hosts (cn00, cn01, cn02 and 43 more): AMD EPYC 7742, 8 CPUs, 2 nodes, 64 GiB, Linux 6.1.0, 4 processes x 2 threads
placement: node 0: 1536 pages of 4 KiB

Processes, GB/s
       average       s  best       s  worst       s        median         worst at
copy      4.55  0.2199  5.33  0.1875   3.20  0.3125  4.57 ±<0.1 %  rank 68 on cn17
triad     3.41  0.4399  4.00  0.3750   2.40  0.6250  3.43 ±<0.1 %  rank 71 on cn17

What is slower than it should be
slow: over 5 % and 6 MAD worse than the median of hosts of its kind; fell: than that of its own earlier runs
MAD: scaled median absolute deviations, each at least 0.5 % of the median
host        command  case   figure         value   expected   change   MAD   against     evidence
cn17  slow  stream   copy   bandwidth  12.8 GB/s  16.0 GB/s  -20.0 %  40.0  46 hosts  every round
cn17  slow  stream   triad  bandwidth  9.60 GB/s  12.0 GB/s  -20.0 %  40.0  46 hosts  every round

null engine: simulated figures, nothing was measured
warning: cn03, cn04: numa_balancing = 1
)");
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

/// What the collector's parser and `promtool check metrics` ask of a file, as far as ours goes.
void check_metrics(const std::string& text) {
  ASSERT_TRUE(text.ends_with("# EOF\n"));
  const std::regex comment("# (HELP|TYPE|UNIT) ([a-zA-Z_:][a-zA-Z0-9_:]*) (.+)");
  const std::regex sample(
      R"re(([a-zA-Z_:][a-zA-Z0-9_:]*)(\{([a-zA-Z_][a-zA-Z0-9_]*="([^"\\]|\\["\\n])*",?)+\})? (\S+))re");
  std::map<std::string, std::string> types;
  std::set<std::string> helped, done, series;
  std::string current;
  for (const std::string& line : lines_of(text)) {
    std::smatch match;
    if (line == "# EOF") continue;
    if (std::regex_match(line, match, comment)) {
      const std::string name = match[2];
      if (match[1] == "HELP") {
        EXPECT_TRUE(helped.insert(name).second) << line;
        EXPECT_TRUE(std::string(match[3]).ends_with('.')) << line;
        if (!current.empty()) done.insert(current);
        current = name;
      }
      if (match[1] == "TYPE") {
        EXPECT_TRUE(types.emplace(name, match[3]).second);
      }
      if (match[1] == "UNIT") {
        EXPECT_TRUE(name.ends_with("_" + std::string(match[3]))) << line;
      }
      EXPECT_EQ(name, current) << line;
      continue;
    }
    ASSERT_TRUE(std::regex_match(line, match, sample)) << line;
    EXPECT_EQ(match[1], current) << line;  // a family stands together
    EXPECT_FALSE(done.count(match[1])) << line;
    EXPECT_EQ(types[match[1]], "gauge");
    EXPECT_TRUE(series.insert(std::string(match[1]) + std::string(match[2])).second) << line;
    EXPECT_NO_THROW((void)std::stod(match[5])) << line;
  }
  EXPECT_FALSE(series.empty());
}

TEST(StreamOpenMetrics, ValidAndComplete) {
  RunReport run = with_a_slow_host();
  run.hosts[5] = "odd\"na\\me\n";
  const std::string text = report_openmetrics(judged(run));
  check_metrics(text);
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
  check_metrics(report_openmetrics(judged(even_hosts(1, 1))));
  run.hosts[6] = run.hosts[7];
  check_metrics(report_openmetrics(judged(run)));
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

TEST(StreamOpenMetrics, WhoWasNotConfirmedIsNotSlow) {
  RunReport run = with_a_slow_host();
  testing::run_again(run, {17, 0});
  testing::slow_down_again(run, 17, 0.8);
  const RunReport cleared = judged(run);
  EXPECT_THAT(report_openmetrics(cleared),
              HasSubstr("numatlas_host_slow{command=\"stream\",host=\"cn17\",options=\"--repeats "
                        "10\"} 0\n"));
  EXPECT_THAT(tables_text(cleared, {}), HasSubstr("not confirmed by a second run"));
  EXPECT_EQ(cleared.answer, "OK: none of 46 hosts is slow; 0 not judged");
}

}  // namespace
}  // namespace numatlas::stream_writers_test
