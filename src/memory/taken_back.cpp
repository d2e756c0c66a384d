#include "memory/taken_back.h"

#include <sys/mman.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <limits>
#include <mutex>
#include <string>

#include <fmt/format.h>

#include "memory/buffer.h"
#include "memory/pools.h"
#include "placement/kernel_calls.h"
#include "placement/source_text.h"

namespace numatlas {

/// One of a list that only grows, so that a handler may walk it at any moment.
struct WatchedRange {
  std::atomic<bool> used{true}, taken{false};
  std::atomic<std::uintptr_t> start{std::numeric_limits<std::uintptr_t>::max()}, end{0};
  WatchedRange* next = nullptr;
};

namespace {

std::atomic<WatchedRange*> ranges{nullptr};
struct sigaction action_before {};

/// Puts ordinary memory where a page was not to be had: of the smallest size that the mapping can
/// be divided into (EINVAL says that it cannot).
bool replace_page(std::uintptr_t address, std::uintptr_t start) {
  constexpr std::uintptr_t largest = 16 * gib;
  const std::uintptr_t smallest = kernel::page_size();
  for (std::uintptr_t size = smallest; size <= largest; size *= 2) {
    const std::uintptr_t page = address / size * size;
    if (size > smallest && page < start) return false;
    if (mmap(reinterpret_cast<void*>(page), size, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0) != MAP_FAILED)
      return true;
    if (errno != EINVAL) return false;
  }
  return false;
}

void on_bus_error(int /*signal*/, siginfo_t* info, void* /*context*/) {
  const int before = errno;
  // That of a broken memory, or sent by a process: nothing that another page would mend.
  if (info->si_code != BUS_ADRERR) {
    sigaction(SIGBUS, &action_before, nullptr);
    raise(SIGBUS);  // comes when this returns
    errno = before;
    return;
  }
  const auto address = reinterpret_cast<std::uintptr_t>(info->si_addr);
  bool replaced = false;
  for (WatchedRange* range = ranges.load(std::memory_order_acquire); range != nullptr;
       range = range->next) {
    const std::uintptr_t start = range->start.load(std::memory_order_acquire);
    if (address < start || address >= range->end.load(std::memory_order_acquire)) continue;
    range->taken.store(true, std::memory_order_release);
    replaced = replaced || replace_page(address, start);
  }
  // Of other memory: the same access meets whoever would have been told of it.
  if (!replaced) sigaction(SIGBUS, &action_before, nullptr);
  errno = before;
}

WatchedRange* unused_range() {
  for (WatchedRange* range = ranges.load(std::memory_order_acquire); range != nullptr;
       range = range->next) {
    bool used = false;
    if (range->used.compare_exchange_strong(used, true)) return range;
  }
  auto* const range = new WatchedRange;  // stays for others
  range->next = ranges.load(std::memory_order_relaxed);
  while (!ranges.compare_exchange_weak(range->next, range, std::memory_order_acq_rel)) {
  }
  return range;
}

}  // namespace

Watched::Watched(void* start, std::size_t bytes) {
  if (start == nullptr) return;
  static std::once_flag installed;
  std::call_once(installed, [] {
    struct sigaction action {};
    action.sa_sigaction = on_bus_error;
    action.sa_flags = SA_SIGINFO;
    sigemptyset(&action.sa_mask);
    sigaction(SIGBUS, &action, &action_before);
  });
  range_ = unused_range();
  range_->taken.store(false, std::memory_order_relaxed);
  range_->end.store(reinterpret_cast<std::uintptr_t>(start) + bytes, std::memory_order_release);
  range_->start.store(reinterpret_cast<std::uintptr_t>(start), std::memory_order_release);
}

Watched::~Watched() {
  if (range_ == nullptr) return;
  range_->start.store(std::numeric_limits<std::uintptr_t>::max(), std::memory_order_release);
  range_->end.store(0, std::memory_order_release);
  range_->used.store(false, std::memory_order_release);
}

bool Watched::taken_back() const {
  return range_ != nullptr && range_->taken.load(std::memory_order_acquire);
}

Error taken_back_error(const Region& region) {
  const bool pool = is_from_pool(region.pages);
  Error error{ErrorKind::resource,
              fmt::format("a page{} could not be had when it was first touched (SIGBUS)",
                          pool ? " of " + to_text(huge_page_size(region.pages)) : ""),
              "the file system may be full",
              pool ? subject_of(region.pages) : subject_of(region.placement)};
  if (!pool) return error;
  error.hint =
      "the pool has run out, or a control group allows no more of them (hugetlb.*.max); use "
      "another kind of pages";
  const auto why =
      page_kind_problem(region.pages, running_nodes(), required_nodes(region.placement),
                        huge_page_size(region.pages));
  if (why) error.message += ": " + why->message;
  if (why && !why->hint.empty()) error.hint = why->hint;
  return error;
}

}  // namespace numatlas
