#include "run/check_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "record/test_report.h"

namespace numatlas {
namespace {

using ::testing::HasSubstr;

PlannedCase planned(const char* name, int point, const std::vector<int>& workers) {
  PlannedCase one;
  one.head.name = one.scenario.name = name;
  one.number = point;
  for (const int worker : workers) one.scenario.flows.emplace_back().worker = worker;
  return one;
}

std::string problem(const Expected<void>& checked) {
  return checked ? "" : full_text(checked.error());
}

TEST(CheckPlan, FaultyPlansAreNamed) {
  EXPECT_EQ(problem(check_plan({}, "copy")), "copy: its plan has no case");
  EXPECT_EQ(problem(check_plan({planned("a", 0, {0}), planned("a", 1, {1})}, "copy")),
            "copy: two cases have the name 'a'");
  EXPECT_EQ(problem(check_plan({planned("a", 0, {0, 1, 0})}, "copy")),
            "copy: case 'a': worker 0 has two flows");
}

/// Two cases of a matrix, each with one figure.
RunReport matrix_report() {
  RunReport report = testing::report();
  report.command = "matrix";
  report.cases.clear();
  for (const char* memory : {"0", "1"}) {
    Case& one = report.cases.emplace_back();
    one.name = std::string("to ") + memory;
    one.labels = {{"from", "0"}, {"to", memory}};
    one.flows.resize(1);
    one.figures = {{"bandwidth_sum", "B/s", 1e9, std::nullopt}};
  }
  View view;
  view.title = "Rates";
  view.kind = ViewKind::matrix;
  view.rows = "from";
  view.columns = "to";
  view.cells = {figure_column("", "bandwidth_sum", 1)};
  report.views = {view};
  return report;
}

TEST(CheckViews, FaultyViewsAreNamed) {
  RunReport report = matrix_report();
  report.views.front().rows = "form";
  EXPECT_EQ(problem(check_views(report)), "matrix: view 'Rates': no case has the label 'form'");
  report = matrix_report();
  report.views.front().cells.front().figure = "bandwith_sum";
  EXPECT_EQ(problem(check_views(report)),
            "matrix: view 'Rates': no case has the figure 'bandwith_sum'");
  report = matrix_report();
  report.views.front().columns = "from";
  EXPECT_THAT(problem(check_views(report)), HasSubstr("cases 'to 0' and 'to 1' are one cell"));
}

}  // namespace
}  // namespace numatlas
