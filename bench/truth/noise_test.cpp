#include "noise.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <cstddef>
#include <vector>

namespace numatlas::truth {
namespace {

using namespace std::chrono_literals;

TEST(Speed, WorkTakesItsTimeAtFullSpeed) {
  SpeedOverTime speed(NoiseSpec{});
  EXPECT_DOUBLE_EQ(speed.end_of(12345, 1e6), 12345 + 1e6);
}

TEST(Speed, IsTheSameInWhateverOrderItIsAskedFor) {
  const NoiseSpec spec{
      .ar1 = Ar1Noise{1ms, 0.05}, .telegraph = TelegraphNoise{0.5, 3ms}, .seed = 3};
  SpeedOverTime forward(spec), backward(spec);
  std::vector<double> ends;
  for (int i = 0; i < 100; ++i) ends.push_back(forward.end_of(i * 1e6, 5e5));
  for (int i = 99; i >= 0; --i)
    EXPECT_EQ(backward.end_of(i * 1e6, 5e5), ends[static_cast<std::size_t>(i)]) << i;
}

TEST(Speed, WorkAndMeanAgree) {
  SpeedOverTime speed({.ar1 = Ar1Noise{2ms, 0.1}, .spikes = SpikeNoise{5ms, 1ms, 0.2}, .seed = 5});
  const double end = speed.end_of(1.234e6, 2e7);
  EXPECT_NEAR(speed.mean_between(1.234e6, end) * (end - 1.234e6), 2e7, 1);
}

TEST(Speed, LongMeansAreWhatIsExpected) {
  const std::vector<NoiseSpec> specs{{.ar1 = Ar1Noise{1ms, 0.05}},
                                     {.telegraph = TelegraphNoise{0.5, 2ms}},
                                     {.spikes = SpikeNoise{10ms, 2ms, 0.1}},
                                     {.launch = 0.05}};
  for (std::size_t i = 0; i < specs.size(); ++i) {
    SpeedOverTime speed(specs[i]);
    EXPECT_NEAR(speed.mean_between(0, 4e10), speed.expected(), 0.01) << i;
  }
}

TEST(Speed, NeighboursOfAnAutoregressiveCourseCorrelateAsAskedFor) {
  SpeedOverTime speed({.ar1 = Ar1Noise{10ms, 0.05}});
  double squares = 0, products = 0;
  constexpr int count = 100'000;
  double before = speed.mean_between(0, 1e5) - 1;
  for (int i = 1; i <= count; ++i) {
    const double now = speed.mean_between(i * 1e5, (i + 1) * 1e5) - 1;
    squares += now * now;
    products += now * before;
    before = now;
  }
  EXPECT_NEAR(std::sqrt(squares / count), 0.05, 0.005);
  EXPECT_NEAR(products / squares, std::exp(-0.01), 0.002);
}

TEST(Speed, DriftsOverItsTimeAndStays) {
  SpeedOverTime speed({.drift = DriftNoise{0.1, 1s}});
  EXPECT_NEAR(speed.mean_between(0, 1e9), 1, 1e-3);
  EXPECT_NEAR(speed.mean_between(0, 1e6), 0.95, 1e-3);
  EXPECT_NEAR(speed.mean_between(2e9, 3e9), 1.05, 1e-3);
}

}  // namespace
}  // namespace numatlas::truth
