// Which weights of interleaved memory give the most bandwidth: a search over regions placed by the
// page.
#include <algorithm>
#include <cstdlib>
#include <optional>
#include <sstream>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include "base/units.h"
#include "benchmarks/survey_words.h"
#include "benchmarks/weights/search.h"
#include "kernels/traits.h"
#include "machine/interleave_weights.h"
#include "record/cache_level.h"
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

/// Two nodes to weigh against each other, and the nodes of the CPUs to do it with: both kinds of
/// memory are then compared by the same CPUs.
struct NodePair {
  NodeSet nodes, of_cpus;
};

/// Where there is memory without CPUs (CXL, HBM), the node with CPUs and the one without that are
/// nearest to each other; the memory of GPUs is for those who name it. Where all have CPUs, the
/// first and the last of them.
std::optional<NodePair> pair_to_weigh(const Machine& machine) {
  const NodeSet memory = machine.main_nodes(machine.ordinary_memory_nodes());
  const NodeSet with_cpus = memory & machine.nodes_of(machine.usable_cpus());
  NodeSet without_cpus;
  for (NodeId node : memory) {
    if (machine.find_node(node)->cpus.empty()) without_cpus.insert(node);
  }
  if (without_cpus.empty() || with_cpus.empty()) {
    if (with_cpus.size() < 2) return std::nullopt;
    const NodeSet ends{with_cpus.front(), with_cpus[with_cpus.size() - 1]};
    return NodePair{ends, ends};
  }
  // Some firmware names the CPUs' nodes beside the memory instead of a distance.
  const auto distance = [&](NodeId from, NodeId to) {
    const auto& hmat = machine.find_node(to)->hmat;
    const bool beside = hmat && hmat->initiators.contains(from);
    return std::pair(distance_between(machine, from, to), beside ? 0 : 1);
  };
  NodeId near = with_cpus.front(), far = without_cpus.front();
  for (NodeId from : with_cpus) {
    for (NodeId to : without_cpus) {
      if (distance(from, to) < distance(near, far)) std::tie(near, far) = std::pair(from, to);
    }
  }
  return NodePair{{near, far}, {near}};
}

/// Memory without CPUs is what weights are mostly asked for: each kind beside the other, by the
/// CPUs that are near both. Memory beside one socket, interleaved with that of all, tells nothing
/// of either.
bool is_paired(const Machine& machine) {
  const NodeSet memory = machine.main_nodes(machine.ordinary_memory_nodes());
  return !(memory - machine.nodes_of(machine.all_cpus())).empty() && pair_to_weigh(machine);
}

/// The nodes to choose from where none are named.
NodeSet usual_nodes(const Machine& machine) {
  if (is_paired(machine)) return pair_to_weigh(machine)->nodes;
  NodeSet nodes;
  for (const NodeId node : machine.main_nodes(machine.ordinary_memory_nodes())) {
    if (nodes.size() < most_nodes) nodes.insert(node);
  }
  return nodes;
}

struct Options {
  std::string nodes_text, mix_text = "2:1", isa;
  std::optional<NodeSet> nodes;
  std::optional<Bytes> size;  ///< not given: the usual one, or what has room
  KernelSpec kernel;
  std::string kernel_name;  ///< in the report: "mix 2:1"; until --mix is read, that of --kernel
};

void add_options(Options& own, CLI::App& app) {
  add_value(
      app, "--nodes", own.nodes_text, "NODES",
      "nodes to interleave over, at most 4, such as 0,2\n"
      "By default, where a node has memory but no CPUs, the nearest such node and the node of its "
      "CPUs, which then run the workers; else the first 4 with usable memory. Memory of GPUs only "
      "if named");
  auto* kernel = add_choice(app, "--kernel", own.kernel_name, named(stream_kernels),
                            "measure this kernel of `numatlas bandwidth` instead of a mix");
  add_value(app, "--mix", own.mix_text, "R:W", "mix of lines read to lines written")
      ->excludes(kernel);
  add_isa_option(app, own.isa);
}

