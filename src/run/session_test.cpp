#include "run/session.h"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "benchmarks/parse.h"
#include "benchmarks/test_plan.h"

namespace numatlas {
namespace {

using testing::Words;

/// The cases of a session on the null engine that has a tenth of a second for sixteen of them.
std::vector<ScenarioResult> sixteen_cases(bool keeps_time) {
  const auto comm = make_single_comm();
  std::string sizes;
  for (int i = 1; i <= 16; ++i) sizes += (i > 1 ? "," : "") + std::to_string(4 * i) + "KiB";
  const Words words{"--size",
                    sizes,
                    "--pages",
                    "base",
                    "--cpus",
                    "0",
                    "--engine",
                    "null",
                    "--time",
                    "100ms",
                    "-q",
                    "--machine",
                    "numa:1 core:2 pu:1"};
  auto run = parse_run("latency", words);
  EXPECT_TRUE(run) << full_text(run.error());
  run->options.time_of_all = true;
  auto setup = set_up(*run->benchmark, run->options, *comm);
  EXPECT_TRUE(setup) << full_text(setup.error());
  const RunHooks hooks;
  Session session(
      *comm,
      {.time = std::chrono::milliseconds(100), .keeps_time = keeps_time, .null_engine = true},
      [](SessionPart&) { return Expected<void>(); });
  EXPECT_TRUE(session.add(*run->benchmark, run->options, hooks, *std::move(setup),
                          std::chrono::milliseconds(100)));
  EXPECT_TRUE(session.finish());
  return session.parts().front()->report().scenarios;
}

TEST(Session, EveryPointGetsAValueWhateverTheTime) {
  const auto cases = sixteen_cases(false);
  ASSERT_EQ(cases.size(), 16U);
  for (const ScenarioResult& one : cases) EXPECT_EQ(one.status, Status::ok) << one.name;
}

TEST(Session, PointsAreSkippedWhereTheTimeIsKept) {
  const auto cases = sixteen_cases(true);
  ASSERT_EQ(cases.size(), 16U);
  int measured = 0;
  for (const ScenarioResult& one : cases) {
    if (one.status == Status::ok) {
      ++measured;
      continue;
    }
    EXPECT_EQ(one.status, Status::skipped);
    EXPECT_EQ(one.reason, "no time left");
    EXPECT_TRUE(one.flows.empty());
  }
  EXPECT_GE(measured, 1);
  EXPECT_LE(measured, 6) << "each takes 20 ms at least";
}

}  // namespace
}  // namespace numatlas
