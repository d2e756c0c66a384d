// The earlier programs by their names, what all of them do around their work, and what of each its
// tests look at.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/cli_forward.h"
#include "benchmarks/parse.h"
#include "record/report.h"
#include "run/runner.h"

namespace numatlas::legacy {

/// Parses the words after the program's name. The exit code where the program ends with that: help
/// was asked for, or a word is wrong, which is said.
std::optional<int> parse_program(CLI::App& app, const std::vector<std::string>& words);

/// The error (usage) about words that the parser left over.
Error unknown_word(const CLI::App& app, const std::vector<std::string>& leftover);

/// What a program says in place of what numatlas says.
struct OwnWords {
  /// By option of numatlas, the program's own: {"--size", "SIZE_MB"}. Others are no options here,
  /// and lose their dashes.
  std::map<std::string, std::string> options = {};
  std::string less_memory = "ask for less";  ///< the hint where memory is short
};

/// An error of the shared code as a program says it.
Error in_its_words(Error error, const OwnWords& own);

/// Connects the ranks and calls `work` on each; errors are said in the program's words. Returns the
/// process's exit code.
int run_on_ranks(const OwnWords& own, const std::function<Expected<void>(Comm&)>& work);

/// The words of numatlas that a program's arguments became, read and checked.
Expected<ParsedRun> translated_run(const std::string& benchmark, std::vector<std::string> words);

/// What a program has to say of a run beside its table.
using NotesOf = std::function<std::string(const RunReport&)>;
std::string usual_notes(const RunReport& report);

/// Runs a benchmark with a table of the program's own; the notes of the run go to standard error,
/// after it.
Expected<void> run_with_notes(const ParsedRun& parsed, Comm& comm, RunHooks hooks,
                              const OwnWords& own, const NotesOf& notes_of = usual_notes);

/// The hooks of a program that takes no time and memory beside what it is asked to measure.
RunHooks plain_hooks(std::function<std::string(const RunReport&)> table);

/// The whole work of a program whose threads measure without ranks. `check`: what must hold before
/// anything is measured. Returns the process's exit code.
int run_alone(const Expected<ParsedRun>& parsed, const OwnWords& own, const RunHooks& hooks,
              const NotesOf& notes_of = usual_notes,
              const std::function<Expected<void>()>& check = {});

/// Error (usage) when there are several ranks, the same on each: for a program whose threads
/// measure without ranks, and would do so beside each other.
Expected<void> check_one_task(const Comm& comm);

/// For tests: whether the null engine is asked for.
bool is_scripted();
/// For tests: the placement of a recorded machine, as `numatlas exec` hands it on there
/// (NUMATLAS_TEST_MACHINE, _CPUS, _MEMORY); empty unless the null engine is asked for.
std::vector<std::string> test_words();

/// Runs the earlier program of this name; the process's exit code. nullopt: none has it.
std::optional<int> run_program_named(std::string_view name, const std::vector<std::string>& words);

// numa_allocator and numa_mem_bench

/// Shows in `cpus` what a rank was given instead of the CPU its worker took, where that is the two
/// hardware threads of one core: the originals' "1,65". `masks`: a mask a rank.
void show_given_cpus(RunReport& report, const std::vector<CpuSet>& masks);

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

// numa_allocator

/// The whole program: words after its name -> exit code.
int allocator(const std::vector<std::string>& words);

/// "=== Debug Information ===": ranks, command line, and the machine as rank 0 sees it.
std::string debug_block(const RunReport& report, const std::vector<std::string>& argv);

/// One row a rank: CPUs, memory, the page size that its memory really has, latency.
std::string wide_table(const RunReport& report);

/// "kB=4"; "kB=4,2048" where a part lies in huge pages; "-" unknown.
std::string page_size_cell(const Residency& residency);

// numa_cpu_xfer_bench

/// Peak injection bandwidths: B/s by MLC's names of its traffic ("ALL Reads", "3:1 Reads-Writes").
struct PeakInjection {
  std::optional<int> memory_node;  ///< all memory was there; absent: each CPU's own node
  std::vector<std::pair<std::string, std::optional<double>>> rates;

