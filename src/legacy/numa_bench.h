// numa_bench: two CPUs, on their own and on each other's first-touched memory, with the lines of
// the program of this name.
#pragma once

#include <string>
#include <vector>

#include "record/report.h"

namespace numatlas::legacy {

/// The whole program: words after its name -> exit code.
int numa_bench(const std::vector<std::string>& words);

/// "NUMA node 0: 1100 - 65425 MB": a digit a CPU of the machine, 1 for those of the node.
std::string node_lines(const Machine& machine);

/// "Core 0: 8.791s" for each worker: the time of 2^28 updates at the median rate. `run`: "alone" or
/// "together" (docs of `touch`).
std::string core_lines(const RunReport& report, const std::string& run);

}  // namespace numatlas::legacy
