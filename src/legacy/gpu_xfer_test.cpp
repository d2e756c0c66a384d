#include "legacy/programs.h"

#include <chrono>
#include <optional>
#include <vector>

#include <gtest/gtest.h>

#include "base/statistics.h"

namespace numatlas::legacy {
namespace {

TEST(GpuXfer, FourFiguresAtLeast) {
  EXPECT_EQ(ms_text(0.03812), "0.03812");
  EXPECT_EQ(ms_text(0.0015), "0.001500");
  EXPECT_EQ(ms_text(38.5), "38.500");
  EXPECT_EQ(ms_text(12345.678), "12345.678");
  EXPECT_EQ(gib_text(55.578), "55.58");
  EXPECT_EQ(gib_text(155.578), "155.58");
  EXPECT_EQ(gib_text(0.4567), "0.4567");
  EXPECT_EQ(gib_text(std::nullopt), "-");
}

TEST(GpuXfer, EnoughTimeForSlowCopies) {
  GpuXfer asked;
  asked.gpus = 2;
  asked.bytes = Bytes{2 * gib};
  asked.iterations = 100;
  // 430 GB at 1 GB/s.
  EXPECT_GT(longest_time(asked), std::chrono::seconds(420));
  EXPECT_LT(longest_time(asked), std::chrono::seconds(440));
  asked.bytes = Bytes{4096};
  EXPECT_EQ(longest_time(asked), std::chrono::seconds(2));
  asked.time = std::chrono::seconds(1);
  EXPECT_EQ(longest_time(asked), std::chrono::seconds(1));
}

/// A GPU's copies of 1 MiB, in seconds, for each GPU.
RunReport report_of(const std::vector<std::vector<double>>& copies) {
  RunReport report;
  Case one;
  one.size = Bytes{1 * mib};
  one.labels = {{"direction", "h2d"}};
  for (const auto& times : copies) {
    FlowResult flow;
    flow.figures = {{"bandwidth", "B/s", 1.0, {}}, {"copy_latency", "s", 1.0, summarize(times)}};
    one.flows.push_back(flow);
  }
  report.cases.push_back(one);
  return report;
}

TEST(GpuXfer, TheMeanIsOfAllCopiesOfAllGpus) {
  const auto figures = figures_of(report_of({{1e-3, 1e-3, 4e-3}, {2e-3, 3e-3, 1e-3}}), "h2d");
  EXPECT_DOUBLE_EQ(*figures.copy_ms, 2);
  EXPECT_DOUBLE_EQ(*figures.gib_second, 1.0 / 1024 / 2e-3);
  EXPECT_EQ(figures.problem, "");
  EXPECT_EQ(figures_of(report_of({{1}}), "d2h").problem, "not measured");
  EXPECT_EQ(figures_of(report_of({}), "h2d").problem, "no copy was timed");
  RunReport failed = report_of({{1}});
  failed.cases.front().status = Status::failed;
  failed.cases.front().reason = "lost";
  EXPECT_EQ(figures_of(failed, "h2d").problem, "lost");
}

TEST(GpuXfer, AsManyCopiesAsIterationsEachWaitedFor) {
  GpuXfer asked{2, Bytes{1000}, 7, {"h2d", "d2h"}};
  const auto run = transfer_run(asked);
  ASSERT_TRUE(run) << full_text(run.error());
  EXPECT_EQ(run->options.stop.steps, 7u);
  EXPECT_EQ(run->options.visits, 1);
}

}  // namespace
}  // namespace numatlas::legacy
