#include "benchmarks/loaded/curve.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

namespace numatlas {
namespace {

Estimate known(double value, double part) {
  Estimate estimate(value);
  estimate.low = value * (1 - part);
  estimate.high = value * (1 + part);
  return estimate;
}

/// At parts of 136 GB/s as `loaded` asks for them, each known to so much, and off by up to it in
/// turn. `latency`: in ns, of the part.
std::vector<LoadedPoint> curve(const std::function<double(double)>& latency, double part) {
  const double offs[] = {0.5, -0.3, 0.1, -0.6, 0.4, 0.2, -0.5, 0.3, -0.1, 0.6, -0.4, 0.1, -0.2};
  const double loads[] = {0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95, 1};
  std::vector<LoadedPoint> points;
  for (std::size_t i = 0; i < std::size(loads); ++i)
    points.push_back({known(136e9 * loads[i], part),
                      known(latency(loads[i]) * 1e-9 * (1 + part * offs[i]), part)});
  return points;
}

TEST(Knee, IsWhereTwoLinesMeet) {
  const auto bent = [](double load) { return 100 + 10 * load + 400 * std::max(0.0, load - 0.8); };
  for (const double part : {0.002, 0.01, 0.03}) {
    const auto knee = knee_of(curve(bent, part));
    ASSERT_TRUE(knee && knee->load) << part;
    EXPECT_LE(*knee->load->low, 0.8 * 136e9) << part;
    EXPECT_GE(*knee->load->high, 0.8 * 136e9) << part;
    EXPECT_NEAR(knee->load->value, 0.8 * 136e9, 5e9) << part;
    EXPECT_NEAR(knee->latency, 108e-9, 4e-9) << part;
  }
}

// The point furthest from the line between the first and the last was called a knee.
TEST(Knee, OfAStraightCurveThereIsNone) {
  for (const double slope : {0.0, 30.0, 150.0}) {
    const auto knee = knee_of(curve([&](double load) { return 100 + slope * load; }, 0.02));
    ASSERT_TRUE(knee) << slope;
    EXPECT_FALSE(knee->load) << slope;
    EXPECT_DOUBLE_EQ(knee->highest, 136e9);
  }
}

TEST(Knee, IsNoneWhereTheLatencyOnlyJumpsAtTheFirstLoad) {
  const auto knee =
      knee_of(curve([](double load) { return load > 0 ? 120 + 20 * load : 100; }, 0.002));
  ASSERT_TRUE(knee);
  EXPECT_FALSE(knee->load);
}

TEST(Knee, IsNoneWithinTheErrors) {
  const auto knee = knee_of(
      curve([](double load) { return 100 + 10 * load + 60 * std::max(0.0, load - 0.7); }, 0.15));
  ASSERT_TRUE(knee);
  EXPECT_FALSE(knee->load);
}

TEST(Knee, IsToldOfASaturatedMemory) {
  auto points = curve([](double load) { return 100 + 20 * load; }, 0.01);
  points.back().latency = known(400e-9, 0.01);
  // More was asked for, and less reached at a higher latency.
  points.push_back({known(130e9, 0.01), known(600e-9, 0.01)});
  const auto knee = knee_of(points);
  ASSERT_TRUE(knee && knee->load);
  EXPECT_NEAR(knee->load->value, 0.94 * 136e9, 4e9);
}

TEST(Knee, NothingIsSaidOfFewPointsOrUnknownErrors) {
  auto points = curve([](double load) { return 100 + 20 * load; }, 0.01);
  points[3].latency.low = points[3].latency.high = std::nullopt;
  EXPECT_FALSE(knee_of(points));
  points[3].latency = known(106e-9, 1.1);
  EXPECT_FALSE(knee_of(points)) << "unknown";
  points.resize(3);
  EXPECT_FALSE(knee_of(points));
  EXPECT_FALSE(knee_of({}));
}

}  // namespace
}  // namespace numatlas
