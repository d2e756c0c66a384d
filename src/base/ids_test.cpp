#include "base/ids.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace numatlas {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string list_of(const std::string& text) {
  const auto set = parse_list<CpuId>(text);
  return set ? to_list(*set) : "error: " + full_text(set.error());
}

TEST(Ids, SetsAreSortedAndHaveNoDuplicates) {
  const CpuSet set{CpuId{7}, CpuId{1}, CpuId{7}, CpuId{3}};
  EXPECT_EQ(to_list(set), "1,3,7");
  EXPECT_EQ(set.front(), CpuId{1});
  EXPECT_EQ(set[2], CpuId{7});
  EXPECT_TRUE(set.contains(CpuId{3}));
  EXPECT_FALSE(set.contains(CpuId{2}));
}

TEST(Ids, SetOperations) {
  const NodeSet a{NodeId{0}, NodeId{1}, NodeId{5}};
  const NodeSet b{NodeId{1}, NodeId{2}, NodeId{5}};
  EXPECT_EQ(to_list(a & b), "1,5");
  EXPECT_EQ(to_list(a | b), "0-2,5");
  EXPECT_EQ(to_list(a - b), "0");
  EXPECT_TRUE((a - a).empty());
}

TEST(Ids, ListsComeOutInTheKernelsShortestForm) {
  EXPECT_EQ(list_of("0-3,7"), "0-3,7");
  EXPECT_EQ(list_of("3,2,1,0"), "0-3");
  EXPECT_EQ(list_of("0,1"), "0-1");
  EXPECT_EQ(list_of("4095,4093"), "4093,4095");
  EXPECT_EQ(list_of(""), "");
  EXPECT_EQ(list_of(" 0-1, 5 \n"), "0-1,5");
}

TEST(Ids, Strides) {
  EXPECT_EQ(list_of("0-6:2"), "0,2,4,6");
  EXPECT_EQ(list_of("0-7:3"), "0,3,6");
  EXPECT_EQ(list_of("9:4"), "9");
}

TEST(Ids, OrderAndDuplicatesAreKeptWhereAsked) {
  const auto ids = parse_ordered_list("7,1-3,2");
  ASSERT_TRUE(ids);
  EXPECT_THAT(*ids, ElementsAre(7, 1, 2, 3, 2));
}

TEST(Ids, BadListsSayWhatIsWrong) {
  for (const char* text : {"a", "1-", "-1", "1,,2", ",1", "1 2", "1-2-3", "0x3", "1.5", "2:", ":2",
                           "1;2", "99999999999999999999", "1048577"}) {
    const auto set = parse_list<NodeId>(text);
    ASSERT_FALSE(set) << text;
    EXPECT_EQ(set.error().kind, ErrorKind::usage);
    EXPECT_THAT(full_text(set.error()), HasSubstr("is not a number")) << text;
  }
  EXPECT_THAT(list_of("3-1"), HasSubstr("the range '3-1' in '3-1' is empty"));
  EXPECT_THAT(list_of("1-3:0"), HasSubstr("is empty"));
  EXPECT_THAT(list_of("1,2,"), HasSubstr("ends in a comma"));
}

TEST(Ids, LargeListsInAnyOrderAreQuick) {
  // Inserting a million numbers in front of each other one by one would take minutes.
  EXPECT_EQ(list_of("500000-1048576,0-499999"), "0-1048576");
}

}  // namespace
}  // namespace numatlas
