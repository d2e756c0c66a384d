#include "record/drawn.h"

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "record/row_names.h"
#include "record/test_report.h"

namespace numatlas {
namespace {

using ::testing::ElementsAre;
using ::testing::FieldsAre;

/// A case with these labels, and a latency of so many ns by a worker each.
Case case_of(LabelTexts labels, Bytes size, std::vector<double> ns,
             const std::string& pages = "base") {
  Case one;
  one.labels = std::move(labels);
  one.size = size;
  one.pages = pages;
  for (std::size_t at = 0; at < ns.size(); ++at) {
    FlowResult flow;
    flow.worker = static_cast<int>(at);
    flow.size = size;
    const double value = ns[at] * 1e-9;
    flow.figures = {
        {"latency", "s", numatlas::testing::with_interval(value, value * 0.99, value * 1.01), {}}};
    one.flows.push_back(flow);
  }
  if (ns.size() == 1) one.figures = one.flows[0].figures;
  return one;
}

RunReport report_of(std::vector<Case> cases) {
  RunReport report;
  report.hosts = {"alpha"};
  report.workers = {{0, 0, 0, {CpuId{0}}, NodeId{0}, "local"},
                    {0, 1, 0, {CpuId{1}}, NodeId{1}, "local"}};
  report.cases = std::move(cases);
  return report;
}

View view_of(ViewKind kind, std::vector<ViewColumn> cells, const std::string& rows = "",
             const std::string& columns = "") {
  View view;
  view.title = "Latency";
  view.kind = kind;
  view.rows = rows;
  view.columns = columns;
  view.cells = std::move(cells);
  return view;
}

const ViewColumn size = label_column("size", "size"), pages = label_column("pages", "pages"),
                 latency = figure_column("ns", "latency", in_ns, Part::with_interval);

TEST(Drawn, LabelsInWords) {
  const View view = view_of(ViewKind::table, {label_column("how", "method")});
  const std::map<std::string, LabelTexts> told{
      {"node 0", {{"nodes", "0 -> 0"}}},
      {"node 0 -> 0-1", {{"nodes", "0 -> 0-1"}}},
      {"1 worker, 16 threads", {{"workers", "1"}, {"threads", "16"}}},
      {"worker 3", {{"worker", "3"}}},
      {"read", {{"kernel", "read"}, {"stores", "-"}}},
      {"node 2", {{"cpu_node", "2"}, {"memory_node", "2"}}},
      {"CPU node 0, memory node 2", {{"cpu_node", "0"}, {"memory_node", "2"}}},
      {"75 % reads (mix 3:1)", {{"load_kernel", "mix 3:1"}}},
      {"writes alone", {{"load_kernel", "write"}}},
      {"how 4", {{"method", "4"}}}};
  for (const auto& [words, labels] : told) EXPECT_EQ(words_of(view, labels), words);
}

TEST(Drawn, RowsAreNamedByWhatTellsThemApart) {
  const RunReport report = report_of({case_of({{"how", "a"}}, Bytes{mib}, {1}),
                                      case_of({{"how", "a"}}, Bytes{2 * mib}, {2}),
                                      case_of({{"how", "b"}}, Bytes{mib}, {3})});
  const View view = view_of(ViewKind::table, {label_column("", "how"), size, pages, latency});
  const std::vector<Drawn> drawn = drawn_of(report, view);
  ASSERT_EQ(drawn.size(), 1U);
  const auto is = [&](std::size_t row, const char* name, const char* group) {
    EXPECT_EQ(drawn[0].rows[row].name, name);
    EXPECT_EQ(drawn[0].rows[row].group, group);
  };
  is(0, "a", "size 1 MiB");
  is(1, "a", "size 2 MiB");
  is(2, "b", "size 1 MiB");
  EXPECT_EQ(drawn[0].main, 3U);
  EXPECT_EQ(drawn[0].cases, "0-2");
  EXPECT_EQ(drawn[0].shown, (DrawnQuantity{"latency per load", "ns"}));
  EXPECT_TRUE(drawn[0].less_is_better);
  EXPECT_EQ(drawn[0].axis, std::nullopt) << "two sizes are no curve";
  const DrawnCell& cell = drawn[0].rows[1].cells[3];
  EXPECT_EQ(cell.text, "2.00 ±1.0 %");
  EXPECT_DOUBLE_EQ(*cell.value, 2);
  EXPECT_DOUBLE_EQ(*cell.low, 1.98);
  EXPECT_DOUBLE_EQ(*drawn[0].rows[1].cells[1].value, 2.0 * mib);
}

TEST(Drawn, ATableOverThreeSizesHasAnAxis) {
  std::vector<Case> cases;
  for (const char* kind : {"base", "thp"})
    for (const std::uint64_t count : {1U, 2U, 4U})
      cases.push_back(case_of({}, Bytes{count * mib}, {static_cast<double>(count)}, kind));
  const Drawn drawn =
      drawn_of(report_of(cases), view_of(ViewKind::table, {size, pages, latency})).front();
  EXPECT_EQ(drawn.axis, 0U);
  EXPECT_EQ(drawn.over, (DrawnQuantity{"buffer size", "bytes", true}));
  EXPECT_EQ(drawn.rows[0].line, "base");
  EXPECT_EQ(drawn.rows[5].line, "thp");
}

TEST(Drawn, ALabelWithItsValuesAsColumns) {
  const RunReport report =
      report_of({case_of({}, Bytes{mib}, {1, 2}), case_of({}, Bytes{gib}, {3, 4})});
  View view = view_of(ViewKind::table, {label_column("worker", "worker"), latency}, "", "size");
  view.level = ViewLevel::flows;
  const Drawn lines = drawn_of(report, view).front();
  EXPECT_EQ(lines.heads[2].text, "ns 1 GiB");
  EXPECT_DOUBLE_EQ(*lines.heads[2].value, 1.0 * gib);
  EXPECT_EQ(lines.axis, lines.left) << "its heads";
  EXPECT_EQ(lines.rows[1].line, "worker 1");
  EXPECT_DOUBLE_EQ(*lines.rows[1].cells[2].value, 4);
  // A place has one number: what tells two apart makes two tables.
  view.columns = "pages";
  const std::vector<Drawn> apart = drawn_of(report, view);
  ASSERT_EQ(apart.size(), 2U);
  EXPECT_EQ(apart[0].of_words, "size 1 MiB");
  EXPECT_THAT(apart[1].of, ElementsAre(FieldsAre("size", "1GiB")));
}

TEST(Drawn, CurvesOfOneFormShareAPicture) {
  RunReport report = report_of({case_of({}, Bytes{mib}, {1}), case_of({}, Bytes{gib}, {2}, "thp")});
  for (const char* kind : {"base", "thp"}) {
    report.views.push_back(view_of(ViewKind::curve, {size, latency}, "size"));
    report.views.back().where = {{"pages", kind}};
  }
  const auto drawn = drawn_views(report);
  EXPECT_EQ(drawn[0][0].among, "base");
  EXPECT_EQ(drawn[1][0].among, "thp");
  EXPECT_EQ(drawn[1][0].together, "Latency per load by buffer size");
  report.views.pop_back();
  EXPECT_EQ(drawn_views(report)[0][0].together, "") << "alone";
}

TEST(Drawn, CpusStandByWhatTheyShare) {
  const auto pair = [](const char* one, const char* other) {
    return case_of({{"first_cpu", one}, {"second_cpu", other}}, Bytes{64}, {5});
  };
  RunReport report = report_of({pair("0", "1"), pair("0", "2"), pair("1", "2")});
  Machine machine;
  for (const int id : {0, 1, 2, 3})
    machine.cpus.push_back({CpuId{id}, id, id % 2, NodeId{id % 2}, 0});
  report.machines = {machine};
  View view = view_of(ViewKind::matrix, {latency}, "first_cpu", "second_cpu");
  view.symmetric = true;
  const Drawn drawn = drawn_of(report, view).front();
  EXPECT_THAT(drawn.order, ElementsAre(0, 2, 1));
  EXPECT_THAT(drawn.borders, ElementsAre(std::pair(2, 3))) << "a socket";
  EXPECT_EQ(drawn.left_out, "3 of 4 CPUs: the others were left out");
  EXPECT_EQ(drawn.rows[0].cells[1].why, "a place with itself");
  EXPECT_EQ(drawn.rows[2].cells[1].text, drawn.rows[0].cells[3].text) << "both orders";
}

TEST(Drawn, HostsWithTablesOfTheirOwn) {
  RunReport report = report_of({case_of({{"from", "0"}, {"to", "1"}}, Bytes{mib}, {2, 3})});
  report.hosts = {"one", "two"};
  report.machines = {Machine{}, Machine{}};
  report.workers[1].host = 1;
  View view = view_of(ViewKind::matrix, {latency}, "from", "to");
  report.views = {view};
  EXPECT_EQ(drawn_views(report)[0].size(), 1U);
  report.views[0].by_host = true;
  const auto drawn = drawn_views(report);
  ASSERT_EQ(drawn[0].size(), 2U);
  EXPECT_EQ(drawn[0][1].of_words, "host two");
  EXPECT_DOUBLE_EQ(*drawn[0][0].rows[0].cells[1].value, 2);
  EXPECT_DOUBLE_EQ(*drawn[0][1].rows[0].cells[1].value, 3);
}

TEST(Drawn, WorkersHaveASpread) {
  RunReport report = report_of({case_of({}, Bytes{mib}, {1, 3})});
  const std::vector<double> both{1e-9, 3e-9};
  report.cases[0].groups = {{{}, 2, {{"latency", "s", Estimate(2e-9), summarize(both)}}}};
  const ViewColumn spread = figure_column("ns", "latency", in_ns, Part::spread);
  const Drawn drawn = drawn_of(report, view_of(ViewKind::table, {size, spread})).front();
  EXPECT_EQ(drawn.rows[0].cells[1].text, "2.00 (1.00-3.00)");
  EXPECT_DOUBLE_EQ(*drawn.rows[0].cells[1].high, 3);
  EXPECT_EQ(drawn.spread, "from the lowest to the highest worker; of one worker its 95 % interval");
}

TEST(Drawn, WhatNobodyMeasuredIsNotDrawn) {
  RunReport report = report_of({case_of({}, Bytes{mib}, {1})});
  report.cases[0].flows[0].figures[0].estimate.reset();
  report.cases[0].figures.clear();
  EXPECT_TRUE(drawn_of(report, view_of(ViewKind::table, {size, latency})).empty());
  report = report_of({case_of({}, Bytes{mib}, {1})});
  report.cases[0].flows[0].warnings = {{"placement", "", "elsewhere"}};
  const Drawn drawn = drawn_of(report, view_of(ViewKind::table, {size, latency})).front();
  EXPECT_THAT(drawn.rows[0].warnings, ElementsAre("elsewhere"));
}

TEST(Drawn, AnAxisOfWhichNothingIsKnownIsNone) {
  const ViewColumn moved = figure_column("moved", "traffic_sum", in_gb_per_s);
  const RunReport report = report_of({case_of({}, Bytes{mib}, {1}), case_of({}, Bytes{gib}, {2})});
  const Drawn drawn =
      drawn_of(report, view_of(ViewKind::curve, {size, moved, latency}, "traffic_sum")).front();
  EXPECT_EQ(drawn.axis, std::nullopt);
  EXPECT_EQ(drawn.main, 2U);
}

TEST(Drawn, TheFirstFigureThatIsKnownStandsInAPlace) {
  const RunReport report = report_of({case_of({{"from", "0"}, {"to", "1"}}, Bytes{mib}, {2})});
  const View view =
      view_of(ViewKind::matrix, {figure_column("", "rate", in_gb_per_s), latency}, "from", "to");
  const Drawn drawn = drawn_of(report, view).front();
  EXPECT_EQ(drawn.figure, "latency");
  EXPECT_EQ(drawn.rows[0].cells[1].text, "2.00 ±1.0 %");
  EXPECT_DOUBLE_EQ(*drawn.rows[0].cells[1].value, 2);
}

TEST(Drawn, APointKnownToMoreThanTenPercentIsFlagged) {
  RunReport report = report_of({case_of({}, Bytes{mib}, {1})});
  report.cases[0].figures[0].estimate = numatlas::testing::with_interval(1e-9, 0.8e-9, 1.2e-9);
  const ViewColumn value = figure_column("ns", "latency", in_ns);
  EXPECT_TRUE(
      drawn_of(report, view_of(ViewKind::table, {size, value})).front().rows[0].cells[1].flagged);
}

}  // namespace
}  // namespace numatlas
