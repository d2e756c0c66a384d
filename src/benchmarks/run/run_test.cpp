#include <fstream>
#include <optional>
#include <string>

#include <gmock/gmock.h>

#include "base/test_folder.h"
#include "benchmarks/test_plan.h"
#include "record/labels.h"
#include "run/file_flows.h"

namespace numatlas {
namespace {

using numatlas::testing::names_of;
using numatlas::testing::plan_on;
using numatlas::testing::prepare;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr const char* two_nodes = "numa:2(memory=34359738368) core:4 pu:1";

/// A file of one scenario with these axes and flows.
std::string file_in(const numatlas::testing::TestFolder& folder, const std::string& axes,
                    const std::string& flows) {
  const std::string path = folder.file("a.toml");
  std::ofstream(path) << "[axes]\n"
                      << axes << "\n[[scenario]]\nname = \"a\"\nflows = [" << flows << "]\n";
  return path;
}

TEST(Run, AxesAreLabelsOfItsCases) {
  const numatlas::testing::TestFolder folder;
  const std::string path = file_in(folder, "node = [0, 1, 5]\nsize = [\"1MiB\"]",
                                   "\"chase cpu:0 mem:{node} size:{size}\"");
  const auto plan = plan_on("run", {path}, two_nodes);
  ASSERT_TRUE(plan) << full_text(plan.error());
  EXPECT_THAT(names_of(*plan),
              ElementsAre("a, node 0, size 1MiB", "a, node 1, size 1MiB", "a, node 5, size 1MiB"));
  using Labels = decltype(Case::labels);
  EXPECT_EQ((*plan)[1].head.labels, (Labels{{"scenario", "a"}, {"node", "1"}}));
  EXPECT_EQ((*plan)[1].head.flows_text, "chase cpu:0 mem:1 size:1MiB");
  EXPECT_THAT(full_text(*(*plan)[2].skip),
              HasSubstr("no NUMA node 5; its nodes are 0-1 (node = 5"));
  EXPECT_EQ((*plan)[2].head.size, Bytes{mib});
}

TEST(Run, PagesThatTheMachineDoesNotHaveAreSkipped) {
  const numatlas::testing::TestFolder folder;
  const std::string path = file_in(folder, "pages = [\"base\", \"1G\"]",
                                   "\"chase cpu:0 mem:0 size:1GiB pages:{pages}\"");
  const RunReport report =
      numatlas::testing::report_of_run("run", {path, "--engine", "null", "--machine", two_nodes});
  ASSERT_EQ(report.cases.size(), 2u);
  EXPECT_EQ(report.cases[0].status, Status::ok);
  EXPECT_EQ(report.cases[1].status, Status::skipped);
  EXPECT_THAT(report.cases[1].reason, HasSubstr("offers no huge pages of 1 GiB"));
}

TEST(Run, APartOfARateFollowsFromTheFlowAlone) {
  const auto prepared =
      prepare("run", {"chase cpu:0 mem:0 + read cpu:1-2 mem:1 role:load rate:50%"}, two_nodes);
  ASSERT_TRUE(prepared) << full_text(prepared.error());
  const auto& benchmark = prepared->run.benchmark;
  const auto plan = benchmark.plan(prepared->input());
  ASSERT_TRUE(plan) << full_text(plan.error());
  ASSERT_EQ(plan->size(), 2u);
  const PlannedCase& later = plan->back();
  EXPECT_TRUE(later.later);
  EXPECT_FALSE(plan->front().later);
  EXPECT_EQ(plan->front().scenario.flows[0].region.bytes, later.scenario.flows[1].region.bytes);
  EXPECT_EQ(plan->front().scenario.flows.size(), 2u);
  EXPECT_EQ(plan->front().scenario.flows[0].role, Role::measured);
  RunReport report;
  report.cases = {plan->front().head};
  for (const Flow& flow : plan->front().scenario.flows) {
    FlowResult& result = report.cases[0].flows.emplace_back();
    result.worker = flow.worker;
    if (flow.worker == 2) result.figures = {{"bandwidth", "B/s", Estimate(8e9), std::nullopt}};
  }
  // What one of them reached alone is not known.
  EXPECT_THAT(full_text(*benchmark.refinement.plan(prepared->input(), report)->front().skip),
              HasSubstr("'" + plan->front().head.name + "' was not measured"));
  report.cases[0].flows[0].figures = {{"bandwidth", "B/s", Estimate(6e9), std::nullopt}};
  const auto more = benchmark.refinement.plan(prepared->input(), report);
  ASSERT_EQ(more->size(), 1u);
  EXPECT_EQ(more->front().scenario.flows[1].rate, 3e9);
  EXPECT_EQ(more->front().scenario.flows[2].rate, 4e9);
  report.cases.push_back(more->front().head);
  EXPECT_TRUE(benchmark.refinement.plan(prepared->input(), report)->empty());
}

}  // namespace
}  // namespace numatlas
