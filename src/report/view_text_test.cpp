#include "report/view_text.h"

#include <cstddef>
#include <optional>
#include <sstream>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "record/labels.h"
#include "record/test_report.h"

namespace numatlas {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

View table_view() {
  View view;
  view.title = "Latency in ns";
  view.notes = {"lower is better"};
  view.verdict = {"nothing follows"};
  view.cells = {label_column("size", "size"),
                label_column("stores", "stores"),
                figure_column("latency", "latency", in_ns),
                figure_column(plus_minus(), "latency", in_ns, Part::half_width),
                figure_column("least", "latency", in_ns, Part::least),
                figure_column("most", "latency", in_ns, Part::most)};
  return view;
}

/// With the medians that a run makes, of two workers on nodes of their own.
RunReport grouped(RunReport report = testing::report()) {
  for (Case& one : report.cases) {
    if (one.pages.empty() || one.flows.size() < 2) continue;
    const auto estimate = [&](std::size_t i) { return one.flows[i].figures[0].estimate; };
    std::vector<Estimate> all;
    std::vector<double> values;
    std::vector<FlowGroup> groups;
    for (std::size_t i = 0; i < 2; ++i) {
      groups.push_back({{{"nodes", i == 0 ? "0 -> 0,12" : "1 -> 0,12"}}, 1, one.flows[i].figures});
      if (!estimate(i)) continue;
      all.push_back(*estimate(i));
      values.push_back(estimate(i)->value);
    }
    const FlowGroup of_all{{}, all.size(), {{"latency", "s", median_of(all), summarize(values)}}};
    groups.insert(groups.begin(), of_all);
    one.groups = groups;
  }
  return report;
}

TEST(ViewTable, AValueThatMayBeNothingIsNotTold) {
  RunReport report;
  Case& one = report.cases.emplace_back();
  one.flows.emplace_back();
  Estimate wide = 60e-9;
  wide.low = 20e-9;
  wide.high = 150e-9;
  one.figures = {{"latency", "s", wide, std::nullopt}};
  View view;
  view.cells = {figure_column("a", "latency", in_ns),
                figure_column("b", "latency", in_ns, Part::with_interval),
                figure_column(plus_minus(), "latency", in_ns, Part::half_width)};
  EXPECT_THAT(view_text(report, view),
              HasSubstr("60.00 (20.00 to 150.0)  60.00 (20.00 to 150.0)\n"));
  one.figures.front().estimate->high = 88e-9;  // the lower end is 67 % away
  EXPECT_THAT(view_text(report, view), HasSubstr("60.00 (20.00 to 88.00)"));
  one.figures.front().estimate->low = 0;
  EXPECT_THAT(view_text(report, view), HasSubstr(" 0.00 to 88.00"));
  one.figures.front().estimate->low = 32e-9;
  EXPECT_THAT(view_text(report, view), HasSubstr("60.00  60.00 ±47 %"));
}

TEST(ViewTable, AWideIntervalStandsWithItsValueAndUnit) {
  RunReport report;
  Case& one = report.cases.emplace_back();
  Estimate gain = 0.088;
  gain.low = 0.037;
  gain.high = 0.142;
  one.figures = {{"gain", "1", gain, std::nullopt}, {"rate", "B/s", scaled(gain, 1e12), {}}};
  View view;
  view.cells = {figure_column("gain", "gain", in_percent, Part::value, 1, " %"),
                figure_column("rate", "rate", 0)};
  EXPECT_THAT(view_text(report, view), HasSubstr("8.8 % (3.7 to 14.2)  88.0 GB/s (37.0 to 142)"));
  one.figures.front().estimate->low = -0.02;
  EXPECT_THAT(view_text(report, view), HasSubstr("-2.0 to 14.2 %"));
  Estimate tiny = 1e-5;
  tiny.low = 1e-6;
  tiny.high = 1e-4;
  one.figures.front().estimate = tiny;
  EXPECT_THAT(view_text(report, view), HasSubstr("0.0 %  88.0 GB/s")) << "both ends look the same";
}

TEST(ViewTable, OneRowPerCaseWithoutEmptyColumns) {
  const std::string text = view_text(grouped(), table_view());
  EXPECT_EQ(text,
            "Latency in ns\n"
            "lower is better\n"
            "size      latency      ±  least  most\n"
            "1 MiB        4.56  0.8 %   4.00  5.12\n"
            "1536 KiB    80.00  0.8 %      -     -\n"
            "nothing follows\n\n");
}

TEST(ViewTable, TheBestOfSeveralVisits) {
  RunReport report = grouped();
  View view = table_view();
  view.where = {{"size", "1MiB"}};
  view.cells = {label_column("size", "size"), figure_column("latency", "latency", in_ns),
                figure_column("best", "latency", in_ns, Part::best)};
  report.cases[0].visits = Visits{};
  report.cases[0].visits->figures = {{"latency", "s", {5e-9, 4.25e-9}, 4.25e-9}};
  report.cases[0].visits->count = 2;
  EXPECT_THAT(view_text(report, view), HasSubstr("\n1 MiB     4.56  4.25\n"));
  report.cases[0].visits->count = 1;
  EXPECT_THAT(view_text(report, view), HasSubstr("\n1 MiB     4.56\n")) << "it is the value";
}

TEST(ViewTable, OneRowPerFlow) {
  View view = table_view();
  view.level = ViewLevel::flows;
  view.where = {{"size", "1MiB"}};
  view.cells = {label_column("worker", "worker"), label_column("node", "memory_node"),
                figure_column("p95", "latency", in_ns, Part::p95)};
  const std::string text = view_text(testing::report(), view);
  EXPECT_THAT(text, HasSubstr("\n0       0,12  5.70\n1       0,12  7.30\n"));
}

TEST(ViewTable, AMatrixHasACellPerPairAndADashWhereNothingWasMeasured) {
  RunReport report = grouped();
  const char* places[][2] = {{"0", "0"}, {"0", "8"}, {"8", "0"}};
  for (std::size_t i = 0; i < 3; ++i)
    report.cases[i].labels = {{"from", places[i][0]}, {"to", places[i][1]}};
  View view;
  view.title = "Matrix";
  view.kind = ViewKind::matrix;
  view.rows = "from";
  view.columns = "to";
  view.cells = {figure_column("", "latency", in_ns, Part::with_interval, 1),
                label_column("", "pages")};
  EXPECT_EQ(view_text(report, view),
            "Matrix\n\n"
            "                 0                 8\n"
            "0  4.6 ±0.8 % base  80.0 ±0.8 % base\n"
            "8                -                 -\n\n");
  view.where = {{"from", "8"}};
  EXPECT_EQ(view_text(report, view), "") << "nothing to show";
}

TEST(ViewTable, LabelsAloneStandOnce) {
  View view;
  view.title = "Pages";
  view.level = ViewLevel::flows;
  view.cells = {label_column("asked", "pages"), label_column("nodes", "memory_node")};
  EXPECT_EQ(view_text(grouped(), view), "Pages\nasked  nodes\nbase   0,12\nbase   -\n\n");
}

/// Verdicts: what could not be judged is in the notes, and the last column is broken within it.
TEST(ViewTable, WordsAloneFitATerminal) {
  RunReport report;
  for (const Status status : {Status::ok, Status::ok, Status::skipped}) {
    Case& one = report.cases.emplace_back();
    one.status = status;
    one.labels = {{"verdict", status == Status::ok ? "confirmed" : "not judged here"},
                  {"evidence", "claimed one, found two; " + std::to_string(report.cases.size())}};
  }
  View view{.title = "Claims"};
  view.cells = {label_column("verdict", "verdict"), label_column("evidence", "evidence")};
  TextStyle style;
  style.width = 24;
  EXPECT_EQ(view_text(report, view, style),
            "Claims\n"
            "verdict    evidence\n"
            "confirmed  claimed one,\n"
            "           found two; 1\n"
            "confirmed  claimed one,\n"
            "           found two; 2\n\n");
}

TEST(ViewTable, OneColumnPerValueOfALabel) {
  View view = table_view();
  view.kind = ViewKind::curve;
  view.level = ViewLevel::groups;
  view.columns = "nodes";
  view.cells = {label_column("size", "size"), label_column("stores", "stores"),
                figure_column("pair", "latency", in_ns, Part::spread, 1, "ns")};
  EXPECT_EQ(view_text(grouped(), view),
            "Latency in ns\n"
            "lower is better\n\n"
            "size      pair 0 -> 0,12  pair 1 -> 0,12\n"
            "1 MiB       4.0ns ±0.8 %    5.1ns ±0.8 %\n"
            "1536 KiB   80.0ns ±0.8 %               -\n"
            "nothing follows\n\n");
}

TEST(ViewTable, WideTablesAreCutIntoBlocks) {
  RunReport report = testing::report();
  report.cases.resize(1);
  for (int i = 0; i < 12; ++i) {
    report.cases.push_back(report.cases[0]);
    report.cases.back().pages = "pages" + std::to_string(i);
  }
  View view = table_view();
  view.columns = "pages";
  view.cells = {label_column("size", "size"),
                figure_column("", "latency", in_ns, Part::with_interval)};
  const std::string text = view_text(grouped(report), view);
  EXPECT_THAT(text, HasSubstr("\n\nsize"));
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 120U);
}

