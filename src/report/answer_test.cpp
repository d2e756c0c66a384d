#include "report/answer.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "record/test_report.h"
#include "report/notes.h"
#include "report/reporter.h"

namespace numatlas {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

NumaNode node_of(int id, bool has_cpus, const char* kind) {
  NumaNode node;
  node.id = NodeId{id};
  if (has_cpus) node.cpus.insert(CpuId{id});
  node.kind = kind;
  return node;
}

Fact fact(const char* heading, const char* line, Unit unit, double value) {
  Fact one{"key", {}, "", unit, Estimate(value)};
  one.heading = heading;
  one.line = line;
  return one;
}

RunReport with_memory_latency() {
  RunReport report = testing::report();
  report.engine = "threads";
  report.facts = {fact("Idle latency", "memory {}", "s", 163e-9)};
  return report;
}

TEST(Answer, OfSeveralGpusItIsThatOfAll) {
  RunReport report = testing::report();
  report.engine = "threads";
  const auto of_gpu = [](const char* gpu, const char* line, double rate) {
    Fact one = fact("", line, "B/s", rate);
    one.heading = std::string("GPU ") + gpu;
    one.where = {{"gpu", gpu}};
    return one;
  };
  report.facts = {of_gpu("0", "copies to it {} (node 0)", 55e9),
                  of_gpu("0", "copies from it {} (node 0)", 56e9)};
  EXPECT_EQ(answer_text(report),
            "GPU 0: copies to it 55.0 GB/s (node 0), copies from it 56.0 GB/s (node 0)\n");
  for (const char* gpu : {"1", "2", "3", "4", "5"}) {
    report.facts.push_back(of_gpu(gpu, "copies to it {} (node 1)", gpu[0] == '5' ? 25e9 : 54e9));
    report.facts.push_back(of_gpu(gpu, "copies from it {} (node 1)", 56e9));
  }
  EXPECT_EQ(answer_text(report),
            "each of 6 GPUs: copies to it 25.0 to 55.0 GB/s, copies from it 56.0 GB/s\n");
}

TEST(Answer, AMatrixIsItsSpans) {
  RunReport report = testing::report();
  report.engine = "threads";
  const auto cell = [](const char* cpus, const char* memory, double value) {
    Fact one = fact("Memory latency, one CPU alone, 64 MiB", "", "s", value);
    one.where = {{"cpu_node", cpus}, {"memory_node", memory}};
    return one;
  };
  report.facts = {cell("0", "0", 123e-9), cell("0", "1", 142e-9), cell("0", "2", 338e-9),
                  cell("1", "1", 123.2e-9)};
  EXPECT_EQ(answer_text(report), "Memory latency: local 123 ns, remote 142 to 338 ns\n");
  report.machines.resize(1);
  report.machines.front().nodes = {node_of(0, true, ""), node_of(1, true, ""),
                                   node_of(2, false, "cxl")};
  EXPECT_EQ(answer_text(report), "Memory latency: local 123 ns, remote 142 ns, CXL 338 ns\n");
  report.machines.front().nodes[2].kind = "dram";
  EXPECT_EQ(answer_text(report),
            "Memory latency: local 123 ns, remote 142 ns, without CPUs 338 ns\n");
  report.facts.resize(1);
  EXPECT_EQ(answer_text(report), "Memory latency, one CPU alone, 64 MiB: 123 ns\n");
}

TEST(Answer, WhatIsNotTheDefaultIsSaid) {
  RunReport report = with_memory_latency();
  report.machines.assign(1, {});  // base pages are its best
  report.cases.resize(1);
  Case& one = report.cases.front();
  one.order = "random";
  one.stride = Bytes{64};
  one.pages = "base";
  EXPECT_EQ(answer_text(report), "Idle latency: memory 163 ns\n");
  one.order = "page-local";
  one.stride = Bytes{256};
  one.pages = "thp";
  EXPECT_EQ(answer_text(report),
            "Idle latency: memory 163 ns; page-local order, stride 256B, thp pages\n");
  report.facts.front().where = {{"pages", "thp"}};
  EXPECT_EQ(answer_text(report), "Idle latency: memory 163 ns; page-local order, stride 256B\n")
      << "a fact that names its pages says them";
}

TEST(Answer, UnlikeFlowsOfACaseAreNoMean) {
  RunReport report = testing::report();
  report.engine = "threads";
  report.facts.clear();
  report.cases.resize(1);
  Case& one = report.cases.front();
  one.figures.clear();
  one.flows.resize(2, one.flows.front());
  one.flows[0].load = one.flows[1].load = false;
  one.flows[0].figures = {{"latency", "s", Estimate(97e-9), {}}};
  one.flows[1].figures = {{"latency", "s", Estimate(137e-9), {}}};
  EXPECT_THAT(answer_text(report), StartsWith(one.name + ": 97.0 to 137 ns"));
}

TEST(Answer, WithoutFactsItIsThatOfTheCases) {
  RunReport report = testing::report();
  report.engine = "threads";
  report.facts.clear();
  report.cases.resize(1);
  report.cases.front().figures.clear();
  report.cases.front().flows.resize(1);
  report.cases.front().flows.front().figures = {{"latency", "s", Estimate(5e-9), {}}};
  EXPECT_EQ(answer_text(report), report.cases.front().name + ": 5.00 ns\n");
  for (int i = 1; i < 6; ++i) {
    report.cases.push_back(report.cases.front());
    report.cases.back().flows.front().figures.front().estimate->value = 5e-9 + i * 1e-9;
  }
  EXPECT_EQ(answer_text(report), "6 cases: 5.00 to 10.0 ns\n");
  for (Case& one : report.cases) one.flows.clear();
  EXPECT_EQ(answer_text(report), "") << "nothing was measured";
}

TEST(Answer, TheGravestDoubtStandsBelow) {
  RunReport report = with_memory_latency();
  report.warnings = {{"setting", "", "numa_balancing = 1"}, {"two-speeds", "", "two speeds"}};
  EXPECT_EQ(answer_text(report), "Idle latency: memory 163 ns; two speeds\n");
  report.cases.front().status = Status::failed;
  report.cases.front().reason = "no memory";
  EXPECT_THAT(answer_text(report), HasSubstr("\n! 1 of 3 cases: failed: no memory\n"));
  report.engine = "null";
  EXPECT_THAT(answer_text(report), HasSubstr("\n! null engine: "));
}

CpuUse used(double others, double seconds) { return {seconds, 2, 1.0, others, 0.0, ""}; }

TEST(Answer, WhatOthersDisturbedIsUnreliable) {
  RunReport report = with_memory_latency();
  report.hosts = {"n1"};
  report.cpu_use = {used(0.01, 10)};
  EXPECT_EQ(distrust_of(report), "");
  report.cpu_use = {used(1, 10)};
  EXPECT_EQ(answer_text(report),
            "UNRELIABLE: other programs used 1.0 of 2 CPUs; run again when it is quiet\n"
            "(Idle latency: memory 163 ns)\n");
  report.facts.front().estimate = testing::with_interval(163e-9, 160e-9, 166e-9);
  report.facts.front().estimate.method = Method::within;
  EXPECT_THAT(answer_text(report), HasSubstr("when it is quiet; * fewer than 5 visits\n"));
  // A burst in one of several benchmarks is little over all their time.
  RunReport quiet = report;
  quiet.cpu_use = {used(0, 300)};
  EXPECT_EQ(distrust_of(std::vector{report, quiet}), "");
  quiet.cpu_use = {used(0, 20)};
  EXPECT_NE(distrust_of(std::vector{report, report, quiet, report, report}), "");
}

TEST(Answer, ALittleOfOthersIsADoubt) {
  RunReport report = with_memory_latency();
  report.hosts = {"n1"};
  report.cpu_use = {used(0.14, 100)};
  EXPECT_EQ(distrust_of(report), "");
  EXPECT_EQ(answer_text(report),
            "Idle latency: memory 163 ns\n"
            "! other programs used 0.1 of 2 CPUs; run again when it is quiet\n");
  EXPECT_EQ(trust_of({&report, 1}).grade, "doubtful");
  report.cpu_use = {used(1.2, 100)};
  EXPECT_EQ(trust_of({&report, 1}).grade, "unreliable");
}

TEST(Answer, WhatIsIncompleteSaysSoFirst) {
  RunReport report = with_memory_latency();
  report.complete = false;
  report.incomplete_reason = "interrupted by signal 2";
  EXPECT_EQ(answer_text(report),
            "INCOMPLETE: interrupted by signal 2\n(Idle latency: memory 163 ns)\n");
  report.hosts = {"n1"};
  report.cpu_use = {used(1.2, 10)};
  EXPECT_THAT(answer_text(report),
              ::testing::StartsWith("UNRELIABLE: other programs used 1.2 of 2 CPUs; run again when "
                                    "it is quiet; INCOMPLETE: interrupted by signal 2\n("));
}

Case measured(const std::string& name, const std::string& pages, const char* key, Unit unit,
              double low, double high) {
  Case one = testing::report().cases.front();
  one.name = name;
  one.pages = pages;
  one.flows.resize(1);
  one.flows[0].figures = {{key, unit, testing::with_interval((low + high) / 2, low, high), {}}};
  one.figures.clear();
  return one;
}

TEST(Answer, OtherPagesGainIsSaidOfAnyBenchmark) {
  RunReport report = with_memory_latency();
  const auto gain = [&] {
    const std::string text = answer_text(report);
    const std::size_t at = text.find("; ");
    return at == std::string::npos ? "" : text.substr(at + 2, text.find('\n') - at - 2);
  };
  report.cases = {measured("64MiB base", "base", "latency", "s", 129e-9, 133e-9),
                  measured("64MiB thp", "thp", "latency", "s", 98e-9, 102e-9)};
  EXPECT_EQ(gain(), "thp 1.31 times (1.28 to 1.34) as fast as base");
  std::swap(report.cases[0], report.cases[1]);
  EXPECT_EQ(gain(), "thp 1.31 times (1.28 to 1.34) as fast as base") << "whatever came first";
  report.cases.push_back(measured("2MiB base", "base", "latency", "s", 19e-9, 21e-9));
  report.cases.push_back(measured("2MiB thp", "thp", "latency", "s", 19e-9, 21e-9));
  EXPECT_EQ(gain(), "thp 1.00 to 1.31 times as fast as base");
  report.cases.push_back(measured("read base", "base", "bandwidth", "B/s", 9e9, 11e9));
  report.cases.push_back(measured("read thp", "thp", "bandwidth", "B/s", 18e9, 22e9));
  EXPECT_THAT(gain(),
              ::testing::MatchesRegex("thp 2.00 times .1.[0-9]+ to 2.[0-9]+. as fast as base "
                                      "by bandwidth, 1.00 to 1.31 times by latency"));
  std::erase_if(report.cases, [](const Case& one) { return one.pages == "base"; });
  EXPECT_EQ(gain(), "") << "one kind of pages";
}

/// What judges watches no CPUs itself.
TEST(Answer, AVerdictIsAsReliableAsWhatItIsOn) {
  RunReport report;
  report.complete = true;
  report.answer = "1 of 2 claims contradicted";
  EXPECT_EQ(text_in("line", report), "1 of 2 claims contradicted\n");
  report.trust = "unreliable";
  report.doubt = "other programs used 1.9 of 2 CPUs";
  EXPECT_EQ(answer_text(report),
            "UNRELIABLE: other programs used 1.9 of 2 CPUs\n(1 of 2 claims contradicted)\n");
  EXPECT_EQ(text_in("line", report),
            "UNRELIABLE: other programs used 1.9 of 2 CPUs (1 of 2 claims contradicted)\n");
  report.trust = "doubtful";
  EXPECT_EQ(distrust_of(report), "");
  EXPECT_EQ(text_in("line", RunReport()), "nothing was measured\n");
}

TEST(Tables, ValuesThatCannotBeTrustedStandInBrackets) {
  RunReport report = testing::report();
  report.engine = "threads";
  report.hosts = {"n1"};
  View view;
  view.title = "Latency";
  view.cells = {label_column("size", "size"), figure_column("ns", "latency", in_ns),
                figure_column("half", "latency", in_ns, Part::half_width)};
  report.views = {view};
  report.cases.resize(1);
  Estimate estimate = 163e-9;
  estimate.low = 161e-9;
  estimate.high = 165e-9;
  report.cases.front().figures = {{"latency", "s", estimate, std::nullopt}};
  report.cpu_use = {used(0.01, 10)};
  EXPECT_THAT(tables_text(report, {}), HasSubstr(" 163.0  "));
  report.cpu_use = {used(1, 10)};
  const std::string text = tables_text(report, {});
  EXPECT_THAT(text, HasSubstr(" (163.0)  1.2 %\n")) << text;
}

TEST(Answer, HowFarARunCanBeBelieved) {
  RunReport report = testing::report();
  report.engine = "OpenMP";
  const auto told = [](const std::vector<RunReport>& reports) {
    const Trust trust = trust_of(reports);
    return trust.grade + ":" + trust.doubt;
  };
  EXPECT_EQ(told({report}), "trusted:");
  RunReport doubtful = report, unreliable = report;
  doubtful.warnings = {{"two-speeds", "", "two speeds"}};
  EXPECT_EQ(told({report, doubtful}), "doubtful:two speeds");
  unreliable.warnings = doubtful.warnings;
  unreliable.cpu_use = {CpuUse{2, 2, 1.0, 1.0, 0.0, ""}};
  EXPECT_EQ(told({doubtful, unreliable}),
            "unreliable:other programs used 1.0 of 2 CPUs; run again when it is quiet");
  report.engine = "null (scripted clock)";
  EXPECT_EQ(told({report}), ":") << "nothing was measured";
}

}  // namespace
}  // namespace numatlas
