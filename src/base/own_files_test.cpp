#include "base/own_files.h"
#include "base/test_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace numatlas {
namespace {

namespace fs = std::filesystem;
using ::testing::EndsWith;

class OwnFiles : public ::testing::Test {
 protected:
  void SetUp() override {
    fs::create_directories(top_ / "lib/mpi");
    file_ = top_ / "lib/mpi/plugin.so";
    std::ofstream(file_) << "code";
    for (const fs::path& folder : {top_ / "lib", top_ / "lib/mpi"})
      fs::permissions(folder, fs::perms(0755));
    fs::permissions(file_, fs::perms(0644));
  }
  std::string problem() const { return why_not_trusted(top_.string(), file_.string()); }

  testing::TestFolder folder_;
  fs::path top_ = folder_.path(), file_;
};

TEST_F(OwnFiles, AreTrustedWhereNobodyElseMayWrite) { EXPECT_EQ(problem(), ""); }

TEST_F(OwnFiles, AreNotTrustedBelowAFolderOfAll) {
  for (const fs::path& path : {top_, top_ / "lib", top_ / "lib/mpi", file_}) {
    const fs::perms before = fs::status(path).permissions();
    fs::permissions(path, fs::perms(01777));  // sticky as /tmp is no better: a file can be added
    EXPECT_EQ(problem(), "others than root and you may change " + path.string());
    fs::permissions(path, before);
  }
  EXPECT_EQ(problem(), "");
}

TEST_F(OwnFiles, AreNotTrustedOfAnotherUserOrGroup) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give files away";
  constexpr unsigned nobody = 65534;
  for (const fs::path& path : {top_, top_ / "lib", file_}) {
    ASSERT_EQ(chown(path.c_str(), nobody, 0), 0);
    EXPECT_THAT(problem(), EndsWith(" may change " + path.string()));
    ASSERT_EQ(chown(path.c_str(), 0, 0), 0);
  }
  // Who belongs to a group that root lets write is root's affair.
  ASSERT_EQ(chown(file_.c_str(), 0, nobody), 0);
  fs::permissions(file_, fs::perms(0664));
  EXPECT_EQ(problem(), "");
}

TEST_F(OwnFiles, AreNotTrustedBehindALinkOfAnotherUser) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give files away";
  constexpr unsigned nobody = 65534;
  fs::rename(file_, top_ / "lib/real.so");
  fs::create_symlink("../real.so", file_);
  EXPECT_EQ(problem(), "");
  ASSERT_EQ(lchown(file_.c_str(), nobody, nobody), 0);
  EXPECT_THAT(problem(), EndsWith(" may change " + file_.string()));
}

TEST_F(OwnFiles, AreNotTrustedWhereThereAreNone) {
  EXPECT_NE(why_not_trusted(top_.string(), (top_ / "none").string()), "");
}

TEST(BuildFolder, IsThatOfThisTest) {
  EXPECT_TRUE(fs::exists(fs::path(build_folder()) / "CMakeCache.txt"));
  EXPECT_TRUE(program_folder().starts_with(build_folder()));
}

}  // namespace
}  // namespace numatlas
