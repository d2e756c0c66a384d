// Where pages really are: asked from the kernel, never assumed.
#pragma once

#include <cstddef>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/units.h"

namespace numatlas {

/// Observed placement of one range.
struct Residency {
  std::map<int, std::size_t> pages_by_node;  ///< OS node -> pages seen there
  std::size_t untouched = 0;                 ///< pages with no memory behind them (-ENOENT)
  std::size_t errors = 0;                    ///< pages move_pages could not tell (e.g. -EFAULT)
  std::size_t pages_total = 0;               ///< pages of the range
  std::size_t pages_asked = 0;               ///< all, or the sample
  std::optional<Bytes> page_size;      ///< kernel's page size of the mapping (hugetlb: 2M, 1G)
  std::optional<double> thp_fraction;  ///< part of the range in transparent huge pages
  std::string problem;                 ///< why it could not be observed; "" when it was
  /// Who said so: "" for the kernel, page by page; "device" where the pages' nodes are those that
  /// the device they are on gives as its own, "devices" where they are several, with equal shares.
  std::string told_by;

  /// "4 KiB", "2 MiB", "2 MiB THP", "4 KiB + 37 % THP", "unknown"; " (node by the device)" behind
  /// it where that tells the node.
  std::string page_text() const;
  /// The node that holds most pages; nullopt when nothing was observed.
  std::optional<NodeId> main_node() const;
  /// Part of the observed pages on a set of nodes, 0..1; nullopt when nothing was observed.
  std::optional<double> fraction_on(const NodeSet& nodes) const;
};

/// Pages that `after` shows on other nodes than `before` did, at least: those that changed places
/// are not seen. Of a sample scaled up to the whole range; 0 where one of them was not observed.
std::size_t pages_moved(const Residency& before, const Residency& after);

/// Lays the range on the nodes of the devices behind it (one entry each, in equal shares): for
/// memory whose pages the kernel does not tell (DAX). No nodes: a problem in words.
void tell_by_devices(Residency& seen, const std::vector<NodeId>& nodes);

struct Mapping;
struct NumaMapsLine;

/// What /proc/self says of this process's mappings. Each file is read when it is first asked for,
/// and once for all threads that ask: the kernel walks the page tables of all mappings for it. So
/// one of these is for one moment, at which nobody touches memory that is looked at.
class ProcessMappings {
 public:
  ProcessMappings();
  ~ProcessMappings();
  ProcessMappings(const ProcessMappings&) = delete;
  ProcessMappings& operator=(const ProcessMappings&) = delete;
  /// Empty where the file cannot be read.
  const std::vector<Mapping>& smaps() const;
  const std::vector<NumaMapsLine>& numa_maps() const;

 private:
  mutable std::once_flag smaps_read_, numa_maps_read_;
  mutable std::vector<Mapping> smaps_;
  mutable std::vector<NumaMapsLine> numa_maps_;
};

/// move_pages over every page up to 2^20 pages, beyond that over an evenly spread sample of 2^16
/// (stated in pages_asked); page size from `mappings`. Uses less than 1 MiB of scratch.
Residency observe(const void* address, std::size_t bytes,
                  const ProcessMappings& mappings = ProcessMappings());

/// Memory of a process per node as `numastat -p` groups it, in bytes.
struct ProcessMemory {
  int pid = 0;
  std::string command;
  std::vector<NodeId> nodes;
  struct Row {
    std::string name;            ///< "Huge", "Heap", "Stack", "Private"
    std::vector<Bytes> by_node;  ///< as `nodes`
  };
  std::vector<Row> rows;
};
/// From /proc/PID/numa_maps (pid 0: this process).
Expected<ProcessMemory> read_process_memory(int pid, const NodeSet& nodes);

}  // namespace numatlas
