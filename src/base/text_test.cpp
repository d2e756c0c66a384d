#include "base/text.h"

#include <gtest/gtest.h>

namespace numatlas {
namespace {

TEST(Printable, OrdinaryTextStays) {
  for (const char* text : {"", "cn01.example.org", "Knoten \xc3\xa4\xc3\xb6",
                           "\xe8\x8a\x82\xe7\x82\xb9", "\xf0\x9f\x96\xa5", "a\\x1b", "tab is\\t"})
    EXPECT_EQ(printable(text), text);
}

TEST(Printable, ControlCharactersAreEscaped) {
  EXPECT_EQ(printable("a\x1b]0;title\x07z"), "a\\x1b]0;title\\x07z");
  EXPECT_EQ(printable("one\ntwo\r\tthree\x7f"), "one\\x0atwo\\x0d\\x09three\\x7f");
  EXPECT_EQ(printable(std::string("\0", 1)), "\\x00");
  EXPECT_EQ(printable("\xc2\x9b"
                      "2J"),
            "\\x9b2J");  // C1: what ESC [ is in one character
}

TEST(Printable, DirectionsAndLineEndsOfUnicodeAreEscaped) {
  EXPECT_EQ(printable("\xe2\x80\xae"
                      "cn\xe2\x81\xa6"
                      "1\xe2\x80\xa8"),
            "\\u202ecn\\u20661\\u2028");
  EXPECT_EQ(printable("\xe2\x80\xa7\xe2\x80\xaf"), "\xe2\x80\xa7\xe2\x80\xaf");  // their neighbours
}

TEST(Printable, WhatIsNoUtf8IsEscapedByByte) {
  EXPECT_EQ(printable("caf\xe9"), "caf\\xe9");              // Latin-1
  EXPECT_EQ(printable("\xc0\x9b"), "\\xc0\\x9b");           // overlong
  EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80");  // a surrogate
  EXPECT_EQ(printable("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");
  EXPECT_EQ(printable("\xe2\x80"), "\\xe2\\x80");  // cut off
  EXPECT_EQ(printable("\x9b"
                      "2J"),
            "\\x9b2J");
}

TEST(Aligned, ColumnsLineUpAndNothingTrails) {
  EXPECT_EQ(aligned({{"name", "n"}, {"a", "100"}, {"long name", ""}}, 1),
            "name         n\n"
            "a          100\n"
            "long name\n");
  EXPECT_EQ(aligned({}, 1), "");
}

TEST(Wrapped, BreaksBetweenWords) {
  EXPECT_EQ(wrapped("one two three", 0), "one two three\n");
  EXPECT_EQ(wrapped("one two three\nfour", 8), "one two\n  three\nfour\n");
  EXPECT_EQ(wrapped("a-very-long-word and more", 8, 2), "a-very-long-word\n  and\n  more\n");
  EXPECT_EQ(wrapped("a-very-long-word", 8), "a-very-long-word\n");
  EXPECT_EQ(wrapped("12 ±3 45", 8), "12 ±3 45\n") << "characters, not bytes";
  EXPECT_EQ(aligned_within({{"a", "one two three"}, {"bb", "x"}}, 12),
            "a   one two\n    three\nbb  x\n");
}

}  // namespace
}  // namespace numatlas
