// numa_mem_bench: latency by rank and size, with the table, results file, mapping file and memory
// statistics of the program of this name.
#pragma once

#include <string>
#include <vector>

#include "legacy/latency_run.h"

namespace numatlas::legacy {

/// The whole program: words after its name -> exit code.
int mem_bench(const std::vector<std::string>& words);

/// Latency in ns, one row per rank and one column per size. A host column where there are several;
/// "-" for what was not measured.
std::string worker_table(const RunReport& report);

/// mapping_check.log: CSV "rank,cpu_id,cpu_numa,memory_numa", one row per rank: the CPU its worker
/// was seen on, that CPU's node, and the node that holds most of its pages. Unknown: empty.
std::string mapping_csv(const RunReport& report);

/// The file of --csv: header "size (MB),0,1,..", one row per size, latencies in ns with two
/// decimals. Workers are numbered through. Sizes without a result have no row.
std::string size_matrix_csv(const RunReport& report);

/// The block "NUMA Statistics" of the last rank, each line with "[RANK] " before it. `size`: of the
/// last point.
std::string statistics_block(const ProcessMemory& memory, int rank, Bytes size);

}  // namespace numatlas::legacy
