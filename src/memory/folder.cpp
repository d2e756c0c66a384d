// Folders as sources of memory: what is free, which file system, and the nodes of the devices
// below.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <system_error>
#include <vector>

#include "memory/sources.h"
#include "placement/kernel_calls.h"

namespace numatlas {
namespace {

namespace fs = std::filesystem;

/// STATX_ATTR_DAX of Linux 5.8; installed headers may be older.
constexpr std::uint64_t statx_attribute_dax = 0x00200000;

/// Nodes of the devices that a block device is made of, one entry a device; `folder` is its own
/// below /sys, without the root. Stripes (dm, md) name their parts in slaves/, and parts of those.
void add_block_nodes(const std::string& folder, std::vector<std::optional<NodeId>>& nodes,
                     int depth = 0) {
  // Device mapper allows no loops; a broken sysfs of a test might have one.
  constexpr int deepest = 8;
  const std::string& root = kernel::calls().root;
  std::error_code error;
  const fs::path real = fs::canonical(root + folder, error);
  if (error || depth > deepest) return;
  const std::string own =
      real.string().substr(root.empty() ? 0 : fs::canonical(root).string().size());
  if (fs::exists(real / "partition", error)) {
    add_block_nodes(fs::path(own).parent_path().string(), nodes, depth + 1);
    return;
  }
  std::vector<std::string> parts;
  for (fs::directory_iterator part(real / "slaves", error), end; !error && part != end;
       part.increment(error)) {
    parts.push_back(own + "/slaves/" + part->path().filename().string());
  }
  std::sort(parts.begin(), parts.end());
  for (const std::string& part : parts) add_block_nodes(part, nodes, depth + 1);
  if (!parts.empty()) return;
  nodes.push_back(node_of_device(own + "/device"));
}

std::vector<NodeId> nodes_below(const std::string& folder) {
  struct stat status {};
  std::vector<std::optional<NodeId>> parts;
  if (stat(folder.c_str(), &status) != 0) return {};
  add_block_nodes(fmt::format("/sys/dev/block/{}:{}", major(status.st_dev), minor(status.st_dev)),
                  parts);
  std::vector<NodeId> nodes;
  for (const auto& part : parts) {
    if (!part) return {};  // where one part lies is not known, the whole is not either
    nodes.push_back(*part);
  }
  return nodes;
}

}  // namespace

std::optional<NodeId> node_in(const std::string& file) {
  const auto value = kernel::read_number(file);
  if (!value || *value < 0) return std::nullopt;  // -1: the firmware does not say
  return NodeId{static_cast<int>(*value)};
}

std::optional<NodeId> node_of_device(const std::string& folder) {
  const auto node = node_in(folder + "/target_node");
  return node ? node : node_in(folder + "/numa_node");
}

Expected<void> check_folder(const MemoryPlacement& placement) {
  const std::string folder = source_of(placement).name, option = option_text(placement);
  struct stat status {};
  if (stat(folder.c_str(), &status) != 0) {
    const int error = errno;
    const std::string text = errno_text(error);
    if (error == ENAMETOOLONG) return fail_usage(option, text);
    if (error == EACCES) return fail_about(ErrorKind::permission, option, text);
    return fail_about(ErrorKind::io, option, text,
                      "name an existing folder on a file system mounted with -o dax");
  }
  if (!S_ISDIR(status.st_mode)) {
    const bool device = S_ISCHR(status.st_mode);
    return fail_usage(option, "this is not a folder",
                      device ? "a character device is used with dax:" : "name the folder it is in");
  }
  if (access(folder.c_str(), W_OK | X_OK) != 0) {
    return fail_about(ErrorKind::permission, option,
                      fmt::format("cannot create a file there: {}", errno_text(errno)),
                      "name a folder that this user may write to");
  }
  return {};
}

std::optional<std::uint64_t> free_in(const std::string& folder) {
  struct statvfs status {};
  if (statvfs(folder.c_str(), &status) != 0) return std::nullopt;
  // Some blocks are kept for root. A file system without a size (ramfs) says 0 of everything.
  if (status.f_blocks == 0) return std::nullopt;
  const auto blocks = geteuid() == 0 ? status.f_bfree : status.f_bavail;
  return static_cast<std::uint64_t>(blocks) * status.f_frsize;
}

std::string page_cache_note(const std::string& folder) {
  return fmt::format("{} is not real persistent memory: a file on {} in the page cache", folder,
                     file_system_of(folder));
}

std::string file_system_of(const std::string& folder) {
  struct stat status {};
  if (stat(folder.c_str(), &status) == 0) {
    const std::string device = fmt::format("{}:{}", major(status.st_dev), minor(status.st_dev));
    std::ifstream mounts("/proc/self/mountinfo");
    // "36 35 98:0 / /mnt rw,noatime shared:1 - ext4 /dev/sda1 rw": see proc(5).
    for (std::string line; std::getline(mounts, line);) {
      std::istringstream words(line);
      std::string word, its_device;
      words >> word >> word >> its_device;
      if (its_device != device) continue;
      while (words >> word && word != "-") {
      }
      if (words >> word) return word;
    }
  }
  return "a file system";
}

std::optional<bool> maps_directly(const std::string& folder) {
  const int file = open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (file < 0) return std::nullopt;
  struct statx status {};
  const bool told = statx(file, "", AT_EMPTY_PATH, 0, &status) == 0 &&
                    (status.stx_attributes_mask & statx_attribute_dax) != 0;
  close(file);
  if (!told) return std::nullopt;
  return (status.stx_attributes & statx_attribute_dax) != 0;
}

Residency file_residency(const void* start, std::size_t bytes, const std::string& folder,
                         bool direct) {
  Residency seen = observe(start, bytes);
  // The kernel counts the pages of DAX among those that are not there (-ENOENT).
  if (direct && seen.pages_by_node.empty()) tell_by_devices(seen, nodes_below(folder));
  return seen;
}

tl::unexpected<Error> file_error(const Region& region, const std::string& call, int error) {
  const std::string option = option_text(region.placement);
  const std::string what =
      fmt::format("{} of {} failed: {}", call, to_rounded_text(region.bytes), errno_text(error));
  switch (error) {
    case EINTR: return fail_about(ErrorKind::interrupted, option, what);
    case EACCES:
    case EPERM:
    case EROFS: return fail_about(ErrorKind::permission, option, what);
    case ENOSPC:
    case EDQUOT:
    case EFBIG: {
      const auto left = free_in(source_of(region.placement).name);
      return fail_about(
          ErrorKind::resource, option,
          left ? fmt::format("{}; {} free", what, to_rounded_text(Bytes{*left})) : what, "",
          "use a smaller --size or fewer workers, or free space there");
    }
    case ENOMEM: return fail_about(ErrorKind::resource, option, what);
    case ENAMETOOLONG: return fail_usage(option, what);
    case EINVAL:
    case ENODEV:
    case ENOTSUP:
      return fail_about(ErrorKind::io, option, what,
                        "this file system may not support mapped files");
    default: return fail_about(ErrorKind::io, option, what);
  }
}

}  // namespace numatlas
