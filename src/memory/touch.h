// Makes pages be there.
#pragma once

#include <cstddef>

namespace numatlas {

/// Gives every page that is not there yet a page of memory, placed by the policy in force and the
/// calling thread, as a write to it would. The kernel takes many at a time (MADV_POPULATE_WRITE,
/// Linux 5.14), which costs a third of a page fault each; where it refuses, a zero is written to
/// every page. Leaves off when the run is stopped. Source: madvise(2).
void touch_pages(std::byte* start, std::size_t bytes);

}  // namespace numatlas
