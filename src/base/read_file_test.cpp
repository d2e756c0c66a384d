#include "base/read_file.h"
#include "base/test_folder.h"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace numatlas {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class ReadFile : public ::testing::Test {
 protected:
  std::string path(const std::string& name) const { return folder_.file(name); }

  testing::TestFolder folder_;
};

TEST_F(ReadFile, AllOfIt) {
  std::string text(200'000, 'x');
  text[100'000] = '\0';
  std::ofstream(path("file"), std::ios::binary) << text;
  EXPECT_EQ(read_file(path("file"), "f", ""), text);
  EXPECT_EQ(read_file(path("file"), "f", "", text.size()), text);
  std::ofstream(path("empty"));
  EXPECT_EQ(read_file(path("empty"), "f", ""), "");
}

TEST_F(ReadFile, APipeIsOne) {
  ASSERT_EQ(mkfifo(path("pipe").c_str(), 0600), 0);
  std::thread writer([&] { std::ofstream(path("pipe")) << "through a pipe"; });
  EXPECT_EQ(read_file(path("pipe"), "f", ""), "through a pipe");
  writer.join();
}

TEST_F(ReadFile, WhatIsTooLarge) {
  std::ofstream(path("file")) << std::string(2048, 'x');
  const auto read = read_file(path("file"), "--option", "", 1024);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error(), (Error{ErrorKind::resource, "is too large: 2 KiB; at most 1 KiB are read",
                                 "", "--option"}));
}

TEST_F(ReadFile, APipeWithTooMuch) {
  ASSERT_EQ(mkfifo(path("pipe").c_str(), 0600), 0);
  std::thread writer([&] { std::ofstream(path("pipe")) << std::string(2048, 'x'); });
  const auto read = read_file(path("pipe"), "f", "", 1024);
  writer.join();
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error(),
            (Error{ErrorKind::resource, "is too large: more; at most 1 KiB are read", "", "f"}));
}

TEST_F(ReadFile, ResultsHaveALimit) {
  std::ofstream(path("file"));
  fs::resize_file(path("file"), most_file_bytes + 1);  // a hole: takes no room
  const auto read = read_file(path("file"), "f", "");
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().kind, ErrorKind::resource);
}

TEST_F(ReadFile, WhatIsForbidden) {
  if (geteuid() == 0) GTEST_SKIP() << "root may read everything";
  std::ofstream(path("file")) << "x";
  fs::permissions(path("file"), fs::perms::none);
  const auto read = read_file(path("file"), "f", "");
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().kind, ErrorKind::permission);
  EXPECT_THAT(full_text(read.error()), HasSubstr("Permission denied"));
}

}  // namespace
}  // namespace numatlas
