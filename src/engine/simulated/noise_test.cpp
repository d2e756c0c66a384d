#include "engine/simulated/noise.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

namespace numatlas {
namespace {

using ::testing::HasSubstr;

NoiseSpec noise(const std::string& text) {
  const auto spec = parse_noise(text);
  EXPECT_TRUE(spec) << text;
  return spec.value_or(NoiseSpec{});
}

TEST(Noise, EverySettingIsRead) {
  const NoiseSpec spec = noise(
      "ar1:tau=50ms,sd=5%;telegraph:low=0.6,dwell=2s;drift:by=4%,over=10s;"
      "spikes:every=1s,last=5ms,low=0.1;delays:share=0.1%,by=1us;lognormal=3%;launch=1%;rest=20ms;"
      "seed=7");
  ASSERT_TRUE(spec.ar1 && spec.telegraph && spec.drift && spec.spikes && spec.delays);
  EXPECT_DOUBLE_EQ(spec.delays->share, 0.001);
  EXPECT_EQ(spec.delays->by, Nanoseconds(1'000));
  EXPECT_EQ(spec.ar1->tau, Nanoseconds(50'000'000));
  EXPECT_DOUBLE_EQ(spec.ar1->sd, 0.05);
  EXPECT_DOUBLE_EQ(spec.telegraph->low, 0.6);
  EXPECT_EQ(spec.telegraph->dwell, Nanoseconds(2'000'000'000));
  EXPECT_DOUBLE_EQ(spec.drift->by, 0.04);
  EXPECT_EQ(spec.spikes->last, Nanoseconds(5'000'000));
  EXPECT_DOUBLE_EQ(spec.samples, 0.03);
  EXPECT_DOUBLE_EQ(spec.launch, 0.01);
  EXPECT_EQ(spec.rest, Nanoseconds{20'000'000});
  EXPECT_EQ(spec.seed, 7U);
}

TEST(Noise, WhatIsWrongIsNamed) {
  for (const std::string text :
       {"", "rain", "ar1", "ar1:tau=50ms", "ar1:tau=50ms,sd=x", "ar1:tau=0s,sd=1%",
        "ar1:tau=1s,sd=1%,sd=2%", "ar1:tau=1s,sd=1%,low=2", "seed=1.5", "lognormal=-1", "launch",
        "lognormal=nan", "ar1:tau=1s,sd=5%;"}) {
    const auto spec = parse_noise(text);
    ASSERT_FALSE(spec) << text;
    EXPECT_EQ(spec.error().kind, ErrorKind::usage) << text;
    EXPECT_FALSE(spec.error().message.empty()) << text;
  }
}

TEST(Speed, WorkTakesItsTimeAtFullSpeed) {
  SpeedOverTime speed(noise("seed=1"));
  EXPECT_DOUBLE_EQ(speed.end_of(12345, 1e6), 12345 + 1e6);
}

TEST(Speed, IsTheSameInWhateverOrderItIsAskedFor) {
  const NoiseSpec spec = noise("ar1:tau=1ms,sd=5%;telegraph:low=0.5,dwell=3ms;seed=3");
  SpeedOverTime forward(spec), backward(spec);
  std::vector<double> ends;
  for (int i = 0; i < 100; ++i) ends.push_back(forward.end_of(i * 1e6, 5e5));
  for (int i = 99; i >= 0; --i)
    EXPECT_EQ(backward.end_of(i * 1e6, 5e5), ends[static_cast<std::size_t>(i)]) << i;
}

TEST(Speed, WorkAndMeanAgree) {
  SpeedOverTime speed(noise("ar1:tau=2ms,sd=10%;spikes:every=5ms,last=1ms,low=0.2;seed=5"));
  const double end = speed.end_of(1.234e6, 2e7);
  EXPECT_NEAR(speed.mean_between(1.234e6, end) * (end - 1.234e6), 2e7, 1);
}

TEST(Speed, LongMeansAreWhatIsExpected) {
  for (const std::string text : {"ar1:tau=1ms,sd=5%", "telegraph:low=0.5,dwell=2ms",
                                 "spikes:every=10ms,last=2ms,low=0.1", "launch=5%"}) {
    SpeedOverTime speed(noise(text));
    EXPECT_NEAR(speed.mean_between(0, 4e10), speed.expected(), 0.01) << text;
  }
}

TEST(Speed, NeighboursOfAnAutoregressiveCourseCorrelateAsAskedFor) {
  SpeedOverTime speed(noise("ar1:tau=10ms,sd=5%"));
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
  SpeedOverTime speed(noise("drift:by=10%,over=1s"));
  EXPECT_NEAR(speed.mean_between(0, 1e9), 1, 1e-3);
  EXPECT_NEAR(speed.mean_between(0, 1e6), 0.95, 1e-3);
  EXPECT_NEAR(speed.mean_between(2e9, 3e9), 1.05, 1e-3);
}

}  // namespace
}  // namespace numatlas
