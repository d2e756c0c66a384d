// distributed_streams and its variants for persistent memory, as their users know them: the same
// arguments, banner, table and files, from `numatlas stream`.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "record/report.h"

namespace numatlas::legacy {

/// What the variants add to main memory: nothing, a libpmem path, or a memkind path.
enum class StreamVariant { memory, pmem, memkind };

/// The program; `words` come after its name. Returns the exit code.
int distributed_streams(StreamVariant variant, const std::vector<std::string>& words);

/// Elements of each array of a process: four times what the cache holds, among the processes of the
/// host that has fewest, as the original's source has it (its README speaks of each process).
std::uint64_t elements_per_process(std::uint64_t cache_elements, int fewest_processes);

/// The lines before the table; `task` as in "Stream Memory Task", `repeats`: rounds asked for.
std::string streams_banner(const RunReport& run, const std::string& task, int repeats);
/// The table of the kernels of this mode (a label of their cases): those over processes, then
/// "Node" ones.
std::string streams_table(const RunReport& run, const std::string& mode, int repeats);

}  // namespace numatlas::legacy
