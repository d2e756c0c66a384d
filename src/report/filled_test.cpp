#include "report/filled.h"

#include <gtest/gtest.h>

#include <string>

namespace numatlas {
namespace {

std::string value_of(const std::string& name) { return name == "none" ? "" : "<" + name + ">"; }

TEST(Filled, NamesAndWhatIsLeftOutWithoutThem) {
  EXPECT_EQ(filled("{a} to {b}", value_of), "<a> to <b>");
  EXPECT_EQ(filled("{a}[, threads: {none}][ {b}].", value_of), "<a> <b>.");
  EXPECT_EQ(filled("best {} ({a}[{a} and {none}])", value_of), "best {} (<a>)");
  EXPECT_EQ(filled("{a|place}", value_of), "<a|place>");
}

}  // namespace
}  // namespace numatlas
