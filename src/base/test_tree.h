// For the tests: a recorded /sys and /proc written into a folder of its own.
#pragma once

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>

#include <fmt/format.h>

#include "base/ids.h"
#include "base/test_folder.h"

namespace numatlas::testing {

/// Sets as lists, such as "0-3,7".
inline CpuSet cpus(const char* list) { return *parse_list<CpuId>(list); }
inline NodeSet nodes(const char* list) { return *parse_list<NodeId>(list); }

class RecordedTree {
 public:
  std::string root() const { return folder_.text(); }

  /// Nothing is written where a file is in the way of a folder.
  void file(const std::string& path, const std::string& content) const {
    std::ofstream(in_its_folder(path)) << content << "\n";
  }
  void link(const std::string& path, const std::string& target) const {
    std::error_code exists;
    std::filesystem::create_symlink(target, in_its_folder(path), exists);
  }
  /// CPUs 0 to count - 1, a core each, in packages of `per_package`.
  void cpus(int count, int per_package) const {
    const std::string folder = "/sys/devices/system/cpu";
    for (const char* name : {"online", "possible", "present"}) {
      file(folder + "/" + name, fmt::format("0-{}", count - 1));
    }
    for (int id = 0; id < count; ++id) {
      const std::string topology = fmt::format("{}/cpu{}/topology", folder, id);
      const int package = id / per_package;
      file(topology + "/core_id", fmt::format("{}", id));
      file(topology + "/physical_package_id", fmt::format("{}", package));
      file(topology + "/thread_siblings", fmt::format("{:x}", 1U << id));
      file(topology + "/core_cpus", fmt::format("{:x}", 1U << id));
      const unsigned mates = ((1U << per_package) - 1) << (package * per_package);
      file(topology + "/core_siblings", fmt::format("{:x}", mates));
      file(topology + "/package_cpus", fmt::format("{:x}", mates));
    }
  }
  /// A node with its own CPUs as list and mask; `memory_kb` < 0: no meminfo.
  void node(int id, const std::string& cpulist, unsigned mask, long memory_kb,
            const std::string& distance) const {
    const std::string folder = fmt::format("/sys/devices/system/node/node{}", id);
    file(folder + "/cpulist", cpulist);
    file(folder + "/cpumap", fmt::format("{:x}", mask));
    file(folder + "/distance", distance);
    if (memory_kb < 0) return;
    file(folder + "/meminfo",
         fmt::format("Node {0} MemTotal:   {1} kB\nNode {0} MemFree:    {2} kB", id, memory_kb,
                     memory_kb / 2));
  }

 private:
  std::filesystem::path in_its_folder(const std::string& path) const {
    const std::filesystem::path full = root() + path;
    std::error_code failed;
    std::filesystem::create_directories(full.parent_path(), failed);
    return full;
  }

  TestFolder folder_;
};

}  // namespace numatlas::testing
