// The machine as an immutable value. The live machine, a snapshot file, hwloc XML and a synthetic
// description are equal sources (machine/source.h). Unknown facts are nullopt, never 0.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/units.h"
#include "machine/memory_slots.h"

namespace numatlas {

/// A pool of huge pages of one size on one node.
struct HugePagePool {
  Bytes page_size;
  std::uint64_t total = 0;  ///< pages
  std::uint64_t free = 0;   ///< pages
  friend bool operator==(const HugePagePool&, const HugePagePool&) = default;
};

/// What the firmware's HMAT claims for an initiator's best target (sysfs access0 or access1).
struct HmatFigures {
  NodeSet initiators;                     ///< nodes that these figures hold for
  std::optional<double> read_bandwidth;   ///< bytes a second
  std::optional<double> write_bandwidth;  ///< bytes a second
  std::optional<double> read_latency;     ///< seconds
  std::optional<double> write_latency;    ///< seconds
  bool measured = false;  ///< not claimed at all: of a topology that `numatlas export hwloc` wrote
  friend bool operator==(const HmatFigures&, const HmatFigures&) = default;
};

/// Faster memory in front of a node's own, which caches it for all CPUs: HBM before DRAM, DRAM
/// before persistent memory.
struct MemorySideCache {
  int level = 0;  ///< as the kernel counts: 1 next to the memory
  Bytes size;
  std::optional<Bytes> line_size;
  friend bool operator==(const MemorySideCache&, const MemorySideCache&) = default;
};

/// One NUMA node; may have no CPUs (CXL, HBM), no memory, or neither.
struct NumaNode {
  NodeId id;
  CpuSet cpus;
  std::optional<Bytes> memory_total;
  std::optional<Bytes> memory_free;
  std::optional<Bytes> memory_cache;  ///< of what is not free, file cache that can be dropped
  std::map<int, int> distance;        ///< OS node number -> SLIT distance (10 = itself)
  std::optional<HmatFigures> hmat;    ///< for CPUs as initiators (access1)
  std::optional<int> memory_tier;     ///< N of memory_tierN
  std::vector<HugePagePool> huge_pages;
  std::string kind;  ///< "dram", "cxl", "pmem", "gpu", "hbm" where known, else ""
  std::vector<MemorySideCache> side_caches;  ///< by level

