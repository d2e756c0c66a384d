// Puts memory behind pages.
#pragma once

#include <cstddef>

namespace numatlas {

/// Puts memory behind every page that has none yet, as a write by the calling thread would: placed
/// by the policy in force. The kernel does it for many pages per call (MADV_POPULATE_WRITE, Linux
/// 5.14). Returns how many bytes from `start` on are done: all, or those before the call that it
/// refused (errno says why) or before a stop. Source: madvise(2).
std::size_t populate(std::byte* start, std::size_t bytes);

/// The same, writing a zero to each page that `populate` leaves out. Leaves off when the run is
/// stopped.
void touch_pages(std::byte* start, std::size_t bytes);

}  // namespace numatlas
