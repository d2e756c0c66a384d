// A device-DAX character device, mapped: dax:/dev/daxX.Y.
#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/tree.h"
#include "memory/check_sources.h"
#include "memory/folder.h"
#include "memory/libpmem.h"
#include "memory/sources/dax.h"
#include "placement/kernel_calls.h"

namespace numatlas {
namespace {

/// Of nearly all devices: that of a huge page of x86-64 and arm64 with base pages of 4 KiB.
constexpr std::uint64_t usual_alignment = 2 * mib;

/// `folder` is the device's in sysfs.
tl::unexpected<Error> in_use(const MemoryPlacement& placement, const std::string& folder,
                             const std::string& name) {
  const auto node = node_in(folder + "/target_node");
  return fail_about(
      ErrorKind::unavailable, subject_of(placement),
      fmt::format("this memory is in use as system memory (system-ram){}",
                  node ? fmt::format(", as node {}", node->value) : ""),
      fmt::format("{}convert it to a device with daxctl reconfigure-device --mode=devdax {}",
                  node ? fmt::format("use bind:{}, or ", node->value) : "", name));
}

bool is_system_memory(const std::string& folder) {
  return running_system().link_name(folder + "/driver") == "kmem";
}

/// There is no device file; it may be memory of the system instead.
tl::unexpected<Error> no_device(const MemoryPlacement& placement, const std::string& path,
                                int error) {
  const std::string subject = subject_of(placement);
  const std::string name = std::filesystem::path(path).filename().string();
  const std::string folder = "/sys/bus/dax/devices/" + name;
  if (error == ENOENT && is_system_memory(folder)) return in_use(placement, folder, name);
  const std::string text = errno_text(error);
  if (error == ENAMETOOLONG) return fail_usage(subject, text);
  if (error == EACCES) return fail_about(ErrorKind::permission, subject, text);
  return fail_about(ErrorKind::unavailable, subject, text,
                    "numatlas topology shows the devices of this machine");
}

/// /sys/dev/char/M:m of a path; an error where it is no device.
Expected<std::string> sysfs_folder(const MemoryPlacement& placement, const std::string& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) return no_device(placement, path, errno);
  if (!S_ISCHR(status.st_mode)) {
    return fail_usage(subject_of(placement), "this is not a character device",
                      S_ISDIR(status.st_mode) ? "a folder on a DAX file system is used with pmem:"
                                              : "name a device such as /dev/dax0.0");
  }
  return fmt::format("/sys/dev/char/{}:{}", major(status.st_rdev), minor(status.st_rdev));
}

}  // namespace

Expected<DaxDevice> find_dax(const MemoryPlacement& placement) {
  const std::string path = source_value(placement);
  const auto folder = TRY(sysfs_folder(placement, path));
  DaxDevice device;
  device.name = running_system().link_name(folder).value_or("");
  if (is_system_memory(folder)) return in_use(placement, folder, device.name);
  const auto size = running_system().number(folder + "/size");
  if (!device.name.starts_with("dax") || !size || *size <= 0) {
    return fail_about(ErrorKind::unavailable, subject_of(placement),
                      fmt::format("this is not a DAX device ({} does not show one)", folder),
                      "numatlas topology shows the devices of this machine");
  }
  device.size = static_cast<std::uint64_t>(*size);
  const auto alignment = running_system().number(folder + "/align");
  device.alignment =
      alignment && *alignment > 0 ? static_cast<std::uint64_t>(*alignment) : usual_alignment;
  device.node = node_of_device(folder);
  if (access(path.c_str(), R_OK | W_OK) != 0) {
    return fail_about(ErrorKind::permission, subject_of(placement), errno_text(errno),
                      "ask for read and write permission on the device, or run as root");
  }
  return device;
}

