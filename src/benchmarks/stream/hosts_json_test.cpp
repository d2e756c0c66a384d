// Passes of hosts in the JSON of a report.
#include <cstddef>
#include <string>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "analysis/test_hosts.h"
#include "base/json.h"
#include "benchmarks/parse.h"
#include "record/report_json.h"

namespace numatlas::hosts_json_test {
namespace {

using nlohmann::json;
using testing::even_hosts;
using ::testing::HasSubstr;

/// With something in every field.
RunReport full_run() {
  RunReport run = even_hosts(5);
  testing::add_noise(run, 0.03, 3);
  testing::slow_down(run, 2, 1.5);
  run.cpu_use.resize(5);
  run.cpu_use[1] = CpuUse{2.5, 64, 30.0, 1.5, 0.25, ""};
  run.cases[0].labels[0].second = "individual";
  run.cases[1].stores = "";
  run.cases[0].host_totals[1].processes = {{4, {0, 0.5}, {0.25, 0.5}}, {5, {0.25}, {0.125}}};
  testing::run_again(run, {2, 0});
  testing::passes(run, 1, 4).clear();
  parse_run("stream", {})->benchmark.figures.conclude(run);
  run.complete = false;
  run.incomplete_reason = "interrupted";
  run.warnings = {{"low-overlap", "", "one"}, {"other-processes", "x", "two, \"quoted\""}};
  return run;
}

Expected<RunReport> read(const std::string& text) {
  const auto document = parse_json(text);
  if (!document) return fail(document.error());
  return report_from_json(*document);
}

std::string message_of(const std::string& text) {
  const auto run = read(text);
  EXPECT_FALSE(run);
  return run ? "" : full_text(run.error());
}

TEST(HostsJson, BackAsItWas) {
  const RunReport run = full_run();
  const auto again = read(json_text(run));
  ASSERT_TRUE(again) << full_text(again.error());
  EXPECT_EQ(again->host_rows, run.host_rows);
  EXPECT_EQ(again->hosts, run.hosts);
  for (const std::size_t kernel : {0U, 1U}) {
    for (std::size_t host = 0; host < 5; ++host) {
      const HostTotals& now = again->cases[kernel].host_totals[host];
      const HostTotals& before = run.cases[kernel].host_totals[host];
      EXPECT_EQ(now.passes, before.passes);
      EXPECT_EQ(now.again, before.again);
      EXPECT_EQ(now.processes, before.processes);
    }
  }
  EXPECT_EQ(json_text(*again), json_text(run));
}

TEST(HostsJson, WrongFieldsAreNamed) {
  const json good = json::parse(json_text(full_run()));
  const auto with = [&](const char* pointer, const json& value) {
    json changed = good;
    changed[json::json_pointer(pointer)] = value;
    return message_of(changed.dump());
  };
  const char* const node = "cases[0].host_figures[1].passes.node";
  EXPECT_THAT(with("/host_rows/1/kind", 1), HasSubstr("host_rows[1].kind"));
  EXPECT_THAT(with("/host_rows/1/processes", 0), HasSubstr("host_rows[1]"));
  EXPECT_THAT(with("/host_rows", json::array({good["host_rows"][0]})),
              HasSubstr("each of 5 hosts"));
  EXPECT_THAT(with("/cases/0/host_figures/1/passes/node/3", "x"), HasSubstr(node));
  EXPECT_THAT(with("/cases/0/host_figures/1/passes/node/3", -1), HasSubstr(node));
  EXPECT_THAT(with("/cases/0/host_figures/1/passes/node", json::array()),
              HasSubstr("another length"));
  EXPECT_THAT(with("/cases/0/host_figures/0/host", 5), HasSubstr("'cases[0].host_figures'"));
  EXPECT_THAT(with("/complete", "yes"), HasSubstr("complete"));
  EXPECT_THAT(with("/machines", json::array({1})), HasSubstr("machines[0]"));
}

}  // namespace
}  // namespace numatlas::hosts_json_test
