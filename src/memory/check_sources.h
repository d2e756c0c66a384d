// Internal: whether what is not anonymous memory can be had.
#pragma once

#include <vector>

#include "memory/source.h"

namespace numatlas {

/// Looks at the sources of regions that will be alive at the same time on this host: page kinds (on
/// every machine), and on the live one libraries, folders, and the room on each for all of them.
/// Errors are about "memory", or "pages".
Expected<void> check_sources(const std::vector<Region>& regions, const Machine& machine);

}  // namespace numatlas
