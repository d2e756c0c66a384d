// Spec + machine + task -> workers: pure functions, the same on every rank.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "base/add_once.h"
#include "base/text.h"
#include "placement/placement.h"
#include "placement/source_text.h"

namespace numatlas {
namespace {

/// Puts CPUs so that a core is not used twice before every core is used once: the n-th hardware
/// threads of all cores come after all (n-1)-th ones. The given order is kept otherwise. Counted
/// among the CPUs given, so a set that holds only second hardware threads has no gap.
std::vector<CpuId> cores_before_siblings(const std::vector<CpuId>& cpus, const Machine& machine,
                                         bool one_per_core) {
  std::map<std::optional<int>, int> seen_of_core;
  std::vector<std::pair<int, CpuId>> ranked;
  for (CpuId id : cpus) {
    const Cpu* cpu = machine.find_cpu(id);
    // A CPU whose core is unknown counts as a core of its own.
    const int sibling = cpu != nullptr && cpu->core ? seen_of_core[cpu->core]++ : 0;
    if (!one_per_core || sibling == 0) ranked.emplace_back(sibling, id);
  }
  std::stable_sort(ranked.begin(), ranked.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<CpuId> ordered;
  for (const auto& [sibling, id] : ranked) ordered.push_back(id);
  return ordered;
}

std::vector<CpuId> in_order(const CpuSet& set) { return {set.begin(), set.end()}; }

NodeSet all_nodes(const Machine& machine) {
  NodeSet nodes;
  for (const NumaNode& node : machine.nodes) nodes.insert(node.id);
  return nodes;
}

std::string list_or_none(const std::string& list) { return list.empty() ? "none" : list; }

/// CPUs that this process may place threads on. The kernel keeps isolated CPUs out of every mask
/// that nobody set, so they are for those who name them, whatever the mask says.
CpuSet nameable_cpus(const Machine& machine) {
  return machine.usable_cpus() | (machine.isolated_cpus & machine.allowance.cpuset);
}

/// CPUs that exist, but not for this process. `which`: " (all of socket 1)".
tl::unexpected<Error> excluded(const CpuSet& cpus, const std::string& which,
                               const Machine& machine) {
  const bool by_cpuset = (cpus & machine.allowance.cpuset).empty();
  return fail(ErrorKind::permission,
              fmt::format("CPU {}{} is outside the {} ({})", to_list(cpus), which,
                          by_cpuset ? "cpuset of this process's control group"
                                    : "affinity this process was started with",
                          list_or_none(to_list(by_cpuset ? machine.allowance.cpuset
                                                         : machine.allowance.affinity))),
              by_cpuset ? "ask the batch system or the container for more CPUs"
                        : "start it with a wider CPU mask (e.g. mpirun --bind-to none, srun "
                          "--cpu-bind=none, taskset)");
}

Expected<std::vector<CpuId>> check_cpu_list(const std::vector<int>& list, const Machine& machine) {
  std::vector<CpuId> cpus;
  CpuSet named;
  for (int number : list) {
    cpus.push_back(CpuId{number});
    named.insert(CpuId{number});
  }
  if (const CpuSet missing = named - machine.all_cpus(); !missing.empty()) {
    return fail(ErrorKind::unavailable,
                fmt::format("this machine has no CPU {}; its CPUs are {}", to_list(missing),
                            list_or_none(to_list(machine.all_cpus()))));
  }
  for (const CpuSet& allowed : {machine.allowance.cpuset, nameable_cpus(machine)})
    if (const CpuSet outside = named - allowed; !outside.empty())
      return excluded(outside, "", machine);
  if (cpus.empty()) return fail(ErrorKind::usage, "the list is empty: no CPU named");
  return cpus;
}

tl::unexpected<Error> missing_node(NodeId node, const NodeSet& nodes) {
  return fail(ErrorKind::unavailable,
              fmt::format("this machine has no NUMA node {}; its nodes are {}", node.value,
                          list_or_none(to_list(nodes))));
}

/// CPUs of a node, or why it has none; all of them, whatever may be used.
Expected<CpuSet> cpus_of_node(int number, const Machine& machine) {
  const NumaNode* node = machine.find_node(NodeId{number});
  if (node == nullptr) return missing_node(NodeId{number}, all_nodes(machine));
  if (!node->cpus.empty()) return node->cpus;
  return fail(ErrorKind::unavailable,
              fmt::format("NUMA node {} has no CPUs (memory only); nodes with CPUs: {}", number,
                          to_list(machine.nodes_of(machine.all_cpus()))));
}

/// The same of a socket, by the number that `numatlas topology` gives its package.
Expected<CpuSet> cpus_of_socket(int number, const Machine& machine) {
  CpuSet cpus;
  for (const Cpu& cpu : machine.cpus)
    if (cpu.package == number) cpus.insert(cpu.id);
  if (!cpus.empty()) return cpus;
  const std::set<int> sockets = machine.packages();
  return fail(ErrorKind::unavailable,
              sockets.empty() ? "the system does not say which sockets the CPUs are in"
                              : fmt::format("this machine has no socket {}; its sockets are {}",
                                            number, fmt::join(sockets, ", ")));
}

Expected<std::vector<CpuId>> cpus_of_groups(CpuSpec::Form form, const std::vector<int>& numbers,
                                            const Machine& machine) {
  const bool nodes = form == CpuSpec::Form::nodes;
  const CpuSet usable = machine.usable_cpus();
  std::vector<CpuId> cpus;
  for (int number : numbers) {
    const auto all = TRY(nodes ? cpus_of_node(number, machine) : cpus_of_socket(number, machine));
    const CpuSet here = all & usable;
    if (here.empty())
      return excluded(all, fmt::format(" (all of {} {})", nodes ? "NUMA node" : "socket", number),
                      machine);
    // Nodes may share their CPUs; each counts once.
    for (CpuId id : cores_before_siblings(in_order(here), machine, false)) add_once(cpus, id);
  }
  if (cpus.empty()) return fail(ErrorKind::usage, "the list is empty");
  return cpus;
}

Expected<std::vector<CpuId>> resolve_isolated(const Machine& machine) {
  const CpuSet cpus = machine.isolated_cpus & nameable_cpus(machine);
  if (!cpus.empty()) return cores_before_siblings(in_order(cpus), machine, false);
  if (!machine.isolated_cpus.empty())
    return excluded(machine.isolated_cpus, " (all that are isolated)", machine);
  if (const auto why = machine.unread.find("isolated_cpus"); why != machine.unread.end())
    return fail(ErrorKind::unavailable, "whether CPUs are isolated is not known: " + why->second);
  return fail(ErrorKind::unavailable, "this machine has no isolated CPUs",
              "the kernel's parameter isolcpus= isolates them");
}

Expected<std::vector<CpuId>> cpus_of_one_kind(const std::string& name, const Machine& machine) {
  std::vector<std::string> names;
  for (const CpuKind& kind : machine.cpu_kinds) names.push_back(kind.name);
  for (std::size_t i = 0; i < names.size(); ++i) {
    const CpuKind& kind = machine.cpu_kinds[i];
    // Kinds are listed from the fastest; where more than two have numbers, its ends have names too.
    const bool numbered = names[0] == "kind1";
    const bool meant = kind.name == name || std::to_string(i + 1) == name ||
                       (numbered && i == 0 && name == "performance") ||
                       (numbered && i + 1 == names.size() && name == "efficiency");
    if (!meant) continue;
    const CpuSet here = kind.cpus & machine.usable_cpus();
    if (here.empty()) return excluded(kind.cpus, fmt::format(" (all of kind {})", name), machine);
    return cores_before_siblings(in_order(here), machine, false);
  }
  return fail(ErrorKind::unavailable,
              names.empty()
                  ? "all cores of this machine are of one kind, as far as the system says"
                  : fmt::format("this machine has no kind of cores '{}'; its kinds are {}", name,
                                fmt::join(names, ", ")));
}

/// Of one kind after the other: "performance,efficiency".
Expected<std::vector<CpuId>> cpus_of_kinds(const std::string& names, const Machine& machine) {
  std::vector<CpuId> cpus;
  std::istringstream list(names);
  for (std::string name; std::getline(list, name, ',');) {
    for (CpuId id : TRY(cpus_of_one_kind(std::string(trim(name)), machine))) add_once(cpus, id);
  }
  if (cpus.empty()) return fail(ErrorKind::usage, "no kind of cores named");
  return cpus;
}

/// CPUs that stand for the machine come first, so that the first workers run on them: the kind of
/// most of them and main nodes before others. In order of number where all are alike.
std::vector<CpuId> main_cpus_first(const CpuSet& cpus, const Machine& machine) {
  const auto first = machine.representative_of(cpus);
  const CpuKind* const main_kind = first ? machine.kind_of(*first) : nullptr;
  const NodeSet main = machine.main_nodes(machine.nodes_of(cpus));
  std::map<CpuId, std::pair<bool, std::ptrdiff_t>> rank;
  for (CpuId id : cpus) {
    const Cpu* const cpu = machine.find_cpu(id);
    const CpuKind* const kind = machine.kind_of(id);
    const bool minor = cpu != nullptr && cpu->node.value >= 0 && !main.contains(cpu->node);
    const std::ptrdiff_t none = std::ssize(machine.cpu_kinds);
    rank[id] = {minor, kind == main_kind ? -1
                       : kind == nullptr ? none
                                         : kind - machine.cpu_kinds.data()};
  }
  std::vector<CpuId> ordered = in_order(cpus);
  std::stable_sort(ordered.begin(), ordered.end(),
                   [&](CpuId a, CpuId b) { return rank.at(a) < rank.at(b); });
  return ordered;
}

/// Where in the list of resolve_cpus this task's worker 0 starts.
std::size_t first_position(const CpuSpec& spec, const TaskContext& task, std::size_t threads) {
  switch (spec.form) {
    case CpuSpec::Form::allowed:
    case CpuSpec::Form::cores: return static_cast<std::size_t>(std::max(task.peers_before, 0));
    case CpuSpec::Form::isolated:
    case CpuSpec::Form::kind:
    case CpuSpec::Form::list:
    case CpuSpec::Form::nodes:
    case CpuSpec::Form::sockets: break;
  }
  // A list of its own for each local rank: start at its head. One list for all: share it out, as
  // Slurm's map_cpu does.
  if (spec.lists.size() > 1) return 0;
  return static_cast<std::size_t>(std::max(task.local_rank, 0)) * threads;
}

Expected<std::size_t> worker_count(const PlacementSpec& spec, const TaskContext& task,
                                   int default_threads, std::size_t cpus) {
  // No machine has so many CPUs; a slip of the keyboard must not start millions of threads.
  constexpr int max_threads = 1 << 16;
  const bool from_environment = !spec.threads && task.omp_num_threads;
  const std::optional<int> asked = from_environment ? task.omp_num_threads : spec.threads;
  if (asked) {
    if (*asked < 1 || *asked > max_threads) {
      return fail_usage(
          from_environment ? "OMP_NUM_THREADS" : "--threads",
          fmt::format("{} is not a number of threads from 1 to {}", *asked, max_threads),
          "leave it out to use one per CPU");
    }
    return static_cast<std::size_t>(*asked);
  }
  if (task.launched) return std::size_t{1};
  if (default_threads > 0) return static_cast<std::size_t>(default_threads);
  return cpus;
}

NodeId node_of(const CpuSet& cpus, const Machine& machine) {
  const NodeSet nodes = machine.nodes_of(cpus);
  return nodes.size() == 1 ? nodes.front() : NodeId{};
}

Expected<void> check_memory_node(NodeId id, const Machine& machine) {
  NodeSet with_memory;
  for (const NumaNode& node : machine.nodes) {
    if (node.may_have_memory()) with_memory.insert(node.id);
  }
  return check_memory_node(id, all_nodes(machine), with_memory, machine.allowance.memory_nodes);
}

/// The nodes that `auto` deals out: those with memory and CPUs in this process's control group.
/// Its affinity does not count, which launchers narrow to a rank's own CPUs. Memory without CPUs
/// (CXL) is for those who name it, but where nothing else may be used.
NodeSet nodes_for_auto(const Machine& machine) {
  const NodeSet usable = machine.usable_memory_nodes();
  NodeSet with_cpus;
  for (NodeId id : usable) {
    if (!(machine.find_node(id)->cpus & machine.allowance.cpuset).empty()) with_cpus.insert(id);
  }
  return with_cpus.empty() ? usable : with_cpus;
}

}  // namespace

Expected<void> check_memory_node(NodeId id, const NodeSet& nodes, const NodeSet& with_memory,
                                 const NodeSet& allowed) {
  if (!nodes.contains(id)) return missing_node(id, nodes);
  if (!with_memory.contains(id)) {
    return fail(ErrorKind::unavailable,
                fmt::format("NUMA node {} has no memory; nodes with memory: {}", id.value,
                            list_or_none(to_list(with_memory))));
  }
  if (allowed.contains(id)) return {};
  return fail(ErrorKind::permission,
              fmt::format("NUMA node {} exists but is outside the memory nodes that this process "
                          "may use (Mems_allowed: {})",
                          id.value, list_or_none(to_list(allowed))),
              "the cpuset of the batch job or container decides this; ask it for more, or name one "
              "of these nodes");
}

Expected<std::vector<CpuId>> resolve_cpus(const CpuSpec& spec, const Machine& machine,
                                          const TaskContext& task) {
  const bool cores = spec.form == CpuSpec::Form::cores;
  if (cores || spec.form == CpuSpec::Form::allowed) {
    auto cpus =
        cores_before_siblings(main_cpus_first(machine.usable_cpus(), machine), machine, cores);
    if (cpus.empty()) {
      return fail(ErrorKind::unavailable,
                  fmt::format("no CPU is allowed for this process: affinity {}, cpuset {}",
                              list_or_none(to_list(machine.allowance.affinity)),
                              list_or_none(to_list(machine.allowance.cpuset))));
    }
    return cpus;
  }
  if (spec.form == CpuSpec::Form::isolated) return resolve_isolated(machine);
  if (spec.form == CpuSpec::Form::kind) return cpus_of_kinds(spec.kind, machine);
  if (spec.lists.empty()) {
    return fail(ErrorKind::usage, "the list is empty: no CPU named");
  }
  // Every list is checked, so that a mistake in one of them is found on all ranks and not on one.
  Expected<std::vector<CpuId>> mine;
  const std::size_t index =
      static_cast<std::size_t>(std::max(task.local_rank, 0)) % spec.lists.size();
  for (std::size_t i = 0; i < spec.lists.size(); ++i) {
    auto cpus = spec.form == CpuSpec::Form::list
                    ? check_cpu_list(spec.lists[i], machine)
                    : cpus_of_groups(spec.form, spec.lists[i], machine);
    if (!cpus) return cpus;
    if (i == index) mine = std::move(cpus);
  }
  return mine;
}

Expected<std::vector<CpuId>> chosen_cpus(const CpuSpec& spec, const Machine& machine,
                                         const TaskContext& task) {
  auto cpus = of_option("--cpus", resolve_cpus(spec, machine, task));
  if (!cpus && cpus.error().kind == ErrorKind::permission)
    cpus.error().option_hint = ", or leave --cpus out";
  return cpus;
}

MemorySpec with_all_nodes(MemorySpec spec, const Machine& machine) {
  if (!spec.single.all_nodes) return spec;
  for (NodeId id : machine.usable_memory_nodes()) {
    if (machine.find_node(id)->kind == "gpu") continue;
    spec.single.all_nodes = false;
    if (spec.form == MemorySpec::Form::each)
      spec.each.push_back(id);
    else
      spec.single.nodes.emplace_back(id, 1);
  }
  return spec;
}

Expected<MemoryPlacement> resolve_memory(const MemorySpec& asked, const Machine& machine,
                                         int local_worker, const CpuSet& cpus) {
  const MemorySpec spec = with_all_nodes(asked, machine);
  if (spec.single.all_nodes)
    return fail(ErrorKind::unavailable,
                "'all' finds no node with memory that this process may use");
  const auto worker = static_cast<std::size_t>(std::max(local_worker, 0));
  if (spec.form == MemorySpec::Form::round_robin) {
    const NodeSet nodes = nodes_for_auto(machine);
    if (nodes.empty()) {
      return fail(ErrorKind::unavailable,
                  fmt::format("'auto' finds no node with memory that this process may use "
                              "(nodes: {}, Mems_allowed: {})",
                              list_or_none(to_list(all_nodes(machine))),
                              list_or_none(to_list(machine.allowance.memory_nodes))));
    }
    return MemoryPlacement{MemoryMode::bind, {{nodes[worker % nodes.size()], 1}}};
  }
  if (spec.form == MemorySpec::Form::each) {
    if (spec.each.empty()) return fail(ErrorKind::usage, "'each' names no node");
    for (NodeId node : spec.each) {
      TRY(check_memory_node(node, machine));
    }
    return MemoryPlacement{MemoryMode::bind, {{spec.each[worker % spec.each.size()], 1}}};
  }
  if (!spec.single.source.empty()) return at_place(spec.single, cpus, machine);
  for (const auto& [node, weight] : spec.single.nodes) {
    TRY(check_memory_node(node, machine));
  }
  return spec.single;
}

Expected<std::vector<WorkerPlacement>> resolve_placement(const PlacementSpec& spec,
                                                         const Machine& machine,
                                                         const TaskContext& task,
                                                         int default_threads) {
  const auto cpus = TRY(chosen_cpus(spec.cpus, machine, task));
  const auto threads = TRY(worker_count(spec, task, default_threads, cpus.size()));

  MemorySpec memory_spec;
  if (spec.memory) {
    memory_spec = *spec.memory;
  } else {
    memory_spec.single.mode = task.inherited ? MemoryMode::inherit : MemoryMode::local;
  }
  const bool openmp_pins = task.omp_binds && spec.cpus.is_default;
  const std::size_t first = first_position(spec.cpus, task, threads);
  const std::size_t first_local = static_cast<std::size_t>(std::max(task.local_rank, 0)) * threads;

  std::vector<WorkerPlacement> workers(threads);
  for (std::size_t k = 0; k < workers.size(); ++k) {
    WorkerPlacement& worker = workers[k];
    worker.thread = static_cast<int>(k);
    if (openmp_pins) {
      worker.cpus = machine.usable_cpus();
    } else {
      worker.cpu = cpus[(first + k) % cpus.size()];
      worker.cpus = CpuSet{*worker.cpu};
    }
    worker.cpu_node = node_of(worker.cpus, machine);
    worker.memory =
        TRY(of_option("--memory", resolve_memory(memory_spec, machine,
                                                 static_cast<int>(first_local + k), worker.cpus)));
    const bool inherits = worker.memory.mode == MemoryMode::inherit && worker.memory.source.empty();
    if (inherits && task.inherited && machine.is_live()) {
      worker.memory.inherited = task.inherited->mode;
      worker.memory.nodes = task.inherited->nodes;
    }
  }
  return workers;
}

}  // namespace numatlas
