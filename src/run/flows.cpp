#include "run/flows.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/add_once.h"
#include "memory/pools.h"
#include "run/levels.h"

namespace numatlas {

Flow plain_flow(const PlanInput& input, KernelSpec kernel, int worker, Bytes size, PageKind pages) {
  Flow flow;
  flow.worker = worker;
  flow.kernel = std::move(kernel);
  flow.region.bytes = size;
  flow.region.placement = worker_of(input, worker).placement.memory;
  flow.region.pages = pages;
  return flow;
}

MemoryPlacement bound_to(NodeId node) { return {MemoryMode::bind, {{node, 1}}}; }

std::vector<int> all_workers(const Layout& layout) {
  std::vector<int> all(layout.workers.size());
  std::iota(all.begin(), all.end(), 0);
  return all;
}

std::vector<int> workers_within(const Layout& layout, int threads) {
  std::vector<int> workers = all_workers(layout);
  std::erase_if(workers, [&](int worker) {
    return layout.workers[static_cast<std::size_t>(worker)].placement.thread >= threads;
  });
  return workers;
}

const Worker& worker_of(const PlanInput& input, int worker) {
  return input.layout.workers[static_cast<std::size_t>(worker)];
}

const Machine& machine_of(const PlanInput& input, int worker) {
  return input.machines[static_cast<std::size_t>(worker_of(input, worker).host)];
}

Flow chase_flow(const PlanInput& input, int worker, Bytes size, PageKind pages,
                const ChaseWalk& walk) {
  const Machine& machine = machine_of(input, worker);
  const CpuSet& cpus = worker_of(input, worker).placement.cpus;
  const ChainSpec chain{walk.order, walk.stride.value_or(line_bytes(machine, cpus)),
                        page_bytes(machine, pages)};
  Flow flow = plain_flow(input, {ChaseParameters{chain}}, worker, size, pages);
  // Every worker its own order: equal ones would march through shared caches in step.
  flow.kernel.seed = input.options.seed + static_cast<std::uint64_t>(worker);
  flow.kernel.as<ChaseParameters>().verify_full =
      input.options.verify == Verify::full || is_walked_whole(flow);
  flow.warm_up = warm_up_bytes(machine, cpus, flow);
  return flow;
}

Flow stream_flow(const PlanInput& input, const Choice& choice, int worker, Bytes size,
                 PageKind pages) {
  Flow flow = plain_flow(input, choice.spec, worker, size, pages);
  flow.kernel.seed = input.options.seed;
  flow.warm_up =
      warm_up_bytes(machine_of(input, worker), worker_of(input, worker).placement.cpus, flow);
  return flow;
}

Flow access_flow(const PlanInput& input, const std::string& kernel, int worker, Bytes size,
                 PageKind pages) {
  if (traits_of(kernel).chases()) return chase_flow(input, worker, size, pages);
  return stream_flow(input, {kernel, kernel_named(kernel)}, worker, size, pages);
}

CpuId cpu_of(const PlanInput& input, int worker) {
  const CpuSet& cpus = worker_of(input, worker).placement.cpus;
  return cpus.empty() ? CpuId{} : cpus.front();
}

int core_of(const PlanInput& input, int worker) {
  return machine_of(input, worker).core_or_own(cpu_of(input, worker));
}

CpuSet cpus_of(const PlanInput& input, const std::vector<int>& workers, std::size_t host) {
  CpuSet cpus;
  for (int worker : workers) {
    const Worker& who = worker_of(input, worker);
    if (who.host == static_cast<int>(host) && !who.placement.cpus.empty())
      cpus.insert(who.placement.cpus.front());
  }
  return cpus;
}

namespace {

/// The nodes of these, or else of the workers' own memory, whose caches count.
NodeSet nodes_with_caches(const PlanInput& input, const std::vector<int>& workers, std::size_t host,
                          const NodeSet& memory) {
  if (input.options.ignore_side_caches) return {};
  NodeSet nodes = memory;
  for (int worker : workers) {
    const Worker& who = worker_of(input, worker);
    if (!memory.empty() || who.host != static_cast<int>(host)) continue;
    const NodeSet its = who.placement.memory.in_force().node_set();
    nodes = nodes | (its.empty() ? NodeSet{who.placement.cpu_node} : its);
  }
  return nodes;
}

}  // namespace

bool has_side_caches(const PlanInput& input) {
  return !input.options.ignore_side_caches &&
         std::ranges::any_of(input.machines, [](const Machine& machine) {
           return std::ranges::any_of(machine.nodes,
                                      [](const auto& node) { return !node.side_caches.empty(); });
         });
}

Bytes past_all_caches(const PlanInput& input, const std::vector<int>& workers, std::size_t host,
                      const NodeSet& memory) {
  return past_all_caches(input.machines[host], cpus_of(input, workers, host),
                         nodes_with_caches(input, workers, host, memory));
}

Bytes size_past_caches(const PlanInput& input, const std::vector<int>& workers, Bytes least,
                       const NodeSet& memory) {
  std::uint64_t size = least.value;
  for (std::size_t host = 0; host < input.machines.size(); ++host) {
    const auto here =
        static_cast<std::uint64_t>(std::count_if(workers.begin(), workers.end(), [&](int worker) {
          return worker_of(input, worker).host == static_cast<int>(host);
        }));
    const std::uint64_t all = past_all_caches(input, workers, host, memory).value;
    if (here > 0) size = std::max(size, (all / here + mib - 1) / mib * mib);
  }
  return Bytes{size};
}

Bytes size_past_own_caches(const PlanInput& input, const std::vector<int>& workers, int worker,
                           Bytes size, Bytes least) {
  if (!has_side_caches(input)) return size;
  const auto nodes_of = [&](int one) {
    const auto host = static_cast<std::size_t>(worker_of(input, one).host);
    return std::pair(host, nodes_with_caches(input, {one}, host, {}));
  };
  std::vector<int> alike;
  for (int other : workers)
    if (nodes_of(other) == nodes_of(worker)) alike.push_back(other);
  return size_past_caches(input, alike, least);
}

Bytes chase_size_past_caches(const Machine& machine, const CpuSet& cpus, const NodeSet& memory,
                             Bytes least) {
  const CpuSet first = cpus.empty() ? CpuSet{} : CpuSet{cpus.front()};
  const std::uint64_t size = past_all_caches(machine, first, memory).value;
  return std::max(least, Bytes{(size + mib - 1) / mib * mib});
}

Bytes chase_size_past_caches(const PlanInput& input) {
  Bytes size;
  for (int worker : all_workers(input.layout))
    size = std::max(size, size_past_caches(input, {worker}, least_chase));
  return size;
}

NodeSet worker_nodes(const PlanInput& input) {
  NodeSet nodes;
  for (const Worker& worker : input.layout.workers) {
    if (worker.placement.cpu_node.value >= 0) nodes.insert(worker.placement.cpu_node);
  }
  return nodes;
}

NodeSet memory_nodes(const PlanInput& input) {
  NodeSet nodes;
  for (const Machine& machine : input.machines) {
    for (const NumaNode& node : machine.nodes) {
      if (node.may_have_memory()) nodes.insert(node.id);
    }
  }
  return nodes;
}

NodeSet ordinary_memory_nodes(const PlanInput& input) {
  NodeSet nodes = memory_nodes(input);
  for (const Machine& machine : input.machines) {
    for (const NumaNode& node : machine.nodes) {
      if (node.kind == "gpu") nodes = nodes - NodeSet{node.id};
    }
  }
  return nodes;
}

std::vector<int> workers_on(const Layout& layout, const NodeSet& nodes) {
  std::vector<int> workers = all_workers(layout);
  std::erase_if(workers, [&](int worker) {
    return !nodes.contains(layout.workers[static_cast<std::size_t>(worker)].placement.cpu_node);
  });
  return workers;
}

std::string memory_node_problem(const Machine& machine, NodeId node) {
  const NumaNode* found = machine.find_node(node);
  if (found == nullptr || !found->may_have_memory())
    return fmt::format("node {} has no memory on this machine", node.value);
  if (machine.usable_memory_nodes().contains(node)) return "";
  return fmt::format("node {} is not among the memory nodes that this process may use ({})",
                     node.value, to_list(machine.usable_memory_nodes()));
}

std::optional<Error> nodes_skip(const Machine& machine, const std::vector<NodeId>& nodes,
                                const std::string& hint) {
  for (const NodeId node : nodes) {
    if (std::string why = memory_node_problem(machine, node); !why.empty())
      return Error{ErrorKind::unavailable, std::move(why), hint};
  }
  return std::nullopt;
}

int distance_between(const Machine& machine, NodeId from, NodeId to) {
  if (from == to) return 0;
  constexpr int unknown = std::numeric_limits<int>::max();
  const NumaNode* const node = machine.find_node(from);
  if (node == nullptr) return unknown;
  const auto found = node->distance.find(to.value);
  return found == node->distance.end() ? unknown : found->second;
}

NodeId nearest_to(const Machine& machine, const NodeSet& nodes, NodeId to) {
  return *std::ranges::min_element(
      nodes, {}, [&](NodeId node) { return distance_between(machine, node, to); });
}

std::vector<int> counts_of_cpus(const PlanInput& input) {
  const RunOptions& options = input.options;
  if (!options.thread_counts.empty()) return options.thread_counts;
  if (options.placement.threads) return {*options.placement.threads};
  const auto all = static_cast<int>(input.layout.workers.size());
  std::vector<int> counts;
  for (int count = 1; count < all; count *= 2) counts.push_back(count);
  counts.push_back(all);
  return counts;
}

Expected<Workers> worker_on_every_core(const RunOptions& options, const Machine& machine,
                                       const TaskContext& task) {
  PlacementSpec spec = options.placement;
  const bool chosen = spec.cpus.is_default;
  if (chosen) spec.cpus.form = CpuSpec::Form::cores;
  const auto cpus = resolve_cpus(spec.cpus, machine, TaskContext{});
  // More than there are cores: their other hardware threads as well.
  if (chosen && cpus && spec.threads && *spec.threads > static_cast<int>(cpus->size()))
    spec.cpus.form = CpuSpec::Form::allowed;
  spec.cpus.is_default = false;
  if (cpus && !spec.threads) spec.threads = static_cast<int>(cpus->size());
  return resolve_placement(spec, machine, task, 0);
}

Expected<void> check_run_together(const PlanInput& input, const std::string& command) {
  TRY(check_one_process(input, command));
  const auto cpus = distinct_cpus(input, command);
  return cpus ? Expected<void>{} : fail(cpus.error());
}

Expected<void> check_one_number_of_threads(const RunOptions& options, const std::string& command) {
  if (options.thread_counts.empty()) return {};
  return fail_usage("--threads", command + " accepts one number", "run it once for each");
}

Bytes page_bytes(const Machine& machine, PageKind pages) {
  return page_size_of(pages, machine.page_size.value_or(Bytes{4096}));
}

Bytes whole_pages(const Machine& machine, Bytes size, PageKind pages) {
  return Bytes{whole_pages(size.value, page_bytes(machine, pages).value)};
}

Expected<std::vector<NodeId>> parse_nodes(const std::string& option, const std::string& text,
                                          const std::string& words) {
  const auto spec = parse_node_spec("each:" + text);
  if (spec) return spec->each;
  return fail_usage(option, fmt::format("'{}' is not {} or a list of nodes", text, words),
                    "such as 0 or 0,2; nodes: see `numatlas topology`");
}

Expected<void> check_nodes(const std::string& option, const std::string& text,
                           const std::string& usual) {
  if (text == "all" || text == usual) return {};
  const auto nodes = parse_nodes(option, text, usual.empty() ? "all" : usual + ", all");
  return nodes ? Expected<void>{} : fail(nodes.error());
}

Expected<std::vector<NodeId>> chosen_nodes(const PlanInput& input, const std::string& option,
                                           const std::string& text) {
  if (text == "all") {
    const NodeSet all = ordinary_memory_nodes(input);
    return std::vector<NodeId>(all.begin(), all.end());
  }
  std::vector<NodeId> nodes;
  for (const NodeId node : TRY(parse_nodes(option, text, "all"))) add_once(nodes, node);
  for (NodeId node : nodes) {
    if (input.machines.front().find_node(node) != nullptr) continue;
    return fail_about(ErrorKind::unavailable, option,
                      fmt::format("this machine has no NUMA node {}", node.value),
                      "nodes: see `numatlas topology`");
  }
  return nodes;
}

Expected<std::vector<NodeChoice>> node_choices(const PlanInput& input, const std::string& option,
                                               const std::string& text, const std::string& usual) {
  if (text == usual) return std::vector<NodeChoice>{{usual, std::nullopt}};
  const auto nodes = TRY(chosen_nodes(input, option, text));
  std::vector<NodeChoice> choices;
  for (NodeId node : nodes) choices.push_back({std::to_string(node.value), node});
  return choices;
}

Bytes whole_steps(Bytes size, const PageWork& work) {
  const std::uint64_t step = work.step_bytes();
  return Bytes{std::max<std::uint64_t>(1, size.value / step) * step};
}

std::optional<Estimate> mean_rate(const FlowResult& flow, const std::string& key) {
  const Figure* const time = find_figure(flow.figures, key);
  if (time == nullptr || !time->estimate || !(time->estimate->value > 0)) return std::nullopt;
  return divided_into(1, *time->estimate);
}

std::optional<Figure> sum_over_flows(const Case& visit, const std::string& key,
                                     const std::string& sum_key) {
  std::optional<Figure> sum;
  for (const FlowResult& flow : visit.flows) {
    const Figure* const one = find_figure(flow.figures, key);
    if (one == nullptr || !one->estimate) return std::nullopt;
    const Estimate total = sum ? sum_of(*sum->estimate, *one->estimate) : *one->estimate;
    sum = Figure{sum_key, one->unit, total, std::nullopt};
  }
  return sum;
}

Expected<CpuSet> distinct_cpus(const PlanInput& input, const std::string& command) {
  CpuSet cpus;
  for (const Worker& worker : input.layout.workers) {
    const CpuId cpu = worker.placement.cpu.value_or(CpuId{});
    if (cpus.contains(cpu)) {
      return fail_usage(
          command, fmt::format("two workers are on CPU {} and could only run in turns", cpu.value),
          "name each CPU once (--cpus), and no more --threads than CPUs");
    }
    cpus.insert(cpu);
  }
  return cpus;
}

}  // namespace numatlas
