#include "base/error.h"

#include <gtest/gtest.h>

#include <cerrno>

namespace numatlas {
namespace {

TEST(Error, TextNamesPlaceAndSubject) {
  Error error{ErrorKind::usage, "'x' is not a number", "write 5", "--size"};
  EXPECT_EQ(full_text(error), "--size: 'x' is not a number");
  error.where = "rank 3 on node7";
  EXPECT_EQ(full_text(error), "rank 3 on node7: --size: 'x' is not a number");
  EXPECT_EQ(full_text(Error{ErrorKind::io, "lost", ""}), "lost");
  EXPECT_EQ(with_hint(full_text(Error{ErrorKind::io, "lost", ""}), error), "lost; write 5");
  error.option_hint = ", or leave --size out";
  EXPECT_EQ(full_hint(error), "write 5, or leave --size out");
}

TEST(Error, IsAboutAnOptionWithOrWithoutItsValue) {
  const Error error{ErrorKind::usage, "", "", "--memory pmem:/mnt/a b"};
  EXPECT_TRUE(is_about(error, "--memory"));
  EXPECT_FALSE(is_about(error, "--mem"));
  EXPECT_FALSE(is_about(Error{}, "--memory"));
  EXPECT_EQ(renamed(error, "--memory", "--from").subject, "--from pmem:/mnt/a b");
  EXPECT_EQ(renamed(error, "--size", "--sizes"), error);
}

TEST(Error, AboutKeepsTheSubjectThatItHad) {
  const Error error{ErrorKind::io, "cannot be read", "why", "a.json"};
  const Error about_option = about("--machine", error);
  EXPECT_EQ(full_text(about_option), "--machine: a.json: cannot be read");
  EXPECT_EQ(about_option.subject, "--machine");
  EXPECT_EQ(about_option.hint, "why");
}

TEST(Error, ErrnoTextIsTheSystems) {
  EXPECT_EQ(errno_text(EACCES), "Permission denied");
  for (const int code : {EACCES, EPERM, EROFS})
    EXPECT_EQ(file_error_kind(code), ErrorKind::permission) << errno_text(code);
  for (const int code : {ENOENT, ENOSPC, EIO, 0})
    EXPECT_EQ(file_error_kind(code), ErrorKind::io) << errno_text(code);
  EXPECT_EQ(errno_text(ENOENT), "No such file or directory");
}

}  // namespace
}  // namespace numatlas
