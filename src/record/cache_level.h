// Whether a point shows the memory or a cache, and whose memory: the same for every table, warning
// and summary.
#pragma once

#include <string>
#include <vector>

#include "record/report.h"

namespace numatlas {

/// What memory is called that lies in the cache in front of its node.
inline constexpr const char* side_cache_level = "memory-side cache";

/// What memory of a node is to CPUs of one, by their numbers: "local", "remote" or, of memory
/// without CPUs, its kind ("CXL", "HBM", "without CPUs"). `machine`: nullptr where nothing is known
/// of it.
std::string memory_class(const Machine* machine, const std::string& cpu_node,
                         const std::string& memory_node);

/// What all that a point's flows touch fits: "L2", "memory", "-" where the caches are unknown;
/// "L2/memory" where that differs.
std::string level_text(const ScenarioResult& point);

/// The caches that some of its flows fit: "L2", "L2/L3"; "" where all go to memory, or where the
/// caches are unknown. Writes past the caches of the CPUs go to memory at any size.
std::string cache_text(const ScenarioResult& point);

/// "a figure of L3, not of memory: ...", of these figures and what cache_text says.
std::string cache_warning_text(const std::string& figures, const std::string& caches);

/// Of the points whose memory fits a cache, for runs whose figures are meant to be those of memory.
std::vector<Warning> cache_warnings(const RunReport& report);

}  // namespace numatlas
