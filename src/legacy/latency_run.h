// What numa_mem_bench and numa_allocator share: each is a translation into words of `numatlas
// latency`, with a report of its own.
#pragma once

#include <string>
#include <vector>

#include "legacy/program.h"
#include "placement/residency.h"
#include "record/report.h"

namespace numatlas::legacy {

/// What somebody does whose memory does not fit: these programs have no --skip-too-large.
inline constexpr const char* less_memory =
    "use less, or `numatlas latency`, which has --skip-too-large";

/// Runs words of `numatlas latency` over all ranks; the notes of the run go to standard error,
/// after the table. `files`: what the program writes beside. Returns the exit code
/// (docs/exit-codes.md).
int run_latency(std::vector<std::string> words, const OwnWords& own, RunHooks hooks,
                const std::vector<OwnFile>& files = {});

/// Shows in `cpus` what a rank was given instead of the CPU its worker took, where that is the two
/// hardware threads of one core: the originals' "1,65". `masks`: a mask a rank.
void show_given_cpus(RunReport& report, const std::vector<CpuSet>& masks);

/// A worker's flow of a point; nullptr for none.
const FlowResult* flow_of(const ScenarioResult& point, int worker);
/// That of the last point that has one: the tables show its memory.
const FlowResult* last_flow(const RunReport& report, int worker);

/// Where a process's memory lies, as numastat -p shows it: rows Huge, Heap, Stack, Private, Total;
/// a column a node and the total; MB = 2^20 bytes.
std::string process_memory_table(const ProcessMemory& memory);

/// "12.34": ns; "-" for none.
std::string latency_text(const FlowResult* flow);
/// "0x52a260"; "-" for none.
std::string address_text(const FlowResult* flow);

/// Prints "NAME: warning: TEXT" on standard error, from one rank only.
void warn(const std::string& name, const std::string& text);

}  // namespace numatlas::legacy
