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
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "base/text.h"
#include "base/tree.h"
#include "machine/allowance.h"
#include "memory/folder.h"
#include "placement/kernel_calls.h"

namespace numatlas {
namespace {

namespace fs = std::filesystem;

/// STATX_ATTR_DAX of Linux 5.8; installed headers may be older.
constexpr std::uint64_t statx_attribute_dax = 0x00200000;

/// Node of a device's memory by its folder of sysfs: target_node, else the nearest (numa_node);
/// nullopt where both are absent or -1 (the firmware does not say).
std::optional<NodeId> node_of_device(const std::string& folder) {
  for (const char* file : {"/target_node", "/numa_node"}) {
    const auto value = running_system().number(folder + file);
    if (value && *value >= 0) return NodeId{static_cast<int>(*value)};
  }
  return std::nullopt;
}

/// Nodes of the devices that a block device is made of, one entry a device; `folder` is its own
/// below /sys, without the root. Stripes (dm, md) name their parts in slaves/, and parts of those.
void add_block_nodes(const std::string& folder, std::vector<std::optional<NodeId>>& nodes,
                     int depth = 0) {
  // Device mapper allows no loops; a broken sysfs of a test might have one.
  constexpr int deepest = 8;
  const std::string& root = running_system().root();
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

Expected<std::string> parse_path(std::string_view value, const std::string& word, const char* what,
                                 const char* example) {
  if (trim(value).empty()) {
    return fail(ErrorKind::usage, fmt::format("'{}:' names no {}", word, what),
                fmt::format("write {}", example));
  }
  if (printable(value) != value) {
    return fail(
        ErrorKind::usage,
        fmt::format("'{}:' names a path that is not UTF-8 text or has control characters", word),
        "results are text: make a link with a plain name");
  }
  return std::string(value);
}

std::optional<Room> folder_room(const std::string& folder) {
  struct stat status {};
  struct statvfs left {};
  if (stat(folder.c_str(), &status) != 0 || statvfs(folder.c_str(), &left) != 0)
    return std::nullopt;
  // A file system without a size (ramfs) says 0 of everything.
  if (left.f_blocks == 0) return std::nullopt;
  // Some blocks are kept for root.
  const std::uint64_t blocks = geteuid() == 0 ? left.f_bfree : left.f_bavail;
  return Room{fmt::format("file system {}:{}", major(status.st_dev), minor(status.st_dev)),
              blocks * left.f_frsize, "free on " + file_system_of(folder)};
}

bool is_node_memory(const std::string& folder, const Machine& machine) {
  return machine.is_live() && file_system_of(folder) == "tmpfs";
}

Expected<void> check_folder(const MemoryPlacement& placement) {
  const std::string folder = source_value(placement), subject = subject_of(placement);
  struct stat status {};
  if (stat(folder.c_str(), &status) != 0) {
    return fail_about(file_error_kind(errno), subject, errno_text(errno),
                      "name an existing folder on a file system mounted with -o dax");
  }
  if (!S_ISDIR(status.st_mode)) {
    return fail_usage(subject, "this is not a folder", "name the folder it is in");
  }
  if (access(folder.c_str(), W_OK | X_OK) != 0) {
    return fail_about(ErrorKind::permission, subject,
                      fmt::format("cannot create a file there: {}", errno_text(errno)),
                      "name a folder that this user may write to");
  }
  return {};
}

std::string file_system_of(const std::string& folder) {
  struct stat status {};
  if (stat(folder.c_str(), &status) != 0) return "a file system";
  const std::string device = fmt::format("{}:{}", major(status.st_dev), minor(status.st_dev));
  for (const Mount& mount : mounts(running_system()))
    if (mount.device_number == device) return mount.type;
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
                         bool direct, const ProcessMappings& mappings) {
  Residency seen = observe(start, bytes, mappings);
  // The kernel counts the pages of DAX among those that are not there (-ENOENT).
  if (direct && seen.pages_by_node.empty()) tell_by_devices(seen, nodes_below(folder));
  return seen;
}

std::unique_ptr<Buffer> file_buffer(const Region& region, void* start, const char* call,
                                    bool direct, Buffer::Functions functions) {
  const std::string folder = source_value(region.placement);
  const std::size_t bytes = region.bytes.value;
  functions.residency = [=](const ProcessMappings& mappings) {
    return file_residency(start, bytes, folder, direct, mappings);
  };
  PolicyOutcome outcome{call, ""};
  if (!direct)
    outcome.note = fmt::format("{} is not real persistent memory: a file on {} in the page cache",
                               folder, file_system_of(folder));
  return std::make_unique<Buffer>(start, bytes, std::move(outcome), std::move(functions));
}

tl::unexpected<Error> file_error(const Region& region, const std::string& call, int error) {
  const bool full = error == ENOSPC || error == EDQUOT || error == EFBIG || error == ENOMEM;
  const ErrorKind kind = error == EINTR ? ErrorKind::interrupted
                         : full         ? ErrorKind::resource
                                        : file_error_kind(error);
  return fail_about(
      kind, subject_of(region.placement),
      fmt::format("{} of {} failed: {}", call, to_rounded_text(region.bytes), errno_text(error)),
      "the file system has to map files, and to have room for them");
}

}  // namespace numatlas
