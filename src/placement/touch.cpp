#include "placement/touch.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "base/signals.h"
#include "placement/kernel_calls.h"

namespace numatlas {

std::size_t populate(std::byte* start, std::size_t bytes) {
  // Little enough that a stop is seen at once, and other threads of the process can map memory.
  constexpr std::size_t piece = std::size_t{2} << 20;
  // Memory of an allocator may begin within a page.
  const std::size_t before = reinterpret_cast<std::uintptr_t>(start) % kernel::page_size();
  std::size_t done = 0;
  while (done < bytes && !stop_requested()) {
    const std::size_t here = std::min(done == 0 ? piece - before : piece, bytes - done);
    const std::size_t extra = done == 0 ? before : 0;
    if (kernel::calls().madvise(start + done - extra, here + extra, kernel::madv_populate_write) !=
        0)
      break;
    done += here;
  }
  return done;
}

void touch_pages(std::byte* start, std::size_t bytes) {
  const std::size_t page = kernel::page_size();
  const std::size_t into = reinterpret_cast<std::uintptr_t>(start) % page;
  std::size_t at = populate(start, bytes);
  while (at < bytes && !stop_requested()) {
    reinterpret_cast<volatile char*>(start)[at] = 0;
    at += page - (into + at) % page;
  }
}

}  // namespace numatlas
