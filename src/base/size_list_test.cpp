#include "base/units.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace numatlas {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

/// "1MiB 2MiB", or the error.
std::string sizes_of(const std::string& text) {
  const auto sizes = parse_sizes(text);
  if (!sizes) {
    EXPECT_EQ(sizes.error().kind, ErrorKind::usage) << text;
    EXPECT_THAT(full_text(sizes.error()), StartsWith("--size: ")) << text;
    EXPECT_FALSE(full_hint(sizes.error()).empty()) << text;
    return full_text(sizes.error());
  }
  std::string all;
  for (Bytes size : *sizes) all += (all.empty() ? "" : " ") + compact_text(size);
  return all;
}

TEST(SizeList, BareNumbersAreWholeMiB) {
  EXPECT_EQ(sizes_of("512"), "512MiB");
  EXPECT_EQ(sizes_of("300"), "300MiB");
  EXPECT_THAT(sizes_of("0.5"), HasSubstr("'0.5' is not whole MiB"));
}

TEST(SizeList, Units) {
  EXPECT_EQ(sizes_of("48KiB"), "48KiB");
  EXPECT_EQ(sizes_of("1.5GiB"), "1536MiB");
  EXPECT_EQ(sizes_of("10PiB"), "10PiB");  // whether it fits is not the parser's matter
}

TEST(SizeList, RangesAreThePowersOfTwoWithin) {
  EXPECT_EQ(parse_sizes("1-2048")->size(), 12U);
  EXPECT_EQ(parse_sizes("1-2048")->front(), Bytes{mib});
  EXPECT_EQ(parse_sizes("1-2048")->back(), Bytes{2 * gib});
  EXPECT_EQ(sizes_of("3-100"), "4MiB 8MiB 16MiB 32MiB 64MiB");
  EXPECT_EQ(sizes_of("64-64"), "64MiB");
  EXPECT_EQ(parse_sizes("32KiB-2GiB")->size(), 17U);
  EXPECT_EQ(sizes_of("48KiB-1"), "64KiB 128KiB 256KiB 512KiB 1MiB");
}

TEST(SizeList, ListsKeepTheirOrderAndDropDuplicates) {
  EXPECT_EQ(sizes_of("64,128,300"), "64MiB 128MiB 300MiB");
  EXPECT_EQ(sizes_of("128,64,128,1"), "128MiB 64MiB 1MiB");
  EXPECT_EQ(sizes_of("1,1024KiB,48KiB"), "1MiB 48KiB");
}

TEST(SizeList, WhatIsRefused) {
  for (const char* text :
       {"-", "1-", "1-2-3", "1--2", ",", "1,", ",1", "1,,2", "one", "1 2", "64mb", "64x", "0-8",
        "1,0", "nan", "1e3", "0x40", "\xff\xfe", "64,\t"}) {
    EXPECT_THAT(sizes_of(text), StartsWith("--size: ")) << text;
  }
}

}  // namespace
}  // namespace numatlas
