#include "memory/touch.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "base/signals.h"
#include "placement/kernel_calls.h"

namespace numatlas {
namespace {

constexpr int populate_write = 23;  // MADV_POPULATE_WRITE, which older headers do not name
// Between two looks at the stop flag: base pages come in milliseconds, and no huge page is split.
constexpr std::size_t piece = std::size_t{32} << 20;

}  // namespace

void touch_pages(std::byte* start, std::size_t bytes) {
  // Memory of an allocator may begin within a page.
  const std::size_t within = reinterpret_cast<std::uintptr_t>(start) % kernel::page_size();
  start -= within;
  bytes += within;
  std::size_t there = 0;
  while (there < bytes && !stop_requested()) {
    const std::size_t more = std::min(piece, bytes - there);
    if (madvise(start + there, more, populate_write) != 0) break;
    there += more;
  }
  for (; there < bytes && !stop_requested(); there += kernel::page_size())
    reinterpret_cast<volatile char*>(start)[std::max(there, within)] = 0;
}

}  // namespace numatlas
