#include "base/own_files.h"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <system_error>

#include <fmt/format.h>

namespace numatlas {
namespace {

namespace fs = std::filesystem;

constexpr const char* running_program = "/proc/self/exe";

/// Whether nobody else may change a file or folder, or the link that it is.
bool is_trusted(const fs::path& path) {
  struct stat program {
  }, link{}, status{};
  if (stat(running_program, &program) != 0 || lstat(path.c_str(), &link) != 0 ||
      stat(path.c_str(), &status) != 0)
    return false;
  const auto is_known = [&](uid_t owner) {
    return owner == 0 || owner == geteuid() || owner == program.st_uid;
  };
  // Of files that were made with umask 002 the group is the owner's own, as that of the program.
  const bool of_known_group = status.st_uid == 0 || status.st_gid == program.st_gid;
  const mode_t others = of_known_group ? S_IWOTH : S_IWOTH | S_IWGRP;
  return is_known(link.st_uid) && is_known(status.st_uid) && (status.st_mode & others) == 0;
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
  for (fs::path path = fs::path(file).lexically_normal();; path = path.parent_path()) {
    if (!is_trusted(path))
      return fmt::format("others than root and you may change {}", path.string());
    if (path == fs::path(top).lexically_normal() || path == path.root_path()) return "";
  }
}

}  // namespace numatlas
