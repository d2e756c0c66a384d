// Internal to placement and memory: the text of a placement with a source (src/memory), such as
// pmem:DIR.
#pragma once

#include <string>

#include "placement/placement.h"

namespace numatlas {

/// Puts the OS number of the CPUs' node for {node}, of their package for {socket}. Error
/// (unavailable, about the placement) where they have no single one. Without CPUs, and without
/// braces, the placement as it is.
Expected<MemoryPlacement> at_place(const MemoryPlacement& placement, const CpuSet& cpus,
                                   const Machine& machine);

/// The subject of an error about a placement that is not available: "memory pmem:/mnt/x", with a
/// very long path cut. in_options (run/setup.h) turns it into the name of an option.
std::string subject_of(const MemoryPlacement& placement);
/// "pages 2M".
std::string subject_of(PageKind pages);

}  // namespace numatlas
