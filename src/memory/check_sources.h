// Internal: whether what is not anonymous memory can be had.
#pragma once

#include <cstdint>
#include <vector>

#include "memory/source.h"

namespace numatlas {

/// Looks at the sources of regions that will be alive at the same time on this host: page kinds (on
/// every machine), and on the live one libraries, folders and devices, and the room on each for all
/// of them. Errors are about "memory", or "pages".
Expected<void> check_sources(const std::vector<Region>& regions, const Machine& machine);
/// Bytes in whole multiples of a unit.
std::uint64_t rounded_up(std::uint64_t bytes, std::uint64_t unit);

}  // namespace numatlas