  /// Free, or file cache that can be dropped; nullopt where it is not known what is free.
  std::optional<Bytes> room() const;
  /// Known to have memory; how much is known as well.
  bool has_memory() const { return memory_total && memory_total->value > 0; }
  /// The same, or nobody said how much: memory of unknown size can be used.
  bool may_have_memory() const { return !memory_total || has_memory(); }
  /// Neither CPUs nor memory.
  bool is_empty() const { return cpus.empty() && !may_have_memory(); }
  /// The largest of its memory-side caches; 0 where there is none.
  Bytes side_cache() const;
  friend bool operator==(const NumaNode&, const NumaNode&) = default;
};

struct Cache {
  int level = 0;
  std::string type;  ///< "data", "instruction", "unified"
  Bytes size;
  std::optional<Bytes> line_size;
  CpuSet cpus;  ///< CPUs that share it
  friend bool operator==(const Cache&, const Cache&) = default;
};

struct Cpu {
  CpuId id;
  std::optional<int> core;     ///< logical number of its physical core in the machine
  std::optional<int> package;  ///< OS number of its socket
  NodeId node;        ///< nearest node that has it; -1 for none. Others may have it as well
  int smt_index = 0;  ///< 0 for the first hardware thread of its core
  /// Its core; of one that is not known a number below 0, so that it counts as a core of its own.
  int core_or_own() const { return core.value_or(-1 - id.value); }
  friend bool operator==(const Cpu&, const Cpu&) = default;
};

/// CPUs of the same design, where a machine has several of them (big.LITTLE, hybrid).
struct CpuKind {
  std::string name;             ///< "performance", "efficiency", "low-power", or "kind1" on
  std::string model;            ///< of the core, "" where it says nothing beyond the machine's
  std::optional<int> capacity;  ///< the kernel's, of the fastest: 1024 for the machine's fastest
  CpuSet cpus;
  friend bool operator==(const CpuKind&, const CpuKind&) = default;
};

/// A PCIe link: what it runs at now (links that idle step down) and the most that both ends can do.
/// Speeds in transfers a second and lane (16e9), widths in lanes.
struct PciLink {
  std::optional<double> speed, max_speed;
  std::optional<int> width, max_width;
  friend bool operator==(const PciLink&, const PciLink&) = default;
};

/// One device on the way from a GPU to the CPU, with the link that it is an end of: of the GPU and
/// of upstream ports the one above, of downstream and root ports the one below.
struct PciStep {
  std::string pci_address;
  PciLink link;
  friend bool operator==(const PciStep&, const PciStep&) = default;
};

struct Gpu {
  std::string pci_address;     ///< "0000:41:00.0"
  std::string vendor;          ///< "NVIDIA", "AMD" or "Intel"
  std::string device_id;       ///< hexadecimal PCI device id
  std::optional<NodeId> node;  ///< nearest NUMA node
  std::string driver;          ///< "" for none
  /// From the GPU itself to the root port; empty where sysfs says nothing of links.
  std::vector<PciStep> path{};
  std::optional<NodeId> memory_node{};  ///< the node that its memory is, where it is one (Grace)
  // What the driver's library says (src/gpu), where it was asked:
  std::string runtime{};          ///< "cuda", "hip"; "" not asked, or it does not know this one
  std::optional<int> index{};     ///< as `gpu:N` and --gpus name it
  std::string name{};             ///< "NVIDIA H200"
  std::optional<Bytes> memory{};  ///< of its own
  std::optional<int> multiprocessors{};      ///< compute units, where AMD calls them so
  std::optional<Bytes> shared_cache{};       ///< of all its multiprocessors: the second level
  std::optional<double> memory_bandwidth{};  ///< bytes a second: bus width times clock
  bool mig = false;                          ///< a slice of a GPU, as far as the driver says so
  friend bool operator==(const Gpu&, const Gpu&) = default;
};

/// Memory behind a device: NVDIMMs, DAX devices of any memory, CXL memory that nothing uses yet.
struct PersistentMemory {
  std::string name;  ///< "pmem0", "dax0.0", "mem0" (CXL)
  std::string mode;  ///< "fsdax", "raw", "sector", "devdax", "system-ram", "unused" (no CXL region)
  std::optional<Bytes> size;
  std::optional<NodeId> node;         ///< node whose CPUs are nearest
  std::optional<NodeId> target_node;  ///< node it is, or would be, as system memory
  friend bool operator==(const PersistentMemory&, const PersistentMemory&) = default;
};

/// A limit of what processes may have, whoever set it: a control group, or the shell.
struct Limit {
  enum class Of { memory, huge_pages, address_space, data, processes, cpu_time, file_size };
  Of of = Of::memory;
  std::uint64_t most = 0;  ///< bytes; of `processes` a number, of `cpu_time` seconds
  std::optional<std::uint64_t> used = {};   ///< of it, by all that share it
  std::optional<std::uint64_t> cache = {};  ///< of what is used, file cache that can be dropped
  std::optional<Bytes> page_size = {};      ///< of `huge_pages`
  std::string source = {};                  ///< the file, or "ulimit -v"
  /// Used, and not to be dropped.
  std::uint64_t held() const;
  std::uint64_t left() const;
  /// So much of what it limits: "2 GiB", "60" processes, "60 s".
  std::string text(std::uint64_t amount) const;
  /// Of what memory can be asked for; the others stop a run in another way.
  bool is_of_memory() const { return of < Of::processes; }
  friend bool operator==(const Limit&, const Limit&) = default;
};
/// "limit of the cgroup", "limit of address space".
std::string name_of(const Limit& limit);

/// What this process may use. In a recorded machine: everything, unless recorded otherwise.
struct Allowance {
  CpuSet affinity;       ///< scheduler affinity at start
  CpuSet cpuset;         ///< CPUs of the cgroup's cpuset
  NodeSet memory_nodes;  ///< Mems_allowed
  /// memory.max or memory.high of the cgroup, or of one above it: the one with least left.
  std::optional<Bytes> memory_limit;
  std::optional<Bytes> memory_used;   ///< charged to the cgroup that has that limit
  std::optional<Bytes> memory_cache;  ///< of that, file cache that can be dropped
  std::string memory_limit_source;    ///< the file the limit was read from
  /// CPUs that the cgroup, or one above it, may use on average (its CPU quota): the least of all.
  std::optional<double> cpu_quota;
  std::string cpu_quota_source;     ///< the file that this was read from
  std::vector<Limit> other_limits;  ///< of each sort but memory the one with least left
  /// All of them, that of memory first.
  std::vector<Limit> limits() const;
  friend bool operator==(const Allowance&, const Allowance&) = default;
};

/// One setting of the system that disturbs or shapes measurements.
struct Setting {
  std::string name;     ///< "numa_balancing"
  std::string value;    ///< as read
  std::string source;   ///< file or interface it was read from
  std::string warning;  ///< why it disturbs, "" when it does not
  friend bool operator==(const Setting&, const Setting&) = default;
};

/// Which machine it is, whatever it is called. Hashes: the ids themselves are secret
/// (machine-id(5)).
/// "" for what could not be read.
struct Identity {
  std::string installation;  ///< of /etc/machine-id; copies of an image have the same
  std::string firmware;      ///< of the UUID of its board, which only root may read
  std::string boot;     ///< of the kernel's boot_id; containers have that of the machine below them
  std::string product;  ///< vendor and product by DMI, in words
  std::string provider{};  ///< of the cloud, as data/cloud.csv names it: "aws"
  friend bool operator==(const Identity&, const Identity&) = default;
};

struct Machine {
  std::string source;  ///< "live", or the file or description it came from
  std::string host;
  Identity identity;
  std::string os;    ///< "Linux 6.1.0-18-amd64"
  std::string arch;  ///< "x86_64", "aarch64"
  std::string cpu_model;
  std::optional<Bytes> page_size;
  std::optional<std::string> hypervisor;  ///< "" on bare metal, nullopt unknown
  std::vector<NumaNode> nodes;            ///< ascending by id
  std::vector<Cpu> cpus;                  ///< ascending by id
  std::vector<CpuKind> cpu_kinds;         ///< the fastest first; empty where all CPUs are alike
  CpuSet isolated_cpus;                   ///< without load balancing (isolcpus)
  std::vector<Cache> caches;              ///< by level, then first CPU
  std::vector<Gpu> gpus;
  std::vector<PersistentMemory> persistent_memory;
  MemorySlots memory_slots;  ///< of the whole machine, whatever this process may use
  std::vector<Setting> settings;
  Allowance allowance;
  std::vector<std::string> notes;  ///< what could not be read, and why
  /// Members that the source says nothing of, and why: "gpus", "persistent_memory", "hypervisor",
  /// "memory_limit", "process_limit", "cpu_quota", "isolated_cpus", "huge_pages", "cores". Empty is
  /// unknown there, not none.
  std::map<std::string, std::string> unread;

