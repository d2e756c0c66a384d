#include <cstddef>
#include <string>

#include "base/json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace numatlas {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

std::string message_of(const std::string& text) {
  const auto parsed = parse_json(text);
  return parsed ? "" : full_text(parsed.error());
}

TEST(JsonDocument, IsWhatTheLibraryReads) {
  const std::string text =
      R"({"a": [1, -2, 3.5, true, null, "x", [], {}], "b": {"c": {"d": 18446744073709551615}},
          "a2": [[1, [2]], [3]], "b": {"again": 1}})";
  const auto parsed = parse_json(text);
  ASSERT_TRUE(parsed);
  EXPECT_EQ(*parsed, json::parse(text));
  EXPECT_EQ(*parse_json("7"), 7);
}

TEST(JsonDocument, TextsCanBeShown) {
  const auto parsed = parse_json("{\"a\\u001b\": [\"one\\ntwo\", \"\\u202eback\"]}");
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->dump(), R"({"a\\x1b":["one\\x0atwo","\\u202eback"]})");
  EXPECT_EQ(parse_json(R"([{"z\u001b": {"\u0007": 1}, "a\u001b": 2}])")->dump(),
            R"([{"a\\x1b":2,"z\\x1b":{"\\x07":1}}])");
}

TEST(JsonDocument, WhatIsWrongAndWhere) {
  EXPECT_EQ(message_of(" \n"), "is empty");
  EXPECT_EQ(message_of("{\"a\": 1,\n"), "is truncated after 9 bytes, in line 2");
  EXPECT_EQ(message_of("{\"a\":\n b}"), "is not JSON: line 2, byte 8");
  EXPECT_EQ(message_of("{} {}"), "is not JSON: line 1, byte 4");
  EXPECT_THAT(message_of("[1e999]"), HasSubstr("number out of range"));
  EXPECT_THAT(message_of("[\"\xff\"]"), HasSubstr("is not JSON"));
}

TEST(JsonDocument, LevelsHaveALimit) {
  const auto nested = [](int levels) {
    const auto many = static_cast<std::size_t>(levels);
    return std::string(many, '[') + std::string(many, ']');
  };
  EXPECT_EQ(message_of(nested(most_json_levels)), "");
  EXPECT_EQ(message_of(nested(most_json_levels + 1)), "is nested deeper than 64 levels");
  EXPECT_EQ(message_of(std::string(10'000'000, '[')), "is nested deeper than 64 levels");
}

}  // namespace
}  // namespace numatlas
