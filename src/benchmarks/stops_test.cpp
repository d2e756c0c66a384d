// Machines on which the threads are without a CPU now and then: what the figures say is what they
// say on a quiet one, and all commands say the same.
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "benchmarks/test_plan.h"
#include "engine/simulated/test_noise.h"
#include "record/labels.h"
#include "run/runner.h"

namespace numatlas {
namespace {

using Words = std::vector<std::string>;

Noise varied(Noise noise) {
  noise.samples = 0.03;
  return noise;
}

const Noise quiet = varied({});
// Without a CPU for a tenth of the time, in pieces as those of a scheduler.
const Noise busy = varied(testing::two_speeds(36e6, 4e6, 0.01));

RunReport report_of(const std::string& command, Words words, const Noise& noise) {
  words.insert(words.end(), {"--machine", "numa:1 core:2 pu:1", "--engine", "null"});
  return testing::report_of_run(command, words, noise);
}

/// Of the first case.
Estimate figure_in(const RunReport& report, const char* key) {
  const auto estimate =
      report.cases.empty() ? std::nullopt : estimate_of(report.cases.front(), key);
  EXPECT_TRUE(estimate) << key;
  return estimate.value_or(Estimate{});
}

TEST(BusyMachine, IdleLatencyIsOneFigure) {
  const auto latency = [](const Noise& noise) {
    return figure_in(report_of("latency", testing::typed("--cpus 0 --size 256MiB"), noise),
                     "latency");
  };
  const auto idle = [](const Noise& noise) {
    return figure_in(
        report_of("loaded", testing::typed("--rates 1 --kernels read --mix none"), noise),
        "latency");
  };
  const auto cell = [](const Noise& noise) {
    return figure_in(report_of("matrix", {"--only", "latency"}, noise), "latency");
  };
  const double expected = latency(quiet).value;
  EXPECT_NEAR(latency(busy).value, expected, 0.005 * expected);
  EXPECT_NEAR(idle(busy).value, expected, 0.005 * expected);
  EXPECT_NEAR(cell(busy).value, expected, 0.005 * expected);
}

TEST(BusyMachine, StopsAreToldBesideTheFigure) {
  const RunReport report = report_of("latency", testing::typed("--cpus 0 --size 256MiB"), busy);
  ASSERT_FALSE(report.cases.empty());
  const FlowResult& flow = report.cases[0].flows.at(0);
  EXPECT_NEAR(flow.stopped / flow.together, 0.1, 0.08);
  bool told = false;
  for (const Warning& warning : report.warnings)
    told = told || (warning.code == "stopped" && warning.text.find("lost its CPU for ") == 0);
  EXPECT_TRUE(told);
  // The bytes of all the time are over all the time.
  const auto rate = [](const Noise& noise) {
    return figure_in(report_of("bandwidth", testing::typed("--cpus 0 --kernels read"), noise),
                     "bandwidth_sum")
        .value;
  };
  EXPECT_NEAR(rate(busy) / rate(quiet), 0.9, 0.08);
}

TEST(BusyMachine, ARateAndATimeOfAnAdditionAgree) {
  const RunReport report = report_of(
      "atomics", testing::typed("--operation fetch-add --sharing same --threads 1"), busy);
  const double time = figure_in(report, "operation_time").value;
  EXPECT_NEAR(figure_in(report, "operations_sum").value * time, 1, 0.001);
}

}  // namespace
}  // namespace numatlas
