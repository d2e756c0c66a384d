// Region -> Buffer: memory with a placement, a page size and a source, that can say where it lies.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "memory/taken_back.h"
#include "placement/placement.h"
#include "placement/policy.h"
#include "placement/residency.h"

namespace numatlas {

/// A stretch of memory to ask for.
struct Region {
  Bytes bytes;
  MemoryPlacement placement;
  PageKind pages = PageKind::base;
  /// The node that `local` and `inherit` mean here. Only the null source needs it, to say where its
  /// pages would lie; -1: its residency then says that it does not know.
  NodeId local_node = {};
  /// Of pages that are in no pool: so much is mapped, of which the first `bytes` are used; less
  /// than these: no more than these. Regions of several sizes can then follow each other in one
  /// memory.
  Bytes within = {};
  friend bool operator==(const Region&, const Region&) = default;
};

/// Realised region (RAII). The memory is mapped, the policy is in force, nothing is touched yet:
/// the pages appear where the policy and the first touch put them. One exception: a weighted
/// placement that the kernel's own weights cannot give comes back touched and zero-filled, page by
/// page in the asked pattern (policy().mechanism is "first touch"). Memory of another source is
/// where that puts it; a file has its blocks already. `thp` buffers start on a
/// huge page and are rounded up to whole ones; data() of the null source is nullptr.
class Buffer {
 public:
  /// What its source does with it.
  struct Functions {
    std::function<void()> free = {};
    /// Where its pages lie; absent: as the kernel says (observe).
    std::function<Residency(const ProcessMappings& mappings)> residency = {};
    /// Of memory whose stores can be made to last: pmem, whatever lies behind it.
    std::function<Expected<void>(const void* start, std::size_t bytes)> persist = {};
  };

  Buffer(void* start, std::size_t bytes, PolicyOutcome policy, Functions functions)
      : start_(static_cast<std::byte*>(start)),
        bytes_(bytes),
        policy_(std::move(policy)),
        functions_(std::move(functions)),
        watched_(std::make_unique<Watched>(start, bytes)) {}
  ~Buffer() {
    watched_.reset();  // another mapping may have its addresses next
    if (functions_.free) functions_.free();
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  std::byte* data() const { return start_; }
  std::size_t bytes() const { return bytes_; }
  /// Uses its first bytes only, or more of what is mapped (Region::within).
  void use(std::size_t bytes) { bytes_ = bytes; }
  /// Where its pages lie now, by what the kernel says of all mappings, which threads that look at
  /// the same moment share.
  Residency residency(const ProcessMappings& mappings) const {
    return functions_.residency ? functions_.residency(mappings)
                                : observe(start_, bytes_, mappings);
  }
  Residency residency() const { return residency(ProcessMappings()); }
  /// How the placement and page size were put in force.
  const PolicyOutcome& policy() const { return policy_; }
  /// Makes stores to a part of it last, as far as its source can; nothing where it cannot.
  /// Error kind io where it could not.
  Expected<void> persist(const void* start, std::size_t bytes) const {
    return persistent() ? functions_.persist(start, bytes) : Expected<void>{};
  }
  /// Whether a page of it could not be had when it was touched, and other memory took its place.
  bool taken_back() const { return watched_->taken_back(); }
  /// Whether persist() does something.
  bool persistent() const { return functions_.persist != nullptr; }

 private:
  std::byte* start_;
  std::size_t bytes_;
  PolicyOutcome policy_;
  Functions functions_;
  std::unique_ptr<Watched> watched_;
};

/// Of a region whose buffer has lost a page, with the reason where the system says one.
Error taken_back_error(const Region& region);

/// Errors: resource (address space, huge page pool: about "pages"), permission (mbind refused:
/// names --memory), unavailable (page size or THP not offered by this kernel, no such source). Huge
/// pages of a bound region are checked against the free pages of its nodes as they are at this
/// moment; pages that another buffer was promised but has not touched yet count as free there, so
/// regions that live at the same time are checked together with check_fits first.
Expected<std::unique_ptr<Buffer>> allocate(const Region& region);

/// Why this kind of pages is unavailable on these nodes now (nullopt if it is not): pool sizes, a
/// limit of the control group, THP switched off, with the remedy. `nodes` empty: any node will do.
/// The pools are those of `machine`, read anew when it is the live one.
std::optional<Error> page_kind_problem(PageKind kind, const Machine& machine, const NodeSet& nodes,
                                       Bytes bytes);

/// What programs have at their best without a pool: `thp` where the kernel, or the record of the
/// machine, says that it gives them and they are not too large for small memory; else base pages,
/// and why.
struct BestPages {
  PageKind kind = PageKind::base;
  std::string why_base = {};  ///< "" of huge pages
};
BestPages best_pages(const Machine& machine);

/// What is kept back of free memory, for others and for the kernel.
enum class Reserve { whole, small };

/// What a process of a host has at the same time: memory, and threads that are not there yet.
struct ProcessDemand {
  std::vector<Region> regions;
  std::size_t new_threads = 0;
};

/// Checks what will be alive at the same time on one host, of all its processes, against every
/// supply (memory/supplies.cpp): free memory of the nodes, the huge page pools, limits of control
/// groups, address space and data of each process, file systems of other sources, before anything
/// is touched. A margin is kept. Free memory counts file cache that the kernel can drop. Where the
/// machine is live all figures are read anew, and sources other than anonymous memory are looked
/// at: library, folder. bind must fit on its nodes together, interleave and weighted share by
/// share, the others anywhere. Facts that are absent are not checked. Error kind resource, with all
/// the figures; about "size" ("pages" for pools and their limits) and `workers`, those that the
/// regions are of (default: one each). `reserve`: `whole` for a plan; `small`, a quarter of it, for
/// memory about to be touched.
Expected<void> check_fits(const std::vector<ProcessDemand>& processes, const Machine& machine,
                          std::optional<std::size_t> workers = std::nullopt,
                          Reserve reserve = Reserve::whole);

/// The same of regions of one process.
inline Expected<void> check_fits(const std::vector<Region>& regions, const Machine& machine,
                                 std::optional<std::size_t> workers = std::nullopt,
                                 Reserve reserve = Reserve::whole) {
  return check_fits(std::vector<ProcessDemand>{{regions}}, machine, workers, reserve);
}

/// How large each of these regions may be where nobody said (their own bytes do not count): `size`,
/// or, where such regions would take more than `part` of a supply that `machine` tells of, the
/// largest power of two that does not, at least 1 MiB, or a page of a pool. Pools, which nobody
/// else uses, may be taken whole. Pure.
std::vector<Bytes> sizes_with_room(const std::vector<ProcessDemand>& processes,
                                   const Machine& machine, Bytes size, double part);
/// Whether these regions, as large as they are, take no more than `part` of any supply that
/// `machine` tells of. Pure.
bool has_room(const std::vector<ProcessDemand>& processes, const Machine& machine, double part);

}  // namespace numatlas
