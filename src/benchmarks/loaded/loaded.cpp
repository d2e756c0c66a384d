// Loaded latency: a chase of one worker while the others of its node load the same memory, from not
// at all to all they can. The rates between are parts of the peak that was measured first.
#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "base/add_once.h"
#include "base/product.h"
#include "base/text.h"
#include "base/units.h"
#include "benchmarks/common.h"
#include "benchmarks/loaded/curve.h"
#include "benchmarks/loaded/neighbours.h"
#include "benchmarks/on_gpus.h"
#include "benchmarks/tail.h"
#include "record/labels.h"
#include "run/benchmark.h"
#include "run/declare.h"
#include "run/device_flows.h"
#include "run/executor.h"
#include "run/flows.h"
#include "run/room.h"

namespace numatlas::benchmark_loaded {
namespace {

/// How many multiprocessors load: few of them take most of a bus, so that steps are small at first.
std::vector<int> loader_counts(int most) {
  constexpr std::array few{1, 2, 4, 8};
  constexpr std::array percents{10, 15, 20, 25, 30, 40, 50, 60, 75, 100};
  std::vector<int> counts;
  for (const int count : few)
    if (count <= most) counts.push_back(count);
  for (const int percent : percents) add_once(counts, std::max(1, most * percent / 100));
  std::sort(counts.begin(), counts.end());
  return counts;
}

/// From the least to the most.
std::vector<AxisValue> loads_of_gpu(const PlanInput& input) {
  std::vector<AxisValue> values;
  const auto counts = loader_counts(std::max(1, multiprocessors_of_gpus(input) - 1));
  for (const int blocks : counts)
    values.push_back(
        {{blocks == counts.back() ? peak_load : count_text(blocks, "SM")}, blocks, false});
  return values;
}

std::vector<AxisValue> idle_gpu(const PlanInput&) { return {{{idle_load}, 0, false}}; }

// Past all caches of GPUs of today; of the host less, which is slower.
Bytes size_on_gpu(const PlanInput& input, const AxisSetting& now) {
  return is_of_host(now) ? Bytes{256 * mib} : largest_on_gpus(input, Bytes{1 * gib});
}

/// Whether flows of a host are called by workers of different ranks.
bool of_two_processes(const PlanInput& input, const std::vector<Flow>& flows) {
  std::map<int, int> rank_of_host;
  return std::ranges::any_of(flows, [&](const Flow& flow) {
    const Worker& worker = worker_of(input, flow.worker);
    return rank_of_host.emplace(worker.host, worker.rank).first->second != worker.rank;
  });
}

/// The chase, and what loads the memory meanwhile.
Expected<Point> point_on_gpu(const PlanInput& input, const AxisSetting& now) {
  const int blocks = now.of<int>();
  Point point = gpu_point(input, now, [&](int gpu) -> std::vector<KernelSpec> {
    DeviceChaseParameters chase;
    chase.gpu = gpu;
    chase.loads = is_of_host(now) ? usual_loads(now.size) : usual_gpu_loads;
    if (blocks == 0) return {{chase}};
    auto stream = now.kernel.spec.as<DeviceStreamParameters>();
    stream.gpu = gpu;
    stream.bytes = now.size;
    stream.passes = usual_passes(now.size, !is_of_host(now));
    stream.blocks = static_cast<unsigned>(blocks);
    return {{chase}, {stream}};
  });
  for (Flow& flow : point.flows)
    if (traits_of(flow.kernel).streams_on_gpu()) flow.role = Role::load;
  point.reference = blocks == 0;
  if (blocks > 0) point.labels = {{"load_kernel", name_of(now.kernel.spec)}};
  if (of_two_processes(input, point.flows))
    point.skip = Error{ErrorKind::unavailable,
                       "the chase and the load would be of two processes, whose kernels take "
                       "turns on a GPU",
                       "run a process per host", ", with --threads 2"};
  return point;
}

/// Idle, and under loads of 1, 2, ... multiprocessors up to all but one.
void by_gpus(Benchmark& its) {
  const SizeRule size{.usual = size_on_gpu};
  its.sweeps = {{.point = point_on_gpu,
                 .name = "idle gpu {gpus} memory {memory}[ {pages}]",
                 .axes = {{{"load"}, idle_gpu}},
                 .size = size,
                 .of_kernels = false},
                {.point = point_on_gpu,
                 .name = "gpu {kernel} {load} gpu {gpus} memory {memory}[ {pages}]",
                 .axes = {{{"load"}, loads_of_gpu}},
                 .size = size}};
  Table& table = its.shown.tables.emplace_back(curve_table());
  table.title =
      "Loaded latency in ns: GPU {gpus}, memory: {memory|place} (load: {kernel} by its "
      "multiprocessors, {size})";
  table.apart = curve_of_gpus;
  table.notes.emplace_back("SMs: multiprocessors that load, a block each; peak: all but one");
  its.figures.totals = on_gpus::totals;
  its.figures.of_flow = {};
  its.refinement.time_parts.clear();
}

// Parts of the peak: closer where the latency rises.
constexpr std::array<int, 11> percents{10, 20, 30, 40, 50, 60, 70, 80, 85, 90, 95};

constexpr const char* nearest_pairs = "nearest";

/// Who chases, who loads, and where the memory is.
struct Curve {
  NodeId cpus, memory;
  int chaser = 0;
  std::vector<int> loaders;
  std::string problem;  ///< why there can be none
};

/// A point of a curve.
struct CurvePoint {
  Curve curve;
  std::optional<Choice> kernel = {};  ///< absent: the chase alone
  std::optional<double> rate = {};    ///< of all loaders together, in B/s; absent: all they can
};

struct Options {
  std::shared_ptr<const GivenAxes> given;
  ChainOrder order = ChainOrder::random;
  std::string pairs_text = nearest_pairs;
  std::vector<double> rates;  ///< B/s; empty: parts of the peak
  TailOption tail;
  loaded_neighbours::Options neighbours;
  const CLI::App* app = nullptr;
};

Expected<std::vector<double>> parse_rates(const std::string& text) {
  std::vector<double> rates;
  for (const std::string& word : words_of(text)) {
    // 1 PB/s is more than any memory has; slower ones than the least would take longer than anybody
    // waits to fill a sample.
    constexpr double least = 1e6, most = 1e15;
    const auto rate = parse_quantity(fmt::format("{}GB/s", trim(word)));
    if (!rate || rate->value < least || rate->value > most) {
      const auto comma = decimal_comma(text);
      return comma ? fail(*comma)
                   : fail_usage("--rates",
                                fmt::format("'{}' is not a rate: give GB/s, at least 0.001", word),
                                "for example 1,2,5,10");
    }
    rates.push_back(rate->value);
  }
  const std::set<double> once(rates.begin(), rates.end());
  return std::vector(once.begin(), once.end());
}

void add_options(Options& own, CLI::App& app) {
  add_value(
      app, "--pairs", own.pairs_text, "PAIRS",
      "nodes of CPUs and of memory: 0:0,0:2, local, nearest (of each kind), all, classes\n"
      "classes: their own, and from the first node the nearest remote memory and that of each "
      "kind without CPUs\n"
      "Kinds are those of `numatlas topology`: DRAM, HBM, CXL. Memory of GPUs is measured "
      "only if named");
  add_parsed(app, "--rates", own.rates, "", "RATES",
             "total load in GB/s: 1,2,5 (default: parts of the peak)\n"
             "The peak is measured first. Required with several ranks",
             parse_rates);
  rare(add_order_option(app, own.order));
  own.tail.add_to(app, true);
  loaded_neighbours::add_options(own.neighbours, app);
  own.app = &app;
}

/// The first worker of the node chases. Hardware threads of its core would take its core from it,
/// not the memory, so they do not load.
Curve curve_of(const PlanInput& input, NodeId cpus, NodeId memory) {
  const std::vector<int> workers = workers_on(input.layout, {cpus});
  Curve curve{cpus, memory, workers.front(), {}, ""};
  const Machine& machine = machine_of(input, curve.chaser);
  for (int worker : workers) {
    const bool same_host = worker_of(input, worker).host == worker_of(input, curve.chaser).host;
    if (same_host && core_of(input, worker) != core_of(input, curve.chaser))
      curve.loaders.push_back(worker);
  }
  curve.problem = memory_node_problem(machine, memory);
  if (curve.problem.empty() && curve.loaders.empty())
    curve.problem =
        fmt::format("node {}: no core is left for the load beside the chase", cpus.value);
  return curve;
}

/// DRAM where nothing else is known; memory without CPUs is of another kind.
std::string kind_of(const NumaNode& node) {
  if (!node.kind.empty()) return node.kind;
  return node.cpus.empty() ? "without CPUs" : "dram";
}

/// The memory that the CPUs of a node are measured with: all, their own, or the nearest of each
/// kind, or of the first node that of each class.
NodeSet memories_of(const std::string& pairs, const PlanInput& input, NodeId cpus) {
  const NodeSet all = ordinary_memory_nodes(input);
  if (pairs == "all") return all;
  const bool by_class = pairs == "classes";
  if (pairs == "local" || (by_class && cpus != worker_nodes(input).front()))
    return all & NodeSet{cpus};
  const Machine& machine = machine_of(input, workers_on(input.layout, {cpus}).front());
  std::map<std::string, NodeId> nearest;
  for (const NodeId memory : all) {
    const NumaNode* const node = machine.find_node(memory);
    if (node == nullptr) continue;
    const std::string kind =
        by_class ? memory_class(&machine, std::to_string(cpus.value), std::to_string(memory.value))
                 : kind_of(*node);
    NodeId& best = nearest.try_emplace(kind, memory).first->second;
    if (distance_between(machine, cpus, memory) < distance_between(machine, cpus, best))
      best = memory;
  }
  NodeSet nodes;
  for (const auto& [kind, node] : nearest) nodes.insert(node);
  return nodes;
}

Expected<loaded_neighbours::NodePairs> pairs(const Options& own, const PlanInput& input) {
  loaded_neighbours::NodePairs pairs;
  const NodeSet with_workers = worker_nodes(input);
  const NodeSet with_memory = memory_nodes(input);
  constexpr std::array words{nearest_pairs, "all", "local", "classes"};
  if (std::ranges::count(words, own.pairs_text) > 0) {
    for (NodeId cpus : with_workers) {
      for (NodeId memory : memories_of(own.pairs_text, input, cpus))
        pairs.emplace_back(cpus, memory);
    }
    return pairs;
  }
  for (const std::string& word : words_of(own.pairs_text)) {
    const std::size_t colon = std::min(word.find(':'), word.size());
    const auto cpus = parse_list<NodeId>(word.substr(0, colon));
    const auto memory = parse_list<NodeId>(colon < word.size() ? word.substr(colon + 1) : "");
    if (!cpus || !memory || cpus->size() != 1 || memory->size() != 1)
      return fail_usage(
          "--pairs",
          fmt::format("'{}' is not CPUNODE:MEMNODE, nearest, all, local or classes", word),
          "for example 0:0,0:2");
    for (const auto& [nodes, node, what] : {std::tuple(with_workers, cpus->front(), "worker"),
                                            std::tuple(with_memory, memory->front(), "memory")}) {
      if (nodes.contains(node)) continue;
      return fail_about(
          ErrorKind::unavailable, "--pairs", fmt::format("no {} on node {}", what, node.value),
          fmt::format("nodes with {}: {}", what, nodes.empty() ? "none" : to_list(nodes)));
    }
    add_once(pairs, {cpus->front(), memory->front()});
  }
  return pairs;
}

Expected<std::vector<Curve>> curves(const Options& own, const PlanInput& input) {
  std::vector<Curve> curves;
  for (const auto& [cpus, memory] : TRY(pairs(own, input)))
    curves.push_back(curve_of(input, cpus, memory));
  return curves;
}

AxisValue value_of(const CurvePoint& point, const std::string& word) {
  return {{std::to_string(point.curve.cpus.value), std::to_string(point.curve.memory.value), word,
           point.kernel ? point.kernel->short_name() : ""},
          point,
          false};
}

const std::vector<std::string> load_labels{"cpu_node", "memory_node", "load", "load_kernel"};

/// Of each curve the chase alone, the rates that are known, and the peak; without rates also its
/// parts, which follow from it.
Expected<std::vector<AxisValue>> loads(const Options& own, const PlanInput& input) {
  std::vector<AxisValue> loads;
  for (const Curve& curve : TRY(curves(own, input))) {
    loads.push_back(value_of({curve}, idle_load));
    if (!curve.problem.empty()) continue;
    for (const Choice& kernel : own.given->choices) {
      for (double rate : own.rates)
        loads.push_back(value_of({curve, kernel, rate}, fmt::format("{:g} GB/s", rate * 1e-9)));
      loads.push_back(value_of({curve, kernel}, peak_load));
      for (const int percent : percents) {
        if (!own.rates.empty()) break;
        loads.push_back(value_of({curve, kernel}, part_load(percent)));
        loads.back().later = true;
      }
    }
  }
  return loads;
}

/// On a small node half of the room is the chase's, and half the loaders'.
constexpr double half_room = default_room / 2;

Bytes size_of_chase(const PlanInput& input, const Curve& curve, PageKind pages) {
  return size_with_room(input, size_past_caches(input, {curve.chaser}, least_chase, {curve.memory}),
                        flows_on_node({curve.chaser}, curve.memory, pages), half_room);
}

Bytes size_of(const PlanInput& input, const AxisSetting& now) {
  const auto& [curve, kernel, rate] = now.of<CurvePoint>();
  if (!kernel) return size_of_chase(input, curve, now.pages);
  std::vector<int> together = curve.loaders;
  together.push_back(curve.chaser);
  return size_with_room(input, size_past_caches(input, together, least_past_caches, {curve.memory}),
                        flows_on_node(curve.loaders, curve.memory, now.pages), half_room);
}

Expected<Point> point(const Options& own, const PlanInput& input, const AxisSetting& now) {
  const auto& [curve, kernel, rate] = now.of<CurvePoint>();
  const Bytes chase_size = size_of_chase(input, curve, now.pages);
  Point point{.reference = !kernel};
  if (!kernel) point.size = chase_size;
  point.flows = {chase_flow(input, curve.chaser, chase_size, now.pages, {own.order, {}})};
  own.tail.set(point.flows.front());
  for (const int worker : kernel ? curve.loaders : std::vector<int>{}) {
    Flow& flow = point.flows.emplace_back(stream_flow(input, *kernel, worker, now.size, now.pages));
    flow.role = Role::load;
    if (rate) flow.rate = *rate / static_cast<double>(curve.loaders.size());
  }
  for (Flow& flow : point.flows) flow.region.placement = bound_to(curve.memory);
  if (!curve.problem.empty()) point.skip = Error{ErrorKind::unavailable, curve.problem, ""};
  return point;
}

Expected<void> check(const Options& own, const PlanInput& input) {
  TRY(check_nodes_are_known(input, "loaded"));
  // Parts of a peak are known on one rank only, when it has been measured.
  if (!own.rates.empty()) return {};
  return check_one_process(input, "loaded without --rates");
}

/// Between idle and peak, once both are known.
std::vector<LaterCase> parts_of_peaks(const Options& own, const PlanInput& input,
                                      const RunReport& report) {
  std::vector<LaterCase> more;
  const auto all = curves(own, input);
  const bool refined = std::ranges::any_of(report.cases, [](const Case& one) {
    const std::string load = label_of(one, "load");
    return load != idle_load && load != peak_load;
  });
  if (!all || !own.rates.empty() || refined) return more;
  for_each_of(
      [&](PageKind pages, const Curve& curve, const Choice& kernel) {
        const Case* const peak =
            case_with(report, pages, load_labels, value_of({curve, kernel}, peak_load).labels);
        const Figure* const sum = peak == nullptr ? nullptr : find_total(*peak, "bandwidth_sum");
        if (sum == nullptr || !sum->value()) return;
        for (const int percent : percents)
          more.push_back(
              {pages,
               {value_of({curve, kernel, *sum->value() * percent / 100}, part_load(percent))}});
      },
      input.pages, *all, own.given->choices);
  return more;
}

void conclude(const Options& own, RunReport& report) {
  conclude_curves(report);
  own.tail.conclude(report);
}

std::vector<Figure> flow_figures(const Options& own, const FlowResult& flow, const Case&) {
  return own.tail.figures(flow);
}

std::vector<View> views(const Options& own, const RunReport& report) {
  std::vector<Table> tables = own.tail.tables({"cpu_node", "memory_node", "load_kernel", "load"});
  tables.insert(tables.begin(), curve_table());
  return views_of(tables, report);
}

Expected<void> parse(Options& own, Benchmark& benchmark) {
  own.given = benchmark.given;
  if (!own.neighbours.memory.empty()) {
    for (const char* const option : {"--rates", "--tail", "--tail-group", "--order"})
      if (own.app->count(option) > 0)
        return fail_usage(option, "does not apply with --load-memory", "leave one of them out");
    return loaded_neighbours::use(
        own.neighbours, [&own](const PlanInput& input) { return pairs(own, input); }, benchmark);
  }
  for (const char* const option : {"--load-cpus", "--load-on"})
    if (own.app->count(option) > 0)
      return fail_usage(option, "applies only with --load-memory", "add --load-memory each");
  if (!own.rates.empty()) benchmark.refinement.time_parts.clear();  // nothing is refined
  return {};
}

/// From the first node to memory of each class, which stay for longest.
SurveyPart survey(const Machine&) {
  return {3,
          {"--pairs", "classes"},
          {{"kinds of load", {"load_kernel"}, 1, Keep::first}, {"nodes of CPUs", {"cpu_node"}, 1}}};
}

/// What each memory's load does to the others.
SurveyPart survey_neighbours(const Machine& machine) {
  if (machine.ordinary_memory_nodes().size() < 2) return {.reason = only_one_node(machine)};
  return {2,
          {"--pairs", "local", "--load-memory", "each"},
          {{"figures", {"measured"}, 1, Keep::first},
           {"nodes", {"cpu_node", "memory_node"}, 1},
           {"loads", {"load_memory"}, 2}}};
}

}  // namespace

Benchmark make() {
  const Bound<Options> with;
  return {
      .name = "loaded",
      .help = {.summary = "memory latency under increasing load",
               .description =
                   "One worker of a node chases pointers while the node's other CPUs load the "
                   "memory: idle, at parts of the peak, and at the peak. The load shown "
                   "is what they reached.",
               .examples = {{"The bandwidth-latency curve of each node's own memory",
                             "numatlas loaded --pairs local"},

                            {"What a load on each memory does to all the others",
                             "numatlas loaded --load-memory each"}}},
      .options = {.refused = refused_by_node_pairs("loaded", "--pairs names the nodes"),
                  .shown = {"--strict"},
                  .time = {"10s", true}},
      .is_of_memory = true,
      .varies = {.size = "memory of each loading CPU",
                 .usual_size = "as for `matrix`",
                 .one_size = true,
                 .kernels = {"read"},
                 .mixes = "2:1",
                 .kernels_are = "kernels of the load"},
      .sweeps = {{.point = with(point),
                  .name = "[{load_kernel} ]{load} node {cpu_node} to {memory_node} {pages}",
                  .axes = {{.labels = load_labels, .values = with(loads)}},
                  .threads = {.compared = false},
                  .size = {.usual = size_of},
                  .of_kernels = false,
                  .later = with(parts_of_peaks)}},
      .by_gpus = ByGpus{.change = by_gpus,
                        .cpu_options = {"--pairs", "--rates", "--tail", "--tail-group", "--order",
                                        "--load-memory", "--load-cpus", "--load-on"},
                        .flows = 2},
      .add_options = with(add_options),
      .parse_options = with(parse),
      .workers = worker_on_first_cpus,
      .check = with(check),
      .refinement = {.time_parts = {0.2},  // two of eleven points a curve
                     .first_values = true},
      .figures =
          {// What each load adds to the idle latency.
           .against = {{.key = "latency_added",
                        .figure = "latency",
                        .label = "load",
                        .value = idle_load,
                        .alike = {"pages", "cpu_node", "memory_node", "gpus", "memory"},
                        .as = Against::As::more}},
           .of_flow = with(flow_figures),
           .totals = [](const Case& visit, const RunReport&) { return rate_asked(visit); },
           .conclude = with(conclude)},
      .shown = {.warnings = curve_warnings, .views = with(views), .facts = loaded_facts},
      .survey = survey,
      .more_surveys = {{"neighbours", survey_neighbours}},
  };
}

}  // namespace numatlas::benchmark_loaded
