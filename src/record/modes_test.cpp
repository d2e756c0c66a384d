#include "record/modes.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <random>
#include <string>
#include <vector>

namespace numatlas {
namespace {

std::string text_of(const std::vector<double>& values, Unit unit = "B/s") {
  return modes_text({"bandwidth_sum", unit, values, 0});
}

TEST(Modes, TwoSpeedsAreNamedWithTheirShares) {
  EXPECT_EQ(text_of({24.4e9, 40.6e9, 24.5e9, 24.6e9, 40.4e9}),
            "two speeds: 24.5 GB/s in 60 % of 5 visits, 40.5 GB/s in 40 %");
  EXPECT_EQ(text_of({100e-9, 150e-9, 101e-9, 151e-9, 100e-9, 150e-9}, "s"),
            "two speeds: 100 ns in 50 % of 6 visits, 150 ns in 50 %");
}

TEST(Modes, OneIsNotTwo) {
  EXPECT_EQ(text_of({}), "");
  EXPECT_EQ(text_of({1e9, 1e9, 1e9, 1e9, 1e9}), "");
  EXPECT_EQ(text_of({1e9, 1e9, 2e9, 2e9}), "") << "four visits say too little";
  EXPECT_EQ(text_of({1e9, 1e9, 1e9, 1e9, 2e9}), "") << "a single visit is no mode";
  EXPECT_EQ(text_of({10e9, 11e9, 12e9, 13e9, 14e9, 15e9}), "");
  EXPECT_EQ(text_of({1.00e9, 1.00e9, 1.02e9, 1.02e9, 1.02e9}), "") << "2 % are no mode";
}

TEST(Modes, OneBetweenTheSpeedsHidesThemNot) {
  EXPECT_NE(text_of({24e9, 24.1e9, 24.2e9, 24e9, 25.5e9, 40e9, 40.1e9, 40e9, 40.2e9, 40e9}), "");
}

TEST(Modes, ALongTailIsNoSecondSpeed) {
  // A chase that other programs interrupted more and more often.
  std::vector<double> tail;
  for (int i = 0; i < 50; ++i) tail.push_back((530 + 8 * i) * 1e-9);
  for (double value = 950; value < 160'000; value *= 1.16) tail.push_back(value * 1e-9);
  EXPECT_EQ(text_of(tail, "s"), "");
  EXPECT_EQ(text_of({12e-6, 12e-6, 12e-6, 48e-6, 48e-6}, "s"),
            "two speeds: 12.0 µs in 60 % of 5 visits, 48.0 µs in 40 %");
}

/// The documented bound: fewer than 1 % of normal samples.
TEST(Modes, NormalSamplesHaveOne) {
  std::mt19937_64 random(1);
  std::normal_distribution<double> normal(1e9, 0.1e9);
  for (const std::size_t n : {5U, 6U, 8U, 10U, 20U}) {
    int found = 0;
    constexpr int times = 4000;
    for (int i = 0; i < times; ++i) {
      std::vector<double> values(n);
      for (double& value : values) value = normal(random);
      found += modes_of(values).has_value() ? 1 : 0;
    }
    EXPECT_LT(found, times / 100) << n;
  }
}

}  // namespace
}  // namespace numatlas