  bool empty() const { return rates.empty(); }
};

/// Bandwidth of reads in B/s: one row per node with CPUs, one column per node with memory.
struct NodeMatrix {
  std::vector<int> columns;
  std::vector<std::pair<int, std::vector<std::optional<double>>>> rows;

  bool empty() const { return rows.empty(); }
};

/// What MLC printed, as far as it has these lines; empty where it has none. Pure.
PeakInjection parse_peak_injection(const std::string& mlc_output);
NodeMatrix parse_bandwidth_matrix(const std::string& mlc_output);

/// In MLC's layout, MB/s of 10^6 bytes. With `mlc` given its figures stand beside ours, with the
/// ratio. Pure.
std::string peak_injection_text(const PeakInjection& ours, const PeakInjection* mlc);
std::string bandwidth_matrix_text(const NodeMatrix& ours, const NodeMatrix* mlc);

/// The program. Returns its exit code.
int cpu_xfer(const std::vector<std::string>& words);

// numa_gpu_xfer_bench

/// What one run of the original copies.
struct GpuXfer {
  int gpus = 0;
  Bytes bytes;  ///< as asked for; whole pages of 4096 bytes are copied
  int iterations = 0;
  std::vector<std::string> directions;  ///< "h2d", "d2h"
  bool pinned = true, strict = false, quiet = false;
  std::optional<Nanoseconds> time = {};  ///< cap for each direction; absent: by what is copied
  std::string json = {};                 ///< file for the whole report
};

/// The whole program: words after its name -> exit code.
int gpu_xfer(const std::vector<std::string>& words);

/// The run of `numatlas transfer` that measures it: each direction by itself, in each iteration a
/// copy on every GPU at the same time, all waited for before the next one.
Expected<ParsedRun> transfer_run(const GpuXfer& asked);

/// How long a direction may take: as long as the copies would at a rate that is far below any link,
/// and a little for what happens once.
Nanoseconds longest_time(const GpuXfer& asked);

/// Of one direction, as the original prints it. Absent where it was not measured to its end.
struct GpuXferFigures {
  std::optional<double> copy_ms;     ///< mean time of a copy between its events, over all GPUs
  std::optional<double> gib_second;  ///< bytes of a copy over that time
  std::string problem;               ///< why there are none
};
GpuXferFigures figures_of(const RunReport& report, const std::string& direction);

/// The lines that the original prints; "-" where nothing was measured.
std::string gpu_xfer_text(const GpuXfer& asked, const RunReport& report);

/// At least three decimals (two), and four figures.
std::string ms_text(const std::optional<double>& copy_ms);
std::string gib_text(const std::optional<double>& gib_second);

/// What a report has to be read with: points without figures (no code), warnings, and where the
/// time ended it before the iterations.
std::vector<Warning> gpu_xfer_notes(const RunReport& report, const GpuXfer& asked);

// numa_mem_bench

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

// numa_bench

/// The whole program: words after its name -> exit code.
int numa_bench(const std::vector<std::string>& words);

/// "NUMA node 0: 1100 - 65425 MB": a digit a CPU of the machine, 1 for those of the node.
std::string node_lines(const Machine& machine);

/// "Core 0: 8.791s" for each worker: the time of 2^28 updates at the median rate. `run`: "alone" or
/// "together" (docs of `touch`).
std::string core_lines(const RunReport& report, const std::string& run);

// numa_numa_xfer_bench

/// As asked for on the command line.
struct NumaXfer {
  std::string source_nodes, target_nodes;
  std::uint64_t bytes = 0;
  int iterations = 0;
  int threads = 1;
};

/// The whole program: words after its name -> exit code.
int numa_xfer(const std::vector<std::string>& words);

/// Words of `numatlas copy`: both buffers interleaved over their nodes, a part of them a thread.
std::vector<std::string> copy_words(const NumaXfer& asked);

/// Both blocks that the original prints; "-" where nothing was measured.
std::string numa_xfer_text(const NumaXfer& asked, const RunReport& report);

// distributed_streams and its variants for persistent memory

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
