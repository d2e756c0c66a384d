#include "base/terminal.h"

#include <gtest/gtest.h>

namespace numatlas {
namespace {

TEST(Terminal, CharactersCountNotBytes) {
  EXPECT_EQ(width_of_text("163 ns ±1.0 %"), 13U);
  EXPECT_EQ(width_of_text(""), 0U);
}

TEST(Terminal, LinesAreCutToItsWidth) {
  EXPECT_EQ(cut_to("±1.0 %", 6), "±1.0 %");
  EXPECT_EQ(cut_to("±1.0 %", 4), "±1.…");
  EXPECT_EQ(cut_to("abc", 0), "");
}

TEST(Terminal, TheFirstVariableThatIsSetNamesTheLocale) {
  const auto set = [](const char* all, const char* type, const char* lang) {
    ::setenv("LC_ALL", all, 1);
    ::setenv("LC_CTYPE", type, 1);
    ::setenv("LANG", lang, 1);
    return locale_is_utf8();
  };
  EXPECT_TRUE(set("", "", "de_DE.UTF-8"));
  EXPECT_TRUE(set("C.utf8", "C", "C"));
  EXPECT_FALSE(set("C", "en_US.UTF-8", "en_US.UTF-8"));
  EXPECT_FALSE(set("", "", ""));
}

}  // namespace
}  // namespace numatlas
