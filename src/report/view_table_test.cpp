#include "report/view_table.h"

#include <cstddef>

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
                figure_column("+-", "latency", in_ns, Part::half_width),
                figure_column("least", "latency", in_ns, Part::least),
                figure_column("most", "latency", in_ns, Part::most)};
  return view;
}

TEST(ViewTable, OneRowPerCaseWithoutEmptyColumns) {
  const std::string text = view_text(testing::report(), table_view());
  EXPECT_EQ(text,
            "Latency in ns\n"
            "lower is better\n"
            "size     latency    +-  least   most\n"
            "1MiB        4.56  0.8%   4.00   5.12\n"
            "1536KiB    80.00  0.8%  80.00  80.00\n"
            "nothing follows\n\n");
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
  RunReport report = testing::report();
  const char* places[][2] = {{"0", "0"}, {"0", "8"}, {"8", "0"}};
  for (std::size_t i = 0; i < 3; ++i)
    report.scenarios[i].labels = {{"from", places[i][0]}, {"to", places[i][1]}};
  View view;
  view.title = "Matrix";
  view.kind = ViewKind::matrix;
  view.rows = "from";
  view.columns = "to";
  view.cells = {figure_column("", "latency", in_ns, Part::with_interval, 1),
                label_column("", "pages")};
  EXPECT_EQ(view_text(report, view),
            "Matrix\n"
            "                 0                 8\n"
            "0  4.6 +-0.8% base  80.0 +-0.8% base\n"
            "8                -                 -\n\n");
  view.where = {{"from", "8"}};
  EXPECT_EQ(view_text(report, view), "") << "nothing to show";
}

TEST(ViewTable, HostsStandApart) {
  RunReport report = testing::report();
  report.hosts = {"alpha", "beta"};
  report.machines.resize(2);
  report.workers[1].host = 1;
  const std::string text = views_text(report, {table_view()}, true);
  EXPECT_THAT(text, HasSubstr("Host alpha\n\nLatency"));
  EXPECT_THAT(text, HasSubstr("Host beta\n\nLatency"));
  EXPECT_THAT(views_text(report, {table_view()}, false), Not(HasSubstr("Host")));
}

TEST(Labels, OwnLabelsGoFirst) {
  RunReport report = testing::report();
  ScenarioResult& one = report.scenarios[0];
  one.labels = {{"memory", "bind:7"}};
  EXPECT_EQ(label_text(report, one, one.flows[0], "memory"), "bind:7");
  EXPECT_EQ(label_text(report, one, one.flows[0], "cpu"), "0,64");
  EXPECT_EQ(label_text(report, one, "nodes"), "0-1 -> 0,12");
  EXPECT_EQ(label_text(report, one, "colour"), "-");
  EXPECT_FALSE(has_label(report, "colour"));
  EXPECT_TRUE(has_label(report, "memory"));
  EXPECT_EQ(groups_of(report, {"status"}).size(), 2U);
}

}  // namespace
}  // namespace numatlas