Expected<void> parse(Options& own, Benchmark& benchmark) {
  own.size = benchmark.given->size();
  TRY(of_option("--isa", use_instruction_set(own.isa)));
  if (own.kernel_name.empty()) {
    own.kernel.parameters = TRY(of_option("--mix", parse_mix(own.mix_text)));
    own.kernel_name = full_name(own.kernel);
  } else {
    own.kernel.parameters = kernel_named(own.kernel_name).parameters;
  }
  if (own.size) {
    TRY(check_size(own.kernel, *own.size));
  }
  if (!own.nodes_text.empty()) {
    auto nodes = parse_list<NodeId>(own.nodes_text);
    if (!nodes) return fail_usage("--nodes", nodes.error().message, "such as 0,2");
    if (nodes->empty() || nodes->size() > most_nodes)
      return fail_usage("--nodes", fmt::format("name 1 to {} nodes", most_nodes));
    own.nodes = *std::move(nodes);
  }
  return {};
}

/// Unasked, those near both nodes of a pair.
Expected<Workers> workers(const Options& own, const RunOptions& options, const Machine& machine,
                          const TaskContext& task) {
  PlacementSpec spec = options.placement;
  if (!own.nodes && spec.cpus.is_default && !task.launched && is_paired(machine)) {
    const NodeSet of_cpus = pair_to_weigh(machine)->of_cpus;
    std::vector<int> list;
    for (const NodeId node : of_cpus) list.push_back(node.value);
    spec.cpus = {CpuSpec::Form::nodes, {list}, false};  // cores before their other threads
  }
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
  all.single.mode = MemoryMode::weighted;
  for (NodeId node : nodes) all.single.nodes.emplace_back(node, 1);
  for (const Machine& host : input.machines) {
    if (auto there = resolve_memory(all, host, 0); !there)
      return fail(of_option("--nodes", there.error()));
  }
  return nodes;
}

/// The same for all points: on any of the nodes there may come to lie nearly all memory.
Bytes size_of(const Options& own, const PlanInput& input, const NodeSet& nodes) {
  if (own.size) return *own.size;
  Bytes size = size_past_caches(input, all_workers(input.layout), usual_size, nodes);
  for (NodeId node : nodes)
    size = size_with_room(input, size, flows_on_node(all_workers(input.layout), node));
  return size;
}

/// A point by its labels; `weights` empty: each worker's nearest node of `nodes` alone.
PlannedScenario point(const Options& own, const PlanInput& input, const NodeSet& nodes,
                      const Weights& weights, const std::string& round) {
  const std::string label = weights.empty() ? nearest_alone : text_of(weights);
  const PageKind pages = input.pages.front();
  PlannedScenario planned = new_point(input, label, size_of(own, input, nodes), pages);
  if (round == final_round) planned.head.name += " again";
  planned.head.labels = {{weights_label, label}, {round_label, round}};
  planned.in_turn = round == final_round;
  Choice choice;
  choice.spec = own.kernel;
  for (int worker : all_workers(input.layout)) {
    Flow flow = stream_flow(input, choice, worker, planned.head.size, pages);
    flow.region.placement =
        weights.empty()
            ? bound_to(nearest_of(nodes, machine_of(input, worker), worker_of(input, worker)))
            : MemoryPlacement{MemoryMode::weighted, weights};
    planned.scenario.flows.push_back(std::move(flow));
  }
  return planned;
}

Expected<Plan> plan(const Options& own, const PlanInput& input) {
  const auto nodes = TRY(nodes_of(own, input));
  std::vector<Weights> all = coarse_grid(nodes);
  if (nodes.size() > 1) all.insert(all.begin(), Weights{});  // the nearest alone
  Plan plan;
  for (const Weights& weights : all) add_point(plan, point(own, input, nodes, weights, "0"));
  return plan;
}

