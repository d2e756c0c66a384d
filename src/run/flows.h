// The flows that several benchmarks are made of.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "run/benchmark.h"
#include "run/choices.h"

namespace numatlas {

/// How a chase walks.
struct ChaseWalk {
  ChainOrder order = ChainOrder::random;
  std::optional<Bytes> stride;  ///< absent: the machine's cache line
};

/// What nearly every CPU has; used where the machine does not say.
constexpr Bytes usual_line{64};

/// A measured flow of one worker in its own memory, which does no more than to run this kernel.
Flow plain_flow(const PlanInput& input, KernelSpec kernel, int worker, Bytes size, PageKind pages);

/// A measured chase of one worker, in its own memory, in an order that no other worker has.
Flow chase_flow(const PlanInput& input, int worker, Bytes size, PageKind pages,
                const ChaseWalk& walk = {});

/// A measured flow of one worker that runs a chosen kernel in its own memory.
Flow stream_flow(const PlanInput& input, const Choice& choice, int worker, Bytes size,
                 PageKind pages);

/// "chase", or one of the kernels of `numatlas bandwidth`, as a flow of one worker.
Flow access_flow(const PlanInput& input, const std::string& kernel, int worker, Bytes size,
                 PageKind pages);

/// All memory on this node.
MemoryPlacement bound_to(NodeId node);

/// Workers as indices into the layout.
std::vector<int> all_workers(const Layout& layout);
/// The first `threads` workers of each rank.
std::vector<int> workers_within(const Layout& layout, int threads);
const Worker& worker_of(const PlanInput& input, int worker);
/// The machine of a worker's host.
const Machine& machine_of(const PlanInput& input, int worker);

/// The first CPU that it may use.
CpuId cpu_of(const PlanInput& input, int worker);
/// Its core, as Machine::core_or_own.
int core_of(const PlanInput& input, int worker);

/// A CPU of each of these workers of a host.
CpuSet cpus_of(const PlanInput& input, const std::vector<int>& workers, std::size_t host);

/// What these workers of a host have to use together so that caches hold little of it
/// (run/levels.h). `memory`: the nodes that their memory is on; empty: where --memory puts it.
/// Memory-side caches count unless --ignore-side-caches.
Bytes past_all_caches(const PlanInput& input, const std::vector<int>& workers, std::size_t host,
                      const NodeSet& memory = {});

/// The same a worker, at least `least`; whole MiB. The same for all of them: the most that any host
/// needs.
Bytes size_past_caches(const PlanInput& input, const std::vector<int>& workers, Bytes least,
                       const NodeSet& memory = {});
/// How --help says that.
inline constexpr const char* past_caches_words =
    "past all caches\n"
    "That is 4 times the last-level caches over the workers that run together, twice the "
    "memory-side caches, or 1 GiB where the system may not list all caches, at least 16 MiB";

/// What a worker has at least, whatever the caches.
constexpr Bytes least_past_caches{16 * mib};

/// Whether memory-side caches count (--ignore-side-caches), and a node has one.
bool has_side_caches(const PlanInput& input);

/// Of the caches that a worker shares with those of these workers whose memory is on the same
/// nodes: by node where a node has a memory-side cache, else `size`.
Bytes size_past_own_caches(const PlanInput& input, const std::vector<int>& workers, int worker,
                           Bytes size, Bytes least);

/// What a chase has at least, so that it misses the TLB as well.
constexpr Bytes least_chase{256 * mib};
/// Past the caches of one chase by the first of these CPUs, through memory of these nodes.
Bytes chase_size_past_caches(const Machine& machine, const CpuSet& cpus, const NodeSet& memory,
                             Bytes least = least_chase);
/// For the worker that needs most; and how --help says that.
Bytes chase_size_past_caches(const PlanInput& input);
inline constexpr const char* chase_past_caches_words =
    "past all caches\n"
    "That is 4 times the last-level cache, twice a memory-side cache, at least 256 MiB; 1 GiB "
    "where the system may not list all caches";

/// Nodes with CPUs where workers run, and nodes with memory, on any host; ascending.
NodeSet worker_nodes(const PlanInput& input);
NodeSet memory_nodes(const PlanInput& input);
/// The same without memories of GPUs: where no nodes are named.
NodeSet ordinary_memory_nodes(const PlanInput& input);
/// Workers on CPUs of these nodes.
std::vector<int> workers_on(const Layout& layout, const NodeSet& nodes);
/// Why memory of this node cannot be allocated on the worker's host; "" when it can be tried.
std::string memory_node_problem(const Machine& machine, NodeId node);
/// The same of the first of these nodes that has one, as a skip; nullopt where all can be tried.
std::optional<Error> nodes_skip(const Machine& machine, const std::vector<NodeId>& nodes,
                                const std::string& hint);

/// By the machine's table; 0 of a node to itself, the greatest number where it is not known.
int distance_between(const Machine& machine, NodeId from, NodeId to);
/// Of these nodes, which are not none, the nearest to one.
NodeId nearest_to(const Machine& machine, const NodeSet& nodes, NodeId to);

/// Where benchmarks compare numbers of CPUs: those of --threads, else the powers of two and all.
std::vector<int> counts_of_cpus(const PlanInput& input);
/// A worker on each of one CPU per core, or on as many as --threads says, whatever a launcher or
/// OMP_NUM_THREADS says.
Expected<Workers> worker_on_every_core(const RunOptions& options, const Machine& machine,
                                       const TaskContext& task);
/// Refusal of several numbers by a benchmark, `command`, that does not vary them. Errors name the
/// option.
Expected<void> check_one_number_of_threads(const RunOptions& options, const std::string& command);
/// The page size that is asked for.
Bytes page_bytes(const Machine& machine, PageKind pages);
/// So many bytes, and what is left of the last page.
Bytes whole_pages(const Machine& machine, Bytes size, PageKind pages);
/// Of benchmarks whose workers run together in one process, each on a CPU of its own. Errors name
/// the option, or `command`.
Expected<void> check_run_together(const PlanInput& input, const std::string& command);
/// A list of nodes as an option has it. Error (usage): names the option, and `words` that it takes
/// instead of one.
Expected<std::vector<NodeId>> parse_nodes(const std::string& option, const std::string& text,
                                          const std::string& words);
/// Error (usage) of such an option, unless it is "all" or `usual` ("": there is no such word).
Expected<void> check_nodes(const std::string& option, const std::string& text,
                           const std::string& usual);
/// The nodes of such an option: "all" with memory, but for memories of GPUs, or the list. Error
/// (unavailable): the machine does not have one of them.
Expected<std::vector<NodeId>> chosen_nodes(const PlanInput& input, const std::string& option,
                                           const std::string& text);
/// Where memory lies, as an option chooses and labels say it.
struct NodeChoice {
  std::string label;
  std::optional<NodeId> node;  ///< absent: not one in particular
};
/// One choice without a node where `text` is `usual`, else one for each of `chosen_nodes`.
Expected<std::vector<NodeChoice>> node_choices(const PlanInput& input, const std::string& option,
                                               const std::string& text, const std::string& usual);
/// Memory in whole steps, one at least.
Bytes whole_steps(Bytes size, const PageWork& work);
/// Steps a second while the worker ran. `key`: the figure that is the time of a step. Absent where
/// it was not measured.
std::optional<Estimate> mean_rate(const FlowResult& flow, const std::string& key);
/// The figure `key` in sum over the flows, as `sum_key`; absent where one has none.
std::optional<Figure> sum_over_flows(const Case& visit, const std::string& key,
                                     const std::string& sum_key);

/// The CPUs of the workers; an error (usage) where two are on one.
Expected<CpuSet> distinct_cpus(const PlanInput& input, const std::string& command);

}  // namespace numatlas
