#include "base/own_files.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <string_view>
#include <system_error>

#include <fmt/format.h>

#include "base/error.h"

namespace numatlas {
namespace {

namespace fs = std::filesystem;

constexpr const char* running_program = "/proc/self/exe";

/// Of one file or folder; "" where nobody but those trusted may change it.
std::string who_may_change(const fs::path& path, const struct stat& program) {
  struct stat link {};
  struct stat status {};
  if (lstat(path.c_str(), &link) != 0 || stat(path.c_str(), &status) != 0)
    return fmt::format("{}: {}", path.string(), errno_text(errno));
  for (const uid_t owner : {link.st_uid, status.st_uid}) {
    if (owner != 0 && owner != geteuid() && owner != program.st_uid) {
      return fmt::format("{} belongs to user {}, who is neither root nor you", path.string(),
                         owner);
    }
  }
  if ((status.st_mode & S_IWOTH) != 0)
    return fmt::format("every user may write to {}", path.string());
  // Of files that were made with umask 002 the group is the owner's own, as that of the program.
  const bool of_group = (status.st_mode & S_IWGRP) != 0;
  if (of_group && status.st_uid != 0 && status.st_gid != program.st_gid)
    return fmt::format("group {} may write to {}", status.st_gid, path.string());
  return "";
}

}  // namespace

std::string program_folder() {
  std::error_code code;
  const fs::path program = fs::read_symlink(running_program, code);
  return code ? "" : program.parent_path().string();
}

std::string build_folder() {
  std::error_code code;
  const fs::path build = fs::canonical(NUMATLAS_BUILD_DIR, code);
  if (code) return "";
  const std::string folder = program_folder();
  return (folder + "/").starts_with(build.string() + "/") ? build.string() : "";
}

std::string why_not_trusted(const std::string& top, const std::string& file) {
  struct stat program {};
  if (stat(running_program, &program) != 0)
    return fmt::format("{}: {}", running_program, errno_text(errno));
  const fs::path inside =
      fs::path(file).lexically_normal().lexically_relative(fs::path(top).lexically_normal());
  if (inside.empty() || *inside.begin() == "..")
    return fmt::format("{} does not lie in {}", file, top);
  fs::path path = top;
  std::string problem = who_may_change(path, program);
  for (auto part = inside.begin(); problem.empty() && part != inside.end(); ++part) {
    path /= *part;
    problem = who_may_change(path, program);
  }
  return problem;
}

}  // namespace numatlas
