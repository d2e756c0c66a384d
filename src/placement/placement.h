// The placement grammar of every command, and its resolution to CPUs and nodes.
//
//   --cpus    allowed (all) | cores | isolated | LIST | node:LIST | socket:LIST | kind:NAME
//             | LIST/LIST/... (one per local rank, recycled)
//   --threads N
//   --memory  inherit | local | bind:N[,M] | prefer:N[,M] | interleave:LIST
//             | weighted:N=W,M=W | each:N,M,... (a worker in turn)
//             | auto (round robin over the nodes with CPUs and memory)
//             (bind, prefer, interleave and each also take `all` as their list)
//             | SOURCE:VALUE (another source of memory: src/memory/sources)
//   --pages   base | thp | 2M | 1G
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "machine/machine.h"

namespace numatlas {

enum class PageKind {
  base,
  thp,
  huge_2m,
  huge_1g,
  // Of pools that only some processors have: arm64, POWER, s390x, RISC-V, LoongArch.
  huge_64k,
  huge_1m,
  huge_16m,
  huge_32m,
  huge_512m,
  huge_2g,
  huge_16g
};
/// Those that help and hints name.
inline constexpr std::array usual_page_kinds{PageKind::base, PageKind::thp, PageKind::huge_2m,
                                             PageKind::huge_1g};
/// Those of the system's pools of huge pages.
inline constexpr std::array pool_page_kinds{
    PageKind::huge_2m,   PageKind::huge_1g,  PageKind::huge_64k,
    PageKind::huge_1m,   PageKind::huge_16m, PageKind::huge_32m,
    PageKind::huge_512m, PageKind::huge_2g,  PageKind::huge_16g};
const char* name_of(PageKind kind);  ///< as the grammar writes it
bool is_from_pool(PageKind kind);
Bytes huge_page_size(PageKind kind);  ///< of those from pools
/// A transparent huge page over base pages of this size: 2 MiB over 4 KiB, 512 MiB over 64 KiB.
Bytes thp_size_over(Bytes base_page);
/// A page of any kind where base pages have this size.
Bytes page_size_of(PageKind kind, Bytes base_page);

enum class MemoryMode { inherit, local, bind, prefer, interleave, weighted };
const char* name_of(MemoryMode mode);

/// Placement of one region, resolved: what is asked of the kernel.
struct MemoryPlacement {
  MemoryMode mode = MemoryMode::local;
  std::vector<std::pair<NodeId, int>>
      nodes;  ///< with weights (1 where the mode has none), in order
  /// Instead of nodes: all with memory that this process may use (see with_all_nodes).
  bool all_nodes = false;
  /// Of `inherit`: the policy in force when the program started, over `nodes`. `inherit` itself
  /// when that was the default, or is not known (a recorded machine).
  MemoryMode inherited = MemoryMode::inherit;
  /// Where the memory comes from, as the grammar writes it: "pmem:/mnt/pmem0",
  /// "memkind:HBW"; "" for anonymous memory, which alone is asked for by mode and nodes. With a
  /// source the mode is `inherit`: nothing is asked of the kernel. "null" is the null engine's.
  std::string source = {};
  /// What the pages have to show: this placement, or the inherited one.
  MemoryPlacement in_force() const;
  NodeSet node_set() const;
  /// The grammar's text: "bind:0", "weighted:0=3,2=1", "pmem:/mnt/pmem0".
  std::string text() const;
  friend bool operator==(const MemoryPlacement&, const MemoryPlacement&) = default;
};

/// Parsed --memory: one placement, or one a worker in turn.
struct MemorySpec {
  enum class Form { single, each, round_robin } form = Form::single;
  MemoryPlacement single;
  std::vector<NodeId> each;  ///< empty with single.all_nodes
};
/// The nodes of this machine in place of `all`; memories of GPUs are only for those who name them.
/// Without `all`, and where there are none, as it is.
MemorySpec with_all_nodes(MemorySpec spec, const Machine& machine);
/// All forms but those of other sources, with which memory/source.h has the same. Errors name no
/// option, here and below: of_option does.
Expected<MemorySpec> parse_node_spec(std::string_view text);
/// How the forms of --memory without a source begin: "local", "bind:".
const std::vector<std::string>& node_words();

/// Parsed --cpus.
struct CpuSpec {
  enum class Form { allowed, cores, isolated, list, nodes, sockets, kind } form = Form::allowed;
  /// CPUs (list), nodes or sockets: one list per local rank, in turn.
  std::vector<std::vector<int>> lists;
  bool is_default = true;  ///< not given on the command line
  std::string kind = {};   ///< of cores (kind): "performance"
};
Expected<CpuSpec> parse_cpu_spec(std::string_view text);
/// How the forms of --cpus begin, but for lists of CPUs: "allowed", "node:".
const std::vector<std::string>& cpu_words();
Expected<std::vector<PageKind>> parse_page_kinds(std::string_view text);

/// What the task inherited, and its place among the tasks of its host.
struct TaskContext {
  int rank = 0, size = 1;
  int local_rank = 0, local_size = 1;
  bool launched = false;  ///< a launcher started it
  /// Workers of lower local ranks that have the same CPUs to use: where this task starts to count
  /// in a mask it shares with them.
  int peers_before = 0;
  std::optional<int> omp_num_threads;        ///< OMP_NUM_THREADS
  bool omp_binds = false;                    ///< OMP_PLACES or OMP_PROC_BIND is set: OpenMP pins
  std::optional<MemoryPlacement> inherited;  ///< task policy when it is not the default (numactl)
};
/// Reads environment and get_mempolicy of this process.
TaskContext read_task_context();

/// One worker thread of this rank.
struct WorkerPlacement {
  int thread = 0;
  CpuSet cpus;               ///< it may run on (one when pinned)
  std::optional<CpuId> cpu;  ///< the one it is pinned to; nullopt when OpenMP pins
  NodeId cpu_node;           ///< -1 unknown
  MemoryPlacement memory;
};

struct PlacementSpec {
  CpuSpec cpus;
  std::optional<int> threads;
  std::optional<MemorySpec> memory;  ///< nullopt: inherit when the task has a policy, else local
};

/// Spec + machine + task -> workers. Pure. `default_threads`: without a launcher, --threads and
/// OMP_NUM_THREADS: 1, or one a chosen CPU (0). More workers than CPUs is allowed (they share).
/// An explicit --cpus is followed even when OpenMP pins (task.omp_binds): the command line wins
/// over the environment. Errors name the option, tell a missing node (kind unavailable) from one
/// outside the cpuset (permission) and one without memory (unavailable), and list what there is.
Expected<std::vector<WorkerPlacement>> resolve_placement(const PlacementSpec& spec,
                                                         const Machine& machine,
                                                         const TaskContext& task,
                                                         int default_threads);

/// CPUs of a spec for this local rank, in the order workers take them (used alone by `exec`). Where
/// in this list a task's worker 0 starts is up to resolve_placement: peers_before for `allowed` and
/// `cores`, local_rank x threads for one explicit list, the head for one list per local rank.
Expected<std::vector<CpuId>> resolve_cpus(const CpuSpec& spec, const Machine& machine,
                                          const TaskContext& task);
/// The same of --cpus, which errors name.
Expected<std::vector<CpuId>> chosen_cpus(const CpuSpec& spec, const Machine& machine,
                                         const TaskContext& task);
/// Whether there is memory to place on a node, of all nodes, those with memory and those that this
/// process may use. Errors tell which of these it is not among; unavailable, or permission.
Expected<void> check_memory_node(NodeId id, const NodeSet& nodes, const NodeSet& with_memory,
                                 const NodeSet& allowed);
/// Placement of one worker by its local number (local rank x threads + thread). `cpus` are those
/// that the worker runs on: they decide {node} and {socket} of a source, which stay as they are
/// without (see at_place). Whether there is such a source is not looked at.
Expected<MemoryPlacement> resolve_memory(const MemorySpec& spec, const Machine& machine,
                                         int local_worker, const CpuSet& cpus = {});

}  // namespace numatlas
