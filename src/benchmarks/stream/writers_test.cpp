#include "report/fleet_writers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <vector>

#include "fleet/test_fleet.h"
#include "report/fleet_table.h"

namespace numatlas {
namespace {

using testing::even_fleet;
using ::testing::HasSubstr;
using testing::judged;
using ::testing::Not;
using testing::slow_down;

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

Fleet with_a_slow_host() {
  Fleet fleet = even_fleet(46);
  slow_down(fleet.hosts[17], 1.25);
  fleet.hosts[17].rounds[0][4].slowest_rank = 70;
  return fleet;
}

TEST(FleetTable, RowsKindsAndWords) {
  Fleet fleet = with_a_slow_host();
  fleet.hosts[3].warnings = {{"setting", "", "numa_balancing = 1"}};
  fleet.hosts[4].warnings = {{"setting", "", "numa_balancing = 1"}, {"setting", "", "hot"}};
  EXPECT_EQ(fleet_table(judged(fleet)),
            R"(STREAM on 46 nodes, 184 processes, 3 arrays of 62500000 elements (476.8 MiB) each
10 rounds, the first excluded; memory: local; stores: regular; kernels: AVX3

               average      time   best      time  worst      time  median  95 % interval         worst at
                  GB/s         s   GB/s         s   GB/s         s    GB/s           GB/s
Process copy      4.55  0.219939   5.33  0.187500   3.20  0.312500    4.57      4.57-4.57  rank 68 on cn17
Process triad     3.41  0.439878   4.00  0.375000   2.40  0.625000    3.43      3.43-3.43  rank 71 on cn17
Node copy        15.91  0.251359  16.00  0.250000  12.80  0.312500   16.00    16.00-16.00             cn17
Node triad       11.94  0.502717  12.00  0.500000   9.60  0.625000   12.00    12.00-12.00             cn17

46 nodes (cn00, cn01, cn02 and 43 more): AMD EPYC 7742, 8 CPUs, 2 nodes, 64 GiB, Linux 6.1.0, 4 processes x 2 threads
hosts started each pass within 0.000 ms of each other, 0 % of its time (median)
placement: node 0: 1536 pages of 4 KiB
Slow nodes, 1 of 46 (over 5 % and 6 MAD below the median of its kind, or over 1.5 % in all kernels together):
  cn17: copy 20 % below the median of 46 nodes, 40.0 MAD, every round; also triad 20 %
warning: cn03, cn04: numa_balancing = 1
warning: cn04: hot
)");
}

TEST(FleetTable, NobodyIsSlowAndItIsSaidAmongHowMany) {
  const Fleet fleet = even_fleet(46);
  EXPECT_THAT(slow_text(*judged(fleet).fleet),
              HasSubstr("no slow nodes among 46 (slow: over 5 % and 6 MAD"));
  const Fleet alone = even_fleet(1);
  const std::string text = fleet_table(judged(alone));
  EXPECT_THAT(text, HasSubstr("not judged: cn00: only 1 of this kind"));
  EXPECT_THAT(text, HasSubstr("Node triad"));
  EXPECT_THAT(text, Not(HasSubstr("no slow nodes")));
}

TEST(FleetTable, TellsHowWellClocksWereKnown) {
  Fleet fleet = testing::even_fleet(3);
  fleet.clock_error = 25e-6;
  EXPECT_THAT(
      fleet_table(testing::run_of(fleet)),
      HasSubstr("hosts started each pass within 0.050 ms of each other, 0.015 % of its time "
                "(median; clocks known to 0.025 ms, which is taken into account)\n"));
}

TEST(FleetTable, AnIncompleteRunSaysHowFarItCame) {
  Fleet fleet = even_fleet(4, 4);
  fleet.repeats = 10;
  const auto interrupted = [](const Fleet& fleet_so_far) {
    RunReport run = judged(fleet_so_far);
    run.complete = false;
    run.incomplete_reason = "interrupted";
    return run;
  };
  EXPECT_THAT(fleet_table(interrupted(fleet)),
              HasSubstr("incomplete: 4 of 10 rounds: interrupted\n"));
  for (FleetHost& host : fleet.hosts) host.rounds = {{}, {}};
  EXPECT_THAT(fleet_table(interrupted(fleet)), HasSubstr("no host has finished a round"));
}

TEST(FleetTable, AWarningOfAllHostsNamesNone) {
  Fleet fleet = even_fleet(3);
  for (FleetHost& host : fleet.hosts) host.warnings = {{"setting", "", "x"}};
  EXPECT_EQ(host_warnings(fleet), std::vector<std::string>{"x"});
}

TEST(FleetLines, KeysAndValues) {
  const Fleet fleet = with_a_slow_host();
  const auto lines = lines_of(fleet_lines(judged(fleet)));
  ASSERT_EQ(lines.size(), 6u);
  EXPECT_THAT(lines[1], HasSubstr("numatlas_stream hosts=46 kernel=triad mode=memory "
                                  "stores=regular rounds=10 process_average_bytes_per_second="));
  EXPECT_THAT(lines[1], HasSubstr(" node_median_bytes_per_second=12000000000 "));
  EXPECT_THAT(lines[1], HasSubstr(" node_minimum_bytes_per_second=9600000000 "));
  EXPECT_THAT(
      lines[1],
      HasSubstr(" node_slowest_host=cn17 process_slowest_rank=71 process_slowest_host=cn17"));
  EXPECT_EQ(lines[3],
            "numatlas_stream_slow host=cn17 kernel=triad mode=memory stores=regular "
            "drop_percent=20.00 mads=40.00 rounds=9 slow_rounds=9 evidence=interval "
            "verdict=suspected");
  EXPECT_EQ(lines[4],
            "numatlas_stream_slow host=cn17 kernel=all mode=all stores=all drop_percent=20.00 "
            "mads=80.00 rounds=9 slow_rounds=9 evidence=together verdict=suspected");
  EXPECT_EQ(lines[5], "numatlas_stream_summary hosts=46 judged=46 slow=1 complete=yes");
  // Every word is one key and one value.
  for (const std::string& line : lines) {
    std::istringstream words(line);
    std::string word;
    words >> word;
    std::set<std::string> keys;
    while (words >> word) {
      EXPECT_TRUE(std::regex_match(word, std::regex("[a-z_]+=[^= ]+"))) << word;
      EXPECT_TRUE(keys.insert(word.substr(0, word.find('='))).second) << word;
    }
  }
}

TEST(FleetCsv, ARowAHostKernelAndRound) {
  Fleet fleet = even_fleet(2, 3);
  fleet.hosts[1].name = "a,b";
  const auto lines = lines_of(fleet_csv(judged(fleet)));
  ASSERT_EQ(lines.size(), 1u + 2 * 2 * 3);
  EXPECT_EQ(lines[0].substr(0, 39), "host,cpu_model,kernel,mode,stores,round");
  EXPECT_EQ(
      lines[1],
      "cn00,AMD EPYC 7742,copy,memory,regular,0,no,4,4000000000,0.001,0.25,0.25,0.1875,0.21875,0."
      "9375,0,16000000000");
  EXPECT_EQ(lines[12].substr(0, 47), "\"a,b\",AMD EPYC 7742,triad,memory,regular,2,yes,");
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

TEST(FleetOpenMetrics, ValidAndComplete) {
  Fleet fleet = with_a_slow_host();
  fleet.hosts[5].name = "odd\"na\\me\n";
  fleet.kernels[0].mode = "individual";
  const std::string text = fleet_openmetrics(judged(fleet));
  check_metrics(text);
  EXPECT_THAT(text, HasSubstr("numatlas_stream_host_slow{host=\"cn17\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("numatlas_stream_host_slow{host=\"cn16\"} 0\n"));
  EXPECT_THAT(text, HasSubstr("host=\"odd\\\"na\\\\me\\n\""));
  EXPECT_THAT(text, HasSubstr("numatlas_stream_host_bandwidth_bytes_per_second{host=\"cn17\","
                              "kernel=\"triad\",mode=\"memory\",stores=\"regular\"} 9600000000\n"));
  EXPECT_THAT(text, HasSubstr("numatlas_stream_hosts 46\n"));
  EXPECT_THAT(text, HasSubstr("numatlas_stream_hosts_slow 1\n"));
  // 2026-11-21T10:01:05Z and 12.5 s.
  EXPECT_THAT(text, HasSubstr("numatlas_stream_last_run_seconds 1795255277.5\n"));
  check_metrics(fleet_openmetrics(judged(even_fleet(1, 1))));
  fleet.hosts[6].name = fleet.hosts[7].name;
  const std::string twins = fleet_openmetrics(judged(fleet));
  check_metrics(twins);
  EXPECT_THAT(twins, HasSubstr("numatlas_stream_host_slow{host=\"cn07\",first_rank=\"24\"} 0\n"));
}

TEST(FleetOpenMetrics, WhoCouldNotBeJudgedIsNeitherSlowNorNot) {
  Fleet fleet = with_a_slow_host();
  HostKind other = fleet.kinds[0];
  other.cpu_model = "another";
  fleet.kinds.push_back(other);
  fleet.hosts[3].kind = 1;
  const std::string text = fleet_openmetrics(judged(fleet));
  EXPECT_THAT(text, HasSubstr("numatlas_stream_host_judged{host=\"cn03\"} 0\n"));
  EXPECT_THAT(text, Not(HasSubstr("numatlas_stream_host_slow{host=\"cn03\"}")));
  EXPECT_THAT(text, HasSubstr("numatlas_stream_host_judged{host=\"cn17\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("numatlas_stream_host_slow{host=\"cn17\"} 1\n"));
}

TEST(FleetOpenMetrics, WhoWasNotConfirmedIsNotSlow) {
  Fleet fleet = with_a_slow_host();
  fleet.retest = Retest{{fleet.hosts[17], fleet.hosts[0]}};
  slow_down(fleet.retest->hosts[0], 0.8);
  const std::string text = fleet_openmetrics(judged(fleet));
  EXPECT_THAT(text, HasSubstr("numatlas_stream_host_slow{host=\"cn17\"} 0\n"));
  EXPECT_THAT(text, Not(HasSubstr("drop_ratio")));
}

}  // namespace
}  // namespace numatlas
