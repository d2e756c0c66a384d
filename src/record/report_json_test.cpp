#include "record/report_json.h"
#include "base/json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <type_traits>
#include <utility>

#include "base/test_data.h"
#include "record/report_fields.h"
#include "record/test_report.h"

namespace numatlas {
namespace {

TEST(Numbers, HaveSevenDigitsButWholeSizesAll) {
  EXPECT_EQ(fields::rounded(123456789.5), 123456800);
  EXPECT_EQ(fields::rounded(33554432), 33554432);
  EXPECT_EQ(fields::rounded(2147483648.0), 2147483648.0);
}

using nlohmann::json;
using ::testing::HasSubstr;

json to_json(const RunReport& report) { return json::parse(json_text(report)); }

/// Gives every field a value of its own that is not its default, from the list of fields: a field
/// that is added is filled, written and read back without a line here.
class Filler {
 public:
  static constexpr bool writes = false;
  template <class T>
  void operator()(const char* /*name*/, T& value, const char* /*help*/) {
    fill(value);
  }
  template <class T>
  void later(const char* /*name*/, T& value, const char* /*help*/) {
    fill(value);
  }
  template <class T>
  void inner(const char* /*name*/, T& value) {
    fill(value);
  }

 private:
  void fill(bool& value) { value = !value; }
  void fill(double& value) { value = ++count_ + 0.5; }
  void fill(std::string& value) { value = "text " + std::to_string(++count_); }
  void fill(Bytes& value) { value.value = static_cast<std::uint64_t>(++count_); }
  void fill(CpuId& value) { value.value = ++count_; }
  void fill(NodeId& value) { value.value = ++count_; }
  void fill(CpuSet& value) { value = {CpuId{++count_}, CpuId{++count_}}; }
  void fill(fields::Labels& value) { value = {{"label " + std::to_string(++count_), "x"}}; }
  void fill(Unit& value) { value = "B/s"; }
  void fill(CpuUse& value) { value = {1.5, 2, 0.5, 0.25, 0.125, "a reason", 0.0625}; }
  void fill(PassTimes& value) { value = {1, 0.75, 0.25, 2, 0.875, ++count_}; }
  void fill(std::vector<Machine>&) {}  // these have tests of their own, in machine/
  template <class T>
  requires(std::is_integral_v<T>) void fill(T& value) { value = static_cast<T>(++count_); }
  template <fields::Enumeration E>
  void fill(E& value) {
    value = std::rbegin(fields::EnumNames<E>::values)->first;
  }
  template <fields::Nullable T>
  void fill(T& value) {
    fill(value.emplace());
  }
  template <class T>
  void fill(std::vector<T>& value) {
    fill(value.emplace_back());
  }
  template <class T>
  void fill(std::map<int, T>& value) {
    fill(value[++count_]);
  }
  template <class A, class B>
  void fill(std::pair<A, B>& value) {
    fill(value.first);
    fill(value.second);
  }
  void fill(Estimate& value) {
    value = ++count_ + 0.5;
    value.low = value.value - 0.25;
    value.high = value.value + 0.25;
    value.n = static_cast<std::size_t>(++count_);
    value.method = Method::derived;
  }
  template <fields::HasFields T>
  void fill(T& value) {
    list_fields(*this, value);
  }

