// Internal: the text files of /proc that describe a process's mappings.
#pragma once

#include <cstddef>
#include <cstdint>
#include <istream>
#include <map>
#include <string>
#include <vector>

#include "placement/residency.h"

namespace numatlas {

/// One mapping of /proc/PID/smaps.
struct Mapping {
  std::uintptr_t start = 0, end = 0;
  std::size_t page_size = 0;       ///< KernelPageSize in bytes; 0 where the file has none
  std::size_t resident = 0;        ///< bytes (0 for huge pages, which smaps counts elsewhere)
  std::size_t anonymous_huge = 0;  ///< bytes in transparent huge pages
};
/// All of them, in order; unknown lines are passed over, so files of older and later kernels are
/// read alike.
std::vector<Mapping> read_smaps(std::istream& file);

/// One line of /proc/PID/numa_maps.
struct NumaMapsLine {
  std::uintptr_t start = 0;
  std::string group = "Private";  ///< as numastat groups it: Huge, Heap, Stack, Private
  std::size_t page_size = 0;      ///< kernelpagesize_kB in bytes; 0 where the line has none
  std::map<int, std::uint64_t> pages_by_node;
};
/// False for a line that is not of this format.
bool parse_numa_maps_line(const std::string& line, NumaMapsLine& out);

/// Sums by group and node. Nodes not in `nodes` but seen in the file are added behind them.
ProcessMemory sum_numa_maps(std::istream& file, const NodeSet& nodes);

}  // namespace numatlas
