// Test helper: memory to place on the kernel of the machine that runs the tests, and what stands in
// for parts of it.
#pragma once

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>

#include "base/test_folder.h"
#include "base/tree.h"
#include "placement/test_machines.h"

namespace numatlas::testing {

inline const std::size_t page = kernel::page_size();

/// Untouched pages.
class Pages {
 public:
  explicit Pages(std::size_t count) : bytes_(count * page) {
    start_ = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  }
  ~Pages() { munmap(start_, bytes_); }
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;
  void* start() const { return start_; }
  std::size_t bytes() const { return bytes_; }
  void touch() { std::memset(start_, 1, bytes_); }
  /// Mode of the range, as the kernel has it.
  int mode() const {
    int mode = -1;
    constexpr unsigned long of_address = 2;  // MPOL_F_ADDR
    kernel::calls().get_mempolicy(&mode, nullptr, 0, start_, of_address);
    return mode;
  }

 private:
  void* start_;
  std::size_t bytes_;
};

inline MemoryPlacement placement(const std::string& text) { return parse_node_spec(text)->single; }

/// A node that this process may use, as text.
inline std::string own_node() { return std::to_string(kernel::allowed_nodes()->front().value); }

#define REQUIRE_NUMA() \
  if (!kernel::allowed_nodes()) GTEST_SKIP() << "get_mempolicy is refused or missing here"

/// Runs a check in a child process, so that what it does to the process ends with it.
inline bool in_child(const std::function<bool()>& check) {
  const pid_t child = fork();
  if (child == 0) _exit(check() ? 0 : 1);
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/// A tree of its own for /sys and /proc, below a temporary folder: the node lists, and the nodes
/// that the task may use where the kernel is to say so.
class NodeLists {
 public:
  NodeLists(const char* online, const char* has_memory, const char* allowed = nullptr) {
    const std::filesystem::path& root = folder_.path();
    const auto folder = root / "sys/devices/system/node";
    std::filesystem::create_directories(folder);
    std::ofstream(folder / "online") << online << '\n';
    if (has_memory != nullptr) std::ofstream(folder / "has_memory") << has_memory << '\n';
    if (allowed != nullptr) {
      std::filesystem::create_directories(root / "proc/self");
      std::ofstream(root / "proc/self/status")
          << "Name:\ttest\nMems_allowed:\t00000003\nMems_allowed_list:\t" << allowed << '\n';
    }
    running_system() = Tree(root);
  }

 private:
  CallsGuard guard_;
  TestFolder folder_;
};

}  // namespace numatlas::testing
