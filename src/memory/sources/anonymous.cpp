// Anonymous memory: base pages, transparent huge pages, and pages of the huge page pools.
#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "memory/pools.h"
#include "memory/source.h"
#include "placement/kernel_calls.h"
#include "placement/source_text.h"

namespace numatlas {
namespace {

/// MAP_HUGETLB takes the logarithm of the page size in the six bits from here (mmap(2)).
constexpr int map_huge_shift = 26;

/// An anonymous mapping, unmapped at the end of its life.
struct Unmap {
  std::size_t bytes = 0;
  void operator()(std::byte* start) const { munmap(start, bytes); }
};
using Mapped = std::unique_ptr<std::byte, Unmap>;
Mapped owned(void* start, std::size_t bytes) { return {static_cast<std::byte*>(start), {bytes}}; }

tl::unexpected<Error> no_space(std::uint64_t bytes, int error) {
  return fail_about(
      ErrorKind::resource, "size",
      fmt::format("mmap of {} failed: {}", to_rounded_text(Bytes{bytes}), errno_text(error)),
      "see ulimit -v and -d, /proc/sys/vm/overcommit_memory and max_map_count, or use less");
}

/// Maps `bytes` from an address that is a multiple of `alignment`: maps more and gives both ends
/// back. Nothing is reserved: what fits was checked before (check_fits), and memory that is only
/// mapped costs nothing.
Expected<Mapped> map_aligned(std::uint64_t bytes, std::uint64_t alignment) {
  const std::uint64_t slack = alignment > kernel::page_size() ? alignment : 0;
  void* raw = mmap(nullptr, bytes + slack, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (raw == MAP_FAILED) return no_space(bytes, errno);
  if (slack == 0) return owned(raw, bytes);
  auto* start = static_cast<std::byte*>(raw);
  const std::uintptr_t address = reinterpret_cast<std::uintptr_t>(raw);
  const std::uint64_t head = (alignment - address % alignment) % alignment;
  if (head > 0) munmap(start, head);
  if (slack > head) munmap(start + head + bytes, slack - head);
  return owned(start + head, bytes);
}

/// Maps pages of a pool. The kernel reserves them machine-wide at this moment; that they are on the
/// nodes of a bound placement it does not promise, and would kill the process at the first touch
/// (SIGBUS) where they are not. So the nodes' pools are looked at before.
Expected<Mapped> map_huge(std::uint64_t bytes, const Region& region) {
  const std::uint64_t page = huge_page_size(region.pages).value;
  if (auto problem = page_kind_problem(region.pages, running_nodes(),
                                       required_nodes(region.placement), Bytes{bytes}))
    return fail(*std::move(problem));
  const int log2_page = std::countr_zero(page);
  void* raw = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB | log2_page << map_huge_shift, -1, 0);
  if (raw != MAP_FAILED) return owned(raw, bytes);
  const int error = errno;
  if (error == EINVAL) {
    return fail_about(
        ErrorKind::unavailable, subject_of(region.pages),
        fmt::format("this kernel does not map huge pages of {}", to_text(Bytes{page})),
        "use another kind of pages");
  }
  return fail_about(
      ErrorKind::resource, subject_of(region.pages),
      fmt::format("mmap of {} huge pages failed: {}; free pages may be reserved "
                  "by other processes, or a control group limits them",
                  bytes / page, errno_text(error)),
      "see HugePages_Free and HugePages_Rsvd in /proc/meminfo, and hugetlb.*.max of the "
      "control group");
}

/// Says which kind of page the range is to have. Error: THP refused by the kernel.
Expected<void> advise(void* start, std::size_t bytes, PageKind kind) {
  if (kind == PageKind::base) {
    // A kernel without THP does not know the advice: base pages are what it has.
    kernel::calls().madvise(start, bytes, MADV_NOHUGEPAGE);
    return {};
  }
  if (kind != PageKind::thp) return {};
  if (kernel::calls().madvise(start, bytes, MADV_HUGEPAGE) == 0) return {};
  return fail_about(ErrorKind::unavailable, subject_of(kind),
                    fmt::format("madvise(MADV_HUGEPAGE) failed: {}", errno_text(errno)),
                    "use base pages, or pages of 2M");
}

Expected<std::unique_ptr<Buffer>> make_anonymous(const Region& region) {
  const bool pool = is_from_pool(region.pages);
  std::size_t page = kernel::page_size();
  if (pool) page = huge_page_size(region.pages).value;
  if (region.pages == PageKind::thp) {
    if (auto problem = thp_problem()) return fail(*std::move(problem));
    page = thp_size();
  }
  const std::uint64_t room = pool ? 0 : region.within.value;
  const std::uint64_t bytes = whole_pages(std::max(region.bytes.value, room), page);
  // Half of the numbers, so that room for alignment can still be added.
  if (bytes > std::numeric_limits<std::uint64_t>::max() / 2)
    return no_space(region.bytes.value, ENOMEM);
  Mapped mapped = TRY(pool ? map_huge(bytes, region) : map_aligned(bytes, page));
  std::byte* const start = mapped.get();
  TRY(advise(start, bytes, region.pages));
  const auto first = pool ? std::optional<std::size_t>(0) : std::nullopt;
  const Watched watched(start, bytes);  // some placements touch it
  auto policy = TRY(apply_to_range(start, bytes, page, region.placement, first));
  if (watched.taken_back()) return fail(taken_back_error(region));
  const Unmap unmap = mapped.get_deleter();
  return std::make_unique<Buffer>(mapped.release(), region.bytes.value, std::move(policy),
                                  Buffer::Functions{.free = [=] { unmap(start); }});
}

}  // namespace

MemorySource anonymous_source() {
  return {.word = "",
          .takes_pages = true,
          .make = make_anonymous,
          .on_device = [](const MemoryPlacement&) { return false; }};
}

}  // namespace numatlas
