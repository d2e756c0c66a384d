#include "base/units.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace numatlas {
namespace {

using ::testing::HasSubstr;

std::uint64_t bytes_of(const char* text, std::uint64_t bare_unit = 1) {
  const auto bytes = parse_bytes(text, bare_unit);
  return bytes ? bytes->value : 0;
}
std::string error_of_bytes(const char* text) {
  const auto bytes = parse_bytes(text);
  return bytes ? "read as " + to_text(*bytes) : full_text(bytes.error());
}

TEST(Units, BinaryAndDecimalUnits) {
  EXPECT_EQ(bytes_of("48KiB"), 48 * kib);
  EXPECT_EQ(bytes_of("48k"), 48 * kib);
  EXPECT_EQ(bytes_of("48K"), 48 * kib);
  EXPECT_EQ(bytes_of("48kB"), 48'000U);
  EXPECT_EQ(bytes_of("2GiB"), 2 * gib);
  EXPECT_EQ(bytes_of("2 GiB"), 2 * gib);
  EXPECT_EQ(bytes_of("2GB"), 2'000'000'000U);
  EXPECT_EQ(bytes_of("1.5GiB"), 3 * gib / 2);
  EXPECT_EQ(bytes_of("4096"), 4096U);
  EXPECT_EQ(bytes_of("4096B"), 4096U);
  EXPECT_EQ(bytes_of("512", mib), 512 * mib);
  EXPECT_EQ(bytes_of("4096B", mib), 4096U);
  EXPECT_EQ(bytes_of("10PiB"), 10 * gib * mib);
}

TEST(Units, BadBytes) {
  EXPECT_THAT(error_of_bytes("-1"), HasSubstr("'-1' is not a number"));
  EXPECT_THAT(error_of_bytes("1.2.3"), HasSubstr("is not a number"));
  EXPECT_THAT(error_of_bytes("1 Ki B"), HasSubstr("unknown unit"));
  EXPECT_THAT(error_of_bytes("1.3B"), HasSubstr("not a whole number of bytes"));
  EXPECT_THAT(error_of_bytes("99999999999999999999999999"), HasSubstr("too large"));
}

TEST(Units, Quantities) {
  const auto expect = [](const char* text, double value, const char* unit) {
    const auto read = parse_quantity(text);
    ASSERT_TRUE(read) << text;
    EXPECT_DOUBLE_EQ(read->value, value) << text;
    EXPECT_STREQ(read->unit, unit) << text;
  };
  expect("350GB/s", 350e9, "B/s");
  expect("1.5 GiB/s", 1.5 * gib, "B/s");
  expect("120ns", 120e-9, "s");
  expect("2min", 120, "s");
  expect("20M/s", 20e6, "1/s");
  expect("7/s", 7, "1/s");
  expect("64MiB", 64 * mib, "B");
  for (const char* bad : {"", "GB/s", "0ns", "-1s", "5", "5 parsecs", "1e3GB/s", "3Q/s", "nan s"})
    EXPECT_FALSE(parse_quantity(bad)) << bad;
}

TEST(Units, TextIsExactAndReadsBack) {
  for (std::uint64_t value : {std::uint64_t{1}, std::uint64_t{1023}, kib, kib + 1, 48 * kib, mib,
                              3 * gib / 2, 1025 * gib, 7 * gib * kib, 10 * gib * mib}) {
    const auto again = parse_bytes(to_text(Bytes{value}));
    ASSERT_TRUE(again) << value;
    EXPECT_EQ(again->value, value);
  }
  EXPECT_EQ(to_text(Bytes{0}), "0 B");
  EXPECT_EQ(to_text(Bytes{4097}), "4097 B");
  EXPECT_EQ(to_text(Bytes{1536 * kib}), "1536 KiB");
}

TEST(Units, RoundedText) {
  EXPECT_EQ(to_rounded_text(Bytes{1536 * kib}), "1.5 MiB");
  EXPECT_EQ(to_rounded_text(Bytes{1023}), "1023 B");
  EXPECT_EQ(to_rounded_text(Bytes{gib}), "1 GiB");
}

TEST(Units, Durations) {
  EXPECT_EQ(parse_duration("1.5s")->count(), 1'500'000'000);
  EXPECT_EQ(parse_duration("2")->count(), 2'000'000'000);
  EXPECT_EQ(parse_duration("200ms")->count(), 200'000'000);
  EXPECT_EQ(parse_duration("30us")->count(), 30'000);
  EXPECT_EQ(parse_duration("7ns")->count(), 7);
  EXPECT_EQ(parse_duration("2m")->count(), 120'000'000'000);
  for (const char* text :
       {"0", "0s", "-1s", "", "1w", "s", "1 s s", "0.1ns", "1e99999s", "999999999999m"}) {
    const auto time = parse_duration(text);
    ASSERT_FALSE(time) << text;
    EXPECT_EQ(time.error().kind, ErrorKind::usage);
    EXPECT_FALSE(full_text(time.error()).empty());
  }
}

TEST(Units, DurationText) {
  EXPECT_EQ(to_text(Nanoseconds(45)), "45 ns");
  EXPECT_EQ(to_text(Nanoseconds(3200)), "3.2 us");
  EXPECT_EQ(to_text(Nanoseconds(200'000'000)), "200.0 ms");
  EXPECT_EQ(to_text(Nanoseconds(1'500'000'000)), "1.50 s");
}

}  // namespace
}  // namespace numatlas