/// The next round of the search; after the last the best again.
Expected<Plan> refine(const Options& own, const PlanInput& input, const RunReport& report) {
  const ScenarioResult* best = best_point(report);
  const auto nodes = nodes_of(own, input);
  Plan more;
  if (!nodes || nodes->size() < 2 || best == nullptr) return more;
  const auto add = [&](const std::vector<Weights>& all, const std::string& round) {
    for (const Weights& weights : all) add_point(more, point(own, input, *nodes, weights, round));
  };
  const std::vector<Weights> again = final_round_of(report);
  // Nothing is left to measure again once that was done.
  if (!again.empty()) {
    const Next next = next_round(report);
    add(next.weights, std::to_string(next.round));
    if (more.empty()) add(again, final_round);
  }
  return more;
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
  if (nodes.size() < 2) {
    return {.reason = only_one_node(machine) + ", so there is nothing to interleave",
            .runs_anyway = true};
  }
  CpuSet cpus = machine.usable_cpus();
  if (is_paired(machine)) {
    const NodePair pair = *pair_to_weigh(machine);
    nodes = pair.nodes;
    CpuSet near;
    for (NodeId node : pair.of_cpus) near = near | machine.find_node(node)->cpus;
    cpus = cpus & near;
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

std::string gb(double rate) { return fmt::format("{:.2f}", rate * 1e-9); }

bool is_less(const Estimate& times) { return times.high && *times.high < 1; }

/// "equal weights: +12.3 % (11.8 to 12.9 %)".
std::string against(const std::string& what, const RunReport& report, const ScenarioResult& best,
                    const ScenarioResult* other) {
  const auto times = other != nullptr && other != &best ? gain_of(report, best, *other)
                                                        : std::optional<Estimate>();
  if (!times) return "";
  const auto percent = [](double ratio) { return (ratio - 1) * 100; };
  const std::string range = times->low ? fmt::format(" ({:+.1f} to {:+.1f} %)",
                                                     percent(*times->low), percent(*times->high))
                                       : " (too few samples for an interval)";
  const std::string figures = fmt::format("{:+.1f} %", percent(times->value)) + range;
  if (times->low && *times->low > 1) return fmt::format("  against {}: {}\n", what, figures);
  if (is_less(*times)) return fmt::format("  against {}: less, {}\n", what, figures);
  return fmt::format("  against {}: no significant difference, {}\n", what, figures);
}

/// "echo 3 > /sys/.../node0", one a node.
std::vector<std::string> lines_to_set(const Weights& weights) {
  std::vector<std::string> lines;
  for (const auto& [node, weight] : weights)
    lines.push_back(
        fmt::format("echo {} > {}node{}", weight, interleave_weight_folder, node.value));
  return lines;
}

std::string verdict(const RunReport& report, const ScenarioResult& best) {
  const Weights weights = weights_of(best);
  if (weights.size() < 2) {
    return fmt::format("Only node {} takes part, so there is nothing to weight.\n",
                       weights.front().first.value);
  }
  Weights equal = weights;
  for (auto& [node, weight] : equal) weight = 1;
  const ScenarioResult* nearest = point_of(report, nearest_alone);
  const ScenarioResult* even = point_of(report, text_of(equal));
  const auto times = nearest != nullptr ? gain_of(report, best, *nearest) : std::nullopt;
  const bool alone = times && is_less(*times);
  std::string text =
      alone ? fmt::format(
                  "Best: the nearest node alone with {} GB/s; no weights are as fast\n"
                  "The best weights: {} with {} GB/s\n",
                  gb(rate_of(*nearest)->value), text_of(weights), gb(rate_of(best)->value))
            : fmt::format("Best: {} with {} GB/s\n", text_of(weights), gb(rate_of(best)->value));
  text +=
      even == &best ? "  these are equal weights\n" : against("equal weights", report, best, even);
  text += against("the nearest node alone", report, best, nearest);
  if (report.ranks > 1) text += "With several ranks only the coarse grid is measured.\n";
  if (alone) return text;
  return text + fmt::format(
                    "For all programs under weighted interleave (numactl --weighted-interleave), "
                    "as root:\n  {}\n",
                    fmt::join(lines_to_set(weights), "\n  "));
}

/// All weights that were tried, what the best are worth, and how to set them.
std::vector<View> views(const RunReport& report) {
  const ScenarioResult* best = best_point(report);
  const ScenarioResult& any = report.scenarios.front();
  View view;
  view.title = fmt::format(
      "Interleave weights: bandwidth in GB/s of {}{} ({} a worker, {} workers, pages: {}, kernels: "
      "{})",
      any.kernel, any.stores.empty() ? "" : ", " + any.stores + " stores", to_text(any.size),
      report.workers.size(), any.pages, report.isa);
  view.notes = {"sum: all workers over their common time, bytes counted as STREAM does"};
  view.cells = {label_column("weights", weights_label), label_column("round", round_label),
                figure_column("sum", "bandwidth_sum", in_gb_per_s),
                figure_column(plus_minus(), "bandwidth_sum", in_gb_per_s, Part::half_width)};
  if (best != nullptr) {
    std::istringstream lines(verdict(report, *best));
    for (std::string line; std::getline(lines, line);) view.verdict.push_back(line);
  }
  return {view};
}

/// What is fastest, the best weights or the nearest node alone, and what the weights give against
/// it.
std::vector<Fact> facts(const RunReport& report) {
  const ScenarioResult* const best = best_point(report);
  const auto rate = best != nullptr ? rate_of(*best) : std::nullopt;
  if (!rate) return {};
  const std::string weights = text_of(weights_of(*best));
  NodeSet nodes;
  for (const WorkerRow& worker : report.workers) {
    if (worker.cpu_node.value >= 0) nodes.insert(worker.cpu_node);
  }
  const std::string cpu_nodes =
      nodes.empty() ? "" : (nodes.size() > 1 ? "nodes " : "node ") + to_list(nodes);
  const ScenarioResult* const nearest = point_of(report, nearest_alone);
  const auto times = nearest != nullptr ? gain_of(report, *best, *nearest) : std::nullopt;
  const std::string cache = cache_text(*best).empty() ? "" : " in " + cache_text(*best);
  const std::string how = best->kernel + (cpu_nodes.empty() ? "" : ", CPUs of " + cpu_nodes);
  const std::string who = fmt::format("{} of {} CPUs{}", best->kernel, report.workers.size(),
                                      cpu_nodes.empty() ? "" : " (" + cpu_nodes + ")");
  const bool several = weights_of(*best).size() > 1;
  const bool alone = times && several && is_less(*times);
  std::vector<Fact> facts;
  const auto add = [&](const char* key, const std::string& words, Unit unit,
                       const Estimate& estimate, const std::string& line) {
    facts.push_back({key, {{"weights", weights}}, words, unit, estimate, "Interleave", line});
  };
  if (alone) {
    add("nearest_bandwidth", who + " over each CPU's nearest node alone", "B/s", *rate_of(*nearest),
        fmt::format("{{}} on the nearest node alone, faster than any weights{} ({})", cache, how));
    facts.back().where = {{"kernel", best->kernel}, {"cpu_nodes", to_list(nodes)}};
  }
  add("weights_bandwidth",
      fmt::format("{} over memory interleaved by the best weights found ({})", who, weights), "B/s",
      *rate,
      alone     ? fmt::format("{{}} with the best weights, {}", weights)
      : several ? fmt::format("{{}} with weights {}{} ({})", weights, cache, how)
                : fmt::format("{{}} on node {} alone{} ({})",
                              to_list(NodeSet{weights_of(*best).front().first}), cache, how));
  facts.back().where.insert(facts.back().where.end(),
                            {{"kernel", best->kernel}, {"cpu_nodes", to_list(nodes)}});
  if (times && several)
    add("weights_times", "that against each CPU's nearest node alone", "1", *times,
        "{} that of the nearest node alone");
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
               "the best. Then measures the best few again, in turn with equal weights and with "
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
      .add_options = with(add_options),
      .parse_options = with(parse),
      .workers = with(workers),
      .plan = with(plan),
      .refinement =
          {// The grid, three rounds round its best, and the best few again.
           .time_parts = {0.35, 0.5, 0.65, 0.8, 0.95},
           .plan = with(refine)},
      .shown =
          {// The search lays weights out page by page.
           .expected_warnings = {"placement-method"},
           .views = views,
           .facts = facts},
      .survey = survey,
  };
}

}  // namespace numatlas::benchmark_weights
