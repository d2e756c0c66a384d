// Where a process's memory lies, as numastat -p shows it.
#pragma once

#include <string>

#include "placement/residency.h"

namespace numatlas {

/// The table "Per-node process memory usage (in MBs) for PID ..": rows Huge, Heap, Stack, Private,
/// Total; a column a node and the total; MB = 2^20 bytes as numastat counts them.
std::string process_memory_table(const ProcessMemory& memory);

/// The text with `prefix` before each line.
std::string with_prefix(const std::string& prefix, const std::string& text);

}  // namespace numatlas
