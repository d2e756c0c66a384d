#include "report/file.h"
#include "base/test_folder.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

namespace numatlas {
namespace {

namespace fs = std::filesystem;

constexpr unsigned nobody = 65534;

class Files : public ::testing::Test {
 protected:
  void SetUp() override { fs::permissions(folder_, fs::perms(0755)); }
  void TearDown() override { fs::permissions(folder_, fs::perms(0755)); }
  std::string path(const char* name) const { return (folder_ / name).string(); }
  std::size_t files() const {
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator(folder_), fs::directory_iterator{}));
  }
  static std::string read(const std::string& file) {
    std::ifstream stream(file);
    std::ostringstream text;
    text << stream.rdbuf();
    return text.str();
  }
  /// Runs `check` in a child that has no special rights; true when it said true.
  static bool in_child(const std::function<bool()>& check) {
    const pid_t child = fork();
    if (child == 0) {
      // Root may write everywhere.
      const bool plain = geteuid() != 0 || (setgid(nobody) == 0 && setuid(nobody) == 0);
      _exit(plain && check() ? 0 : 1);
    }
    int status = 0;
    return waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
  }

  testing::TestFolder its_;
  fs::path folder_ = its_.path();
};

TEST_F(Files, AreWrittenAndReplacedWhole) {
  ASSERT_TRUE(write_whole(path("a"), "first\n", "--json"));
  EXPECT_EQ(read(path("a")), "first\n");
  ASSERT_TRUE(write_whole(path("a"), "second", "--json"));
  EXPECT_EQ(read(path("a")), "second");
  ASSERT_TRUE(write_whole(path("a"), "", "--json"));
  EXPECT_EQ(read(path("a")), "");
  EXPECT_EQ(files(), 1U);
}

TEST_F(Files, AreAsReadableAsTheUmaskAllows) {
  const mode_t before = umask(027);
  ASSERT_TRUE(write_whole(path("a"), "x", "--json"));
  umask(before);
  struct stat status {};
  ASSERT_EQ(stat(path("a").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0640U);
}

TEST_F(Files, SymbolicLinksStayLinks) {
  ASSERT_TRUE(write_whole(path("real"), "old", "--csv"));
  fs::create_symlink("real", path("link"));
  ASSERT_TRUE(write_whole(path("link"), "new", "--csv"));
  EXPECT_TRUE(fs::is_symlink(path("link")));
  EXPECT_EQ(read(path("real")), "new");
}

TEST_F(Files, PipesReachTheirReaderWhole) {
  ASSERT_EQ(mkfifo(path("pipe").c_str(), 0600), 0);
  const std::string content(300'000, 'x');  // more than a pipe holds
  const pid_t reader = fork();
  if (reader == 0) {
    // The first end of the file is the end for a reader.
    const bool whole = read(path("pipe")) == content;
    _exit(whole ? 0 : 1);
  }
  EXPECT_TRUE(check_writable(path("pipe"), "--json"));
  EXPECT_TRUE(write_whole(path("pipe"), content, "--json"));
  int status = 0;
  ASSERT_EQ(waitpid(reader, &status, 0), reader);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

TEST_F(Files, LookingDoesNotTouch) {
  EXPECT_TRUE(check_writable(path("a"), "--json"));
  EXPECT_EQ(files(), 0U);
  ASSERT_TRUE(write_whole(path("a"), "old", "--json"));
  EXPECT_TRUE(check_writable(path("a"), "--json"));
  EXPECT_EQ(read(path("a")), "old");
  EXPECT_EQ(files(), 1U);
}

TEST_F(Files, StdoutByItsNameIsWrittenDirectly) {
  EXPECT_TRUE(in_child([] {
    int ends[2];
    if (pipe(ends) != 0) return false;
    dup2(ends[1], STDOUT_FILENO);
    if (!check_writable("/dev/stdout", "--json") || !write_whole("/dev/stdout", "x", "--json"))
      return false;
    char got = 0;
    return ::read(ends[0], &got, 1) == 1 && got == 'x';
  }));
}

TEST_F(Files, FolderWithoutTheRightToWriteKeepsItsFile) {
  ASSERT_TRUE(write_whole(path("a"), "old", "--json"));
  fs::permissions(path("a"), fs::perms(0666));
  fs::permissions(folder_, fs::perms(0555));
  EXPECT_TRUE(in_child([&] { return !check_writable(path("a"), "--json").has_value(); }));
  EXPECT_TRUE(in_child([&] {
    const auto wrote = write_whole(path("a"), "new", "--json");
    return !wrote && wrote.error().kind == ErrorKind::permission;
  }));
  EXPECT_EQ(read(path("a")), "old");
}

TEST_F(Files, FullDiskKeepsTheOldFileAndLeavesNoOther) {
  ASSERT_TRUE(write_whole(path("a"), "old", "--json"));
  fs::permissions(folder_, fs::perms(0777));
  EXPECT_TRUE(in_child([&] {
    // A limit on the size of files ends a write in the middle, as a full disk does.
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{1000, 1000};
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0) return false;
    const auto wrote = write_whole(path("a"), std::string(5000, 'x'), "--json");
    return !wrote && wrote.error().kind == ErrorKind::io &&
           wrote.error().hint == "raise the limit of a file's size (ulimit -f)";
  }));
  EXPECT_EQ(read(path("a")), "old");
  EXPECT_EQ(files(), 1U);
}

}  // namespace
}  // namespace numatlas
