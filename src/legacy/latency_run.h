// What numa_mem_bench and numa_allocator share: each is a translation into words of `numatlas
// latency`, with a report of its own.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
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

// The boxed table of the source systems: groups of columns between bars, each with a title.

struct TableColumn {
  std::string title;
  std::size_t width = 0;      ///< between the bars, blanks included; grows with its cells
  bool centre_cells = false;  ///< otherwise to the left, after one blank
  bool centre_title = false;
};

struct TableGroup {
  std::string title;
  std::vector<TableColumn> columns;
  /// Blanks before the title while the columns have their given widths; nullopt: in the middle. The
  /// original programs print titles that stand somewhat beside the middle.
  std::optional<std::size_t> title_at;
};

/// Title line, heads and rows between two lines of `=`. Each row has a cell a column of all groups
/// in turn. A group narrower than its title gets a wider last column.
std::string grouped_table(std::vector<TableGroup> groups,
                          const std::vector<std::vector<std::string>>& rows);

/// A mask as these programs print it: "1,65" for two CPUs, "1" for one; a range list for more.
std::string cores_text(const CpuSet& cpus);
/// "-" where it is not known.
std::string node_text(NodeId node);

}  // namespace numatlas::legacy
