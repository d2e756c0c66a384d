#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "report/test_report.h"

namespace numatlas {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

/// Fields of a flow that JSON must not lose, one by one: comparing JSON with JSON would not see it.
void expect_same(const FlowResult& a, const FlowResult& b) {
  EXPECT_EQ(a.worker, b.worker);
  EXPECT_EQ(a.kernel, b.kernel);
  EXPECT_EQ(a.mix, b.mix);
  EXPECT_EQ(a.stores, b.stores);
  EXPECT_EQ(a.order, b.order);
  EXPECT_EQ(a.stride, b.stride);
  ASSERT_EQ(a.metrics.size(), b.metrics.size());
  for (std::size_t i = 0; i < a.metrics.size(); ++i) {
    EXPECT_EQ(a.metrics[i].name, b.metrics[i].name);
    EXPECT_EQ(a.metrics[i].unit, b.metrics[i].unit);
    EXPECT_EQ(a.metrics[i].value, b.metrics[i].value);
    EXPECT_EQ(a.metrics[i].summary, b.metrics[i].summary);
  }
  EXPECT_EQ(a.samples, b.samples);
  EXPECT_EQ(a.stop, b.stop);
  EXPECT_EQ(a.half_width, b.half_width);
  EXPECT_EQ(a.overlap, b.overlap);
  EXPECT_EQ(a.address, b.address);
  EXPECT_EQ(a.cpu_before, b.cpu_before);
  EXPECT_EQ(a.cpu_after, b.cpu_after);
  EXPECT_EQ(a.level, b.level);
  EXPECT_EQ(a.residency.pages_by_node, b.residency.pages_by_node);
  EXPECT_EQ(a.residency.untouched, b.residency.untouched);
  EXPECT_EQ(a.residency.errors, b.residency.errors);
  EXPECT_EQ(a.residency.pages_total, b.residency.pages_total);
  EXPECT_EQ(a.residency.pages_asked, b.residency.pages_asked);
  EXPECT_EQ(a.residency.page_size, b.residency.page_size);
  EXPECT_EQ(a.residency.thp_fraction, b.residency.thp_fraction);
  EXPECT_EQ(a.residency.problem, b.residency.problem);
  EXPECT_EQ(a.residency.told_by, b.residency.told_by);
  EXPECT_EQ(a.policy.mechanism, b.policy.mechanism);
  EXPECT_EQ(a.policy.note, b.policy.note);
  EXPECT_EQ(a.steps_a_sample, b.steps_a_sample);
  EXPECT_EQ(a.warm_up_steps, b.warm_up_steps);
  EXPECT_EQ(a.involuntary_switches, b.involuntary_switches);
  EXPECT_EQ(a.timer_overhead, b.timer_overhead);
  EXPECT_EQ(a.start_lateness, b.start_lateness);
  EXPECT_EQ(a.prepare_time, b.prepare_time);
  EXPECT_EQ(a.warnings, b.warnings);
}

/// As ranks send them: through text.
FlowResult through_text(const FlowResult& flow) {
  return flow_from_json(json::parse(to_json(flow).dump()));
}

TEST(ResultJson, FlowsSurviveTheWayToRankZero) {
  for (double seconds : {4e-9, 1.0 / 3, 1e-30, 123456.789}) {
    const FlowResult flow = testing::flow(3, seconds);
    expect_same(through_text(flow), flow);
  }
  expect_same(through_text(testing::bare_flow(0)), testing::bare_flow(0));
  FlowResult high = testing::flow(0, 1e-9);
  high.address = ~std::uint64_t{0};
  high.steps_a_sample = ~std::uint64_t{0};
  high.mix = "2:1";
  high.stores = "ordinary";
  expect_same(through_text(high), high);
}

TEST(ResultJson, AbsentIsNull) {
  const json flow = to_json(testing::bare_flow(0));
  for (const char* key : {"half_width", "overlap", "cpu_before", "cpu_after"}) {
    EXPECT_TRUE(flow.at(key).is_null()) << key;
  }
  EXPECT_TRUE(flow["metrics"][0]["value"].is_null());
  EXPECT_TRUE(flow["metrics"][0]["summary"].is_null());
  EXPECT_TRUE(flow["residency"]["page_size"].is_null());
  EXPECT_TRUE(flow["residency"]["thp_fraction"].is_null());
  EXPECT_TRUE(flow["residency"]["problem"].is_null());
}

/// Every number finite, no word for a number that is none.
void expect_sound(const json& value, const std::string& where) {
  if (value.is_number_float()) {
    EXPECT_TRUE(std::isfinite(value.get<double>())) << where;
  } else if (value.is_string()) {
    const std::string text = value;
    EXPECT_TRUE(text != "nan" && text != "NaN" && text != "inf") << where;
  } else if (value.is_structured()) {
    for (const auto& [key, item] : value.items()) expect_sound(item, where + "/" + key);
  }
}

TEST(ResultJson, ReportHasEverythingAndNoNan) {
  RunReport found = testing::report();
  found.scenarios[0].host_totals = {{1, {{"bandwidth_sum", "B/s", 2.0, {}}}}};
  const json report = to_json(found);
  expect_sound(report, "");
  EXPECT_EQ(report["scenarios"][0]["host_totals"][0]["host"], 1);
  EXPECT_EQ(report["scenarios"][0]["host_totals"][0]["totals"][0]["value"], 2.0);
  EXPECT_TRUE(report["scenarios"][1]["host_totals"].empty());
  EXPECT_EQ(report["schema_version"], 1);
  EXPECT_EQ(report["complete"], true);
  EXPECT_TRUE(report["incomplete_reason"].is_null());
  ASSERT_EQ(report["scenarios"].size(), 3U);
  EXPECT_EQ(report["scenarios"][0]["flows"].size(), 2U);
  EXPECT_EQ(report["scenarios"][0]["flows"][0]["samples"].size(), 7U);
  EXPECT_EQ(report["scenarios"][2]["status"], "skipped");
  EXPECT_EQ(report["scenarios"][2]["reason"], "--size: does not fit");
  EXPECT_EQ(report["workers"][0]["cpus"], "0,64");
}

TEST(ResultJson, TextIsJsonWhateverTheArgumentsHold) {
  RunReport report = testing::report();
  report.arguments.push_back("--csv=\xff\xfe.csv");
  const json read = json::parse(json_text(report), nullptr, false);
  ASSERT_TRUE(read.is_object());
  EXPECT_THAT(read["arguments"].back().get<std::string>(), HasSubstr(".csv"));
}

TEST(ResultJson, UnknownNodeOfAWorkerIsNull) {
  RunReport report = testing::report();
  report.workers[0].cpu_node = NodeId{-1};
  EXPECT_TRUE(to_json(report)["workers"][0]["cpu_node"].is_null());
}

TEST(ResultJson, MemoryNodes) {
  EXPECT_EQ(memory_node_text(testing::flow(0, 1)), "0,12");
  EXPECT_EQ(memory_node_text(testing::bare_flow(0)), "-");
  FlowResult empty_node = testing::flow(0, 1);
  empty_node.residency.pages_by_node = {{0, 0}, {3, 1}};
  EXPECT_EQ(memory_node_text(empty_node), "3");
}

}  // namespace
}  // namespace numatlas
