#include "base/error.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <set>
#include <string>

namespace numatlas {
namespace {

constexpr ErrorKind kinds[] = {ErrorKind::usage,    ErrorKind::unavailable, ErrorKind::permission,
                               ErrorKind::resource, ErrorKind::io,          ErrorKind::placement,
                               ErrorKind::peer,     ErrorKind::interrupted, ErrorKind::internal};

TEST(Error, ExitCodesAreTheDocumentedOnes) {
  EXPECT_EQ(exit_code(ErrorKind::usage), 2);
  EXPECT_EQ(exit_code(ErrorKind::unavailable), 3);
  EXPECT_EQ(exit_code(ErrorKind::permission), 4);
  EXPECT_EQ(exit_code(ErrorKind::resource), 5);
  EXPECT_EQ(exit_code(ErrorKind::io), 6);
  EXPECT_EQ(exit_code(ErrorKind::placement), 7);
  EXPECT_EQ(exit_code(ErrorKind::peer), 8);
  EXPECT_EQ(exit_code(ErrorKind::interrupted), 130);
  EXPECT_EQ(exit_code(ErrorKind::internal), 70);
}

TEST(Error, NamesAndCodesTellTheKindsApart) {
  std::set<std::string> names;
  std::set<int> codes;
  for (ErrorKind kind : kinds) {
    names.insert(name_of(kind));
    codes.insert(exit_code(kind));
  }
  EXPECT_EQ(names.size(), std::size(kinds));
  EXPECT_EQ(codes.size(), std::size(kinds));
}

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
