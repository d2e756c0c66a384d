// Which weights of interleaved memory give the most bandwidth: a search over regions placed by the
// page.
#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "base/units.h"
#include "benchmarks/common.h"
#include "benchmarks/weights/search.h"
#include "kernels/traits.h"
#include "machine/interleave_weights.h"
#include "record/labels.h"
#include "run/benchmark.h"
#include "run/declare.h"
#include "run/flows.h"
#include "run/room.h"

namespace numatlas::benchmark_weights {
namespace {

// With more nodes the grid has more points than anybody waits for, or steps too coarse to use.
constexpr std::size_t most_nodes = 4;

/// Of the nodes to choose from, the one nearest to a worker's CPU.
NodeId nearest_of(const NodeSet& nodes, const Machine& machine, const Worker& worker) {
  const auto distance = [&](NodeId to) {
    return distance_between(machine, worker.placement.cpu_node, to);
  };
  return *std::min_element(nodes.begin(), nodes.end(),
                           [&](NodeId a, NodeId b) { return distance(a) < distance(b); });
}

/// Memory without CPUs is what weights are mostly asked for: each kind beside the other, by the
/// CPUs that are near both. Memory beside one socket, interleaved with that of all, tells nothing
/// of either.
struct NodePair {
  NodeId near, far;  ///< that of the CPUs, and the one without

