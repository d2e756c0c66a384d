#include "record/unit.h"

#include <gtest/gtest.h>

namespace numatlas {
namespace {

TEST(Unit, HasASymbolANameAndADirection) {
  constexpr Unit rate = "B/s";
  EXPECT_STREQ(rate.name(), "bytes_per_second");
  EXPECT_EQ(rate.better(), Better::higher);
  EXPECT_EQ(Unit("s").better(), Better::lower);
  EXPECT_EQ(Unit("B").better(), Better::neither);
  EXPECT_TRUE(Unit().is_none());
  for (const char* symbol : {"", "s", "B/s", "1/s", "B", "1", "cost"}) {
    ASSERT_TRUE(Unit::named(symbol)) << symbol;
    EXPECT_STREQ(Unit::named(symbol)->symbol(), symbol);
  }
  EXPECT_FALSE(Unit::named("GB/s"));
}

TEST(Unit, NumbersHaveFourDigitsAtMost) {
  EXPECT_EQ(short_number(1.234, 2), "1.23");
  EXPECT_EQ(short_number(1.23456, 6), "1.235");
  EXPECT_EQ(short_number(0.0042314, 6), "0.004231");
  EXPECT_EQ(short_number(0.00423149, 8), "0.004231");
  EXPECT_EQ(short_number(0.251359, 6), "0.2514");
  EXPECT_EQ(short_number(0.04, 1), "0.0");
  EXPECT_EQ(short_number(0, 2), "0.00");
  EXPECT_EQ(short_number(12.346, 2), "12.35");
  EXPECT_EQ(short_number(123.46, 2), "123.5");
  EXPECT_EQ(short_number(1695.98, 2), "1696");
  EXPECT_EQ(short_number(999.96, 2), "1000");
  EXPECT_EQ(short_number(-123.46, 1), "-123.5");
}

TEST(Unit, HalfAnIntervalIsAPartOfTheValue) {
  EXPECT_EQ(plus_minus_text(0.0104), " ±1.0 %");
  EXPECT_EQ(plus_minus_text(0.184), " ±18 %");
  EXPECT_EQ(half_text(0.0002), "<0.1 %");
}

TEST(Unit, EstimatesStandWithTheirInterval) {
  const auto between = [](double value, double low, double high) {
    Estimate one = value;
    one.low = low;
    one.high = high;
    return one;
  };
  EXPECT_EQ(estimate_text(between(94.5e-9, 94.3e-9, 94.7e-9), "s"), "94.5 ns ±0.2 %");
  EXPECT_EQ(estimate_text(Estimate(45.3e9), "B/s"), "45.3 GB/s");
  EXPECT_EQ(estimate_text(between(1.47, 1.45, 1.5), "1"), "1.47 times (1.45 to 1.50)");
  EXPECT_EQ(estimate_text(between(3.2, 3.199, 3.201), "1"), "3.20 times");
  EXPECT_EQ(estimate_text(between(50e-9, 20e-9, 150e-9), "s"), "50.0 ns (20.0 to 150)");
  EXPECT_EQ(estimate_text(between(44e-9, 30e-9, 60e-9), "s"), "44.0 ns ±36 %");
  EXPECT_EQ(estimate_text(between(50e-9, 0, 150e-9), "s"), "0.00 to 150 ns");
  EXPECT_EQ(estimate_text(between(57.4e6, 56.8e6, 58e6), "B/s"), "57.4 MB/s ±1.0 %");
  EXPECT_EQ(estimate_text(between(2e9, 0.5e9, 3e9), "B/s"), "2.00 GB/s (0.50 to 3.00)");
  EXPECT_EQ(estimate_text(between(1.66, 0.78, 24.71), "1"), "1.66 times (0.78 to 24.7)");
  EXPECT_EQ(estimate_text(between(16777220, 16777220, 33554430), "B"), "16 MiB to 32 MiB");
}

TEST(Unit, QuantitiesHaveTheUnitThatFits) {
  // As python/tests/test_scales.py.
  EXPECT_EQ(quantity_text(27.2e-9, "s"), "27.2 ns");
  EXPECT_EQ(quantity_text(9e-6, "s"), "9000 ns");
  EXPECT_EQ(quantity_text(25e-6, "s"), "25.0 µs");
  EXPECT_EQ(quantity_text(999.6e-6, "s"), "1.00 ms");
  EXPECT_EQ(quantity_text(12, "s"), "12.0 s");
  EXPECT_EQ(quantity_text(0, "s"), "0.00 ns");
  EXPECT_EQ(quantity_text(2.972e12, "B/s"), "2.97 TB/s");
  EXPECT_EQ(quantity_text(999.6e9, "B/s"), "1.00 TB/s");
  EXPECT_EQ(quantity_text(310e9, "B/s"), "310 GB/s");
  EXPECT_EQ(quantity_text(570e6, "B/s"), "0.57 GB/s");
  EXPECT_EQ(quantity_text(25e6, "B/s"), "25.0 MB/s");
  EXPECT_EQ(quantity_text(2500, "B/s"), "2.50 kB/s");
  EXPECT_EQ(quantity_text(1.2, "B/s"), "1.20 B/s");
}

}  // namespace
}  // namespace numatlas
