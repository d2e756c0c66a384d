// Makes pages be there.
#pragma once

#include <cstddef>

namespace numatlas {

/// Writes a zero to every page, so that it is there, as the policy in force and the calling thread
/// put it. Pages that are larger are touched more often than need be. Leaves off when the run is
/// stopped.
void touch_pages(std::byte* start, std::size_t bytes);

}  // namespace numatlas
