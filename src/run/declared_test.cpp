#include "run/declared.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <CLI/CLI.hpp>

#include "run/declare.h"

namespace numatlas {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

/// A program with an option of each sort.
struct Program {
  CLI::App app{"Measures something."};
  std::string file, place = "first", method = "cas";
  std::vector<int> sizes{1};
  bool quiet = false;

  Program() {
    app.name("tool");
    use_help_format(app);
    add_value(app, "FILE", file, "", "file to read")->required();
    add_value(app, "--home", place, "first|second|NODE", "where it is: near `tool --home` or not");
    add_choice(app, "--method", method, named({"cas", "store"}), "how it is done. Slowly");
    add_choices<int>(app, "--sizes", sizes, {{"small", 1}, {"large", 2}, {"big", 2}}, "its sizes")
        ->group("Output");
    app.add_flag("-q,--quiet", quiet, "print [nothing] as it's quiet; really")->group("Output");
    app.add_flag("--secret")->group("");
  }
  std::string problem(std::vector<std::string> words) {
    try {
      app.parse(std::vector<std::string>(words.rbegin(), words.rend()));
    } catch (const CLI::ParseError& error) {
      return error.what();
    }
    return "";
  }
};

TEST(Choices, BecomeTheirValues) {
  Program program;
  EXPECT_EQ(program.problem({"x", "--method", "store", "--sizes=large, small"}), "");
  EXPECT_EQ(program.method, "store");
  EXPECT_THAT(program.sizes, ElementsAre(2, 1));
}

TEST(Choices, OthersAreErrorsThatListThem) {
  EXPECT_EQ(Program().problem({"x", "--method", "cas,store"}),
            "--method: 'cas,store' is not one of cas, store");
  EXPECT_EQ(Program().problem({"x", "--sizes", "small,none"}),
            "--sizes: 'none' is not one of small, large, big");
  EXPECT_EQ(Program().problem({"x", "--home", ""}), "--home: the value is empty");
}

TEST(Declared, TypesSayWhatAValueIs) {
  Program program;
  ValueType type = value_type(*program.app.get_option("--home"));
  EXPECT_THAT(type.words, ElementsAre("first", "second"));
  EXPECT_THAT(type.others, ElementsAre("NODE"));
  EXPECT_FALSE(type.several);
  type = value_type(*program.app.get_option("--sizes"));
  EXPECT_THAT(type.words, ElementsAre("small", "large", "big"));
  EXPECT_TRUE(type.several);
  type = value_type(*program.app.get_option("FILE"));
  EXPECT_THAT(type.others, ElementsAre("FILE"));
  type = value_type(*program.app.get_option("--quiet"));
  EXPECT_THAT(type.text, IsEmpty());
  program.app.get_option("--home")->type_name("none|R:W,...");
  type = value_type(*program.app.get_option("--home"));
  EXPECT_THAT(type.words, ElementsAre("none"));
  EXPECT_THAT(type.others, ElementsAre("R:W"));
}

TEST(Declared, RareOptionsAreOnlyNamed) {
  Program program;
  program.app.set_help_all_flag("--help-all", "print everything");
  rare(program.app.get_option("--home"));
  program.app.get_option("--quiet")->description("print nothing\nNot even errors");
  const std::string part = program.app.help();
  EXPECT_THAT(part, HasSubstr("  -q, --quiet           print nothing\n"));
  EXPECT_THAT(part, Not(HasSubstr("  --home")));
  EXPECT_THAT(part, EndsWith("\n\nMore options: --home: tool --help-all\n"));
  const std::string all = program.app.help("", CLI::AppFormatMode::All);
  EXPECT_THAT(all, HasSubstr("  -q, --quiet           print nothing. Not even errors\n"));
  EXPECT_THAT(all, HasSubstr("  --home first|second|NODE"));
  EXPECT_THAT(all, Not(HasSubstr("More options")));
  EXPECT_THAT(completion(program.app), HasSubstr("--quiet "));
}

TEST(Declared, ManyWordsStandInTheText) {
  Program program;
  program.app.get_option("--home")->type_name(
      "somewhere|elsewhere|anywhere|everywhere|nowhere|wherever|whenever|never,...");
  EXPECT_THAT(
      program.app.help(),
      HasSubstr("  --home WORD,...       where it is: near `tool --home` or not (words:\n"
                "                        somewhere, elsewhere, anywhere, everywhere, nowhere,\n"
                "                        wherever, whenever, never; default: first)\n"));
}

}  // namespace
}  // namespace numatlas
