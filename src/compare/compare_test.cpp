#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "analysis/test_hosts.h"
#include "base/test_folder.h"
#include "compare/compare.h"
#include "compare/test_stored.h"
#include "record/report_json.h"
#include "record/test_report.h"
#include "report/reporter.h"

namespace numatlas {
namespace {

using nlohmann::json;
using ::testing::Contains;
using ::testing::HasSubstr;
using testing::scale_flow;
using testing::stored;
using testing::with_interval;

const ComparedCase& find_case(const Comparison& found, const std::string& point,
                              const std::string& part) {
  for (const ComparedCase& one : found.cases)
    if (one.base.name == point && one.base.of == part) return one;
  throw std::runtime_error("no case " + point + " " + part);
}

Comparison flows_of(const Results& base, const Results& now) {
  CompareRule rule;
  rule.every_flow = true;
  return match_cases(rows_of(base), rows_of(now), rule);
}

Estimate within_a_percent(double value) {
  return with_interval(value, value * 0.99, value * 1.01, 10);
}

/// One chase on a machine that as a whole takes `machine` times as long; the chase itself takes
/// `own` times as long as it did.
Results with_pilots(double machine, double own) {
  return stored([&](RunReport& report) {
    report.cases.resize(1);
    Case& one = report.cases.front();
    one.flows.resize(1);
    one.flows[0].figures[0].estimate = within_a_percent(100e-9 * machine * own);
    one.visits.emplace();
    one.visits->count = 10;
    VisitValues latency{"latency", "s", {}, 0};
    latency.relative = within_a_percent(0.5 * own);
    one.visits->figures = {latency};
    PilotSeries pilot;
    pilot.key = "pilot_latency";
    pilot.unit = "s";
    pilot.kernel = "chase";
    pilot.workers = 1;
    pilot.estimate = within_a_percent(200e-9 * machine);
    pilot.start = pilot.end = {1};
    pilot.values = {200e-9 * machine};
    report.pilots = {pilot};
  });
}

TEST(Pilots, TellTheMachineFromTheCase) {
  const auto between = [&](const Results& base, const Results& now) {
    const auto found = compare_files(base, now, {});
    EXPECT_TRUE(found) << full_text(found.error());
    EXPECT_EQ(found->machine.size(), 1U);
    EXPECT_EQ(found->cases.size(), 1U) << "the machine is none of the cases";
    return std::pair(find_case(*found, "1MiB base", "rank 0 thread 0").change,
                     found->machine.at(0).change);
  };
  const auto [mood, slow_machine] = between(with_pilots(1, 1), with_pilots(1.5, 1));
  EXPECT_EQ(mood.verdict, CaseVerdict::not_distinguishable);
  EXPECT_TRUE(mood.explained);
  EXPECT_EQ(slow_machine.verdict, CaseVerdict::slower) << "and is not hidden";
  const auto [slow_case, same_machine] = between(with_pilots(1, 1), with_pilots(1, 1.5));
  EXPECT_EQ(slow_case.verdict, CaseVerdict::slower);
  EXPECT_NEAR(*slow_case.relative, 0.5, 1e-9);
  EXPECT_NE(same_machine.verdict, CaseVerdict::slower);
}

TEST(Place, OnlyTheSamePlaceIsCompared) {
  Observed here{{{"0", 1.0}}, {{"4 KiB", 1.0}}, {{"0", 2}}, {{"NVIDIA H200", 1}}};
  EXPECT_EQ(place_difference(here, here), "");
  EXPECT_EQ(place_difference(here, {}), "") << "what is not known is no difference";
  Observed other = here;
  other.nodes = {{"0", 0.99}, {"1", 0.01}};
  EXPECT_EQ(place_difference(here, other), "") << "a stray page in a hundred";
  other.nodes = {{"0", 0.75}, {"1", 0.25}};
  EXPECT_EQ(place_difference(here, other), "memory on node 0, now on 0 (75 %), 1 (25 %)");
  other = here;
  other.pages = {{"2 MiB", 1.0}};
  EXPECT_EQ(place_difference(here, other), "pages of 4 KiB, now of 2 MiB");
  other = here;
  other.cpu_nodes = {{"0", 1}, {"1", 1}};
  EXPECT_THAT(place_difference(here, other), HasSubstr("CPUs of node"));
  other = here;
  other.gpus = {{"NVIDIA A100", 1}};
  EXPECT_EQ(place_difference(here, other), "GPU NVIDIA H200, now NVIDIA A100");
}

/// As a neighbour on one of two CPUs leaves it.
const CpuUse busy_host{2.0, 2, 1.0, 1.0, 0.0, ""};
const CpuUse quiet_host{2.0, 2, 1.0, 0.01, 0.0, ""};

TEST(Differences, ANeighbourIsToldBesideTheVerdicts) {
  ComparedFiles files;
  files.base = stored([](RunReport& report) { report.cpu_use = {quiet_host}; });
  files.now = stored([](RunReport& report) {
    report.cpu_use = {busy_host};
    scale_flow(report.cases[0].flows[0], 4);
    scale_flow(report.cases[0].flows[1], 4);
  });
  const auto found = compare_files(files.base, files.now, {});
  ASSERT_TRUE(found);
  files.comparison = *found;
  files.differences = differences_of(files.base, files.now);
  ASSERT_EQ(files.differences.size(), 1U);
  EXPECT_EQ(files.differences[0].what, "other processes during latency");
  EXPECT_EQ(files.differences[0].base, "0.0 of 2 CPUs");
  EXPECT_EQ(files.differences[0].now, "1.0 of 2 CPUs");
  const RunReport report = report_of(files, {});
  const std::string table = text_in("table", report);
  EXPECT_THAT(table, HasSubstr("warning: NEW: other programs used 1.0 of 2 CPUs"));
  EXPECT_THAT(table, HasSubstr("\n* the difference may have another cause"));
  EXPECT_THAT(table, HasSubstr("What differs beside the figures"));
  EXPECT_THAT(report.answer,
              HasSubstr(": it may come from this: NEW: other programs used 1.0 of 2 CPUs"));
  EXPECT_THAT(text_in("csv", report), HasSubstr("NEW: other programs used 1.0 of 2 CPUs"));
  EXPECT_THAT(json_text(report), HasSubstr("\"doubt\":\"NEW: other programs"));
  EXPECT_TRUE(differences_of(files.base, files.base).empty()) << "nobody else ran";
}

TEST(Differences, AHostOfStreamIsDisturbedByItself) {
  RunReport run = testing::even_hosts(3);
  run.cpu_use.resize(3);
  run.cpu_use[1] = CpuUse{2.0, 2, 1.0, 1.0, 0.0, ""};
  const auto file = stored_from_text(json_text(testing::with_figures(run)), "a.json");
  ASSERT_TRUE(file) << full_text(file.error());
  for (const Row& one : file->runs[0].rows)
    EXPECT_EQ(one.disturbed.empty(), one.of != "host cn01") << one.of;
}

TEST(Cases, WhatIsNotKnownWithinItselfHasNoVerdict) {
  const auto wide = [](double low, double high) {
    return stored([&](RunReport& report) {
      Estimate& estimate = *report.cases[0].flows[0].figures[0].estimate;
      estimate.low = estimate.value * low;
      estimate.high = estimate.value * high;
    });
  };
  const auto change = [&](double low, double high) {
    const Results file = wide(low, high);
    return find_case(flows_of(file, file), "1MiB base", "rank 0 thread 0").change;
  };
  EXPECT_EQ(change(0, 3.05).verdict, CaseVerdict::not_comparable);
  EXPECT_EQ(change(0, 3.05).reason, "both: not precise enough (±205 %)");
  EXPECT_EQ(change(0.5, 1.9).verdict, CaseVerdict::not_distinguishable);
}

TEST(Match, ByWhatWasAskedForAndNotByOrder) {
  const Results base = stored();
  const Results now = stored([](RunReport& report) {
    std::swap(report.cases[0], report.cases[1]);
    scale_flow(report.cases[1].flows[0], 3);
  });
  const Comparison found = flows_of(base, now);
  EXPECT_EQ(find_case(found, "1MiB base", "rank 0 thread 0").change.verdict, CaseVerdict::slower);
  EXPECT_EQ(find_case(found, "1MiB base", "rank 0 thread 1").change.verdict,
            CaseVerdict::not_distinguishable);
  EXPECT_EQ(find_case(found, "1536KiB base", "rank 0 thread 0").change.verdict,
            CaseVerdict::not_distinguishable);
}

TEST(Match, AnotherMemoryAskedForIsAnotherCase) {
  const Results now = stored([](RunReport& report) { report.cases[0].flows[0].memory = "bind:1"; });
  const Comparison found = flows_of(stored(), now);
  EXPECT_THAT(found.only_base, ::testing::Contains(::testing::Field(&Row::name, "1MiB base")));
  EXPECT_THAT(found.only_now, ::testing::Contains(::testing::Field(&Row::name, "1MiB base")));
}

TEST(Match, ARateIsAskedForByRunAlone) {
  for (const std::string command : {"run", "loaded"}) {
    const auto at_rate = [&](double rate) {
      return stored([&](RunReport& report) {
        report.command = command;
        report.cases[0].flows[0].rate = rate;
      });
    };
    EXPECT_TRUE(flows_of(at_rate(1e9), at_rate(1e9)).only_base.empty()) << command;
    EXPECT_EQ(flows_of(at_rate(1e9), at_rate(2e9)).only_base.empty(), command != "run");
  }
}

TEST(Match, SeveralLaunchesAreOneSide) {
  const auto launch = [](double factor) {
    return stored([&](RunReport& report) {
      for (FlowResult& flow : report.cases[0].flows) scale_flow(flow, factor);
    });
  };
  const Results base = merged({launch(1), launch(1.001), launch(0.999)});
  const Comparison found = flows_of(base, merged({launch(1.05), launch(1.051), launch(1.049)}));
  const ComparedCase one = find_case(found, "1MiB base", "rank 0 thread 0");
  EXPECT_EQ(one.change.verdict, CaseVerdict::slower);
  EXPECT_NEAR(*one.change.part, 0.05, 1e-6);
  EXPECT_EQ(one.base.launches.size(), 3U);
  EXPECT_EQ(find_case(flows_of(base, merged({launch(1), launch(1.001), launch(1)})), "1MiB base",
                      "rank 0 thread 0")
                .change.verdict,
            CaseVerdict::same);
}

TEST(Match, WhatNotAllLaunchesHaveIsToldOf) {
  Results lacking = stored();
  std::erase_if(lacking.runs[0].rows, [](const Row& c) { return c.name == "1MiB base"; });
  const Results side = merged({stored(), lacking});
  EXPECT_THAT(side.notes, Contains(HasSubstr("1MiB base")));
  for (const Row& one : side.runs[0].rows)
    EXPECT_EQ(one.launches.size() > 1, one.name != "1MiB base" && one.problem.empty()) << one.name;
}

TEST(Match, SidesMeasuredInTurnAreMatchedByTheirOrder) {
  const Results base = stored();
  const Results now = stored([](RunReport& report) {
    for (Case& one : report.cases) {
      one.pages = "2M";
      one.name += " huge";
      for (FlowResult& flow : one.flows) {
        flow.memory = "bind:1";
        scale_flow(flow, 0.5);
      }
    }
  });
  EXPECT_FALSE(compare_files(base, now, {}));
  CompareRule in_turn;
  in_turn.in_pairs = true;
  const auto found = compare_files(base, now, in_turn);
  ASSERT_TRUE(found) << full_text(found.error());
  EXPECT_GT(found->count(CaseVerdict::faster), 0U);
  EXPECT_EQ(found->cases.front().now.name, found->cases.front().base.name + " huge");
  ComparedFiles files{base, now, 1, 1, *found, {}};
  EXPECT_THAT(text_in("table", report_of(files, {})), HasSubstr("1MiB base -> 1MiB base huge"));
}

TEST(Match, EqualKeysAreNumbered) {
  const auto twice = [](RunReport& report) {
    const Case first = report.cases[0];
    report.cases.push_back(first);
  };
  const Results base = stored(twice);
  const Results now = stored([&](RunReport& report) {
    twice(report);
    scale_flow(report.cases.back().flows[0], 3);
  });
  const Comparison found = flows_of(base, now);
  EXPECT_EQ(find_case(found, "1MiB base", "rank 0 thread 0").change.verdict,
            CaseVerdict::not_distinguishable);
  EXPECT_EQ(find_case(found, "1MiB base #2", "rank 0 thread 0").change.verdict,
            CaseVerdict::slower);
}

/// Both workers of one node, asked for the same memory.
void make_alike(RunReport& report) {
  report.workers[1].cpu_node = report.workers[0].cpu_node;
  for (Case& one : report.cases) {
    for (FlowResult& flow : one.flows) flow.ask() = one.flows[0].ask();
  }
}

TEST(Match, FlowsOfOtherMemoryHaveAMedianOfTheirOwn) {
  const auto slower = [](RunReport& report) {  // the one that reaches over
    scale_flow(report.cases[0].flows[1], 10);
  };
  const Comparison found = match_cases(rows_of(stored()), rows_of(stored(slower)), {});
  EXPECT_EQ(found.count(CaseVerdict::slower), 1U);
}

TEST(Match, TheMedianOverFlowsKnowsAllIntervals) {
  const Comparison found =
      match_cases(rows_of(stored(make_alike)), rows_of(stored(make_alike)), {});
  const Row& figure = find_case(found, "1MiB base", "median of 2").base;
  const auto flow = testing::report().cases[0].flows;
  EXPECT_DOUBLE_EQ(figure.estimate->value, (4e-9 + 5.125e-9) / 2);
  // The file has seven digits.
  EXPECT_NEAR(*figure.estimate->low,
              (*flow[0].figures[0].estimate->low + *flow[1].figures[0].estimate->low) / 2, 1e-15);
  EXPECT_THAT(find_case(found, "1536KiB base", "median of 2").change.reason,
              HasSubstr("rank 0 thread 1"));
}

TEST(Match, AMetricThatNoCaseHasIsAnError) {
  CompareRule rule;
  rule.metric = "nosuch";
  // A case that was skipped may have any metric, and none of its own.
  const Results file = stored([](RunReport& report) {
    report.cases[0].status = Status::skipped;
    report.cases[0].flows.clear();
  });
  const auto compared = compare_files(file, file, rule);
  ASSERT_FALSE(compared);
  EXPECT_EQ(compared.error().kind, ErrorKind::usage);
  EXPECT_EQ(full_text(compared.error()), "--metric: no case has 'nosuch'");
  EXPECT_THAT(compared.error().hint, HasSubstr("these have: latency"));
}

void make_files(const std::filesystem::path& folder, int count, const char* end) {
  std::filesystem::create_directories(folder);
  for (int i = 0; i < count; ++i) std::ofstream(folder / (std::to_string(i) + end));
}

TEST(Stored, AFolderOfOtherFilesIsNotWalkedToItsEnd) {
  const testing::TestFolder folder;
  const auto find = [&] { return results_below("--base", folder.text(), 200); };
  make_files(folder.path() / "logs", 200, ".log");
  EXPECT_TRUE(find());
  make_files(folder.path() / "more", 2, ".log");
  make_files(folder.path() / "results", 2, ".json");
  const auto found = find();
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().kind, ErrorKind::usage);
  EXPECT_EQ(
      full_text(found.error()),
      "--base: is no folder of results: 202 other files lie in it, and 2 that may be results");
  // One in a hundred is a result.
  make_files(folder.path() / "results", 3, ".json");
  EXPECT_TRUE(find());
}

TEST(Stored, AFleetOfSurveysHasManyOtherFiles) {
  const testing::TestFolder folder;
  for (const char* host : {"node1", "node2", "node3"}) {
    make_files(folder.path() / host, 20, ".txt");
    make_files(folder.path() / host / "logs", 400, ".log");
    make_files(folder.path() / host, 1, ".json");
  }
  const auto found = results_below("--base", folder.text(), 50);
  ASSERT_TRUE(found) << full_text(found.error());
  EXPECT_EQ(found->broken.size(), 3U) << "all were found";
}

TEST(Stored, StreamOverHostsIsReadByHostAndKernel) {
  RunReport run = testing::even_hosts(2);
  testing::add_noise(run, 0.001, 1);
  const auto file = stored_from_text(json_text(testing::with_figures(run)), "s.json");
  ASSERT_TRUE(file) << full_text(file.error());
  EXPECT_EQ(file->runs.front().rows.size(), 4U);
  testing::slow_down(run, 1, 1.25);
  const auto now = stored_from_text(json_text(testing::with_figures(run)), "t.json");
  const Comparison found = match_cases(rows_of(*file), rows_of(*now), {});
  EXPECT_EQ(find_case(found, "triad", "host cn00").change.verdict,
            CaseVerdict::not_distinguishable);
  EXPECT_EQ(find_case(found, "triad", "host cn01").change.verdict, CaseVerdict::slower);
  EXPECT_NEAR(*find_case(found, "copy", "host cn01").change.part, -0.2, 1e-9);
}

TEST(Differences, AreToldOfMachinesAndOptions) {
  Results base = stored(), now = base;
  Machine machine;
  machine.cpu_model = "A";
  machine.settings = {{"microcode", "0x1", "", ""}, {"swap", "1 used", "", ""}};
  base.runs[0].machines = now.runs[0].machines = {machine};
  EXPECT_TRUE(differences_of(base, now).empty());
  now.runs[0].machines[0].cpu_model = "B";
  now.runs[0].machines[0].settings = {{"swap", "2 used", "", ""}};
  now.runs[0].arguments = {"latency", "--size", "1,4", "--json", "other.json", "-q"};
  const auto found = differences_of(base, now);
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found[0].what, "processor");
  EXPECT_NE(found[0].warning, "");
  EXPECT_EQ(found[1], (Difference{"microcode", "", "0x1", std::nullopt, ""}));
  EXPECT_EQ(found[2], (Difference{"options of latency", "", "--size 1,2", "--size 1,4", ""}));
}

}  // namespace
}  // namespace numatlas
