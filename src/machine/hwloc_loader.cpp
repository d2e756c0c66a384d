#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "base/tree.h"
#include "machine/hwloc_reader.h"

namespace numatlas {
namespace {

/// Sets (or unsets, with nullopt) an environment variable for the time of a load. hwloc takes the
/// root of a recorded tree, and orders to read another machine, from the environment only. The
/// environment is left alone when it already is as wanted, which is the normal case.
class ScopedVariable {
 public:
  ScopedVariable(const char* name, std::optional<std::string> value) : name_(name) {
    const char* now = std::getenv(name);
    if (now != nullptr) before_ = now;
    if (before_ == value) return;
    changed_ = true;
    set(value);
  }
  ~ScopedVariable() {
    if (changed_) set(before_);
  }
  ScopedVariable(const ScopedVariable&) = delete;
  ScopedVariable& operator=(const ScopedVariable&) = delete;

 private:
  void set(const std::optional<std::string>& value) const {
    if (value) {
      ::setenv(name_, value->c_str(), 1);
    } else {
      ::unsetenv(name_);
    }
  }
  const char* name_;
  std::optional<std::string> before_;
  bool changed_ = false;
};

/// hwloc 2.10 and later takes DRAM for HBM where the firmware says that another node's
/// is slower, such as that of a CXL device. What the system itself says of memory stays.
ScopedVariable no_guess_at_memory() {
  const bool guesses = hwloc_get_api_version() >= 0x00020a00;
  return {"HWLOC_MEMTIERS_GUESS", guesses ? std::optional<std::string>("none") : std::nullopt};
}

Expected<Topology> new_topology() {
  hwloc_topology_t raw = nullptr;
  if (hwloc_topology_init(&raw) != 0) {
    return fail(ErrorKind::internal, fmt::format("hwloc_topology_init: {}", errno_text(errno)));
  }
  Topology topology(raw);
  hwloc_topology_set_flags(raw, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED);
  hwloc_topology_set_icache_types_filter(raw, HWLOC_TYPE_FILTER_KEEP_ALL);
  hwloc_topology_set_type_filter(raw, HWLOC_OBJ_MEMCACHE, HWLOC_TYPE_FILTER_KEEP_ALL);
  return topology;
}

constexpr const char* how_to_write_xml = "write one with 'lstopo file.xml'";

/// Major version of hwloc that a file was written by (version="3.0"); 0 where it does not say.
int xml_version(const std::string& content) {
  constexpr std::string_view start = "<topology version=\"";
  const auto at = content.find(start);
  return at == std::string::npos ? 0 : std::atoi(content.c_str() + at + start.size());
}

/// The error of a file that cannot be read, with the command that makes one that can.
tl::unexpected<Error> refused_xml(const std::string& content) {
  const int version = xml_version(content), ours = static_cast<int>(hwloc_get_api_version() >> 16);
  if (version <= ours)
    return fail(ErrorKind::usage, "not a complete hwloc XML topology", how_to_write_xml);
  return fail(
      ErrorKind::usage,
      fmt::format("written by hwloc {}, which the libhwloc {} here cannot read", version, ours),
      "on that machine write 'lstopo --export-xml-flags v2 file.xml', or "
      "'numatlas topology --format json > file.json'");
}

/// CPUs of a description: the product of the level counts outside parentheses and brackets.
double described_cpus(std::string_view description) {
  double product = 1;
  int depth = 0;
  for (std::size_t at = 0; at < description.size(); ++at) {
    const char c = description[at];
    if (c == '(' || c == '[') ++depth;
    if (c == ')' || c == ']') --depth;
    if (c != ':' || depth != 0) continue;
    product *= std::strtod(std::string(description.substr(at + 1, 20)).c_str(), nullptr);
  }
  return product;
}

}  // namespace

Expected<Topology> load_live_topology(const std::string& root) {
  // Of this hwloc says nothing but an assertion that ends the process. Containers make such
  // folders.
  const Tree tree(root);
  const std::string nodes = "/sys/devices/system/node";
  const auto names = tree.names(nodes);
  const bool any = std::any_of(names.begin(), names.end(), [](const std::string& name) {
    return name == "online" || number_after(name, "node");
  });
  if (tree.exists(nodes) && !any) {
    return fail(ErrorKind::unavailable, nodes + " has no NUMA node: hwloc cannot read this machine",
                "is something else mounted there? Kernels without NUMA support lack this folder");
  }
  const std::optional<std::string> wanted = root.empty() ? std::nullopt : std::optional(root);
  const ScopedVariable fsroot("HWLOC_FSROOT", wanted);
  const ScopedVariable xml("HWLOC_XMLFILE", std::nullopt);
  const ScopedVariable synthetic("HWLOC_SYNTHETIC", std::nullopt);
  const ScopedVariable cpuid("HWLOC_CPUID_PATH", std::nullopt);
  const ScopedVariable components("HWLOC_COMPONENTS", std::nullopt);
  const ScopedVariable gpu_memory("HWLOC_KEEP_NVIDIA_GPU_NUMA_NODES", "1");
  const ScopedVariable no_guess = no_guess_at_memory();
  auto topology = new_topology();
  if (!topology) return topology;
  // The x86 component binds this thread to every CPU in turn; only needed where sysfs has no
  // caches.
  if (!root.empty() || tree.exists("/sys/devices/system/cpu/cpu0/cache/index0")) {
    hwloc_topology_set_components(topology->get(), HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST, "x86");
  }
  if (hwloc_topology_load(topology->get()) != 0) {
    return fail(ErrorKind::unavailable,
                fmt::format("hwloc cannot read the topology of this machine (hwloc_topology_load: "
                            "{})",
                            errno_text(errno)),
                "is /sys mounted?");
  }
  return topology;
}

Expected<Topology> load_xml_topology(const std::string& content, Devices devices) {
  // Files of lstopo need nothing of libxml2, which would expand entities.
  const ScopedVariable no_libxml("HWLOC_LIBXML", "0");
  const ScopedVariable no_guess = no_guess_at_memory();
  auto topology = new_topology();
  if (!topology) return topology;
  hwloc_topology_set_io_types_filter(topology->get(), devices == Devices::kept
                                                          ? HWLOC_TYPE_FILTER_KEEP_ALL
                                                          : HWLOC_TYPE_FILTER_KEEP_IMPORTANT);
  if (devices == Devices::kept) {
    hwloc_topology_set_type_filter(topology->get(), HWLOC_OBJ_MISC, HWLOC_TYPE_FILTER_KEEP_ALL);
  }
  // hwloc wants the size with the final NUL.
  if (content.size() >= static_cast<std::size_t>(INT32_MAX) ||
      hwloc_topology_set_xmlbuffer(topology->get(), content.c_str(),
                                   static_cast<int>(content.size()) + 1) != 0 ||
      hwloc_topology_load(topology->get()) != 0) {
    return refused_xml(content);
  }
  hwloc_topology_check(topology->get());  // an assertion where the file contradicts itself
  return topology;
}

Expected<Topology> load_synthetic_topology(const std::string& description) {
  // Far above any machine; a slip such as pu:1000000000 would otherwise eat all memory.
  constexpr double most_cpus = 1 << 17;
  const char* hint = "an example: 'package:2 numa:2 l3:1 core:8 pu:2' (levels from large to small)";
  if (described_cpus(description) > most_cpus) {
    return fail(ErrorKind::usage, fmt::format("describes more than {} CPUs", most_cpus), hint);
  }
  auto topology = new_topology();
  if (!topology) return topology;
  if (hwloc_topology_set_synthetic(topology->get(), description.c_str()) != 0 ||
      hwloc_topology_load(topology->get()) != 0) {
    return fail(ErrorKind::usage, "hwloc cannot parse this synthetic description", hint);
  }
  return topology;
}

Expected<std::string> to_xml(hwloc_topology_t topology) {
  char* buffer = nullptr;
  int length = 0;  // with the final NUL
  if (hwloc_topology_export_xmlbuffer(topology, &buffer, &length, 0) != 0)
    return fail(ErrorKind::internal, "libhwloc cannot write the topology");
  std::string text(buffer);
  hwloc_free_xmlbuffer(topology, buffer);
  return text;
}

}  // namespace numatlas