  NodeSet nodes() const { return {near, far}; }
};

/// The two that are nearest to each other, where there is memory without CPUs (CXL, HBM). The
/// memory of GPUs is for those who name it.
std::optional<NodePair> pair_to_weigh(const Machine& machine) {
  const NodeSet memory = machine.main_nodes(machine.ordinary_memory_nodes());
  std::optional<NodePair> nearest;
  // Some firmware names the CPUs' nodes beside the memory instead of a distance.
  const auto distance = [&](const NodePair& pair) {
    const auto& hmat = machine.find_node(pair.far)->hmat;
    const bool beside = hmat && hmat->initiators.contains(pair.near);
    return std::pair(distance_between(machine, pair.near, pair.far), beside ? 0 : 1);
  };
  for (NodeId near : memory& machine.nodes_of(machine.usable_cpus())) {
    for (NodeId far : memory) {
      if (!machine.find_node(far)->cpus.empty()) continue;
      const NodePair pair{near, far};
      if (!nearest || distance(pair) < distance(*nearest)) nearest = pair;
    }
  }
  return nearest;
}

/// The nodes to choose from where none are named.
NodeSet usual_nodes(const Machine& machine) {
  if (const auto pair = pair_to_weigh(machine)) return pair->nodes();
  NodeSet nodes;
  for (const NodeId node : machine.main_nodes(machine.ordinary_memory_nodes())) {
    if (nodes.size() < most_nodes) nodes.insert(node);
  }
  return nodes;
}

struct Options {
  std::optional<NodeSet> nodes;
  std::string kernel;  ///< "": the mix
  MixParameters mix;
  std::string isa;
};

Expected<NodeSet> parse_nodes(const std::string& text) {
  auto nodes = parse_list<NodeId>(text);
  if (!nodes) return fail_usage("", nodes.error().message, "such as 0,2");
  if (nodes->empty() || nodes->size() > most_nodes)
    return fail_usage("", fmt::format("name 1 to {} nodes", most_nodes));
  return nodes;
}

void add_options(Options& own, CLI::App& app) {
  add_parsed(
      app, "--nodes", own.nodes, "", "NODES",
      "nodes to interleave over, at most 4, such as 0,2\n"
      "By default, where a node has memory but no CPUs, the nearest such node and the node of its "
      "CPUs, which then run the workers; else the first 4 with usable memory. Memory of GPUs only "
      "if named",
      parse_nodes);
  auto* kernel = add_choice(app, "--kernel", own.kernel, named(stream_kernels),
                            "measure this kernel of `numatlas bandwidth` instead of a mix");
  add_parsed(app, "--mix", own.mix, "2:1", "R:W", "mix of lines read to lines written", parse_mix)
      ->excludes(kernel);
  add_isa_option(app, own.isa);
}

Expected<void> parse(Options& own, Benchmark&) {
  return of_option("--isa", use_instruction_set(own.isa));
}

/// Unasked, those near both nodes of a pair.
Expected<Workers> workers(const Options& own, const RunOptions& options, const Machine& machine,
                          const TaskContext& task) {
  PlacementSpec spec = options.placement;
  const auto pair = pair_to_weigh(machine);
  if (pair && !own.nodes && spec.cpus.is_default && !task.launched)
    spec.cpus = {CpuSpec::Form::nodes, {{pair->near.value}}, false};  // cores before their threads
  return resolve_placement(spec, machine, task, 0);
}

/// The nodes to choose from, there on every host.
Expected<NodeSet> nodes_of(const Options& own, const PlanInput& input) {
  const Machine& machine = input.machines.front();
  NodeSet nodes = own.nodes.value_or(NodeSet{});
  if (!own.nodes) {
    nodes = usual_nodes(machine);
    if (nodes.empty())
      return fail_about(ErrorKind::unavailable, "--nodes",
                        "no node has memory that this process may use");
    if (nodes.size() < 2)
      return fail_about(ErrorKind::unavailable, "weights",
                        "only one node has memory, so there is nothing to weight",
                        "it requires a machine with several NUMA nodes (sockets, tiers, or "
                        "sub-NUMA clusters in the firmware's settings)");
  }
  MemorySpec all;
  all.single = {MemoryMode::weighted, coarse_grid(nodes).front()};
  for (const Machine& host : input.machines) {
    if (auto there = resolve_memory(all, host, 0); !there)
      return fail(of_option("--nodes", there.error()));
  }
  return nodes;
}

/// On any of the nodes there may come to lie nearly all memory.
Bytes usual_size_of(const Options& own, const PlanInput& input, const AxisSetting& now) {
  const NodeSet nodes = nodes_of(own, input).value_or(NodeSet{});
  const std::vector<int> workers = all_workers(input.layout);
  Bytes size = size_past_caches(input, workers, usual_size, nodes);
  for (NodeId node : nodes)
    size = size_with_room(input, size, flows_on_node(workers, node, now.pages));
  return size;
}

/// Weights to try; empty: each worker's nearest node alone.
struct Trial {
  Weights weights;
  bool last = false;
};

std::vector<AxisValue> trials_of(const Next& round) {
  std::vector<AxisValue> trials;
  const bool last = round.round == final_round;
  for (const Weights& weights : round.weights)
    trials.push_back({{weights.empty() ? nearest_alone : text_of(weights), round.round},
                      Trial{weights, last},
                      true,
                      {{"again", last ? "again" : ""}}});
  return trials;
}

Expected<std::vector<AxisValue>> first_trials(const Options& own, const PlanInput& input) {
  Next first{"0", coarse_grid(TRY(nodes_of(own, input)))};
  if (first.weights.size() > 1) first.weights.insert(first.weights.begin(), Weights{});
  return trials_of(first);
}

std::vector<LaterCase> later(const PlanInput& input, const RunReport& report) {
  std::vector<LaterCase> cases;
  for (AxisValue& trial : trials_of(next_round(report)))
    cases.push_back({input.pages.front(), {std::move(trial)}});
  return cases;
}

Expected<Point> point(const Options& own, const PlanInput& input, const AxisSetting& now) {
  const auto& [weights, last] = now.of<Trial>();
  const NodeSet nodes = TRY(nodes_of(own, input));
  const Choice choice{"", own.kernel.empty() ? KernelSpec{own.mix} : kernel_named(own.kernel)};
  Point point{.in_turn = last};
  for (int worker : all_workers(input.layout)) {
    Flow& flow = point.flows.emplace_back(stream_flow(input, choice, worker, now.size, now.pages));
    flow.region.placement =
        weights.empty()
            ? bound_to(nearest_of(nodes, machine_of(input, worker), worker_of(input, worker)))
            : MemoryPlacement{MemoryMode::weighted, weights};
  }
  return point;
}

/// The first `most` usable CPUs of each node.
CpuSet few_cpus_per_node(const Machine& machine, std::size_t most) {
  CpuSet chosen;
  for (NodeId node : machine.nodes_of(machine.usable_cpus())) {
    std::size_t taken = 0;
    for (CpuId cpu : machine.own_cpus(node) & machine.usable_cpus())
      if (taken++ < most) chosen.insert(cpu);
  }
  return chosen;
}

SurveyPart survey(const Machine& machine) {
  NodeSet nodes = machine.ordinary_memory_nodes();
  if (nodes.size() < 2)
    return {.reason = only_one_node(machine) + ", so there is nothing to interleave"};
  CpuSet cpus = machine.usable_cpus();
  if (const auto pair = pair_to_weigh(machine)) {
    nodes = pair->nodes();
    cpus = cpus & machine.find_node(pair->near)->cpus;
  }
  // There are many points: fewer CPUs than a large machine has need all that its memory gives.
  constexpr std::size_t enough = 64;
  SurveyPart part{1, {}, {}};
  if (cpus.size() > enough) {
    const std::size_t of_each = enough / std::max<std::size_t>(1, machine.nodes_of(cpus).size());
    cpus = cpus & few_cpus_per_node(machine, std::max<std::size_t>(1, of_each));
    part.words = {"--cpus", to_list(cpus)};
  }
  constexpr Bytes least{16 * mib};
  const Bytes size = size_past_caches(machine, cpus, nodes, least);
  part.words.insert(part.words.end(), {"--size", compact_text(size)});
  return part;
}

bool is_less(const Estimate& times) { return times.high && *times.high < 1; }

/// What the search found.
struct Found {
  const Case *best, *nearest, *equal;  ///< but for `best` nullptr where not measured
  Weights weights;                     ///< of `best`
  std::optional<Estimate> times;       ///< of several nodes: that of the nearest alone
  bool alone = false;                  ///< which is faster
};

std::optional<Found> found_in(const RunReport& report) {
  const Case* const best = best_point(report);
  if (best == nullptr) return std::nullopt;
  const Weights weights = weights_of(*best);
  Found found{best,
              point_of(report, nearest_alone),
              point_of(report, text_of(equal_weights(weights))),
              weights,
              {}};
  if (found.nearest != nullptr && weights.size() > 1)
    found.times = gain_of(report, *best, *found.nearest);
  found.alone = found.times && is_less(*found.times);
  return found;
}

std::string gb(const Case& one) { return fmt::format("{:.2f}", rate_of(one)->value * in_gb_per_s); }

/// "  against equal weights: +12.3 % (11.8 to 12.9 %)".
std::string against(const std::string& what, const Estimate& times) {
  const auto percent = [](double ratio) { return (ratio - 1) * 100; };
  const char* const sure = times.low && *times.low > 1 ? ""
                           : is_less(times)            ? "less, "
                                                       : "no significant difference, ";
  return fmt::format(
      "  against {}: {}{:+.1f} %{}", what, sure, percent(times.value),
      times.low ? fmt::format(" ({:+.1f} to {:+.1f} %)", percent(*times.low), percent(*times.high))
                : " (too few samples for an interval)");
}

/// What the best weights are worth, and how to set them.
void add_verdict(View& view, const CaseGroup&, const RunReport& report) {
  const auto found = found_in(report);
  if (!found) return;
  const auto add = [&](std::string line) { view.verdict.push_back(std::move(line)); };
  const auto& [best, nearest, equal, weights, times, alone] = *found;
  if (weights.size() < 2)
    return add(fmt::format("Only node {} takes part, so there is nothing to weight.",
                           weights.front().first.value));
  if (alone)
    add(fmt::format("Best: the nearest node alone with {} GB/s; no weights are as fast",
                    gb(*nearest)));
  add(fmt::format("{}: {} with {} GB/s", alone ? "The best weights" : "Best", text_of(weights),
                  gb(*best)));
  if (equal == best)
    add("  these are equal weights");
  else if (equal != nullptr)
    if (const auto gain = gain_of(report, *best, *equal)) add(against("equal weights", *gain));
  if (times) add(against("the nearest node alone", *times));
  if (report.ranks > 1) add("With several ranks only the coarse grid is measured.");
  if (alone) return;
  add("For all programs under weighted interleave (numactl --weighted-interleave), as root:");
  for (const auto& [node, weight] : weights)
    add(fmt::format("  echo {} > {}node{}", weight, interleave_weight_folder, node.value));
}

Table table() {
  return {.title =
              "Interleave weights: bandwidth in GB/s of {kernel}[, {stores} stores] ({size} a "
              "worker, {workers} workers, pages: {pages}, kernels: {isa})",
          .cells = {label_column("weights", weights_label), label_column("round", round_label),
                    figure_column("sum", "bandwidth_sum", in_gb_per_s),
                    figure_column(plus_minus(), "bandwidth_sum", in_gb_per_s, Part::half_width)},
          .notes = {"sum: all workers over their common time, bytes counted as STREAM does"},
          .finish = add_verdict};
}

/// What is fastest, the best weights or the nearest node alone, and what the weights give against
/// it.
std::vector<Fact> facts(const RunReport& report) {
  const auto found = found_in(report);
  if (!found) return {};
  const auto& [best, nearest, equal, weights, times, alone] = *found;
  NodeSet nodes;
  for (const WorkerRow& worker : report.workers) {
    if (worker.cpu_node.value >= 0) nodes.insert(worker.cpu_node);
  }
  const std::string all = text_of(weights), cache = cache_text(*best), kernel = best->kernel;
  const std::string cpu_nodes =
      nodes.empty() ? "" : (nodes.size() > 1 ? "nodes " : "node ") + to_list(nodes);
  const std::string who = fmt::format("{} of {} CPUs{}", kernel, report.workers.size(),
                                      nodes.empty() ? "" : " (" + cpu_nodes + ")");
  const std::string how = fmt::format("{} ({}{})", cache.empty() ? "" : " in " + cache, kernel,
                                      nodes.empty() ? "" : ", CPUs of " + cpu_nodes);
  std::vector<Fact> facts;
  const auto add = [&](const char* key, Labels where, const std::string& words, Unit unit,
                       const Estimate& estimate, const std::string& line) {
    facts.push_back({key, std::move(where), words, unit, estimate, "Interleave", line});
  };
  if (alone)
    add("nearest_bandwidth", {{"kernel", kernel}, {"cpu_nodes", to_list(nodes)}},
        who + " over each CPU's nearest node alone", "B/s", *rate_of(*nearest),
        "{} on the nearest node alone, faster than any weights" + how);
  add("weights_bandwidth", {{"weights", all}, {"kernel", kernel}, {"cpu_nodes", to_list(nodes)}},
      fmt::format("{} over memory interleaved by the best weights found ({})", who, all), "B/s",
      *rate_of(*best),
      alone                ? "{} with the best weights, " + all
      : weights.size() > 1 ? "{} with weights " + all + how
                           : fmt::format("{{}} on node {} alone{}", weights[0].first.value, how));
  if (times)
    add("weights_times", {{"weights", all}}, "that against each CPU's nearest node alone", "1",
        *times, "{} that of the nearest node alone");
  return facts;
}

}  // namespace

Benchmark make() {
  const Bound<Options> with;
  return {
      .name = "weights",
      .help =
          {.summary = "find the interleave weights with the highest bandwidth",
           .listing = {Topic::memory, true},
           .description =
               "Tries weights of nodes, first on a coarse grid and then in smaller steps around "
               "the best. Then measures the best again, alternating with equal weights and with "
               "the nearest node alone, and compares them by these new figures. Prints the "
               "commands that set them for the whole system.",
           .examples = {{"Interleave the memory of a socket and that of a CXL node",
                         "numatlas weights --nodes 0,2 --cpus node:0"},
                        {"The best weights for reads", "numatlas weights --kernel read"}}},
      .options = {.refused = {{"--memory", "weights places the memory itself", "name --nodes"},
                              {"--serial", "weights compares what all workers move together",
                               "leave it out"},
                              {"--threads", "weights accepts one number", "run it once for each",
                               true}},
                  .usual_cpus = "",
                  .usual_pages = "base",
                  .one_kind_of_pages = true},
      .is_of_memory = true,
      .varies = {.size = "memory of each worker",
                 .usual_size = "256 MiB\nThe default is more where caches are large or unknown",
                 .one_size = true},
      .sweeps = {{.point = with(point),
                  .name = "{weights}[ {again}]",
                  .axes = {{.labels = {weights_label, round_label}, .values = with(first_trials)}},
                  .size = {.form = SizeRule::Form::in_plan, .usual = with(usual_size_of)},
                  .of_kernels = false,
                  .may_be_serial = false,
                  .later = later}},
      .add_options = with(add_options),
      .parse_options = with(parse),
      .workers = with(workers),
      .refinement =
          {// The grid, three rounds round its best, and the best few again.
           .time_parts = {0.35, 0.5, 0.65, 0.8, 0.95}},
      .shown =
          {// The search lays weights out page by page.
           .expected_warnings = {"placement-method"},
           .tables = {table()},
           .facts = facts},
      .survey = survey,
  };
}

}  // namespace numatlas::benchmark_weights
