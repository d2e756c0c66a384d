// What numa_mem_bench and numa_allocator share: each is a translation into words of `numatlas
// latency`, with a report of its own.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "legacy/program.h"
#include "record/report.h"

namespace numatlas::legacy {

/// The last rank's memory, read while its memory of the last size stands.
struct LastRank {
  const ProcessMemory& memory;
  int rank = 0;
};

/// What somebody does whose memory does not fit: these programs have no --skip-too-large.
inline constexpr const char* less_memory =
    "use less, or `numatlas latency`, which has --skip-too-large";

/// A command, translated.
struct Command {
  std::vector<std::string> words;  ///< of `numatlas latency`
  OwnWords own = {};               ///< of its errors
  std::function<std::string(const RunReport&)> table;
  std::function<void(const RunReport&)> save;  ///< after each point; may be empty
  std::function<std::string(const LastRank&)> process_memory;
};

/// Runs it over all ranks; the notes of the run go to standard error, after the table. Returns the
/// exit code (docs/exit-codes.md).
int run(const Command& command);

/// Shows in `cpus` what a rank was given instead of the CPU its worker took, where that is the two
/// hardware threads of one core: the originals' "1,65". `masks`: a mask a rank.
void show_given_cpus(RunReport& report, const std::vector<CpuSet>& masks);

/// Prints "NAME: warning: TEXT" on standard error, from one rank only.
void warn(const std::string& name, const std::string& text);

}  // namespace numatlas::legacy