namespace {

Expected<std::unique_ptr<Buffer>> make_dax(const Region& region) {
  const std::string subject = subject_of(region.placement);
  const auto device = TRY(find_dax(region.placement));
  if (!libpmem().problem.empty()) {
    return fail_about(
        ErrorKind::unavailable, subject,
        fmt::format("libpmem is required to make stores persistent: {}", libpmem().problem),
        libpmem().hint);
  }
  const std::uint64_t bytes = rounded_up(region.bytes.value, device.alignment);
  if (region.offset > device.size || bytes > device.size - region.offset) {
    return fail_about(
        ErrorKind::resource, subject,
        fmt::format("{} from offset {} are required, the device has {}",
                    to_rounded_text(Bytes{bytes}), to_rounded_text(Bytes{region.offset}),
                    to_rounded_text(Bytes{device.size})));
  }
  const int file = open(source_value(region.placement).c_str(), O_RDWR | O_CLOEXEC);
  if (file < 0) return file_error(region, "open", errno);
  void* const start = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED_VALIDATE | MAP_SYNC,
                           file, static_cast<off_t>(region.offset));
  const int error = errno;
  close(file);
  if (start == MAP_FAILED) return file_error(region, "mmap", error);
  Buffer::Functions functions;
  functions.free = [start, bytes] { munmap(start, bytes); };
  functions.residency = [start, size = region.bytes.value,
                         node = device.node](const ProcessMappings& mappings) {
    Residency seen = observe(start, size, mappings);
    std::vector<NodeId> nodes;
    if (node) nodes.push_back(*node);
    if (seen.pages_by_node.empty()) tell_by_devices(seen, nodes);
    return seen;
  };
  functions.persist = [](const void* from, std::size_t size) -> Expected<void> {
    libpmem().persist(from, size);
    return {};
  };
  return std::make_unique<Buffer>(start, region.bytes.value,
                                  PolicyOutcome{"mmap of the device", ""}, std::move(functions));
}

SourceState device_state(const Machine& machine) {
  std::vector<std::string> good, bad;
  for (const PersistentMemory& memory : machine.persistent_memory) {
    if (memory.mode != "devdax") continue;
    MemoryPlacement placement;
    placement.source = "dax:/dev/" + memory.name;
    const auto device = find_dax(placement);
    if (device) {
      good.push_back(fmt::format("/dev/{} {}", memory.name, to_rounded_text(Bytes{device->size})));
    } else {
      bad.push_back(fmt::format("/dev/{}: {}", memory.name, device.error().message));
    }
  }
  std::vector<std::string> all = good;
  all.insert(all.end(), bad.begin(), bad.end());
  return {"DAX devices", !good.empty(),
          all.empty() ? "no device in mode devdax" : fmt::format("{}", fmt::join(all, ", "))};
}

class DaxSource final : public MemorySource {
 public:
  DaxSource()
      : MemorySource({.word = "dax",
                      .forms = {"dax:/dev/dax0.0"},
                      .persistent = true,
                      .has_offsets = true}) {}
  Expected<std::string> parse(std::string_view value) const override {
    return parse_path(value, "dax", "device", "dax:/dev/dax0.0");
  }
  Expected<void> probe(const MemoryPlacement&) const override { return check_pmem(); }
  Expected<std::optional<Room>> room(const MemoryPlacement& placement) const override {
    const auto found = TRY(find_dax(placement));
    return Room{found.name, found.size, "is the size of " + found.name, found.alignment};
  }
  Expected<std::unique_ptr<Buffer>> make(const Region& region) const override {
    return make_dax(region);
  }
  std::vector<SourceState> describe(const Machine& machine) const override {
    return {device_state(machine)};
  }
  std::optional<DeviceFacts> device(const MemoryPlacement& placement) const override {
    const auto found = find_dax(placement);
    if (!found) return std::nullopt;
    return DeviceFacts{found->name, Bytes{found->alignment}};
  }
};

}  // namespace

const MemorySource& dax_source() {
  static const DaxSource source;
  return source;
}

}  // namespace numatlas
