// Sides of several hosts, sides that differ in one option, and what the first line of a comparison
// says.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "compare/compare.h"
#include "compare/test_stored.h"
#include "record/test_report.h"

namespace numatlas {
namespace {

using testing::scale_flow;
using testing::stored;

/// A run of a host, whose figures take `factor` times as long.
Results on_host(const std::string& host, double factor, const std::string& cpu = "A CPU") {
  Results file = stored([&](RunReport& report) {
    report.hosts = {host};
    report.cases.resize(1);
    report.cases[0].flows.resize(1);
    scale_flow(report.cases[0].flows[0], factor);
  });
  file.file = host + ".json";
  file.runs.at(0).machines.resize(1);
  file.runs[0].machines[0].cpu_model = cpu;
  return file;
}

ComparedFiles by_host(const std::vector<Results>& base, const std::vector<Results>& now) {
  ComparedFiles files;
  files.base = merged(base, true);
  files.now = merged(now, true);
  const auto found = compare_files(files.base, files.now, {});
  EXPECT_TRUE(found) << full_text(found.error());
  files.comparison = found.value_or(Comparison{});
  files.differences = differences_of(files.base, files.now);
  return files;
}

TEST(Hosts, EachIsComparedWithItself) {
  std::vector<Results> base, now;
  for (int i = 0; i < 10; ++i) {
    const std::string name = fmt::format("n{:02}", i);
    // Hosts of a fleet are not equally fast, and a launch is 0.2 % off.
    base.push_back(on_host(name, 1 + 0.05 * i));
    now.push_back(on_host(name, (1 + 0.05 * i) * (1 + 0.002 * (i % 3 - 1)) * (i == 4 ? 1.07 : 1)));
  }
  EXPECT_TRUE(are_paired_by_host(base, now));
  EXPECT_TRUE(are_paired_by_host(base, {now[3]}));
  EXPECT_FALSE(are_paired_by_host({base[0], base[0]}, {now[0]})) << "one host";
  EXPECT_FALSE(are_paired_by_host({base[0], base[1]}, {now[2], now[3]})) << "no host is on both";
  const ComparedFiles one_slow = by_host(base, now);
  EXPECT_THAT(report_of(one_slow, {}).answer,
              ::testing::StartsWith("SLOWER 1 of 10: n04 (1MiB base +7."));
  EXPECT_TRUE(one_slow.differences.empty());
  now.erase(now.begin() + 4);
  const ComparedFiles gone = by_host(base, now);
  EXPECT_THAT(answer_of(gone.comparison), ::testing::EndsWith("; only in BASE: n04"));
  EXPECT_TRUE(leaves_open(gone.comparison)) << "n04 may be any";
  for (int i = 0; i < 9; ++i)
    now[static_cast<std::size_t>(i)] =
        on_host(now[static_cast<std::size_t>(i)].runs[0].hosts[0], 2, "B CPU");
  EXPECT_THAT(report_of(by_host(base, now), {}).answer,
              ::testing::StartsWith("DIFFERENT PROCESSORS: A CPU, now B CPU; SLOWER 9 of 9: "));
}

TEST(Answer, UndecidedSaysWhatItIsWithin) {
  const auto guest = [](double factor) {
    Results file = stored([&](RunReport& report) {
      report.cases.resize(1);
      report.cases[0].flows.resize(1);
      scale_flow(report.cases[0].flows[0], factor);
    });
    for (Row& one : file.runs.at(0).rows) one.guest = true;
    return file;
  };
  const auto found = compare_files(guest(1), guest(0.87), {});
  ASSERT_TRUE(found);
  EXPECT_THAT(answer_of(*found),
              ::testing::MatchesRegex("UNDECIDED: 1 case, -[0-9.]+ to -[0-9.]+ %: within what "
                                      "launches differ on a virtual machine"));
  EXPECT_TRUE(leaves_open(*found));
}

TEST(Answer, WhatCannotBeReliedOnIsSaidFirst) {
  ComparedFiles files;
  files.base = stored();
  files.now = stored([](RunReport& report) {
    report.complete = false;
    report.incomplete_reason = "interrupted";
  });
  const auto found = compare_files(files.base, files.now, {});
  ASSERT_TRUE(found);
  files.comparison = *found;
  EXPECT_THAT(report_of(files, {}).answer, ::testing::StartsWith("INCOMPLETE: NEW: interrupted ("));
  files.base.runs[0].trust = "unreliable";
  files.base.runs[0].doubt = "other programs used 1.0 of 2 CPUs";
  EXPECT_EQ(reserve_of(files),
            "UNRELIABLE: BASE: other programs used 1.0 of 2 CPUs; INCOMPLETE: NEW: interrupted");
  EXPECT_EQ(report_of(files, {}).trust, "unreliable");
}

}  // namespace
}  // namespace numatlas