  /// "unknown (why)" of a part that the source says nothing of; `none` of one that it has not.
  std::string none_or_unknown(const std::string& part, const std::string& none) const;
  bool is_live() const { return source == "live"; }
  const NumaNode* find_node(NodeId id) const;  ///< nullptr where there is none
  /// As Cpu::core_or_own; a CPU that is not there is a core of its own as well.
  int core_or_own(CpuId id) const;
  const Cpu* find_cpu(CpuId id) const;  ///< nullptr where there is none
  CpuSet all_cpus() const;
  /// OS numbers of the sockets that are known.
  std::set<int> packages() const;
  /// CPUs this process may run on now: affinity within the cpuset.
  CpuSet usable_cpus() const { return allowance.affinity & allowance.cpuset; }
  /// Nodes with memory that this process may allocate on.
  NodeSet usable_memory_nodes() const;
  /// The same without memories of GPUs, which are only for those who name them.
  NodeSet ordinary_memory_nodes() const;
  /// Nodes that have one of these CPUs as their own (unknown CPUs are passed over).
  NodeSet nodes_of(const CpuSet& cpus) const;
  const CpuKind* kind_of(CpuId cpu) const;  ///< nullptr where all are alike
  /// The CPU that stands for these: the first of the most frequent kind, on the main node that has
  /// most of them. Nothing without CPUs.
  std::optional<CpuId> representative_of(const CpuSet& cpus) const;
  /// Without those that have less than an eighth of the CPUs or of the memory of another, such as
  /// nodes of assistant cores: nothing stands for the machine there.
  NodeSet main_nodes(const NodeSet& nodes) const;
  CpuSet own_cpus(NodeId node) const;  ///< CPUs whose node it is
  /// Data or unified cache of a level seen by a CPU; nullptr where there is none.
  const Cache* cache_of(CpuId cpu, int level) const;
  /// The data or unified cache of the highest level that a CPU sees; nullptr where none is known.
  const Cache* last_level_cache_of(CpuId cpu) const;
  friend bool operator==(const Machine&, const Machine&) = default;
};

/// Says which CPUs belong to several nodes (numa=fake, or firmware that gives each node all CPUs)
/// and which node is taken as theirs; "" where there are none.
std::string shared_cpus_text(const Machine& machine);

}  // namespace numatlas
