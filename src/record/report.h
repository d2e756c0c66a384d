// What a run found, ready to be shown: reporters print this and compute nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/units.h"
#include "base/warning.h"
#include "kernels/vector_width.h"
#include "machine/cpu_use.h"
#include "machine/machine.h"
#include "placement/policy.h"
#include "placement/residency.h"
#include "record/boxed.h"
#include "record/figure.h"
#include "record/view.h"

namespace numatlas {

// Passes of a kernel over hosts: what a run that is reduced to its hosts keeps of them, so that
// rank 0 holds something for each host, case and pass, and nothing for each rank (unless samples
// are asked for).
//
// A *pass* is one kernel over all arrays of every process, begun together; a *round* is one pass of
// every kernel, in their order. Times are in seconds. The first round warms up: it is kept, and
// left out of every figure (as in STREAM).

/// One pass on one host, from the times of its processes: each from when its first thread began to
/// when its last one ended.
struct PassTimes {
  /// The host's own time: from when its first process began to when its last one ended. As long as
  /// `slowest` where they began together; distributed_streams takes that one, which says too little
  /// where they did not.
  double node = 0;
  double slowest = 0;  ///< of the processes
  double fastest = 0;
  double sum = 0;         ///< of all processes
  double overlap = 0;     ///< part of `node` in which all workers ran, 0..1
  int slowest_rank = -1;  ///< global
  friend bool operator==(const PassTimes&, const PassTimes&) = default;
};

/// Those of one process, where samples are asked for.
struct ProcessPasses {
  int rank = 0;                ///< global
  std::vector<double> starts;  ///< after the host's first process
  std::vector<double> seconds;
  friend bool operator==(const ProcessPasses&, const ProcessPasses&) = default;
};

/// The passes that count: all but the first, or the first where there is no other.
inline std::span<const PassTimes> counted(const std::vector<PassTimes>& passes) {
  const std::span<const PassTimes> all = passes;
  return all.size() > 1 ? all.subspan(1) : all;
}

enum class Status { ok, skipped, failed, incomplete };
const char* name_of(Status status);

/// One worker, as the tables and files name it.
struct WorkerRow {
  int rank = 0, thread = 0, host = 0;
  CpuSet cpus;  ///< it may run on
  NodeId cpu_node;
  std::string memory;  ///< the placement asked for, in the grammar's words
};

/// What a flow of a GPU gave beside what every flow gives.
struct GpuResult {
  int gpu = 0;            ///< as `gpu:N`
  std::string direction;  ///< "h2d", "d2h", "p2p"; "" of the chase
  std::string name, pci_address;
  std::string pinning;  ///< "pinned", "pageable", "zero-copy"; "" between GPUs
  /// Of the chase through a GPU's memory: which of its caches may answer a load, "cached" (all),
  /// "l2".
  std::string caches;
  std::uint64_t copies_per_step = 1;  ///< timed together
  std::uint64_t loads_per_step = 0;   ///< of the chase
  /// Start and duration of each step in ns, on its host's CLOCK_MONOTONIC.
  std::vector<std::pair<std::int64_t, std::int64_t>> steps;
  double clock_error = 0;  ///< seconds that their starts may be off
  /// Where the host's memory lay before it was pinned, and after the last step.
  std::optional<Residency> before_pinning, after;
  std::optional<PciLink> link;       ///< at its fastest while steps were under way
  std::optional<double> link_limit;  ///< bytes a second of the narrowest link on the way
  std::optional<double> frequency;   ///< Hz of its processors after the visit
  std::string slowed_by;  ///< what held its clocks down after any visit: "heat"; "" nothing
  std::string route;      ///< between GPUs: "direct", "through the host"
  /// Bytes a second of its memory's bus, where it works on that.
  std::optional<double> memory_bandwidth;
  unsigned blocks = 0, block_threads = 0;  ///< of a launch that streams; 0 of others
};

/// What was asked of a flow, whoever does it: flows that are alike in this can be compared.
struct FlowAsk {
  bool load = false;  ///< it keeps the memory busy while others are measured
  std::string kernel;
  std::string mix;                 ///< "2:1": lines read to lines written; "" for other kernels
  std::string stores;              ///< "regular", "non-temporal"; "" for kernels that do not write
  std::string order;               ///< of the chase; "" for other kernels
  Bytes stride;                    ///< of the chase
  Bytes size;                      ///< of the memory it works on
  std::string memory;              ///< the placement asked for it, in the grammar's words
  std::string source_memory;       ///< of what it reads from, where that is apart; else ""
  std::optional<double> rate;      ///< bytes a second that it is held to
  std::optional<int> first_touch;  ///< worker that touches its memory first, if another
};

/// What one flow gave.
struct FlowResult : FlowAsk {
  const FlowAsk& ask() const { return *this; }
  FlowAsk& ask() { return *this; }
  int worker = 0;               ///< index into RunReport::workers
  std::vector<Figure> figures;  ///< --precision applies to the first
  /// Of the samples, in the unit of the first figure; of groups of loads where these were timed.
  Distribution distribution;
  std::string stop;  ///< "converged" (over visits), "time_cap", "interrupted", "passes"
  std::optional<double> overlap;  ///< 0..1
  std::uint64_t address = 0;
  std::optional<CpuId> cpu_before, cpu_after;
  std::string level;  ///< cache level that the size fits: "L1".."L3", "memory"
  Residency residency;
  Boxed<Residency> source_residency;  ///< where it reads from, when that is apart
  PolicyOutcome policy;
  /// Seconds from when all flows of its host were recording to this one's end.
  double together = 0;
  double stopped = 0;                 ///< seconds of samples in which it lost its CPU
  std::vector<double> stretch_bytes;  ///< moved in each of equal parts of that time
  Boxed<Error> wrong;                 ///< what the check of the kernel's output found
  Boxed<GpuResult> gpu;               ///< of a flow of a GPU
  std::uint64_t steps_per_sample = 0;
  std::uint64_t warm_up_steps = 0;
  std::uint64_t involuntary_switches = 0;
  /// Pages that lay on another node after the visit than before it, at least.
  std::optional<std::uint64_t> pages_moved;
  std::optional<double> frequency;  ///< Hz of its CPU after the visit
  double timer_overhead = 0;        ///< seconds a reading
  double prepare_time = 0;          ///< seconds
  std::vector<Warning> warnings;
};

/// Metrics over the flows of one host.
struct HostTotals {
  int host = 0;  ///< index into RunReport::hosts
  std::vector<Figure> figures;
  std::vector<PassTimes> passes{};         ///< of a run that is reduced to its hosts; else empty
  std::vector<PassTimes> again{};          ///< of its second run (--retest)
  std::vector<ProcessPasses> processes{};  ///< only for --samples
};

/// A host of a run that is reduced to its hosts.
struct HostRow {
  std::size_t kind = 0;   ///< index into the machines, one of each kind of hosts
  int first_rank = 0;     ///< global rank of its first process
  int processes = 0;      ///< ranks on the host
  int workers = 0;        ///< threads of all of them
  std::string placement;  ///< where its memory was, as observed
  Identity identity{};
  friend bool operator==(const HostRow&, const HostRow&) = default;
};

/// Measured flows of a case that are alike in some labels.
struct FlowGroup {
  std::vector<std::pair<std::string, std::string>> labels;  ///< {"nodes", "0 -> 1"}; empty: all
  std::size_t workers = 0;
  std::vector<Figure> figures;  ///< medians over the flows; summaries of the flows' values
};

/// What each visit to a case gave.
struct VisitValues {
  std::string key;  ///< of a figure over all flows, or of the median over the measured flows
  Unit unit;
  std::vector<double> values;
  double best = 0;
  /// Over the visits, of the value over that of the pilots around the visit. Absent for fewer than
  /// `least_visits`, for what a cache holds, and where no pilot goes with the figure.
  std::optional<Estimate> relative{};
};

/// A short reference measurement, always the same, that was repeated throughout a run.
struct PilotSeries {
  std::string key;  ///< "pilot_bandwidth" in B/s, "pilot_latency" in s
  Unit unit;
  std::string kernel;  ///< "read", "chase"
  Bytes size;          ///< a worker
  std::size_t workers = 0;
  std::string memory;              ///< the placement asked for, in the grammar's words
  std::vector<double> start, end;  ///< seconds of the run, of each
  std::vector<double> values;      ///< sums of the workers' rates, means of their latencies
  std::optional<Estimate> estimate;
};

/// How often a case was measured, each time anew.
struct Visits {
  int count = 0;
  double seconds = 0;   ///< from the start of the first to the end of the last one
  int memory_kept = 0;  ///< visits after which the memory was kept for the next one
  int repeated = 0;     ///< of `count`: measured again, as the first try was disturbed
  int disturbed = 0;    ///< of `count`: used although they were disturbed
  /// Of each visit, on the host where it was most: CPUs that other programs used, and that the
  /// hypervisor and a CPU quota withheld, on average. This and what follows: empty where nothing is
  /// known.
  std::vector<std::optional<double>> others, stolen, throttled;
  std::vector<std::optional<double>> frequency;           ///< Hz of the workers' CPUs, on average
  std::vector<std::optional<double>> gpu_frequency;       ///< Hz of the slowest GPU
  std::vector<std::optional<std::uint64_t>> switches;     ///< times that a worker lost its CPU
  std::vector<std::optional<double>> stopped;             ///< seconds, of the worker with the most
  std::vector<std::optional<std::uint64_t>> pages_moved;  ///< as FlowResult's, of all workers
  std::vector<VisitValues> figures;
};

/// A case: what was measured with one setting, and its labels.
struct Case {
  std::string name;
  Bytes size;         ///< a worker
  std::string pages;  ///< page kind asked for, in the grammar's words
  std::string order;  ///< of the chase; "" for other kernels
  Bytes stride;
  std::string kernel = "chase";
  /// What tells this case from the others of its benchmark, in the order of its tables:
  /// {"cpu_node", "0"}, {"memory_node", "2"}.
  std::vector<std::pair<std::string, std::string>> labels{};
  std::string flows_text{};  ///< of `numatlas run`: its flows in a line
  std::string stores;        ///< "regular", "non-temporal"; "" for kernels that do not write
  std::optional<double> precision{}, time_cap{};  ///< its own, where they are not the run's
  std::vector<Figure> figures{};                  ///< over all flows
  /// Where several flows measured: first of all of them; then by their nodes, where these differ.
  std::vector<FlowGroup> groups{};
  Distribution distribution{};            ///< of the measured flows' samples
  std::vector<HostTotals> host_totals{};  ///< of each host, where there are several
  Status status = Status::ok;
  std::string reason;              ///< of a skip, a failure or an incomplete run
  std::optional<Visits> visits{};  ///< absent where it never was measured
  std::vector<FlowResult> flows;   ///< by worker
};

/// What a run says of itself, beside its figures.
struct RunHead {
  std::string command, version;
  std::vector<std::string> arguments;
  std::string started;    ///< UTC, ISO 8601
  bool complete = false;  ///< false: stopped in the middle, or still running
  std::string incomplete_reason;
  std::string comm, engine;
  std::string isa;  ///< instruction set of the kernels that have vector loops
  std::vector<std::string> hosts;
  std::vector<Machine> machines;  ///< one a host; of a run reduced to hosts one of each kind
  std::vector<CpuUse> cpu_use;    ///< one a host; empty with the null engine and while it runs
  std::vector<Fact> facts;        ///< what a survey says of it
  std::string answer;             ///< what it found, in one line; "": its views say it
  /// How far its figures can be believed: "trusted", "doubtful", "unreliable"; "": nobody judged
  /// it.
  std::string trust;
  std::string doubt;  ///< the gravest one, in words; "" where it is trusted
};

/// The value of an option in the words of a command line: "64M" of `--size 64M` and `--size=64M`,
/// of several the last; "" for none.
std::string option_of(const std::vector<std::string>& words, std::string_view option);
/// What a survey calls it: its command, of one by GPUs (--on) "bandwidth-gpus", of one beside loads
/// on other memory (--load-memory) "loaded-neighbours".
std::string name_in_survey(const RunHead& run);
/// The words of its command line that change what is measured: "--size", "64", "--pages", "thp".
std::string options_text(const RunHead& run);

/// Everything a command found; what --json writes.
struct RunReport : RunHead {
  double seconds = 0;
  int ranks = 1;
  bool serial = false;
  std::uint64_t seed = 0;
  double precision = 0;
  double time_cap = 0;       ///< seconds of measuring a case
  bool time_of_all = false;  ///< time_cap is for all cases together
  std::vector<WorkerRow> workers;
  std::vector<Case> cases;
  std::vector<HostRow> host_rows{};   ///< of a run that is reduced to its hosts; else empty
  std::vector<VectorWidth> widths{};  ///< found fastest for what no cache holds
  std::vector<PilotSeries> pilots;    ///< empty for runs too short for any
  std::vector<Warning> warnings;
  std::vector<View> views;  ///< how the figures are to be shown
};

/// Code of the warning that a rank kept the others waiting.
inline constexpr const char* silent_rank = "silent-rank";

/// Whether the engine that a report names is the null engine, "null (scripted clock, ...)".
bool is_null_engine(const std::string& engine);
inline constexpr const char* null_engine_note =
    "null engine: simulated figures, nothing was measured";
/// "the clocks of GPU 0 were held down (heat)": of each GPU of a case that was slowed in any visit.
std::vector<std::string> slowed_gpus(const Case& result);
/// The series that a figure in that unit of a case goes with; nullptr where there is none, and for
/// a case that GPUs ran.
const PilotSeries* pilot_for(const Case& result, Unit unit, const std::vector<PilotSeries>& pilots);
/// Index of the host that a flow ran on.
int host_of(const RunReport& report, const FlowResult& flow);
/// A report in parts that hold only the flows of one host, with the sums over those; without
/// groups.
class HostParts {
 public:
  /// The report must outlive it.
  explicit HostParts(const RunReport& report);
  RunReport of(int host) const;

 private:
  const RunReport& report_;
  RunReport bare_;                                                             ///< without flows
  std::vector<std::vector<std::pair<std::size_t, const FlowResult*>>> flows_;  ///< of each host
};
/// What a flow did: "read", "mix 2:1".
std::string full_name(const FlowResult& flow);
/// Where the memory lies that a flow works on; of a GPU's copies the host's side.
const Residency& observed_memory(const FlowResult& flow);
/// Nodes that have pages of it.
NodeSet nodes_of(const Residency& residency);
/// Observed node of a flow's memory: "0", "0,2" for several, "-" for unknown.
std::string memory_node_text(const FlowResult& flow);
/// The figure of that key, nullptr when the flow has none.
const Figure* find_figure(const FlowResult& flow, const std::string& key);
/// Half width of the interval of a flow's first figure.
std::optional<double> half_width(const FlowResult& flow);
/// The same among the totals of a case.
const Figure* find_total(const Case& one, const std::string& name);
/// A label that the benchmark gave the case; nullptr when it has none of that name.
const std::string* find_label(const Case& one, const std::string& name);
/// The same, "" when it has none.
std::string label_of(const Case& one, const std::string& name);

}  // namespace numatlas