  int count_ = 0;
};

/// What a default-made value has as well tells nothing of whether it was read.
void expect_no_default(const json& value, const std::string& where) {
  EXPECT_FALSE(value.is_null()) << where;
  if (!value.is_structured()) return;
  EXPECT_FALSE(value.empty() && where.find("machines") == std::string::npos) << where;
  for (const auto& [key, item] : value.items()) {
    if (key != "machines") expect_no_default(item, where + "/" + key);
  }
}

template <class T>
void expect_round_trip() {
  T filled{};
  Filler filler;
  list_fields(filler, filled);
  const json written = fields::to_json(filled);
  expect_no_default(written, "");
  T read{};
  std::optional<fields::Problem> problem;
  fields::from_json(json::parse(written.dump()), fields::Place("", problem), read);
  ASSERT_FALSE(problem) << problem->path << " " << problem->why;
  EXPECT_EQ(fields::to_json(read), written);
}

std::string error_of_reading(const json& value) {
  const auto report = report_from_json(value);
  return report ? "" : full_text(report.error());
}

TEST(ReportJson, WhatIsNotKnownSurvivesTheRoundTrip) {
  RunReport report;
  report.hosts = {"alpha"};
  report.cpu_use = {CpuUse{}};
  report.cases.resize(1);
  report.cases[0].figures.resize(1);
  EXPECT_EQ(error_of_reading(to_json(report)), "");
}

TEST(ReportJson, EveryFieldSurvivesTheRoundTrip) {
  expect_round_trip<RunReport>();
  expect_round_trip<Case>();
  expect_round_trip<FlowResult>();
}

TEST(ReportJson, WhatOnlyRanksSendIsInNoFile) {
  FlowResult filled, read;
  filled.gpu.emplace();
  Filler filler;
  list_fields(filler, filled);
  ASSERT_FALSE(filled.figures.empty());
  EXPECT_FALSE(filled.figures[0].distribution.empty());
  EXPECT_FALSE(fields::to_json(filled).contains("stretch_bytes"));
  const fields::InTransit whole;
  std::optional<fields::Problem> problem;
  fields::from_json(fields::to_json(filled), fields::Place("flow", problem), read);
  ASSERT_FALSE(problem) << problem->path << " " << problem->why;
  EXPECT_EQ(fields::to_json(read), fields::to_json(filled));
  EXPECT_EQ(read.stretch_bytes, filled.stretch_bytes);
  EXPECT_EQ(read.gpu->steps, filled.gpu->steps);
}

TEST(ReportJson, WhatAllFlowsHaveAlikeStandsOnce) {
  const json one = to_json(testing::report())["cases"][0];
  EXPECT_EQ(one["flow_common"]["kernel"], "chase");
  ASSERT_EQ(one["flows"].size(), 2U);
  EXPECT_FALSE(one["flows"][0].contains("kernel"));
  EXPECT_EQ(one["flows"][1]["worker"], 1);
  RunReport single = testing::report();
  single.cases[0].flows.resize(1);
  EXPECT_TRUE(to_json(single)["cases"][0]["flows"][0].contains("figures"));
}

TEST(ReportJson, AbsentIsNull) {
  const json flow = fields::to_json(testing::bare_flow(0));
  for (const char* key : {"overlap", "cpu_before", "cpu_after", "mix", "gpu", "wrong"})
    EXPECT_TRUE(flow.at(key).is_null()) << key;
  EXPECT_TRUE(flow["figures"][0]["estimate"].is_null());
  EXPECT_TRUE(flow["residency"]["page_size"].is_null());
  RunReport report = testing::report();
  report.workers[0].cpu_node = NodeId{-1};
  EXPECT_TRUE(to_json(report)["workers"][0]["cpu_node"].is_null());
}

TEST(ReportJson, NoNumberThatIsNone) {
  RunReport report = testing::report();
  report.cases[0].figures = {{"bandwidth_sum", "B/s", std::nan(""), {}}};
  EXPECT_TRUE(to_json(report)["cases"][0]["figures"][0]["estimate"]["value"].is_null());
  EXPECT_EQ(error_of_reading(to_json(report)), "field 'cases[0].figures[0].estimate' has no value");
}

TEST(ReportJson, RawSamplesStayOut) {
  const std::string text = json_text(testing::report());
  EXPECT_EQ(text.find("samples\":"), std::string::npos);
  EXPECT_NE(text.find("\"bins\""), std::string::npos);
}

TEST(ReportJson, TextIsJsonWhateverTheArgumentsHold) {
  RunReport report = testing::report();
  report.arguments.push_back("--csv=\xff\xfe.csv");
  const json read = json::parse(json_text(report), nullptr, false);
  ASSERT_TRUE(read.is_object());
  EXPECT_THAT(read["arguments"].back().get<std::string>(), HasSubstr(".csv"));
}

TEST(ReportJson, DamagedFilesNameTheField) {
  const json good = to_json(testing::report());
  EXPECT_EQ(error_of_reading(good), "");
  json bad = good;
  bad["cases"][0]["figures"] = 3;
  EXPECT_EQ(error_of_reading(bad), "field 'cases[0].figures' must be an array");
  bad = good;
  bad["cases"][1].erase("status");
  EXPECT_EQ(error_of_reading(bad), "field 'cases[1].status' is missing");
  bad = good;
  bad["cases"][0]["flows"][1]["figures"][0]["estimate"]["low"] = 1;
  EXPECT_EQ(error_of_reading(bad),
            "field 'cases[0].flows[1].figures[0].estimate' has an interval that excludes its "
            "value");
  bad = good;
  bad["cases"][0]["flows"][1]["worker"] = 7;
  EXPECT_EQ(error_of_reading(bad), "field 'cases[0].flows' names no worker");
  bad = good;
  bad["workers"][0]["host"] = -1;
  EXPECT_EQ(error_of_reading(bad), "field 'workers[0].host' names no host");
  RunReport report = testing::report();
  report.views.resize(1);
  report.views[0].rows = "size";
  report.views[0].columns = "colour";
  EXPECT_EQ(error_of_reading(to_json(report)),
            "field 'views[0]' names the label 'colour', which no case has");
}

/// The schema that is published is the one that the writer follows. Written anew with
/// NUMATLAS_UPDATE_GOLDEN=1.
TEST(ReportJson, SchemaIsThatOfTheWriter) {
  const std::string path = test_data() + "/../docs/result.schema.json";
  if (std::getenv("NUMATLAS_UPDATE_GOLDEN") != nullptr)
    std::ofstream(path) << pretty(report_schema());
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  EXPECT_TRUE(json::parse(text.str(), nullptr, false) == report_schema()) << path;
}

TEST(Report, MemoryNodes) {
  EXPECT_EQ(memory_node_text(testing::flow(0, 1)), "0,12");
  EXPECT_EQ(memory_node_text(testing::bare_flow(0)), "-");
  FlowResult empty_node = testing::flow(0, 1);
  empty_node.residency.pages_by_node = {{0, 0}, {3, 1}};
  EXPECT_EQ(memory_node_text(empty_node), "3");
}

TEST(NameInSurvey, SaysWhoRanIt) {
  const auto name = [](std::vector<std::string> words) {
    RunHead run;
    run.command = "latency";
    run.arguments = std::move(words);
    return name_in_survey(run);
  };
  EXPECT_EQ(name({"latency", "-q"}), "latency");
  EXPECT_EQ(name({"latency", "--on", "cpus"}), "latency");
  EXPECT_EQ(name({"latency", "--on", "gpu:0"}), "latency-gpus");
  EXPECT_EQ(name({"latency", "--on=gpus", "-q"}), "latency-gpus");
  EXPECT_EQ(name({"latency", "--load-memory", "each"}), "latency-neighbours");
}

}  // namespace
}  // namespace numatlas
