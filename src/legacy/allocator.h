// numa_allocator: latency of one size, with the debug block, the wide table and the memory table of
// the program of this name.
#pragma once

#include <string>
#include <vector>

#include "legacy/latency_run.h"

namespace numatlas::legacy {

/// The whole program: words after its name -> exit code.
int allocator(const std::vector<std::string>& words);

/// "=== Debug Information ===": ranks, command line, and the machine as rank 0 sees it.
std::string debug_block(const RunReport& report, const std::vector<std::string>& argv);

/// One row a rank: CPUs, memory, the page size that its memory really has, latency.
std::string wide_table(const RunReport& report);

/// "kB=4"; "kB=4,2048" where a part lies in huge pages; "-" unknown.
std::string page_size_cell(const Residency& residency);

}  // namespace numatlas::legacy