TEST(ViewTable, ADifferenceThatMayBeNoneIsNotTheWholeOfItself) {
  RunReport report = testing::report();
  Estimate small = 1e-9;
  small.low = -2e-9;
  small.high = 2e-9;
  report.cases[0].figures = {{"cost", "s", small, {}}};
  View view;
  view.title = "Cost";
  view.cells = {label_column("size", "size"),
                figure_column("ns", "cost", in_ns, Part::with_interval)};
  EXPECT_EQ(view_text(report, view), "Cost\nsize              ns\n1 MiB  -2.00 to 2.00\n\n");
}

TEST(Labels, OwnLabelsGoFirst) {
  RunReport report = testing::report();
  Case& one = report.cases[0];
  one.labels = {{"memory", "bind:7"}};
  EXPECT_EQ(label_text(report, {&one, nullptr, &one.flows[0]}, "memory"), "bind:7");
  EXPECT_EQ(label_text(report, {&one, nullptr, &one.flows[0]}, "cpu"), "0,64");
  EXPECT_EQ(label_text(report, one, "nodes"), "0-1 -> 0,12");
  EXPECT_EQ(label_text(report, one, "colour"), "-");
  EXPECT_FALSE(has_label(report, "colour"));
  EXPECT_TRUE(has_label(report, "memory"));
  EXPECT_EQ(groups_of(report, {"status"}).size(), 2U);
}

TEST(Labels, ACaseHasThoseOfItsFlows) {
  const RunReport report = testing::report();
  EXPECT_EQ(label_text(report, report.cases[0], "cpu_node"), "0/1");
  EXPECT_EQ(label_text(report, report.cases[0], "role"), "measured");
  EXPECT_EQ(label_text(report, report.cases[2], "role"), "-") << "it has no flows";
}

TEST(Labels, ACaseWithoutALabelBelongsToAllGroups) {
  RunReport report = testing::report();
  report.cases[1].labels = {{"load", "read"}};
  report.cases[2].labels = {{"load", "write"}};
  const auto groups = groups_of(report, {"load", "pages"});
  ASSERT_EQ(groups.size(), 2U);
  for (const CaseGroup& group : groups) {
    ASSERT_EQ(group.cases.size(), 2U);
    EXPECT_EQ(group.cases[0], &report.cases[0]);
    View view;
    view.where = group.labels;
    EXPECT_EQ(items_of(report, view).size(), 2U);
  }
}

}  // namespace
}  // namespace numatlas
