// How one run of a program is laid out: CPUs, memory and pages, put in force in the process that
// then becomes the program, and the words that ask other tools for the same.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "placement/placement.h"

namespace numatlas {

/// Absent: as this process has it.
struct ProgramLayout {
  std::optional<CpuSet> cpus;
  std::optional<MemoryPlacement> memory;
  /// base: no transparent huge pages at all; thp: glibc's heap asks for them; huge_2m: glibc's heap
  /// is made of huge pages of the system's pool. huge_1g is not understood.
  std::optional<PageKind> pages;
  std::vector<std::pair<std::string, std::string>> environment = {};  ///< variables beside

  bool is_empty() const { return !cpus && !memory && !pages && environment.empty(); }
  friend bool operator==(const ProgramLayout&, const ProgramLayout&) = default;
};

/// Of this process, and of what it becomes. Errors name --cpus, --memory or --pages.
Expected<void> put_in_force(const ProgramLayout& layout);

/// Lines for people, ready to be copied, that start a program so: one of `numatlas exec`, one of
/// numactl and one of env, each where that tool can ask for all of it.
std::vector<std::string> ready_lines(const ProgramLayout& layout,
                                     const std::vector<std::string>& program);

/// GLIBC_TUNABLES with the setting of the heap's pages in it; other settings stay.
std::string tunables_with(const std::string& before, PageKind pages);

}  // namespace numatlas
