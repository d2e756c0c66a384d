// Node matrices: for every node with CPUs and every node with memory, the idle latency that one CPU
// sees and the bandwidth that all of the node's workers reach together.
#include <algorithm>
#include <cstddef>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "base/add_once.h"
#include "base/units.h"
#include "benchmarks/common.h"
#include "benchmarks/on_gpus.h"
#include "kernels/traits.h"
#include "record/labels.h"
#include "record/report.h"
#include "run/declare.h"
#include "run/flows.h"

namespace numatlas::benchmark_matrix {
namespace {

struct Options {
  std::string only;
  ChainOrder order = ChainOrder::random;
  const CLI::App* app = nullptr;
};

void add_options(Options& own, CLI::App& app) {
  add_choice(app, "--only", own.only, named({"latency", "bandwidth"}), "measure only this");
  rare(add_order_option(app, own.order));
  own.app = &app;
}

/// Rows are GPUs then, and columns the memory of nodes and of GPUs.
void by_gpus(const Options& own, Benchmark& its) {
  std::vector<Sweep> sweeps;
  if (own.only != "bandwidth") sweeps.push_back(on_gpus::latency({GpuLoads::cached}));
  if (own.only != "latency") sweeps.push_back(on_gpus::bandwidth());
  on_gpus::use_matrix(its, std::move(sweeps));
}

Expected<void> parse(Options& own, Benchmark& benchmark) {
  const std::string& of_bandwidth = benchmark.given->kernel_option;
  if (own.only == "latency" && !of_bandwidth.empty()) {
    return fail_usage(of_bandwidth, "--only latency does not measure bandwidth",
                      "leave one of them out");
  }
  if (own.only == "bandwidth" && own.app->count("--order") > 0) {
    return fail_usage("--order", "--only bandwidth does not measure latency",
                      "leave one of them out");
  }
  return {};
}

Expected<void> check(const PlanInput& input) { return check_nodes_are_known(input, "matrix"); }

/// The nodes of the workers' CPUs; none where only the other `half` is to be measured.
Hook<Expected<std::vector<AxisValue>>(const Options&, const PlanInput&)> cpu_nodes(
    const char* half) {
  return [half](const Options& own, const PlanInput& input) -> Expected<std::vector<AxisValue>> {
    std::vector<AxisValue> nodes;
    if (!own.only.empty() && own.only != half) return nodes;
    for (const NodeId node : worker_nodes(input))
      nodes.push_back({{std::to_string(node.value)}, node, false});
    return nodes;
  };
}

/// The sweep of latencies is of no kernel that was chosen.
bool is_latency(const AxisSetting& now) { return now.kernel.name.empty(); }

/// The workers that a point is of: for latencies one of each host.
std::vector<int> workers_of(const PlanInput& input, NodeId cpus, bool one_each) {
  std::vector<int> workers = workers_on(input.layout, {cpus});
  std::set<int> hosts;
  std::erase_if(workers, [&](int worker) {
    return one_each && !hosts.insert(worker_of(input, worker).host).second;
  });
  return workers;
}

/// By the workers whose hosts have that memory.
Expected<Point> point(const Options& own, const PlanInput& input, const AxisSetting& now) {
  const bool latency = is_latency(now);
  const NodeId memory = *now.of<NodeChoice>(1).node;
  Point point;
  std::vector<Flow> impossible;
  std::string problem;
  for (const int worker : workers_of(input, now.of<NodeId>(), latency)) {
    const std::string its = memory_node_problem(machine_of(input, worker), memory);
    if (!its.empty()) problem = its;
    Flow& flow =
        (its.empty() ? point.flows : impossible)
            .emplace_back(latency ? chase_flow(input, worker, now.size, now.pages, {own.order, {}})
                                  : stream_flow(input, now.kernel, worker, now.size, now.pages));
    flow.region.placement = bound_to(memory);
  }
  if (!point.flows.empty()) return point;
  point.flows = std::move(impossible);
  point.skip = Error{ErrorKind::unavailable, problem, ""};
  return point;
}

/// Nodes without CPUs, CPUs that nodes share, memory that is measured only where it is named.
void add_machine_notes(View& view, const CaseGroup&, const RunReport& report) {
  NodeSet without_cpus, of_gpus;
  std::vector<std::string> shared;
  for (const Machine& machine : report.machines) {
    for (const NumaNode& node : machine.nodes) {
      if (node.cpus.empty()) without_cpus.insert(node.id);
      if (node.kind == "gpu" && node.may_have_memory()) of_gpus.insert(node.id);
    }
    if (std::string text = shared_cpus_text(machine); !text.empty())
      add_once(shared, std::move(text));
  }
  if (!without_cpus.empty()) view.notes.push_back("nodes without CPUs: " + to_list(without_cpus));
  view.notes.insert(view.notes.end(), shared.begin(), shared.end());
  NodeSet unnamed;
  for (const NodeId node : of_gpus) {
    const std::string label = std::to_string(node.value);
    if (std::ranges::none_of(
            report.cases, [&](const Case& one) { return label_of(one, "memory_node") == label; }))
      unnamed.insert(node);
  }
  if (!unnamed.empty())
    view.notes.push_back("memory of GPUs, measured only with --nodes: node " + to_list(unnamed));
}

std::vector<Table> tables() {
  Table latency{
      .title =
          "Idle latency in ns (one CPU of the node, {order} chase over {sizes}, {pages} pages)",
      .kind = ViewKind::matrix,
      .apart = {"pages", "kernel", "stores"},
      .only = {"order"},
      .rows = "cpu_node",
      .columns = "memory_node",
      .cells = {figure_column("", "latency", in_ns, Part::with_interval, 1),
                label_column("", "cache")},
      .notes = {"one row per node of the CPUs, one column per node of the memory"},
      .finish = add_machine_notes};
  Table bandwidth = latency;
  bandwidth.title =
      "Bandwidth of {kernel} in GB/s (all workers of the node, {sizes} each[, {stores} stores], "
      "{pages} pages)";
  bandwidth.only = {"!order"};
  bandwidth.cells[0] = figure_column("", "bandwidth_sum", in_gb_per_s, Part::with_interval);
  return {latency, bandwidth};
}

SurveyPart survey(const Machine&) {
  return {4,
          {},
          {{"kernels", {"kernel"}, 2, Keep::first},
           {"nodes with CPUs", {"cpu_node"}},
           {"nodes with memory", {"memory_node"}}}};
}

/// A cell of a matrix.
struct Cell {
  std::string cpus, memory;
  Estimate estimate;
  std::string on;  ///< "256 MiB, thp pages": of each worker
};

std::vector<Cell> cells_of(const RunReport& report, const std::string& kernel) {
  std::vector<Cell> cells;
  for (const Case& one : report.cases) {
    if (one.kernel != kernel || !cache_text(one).empty()) continue;
    const auto estimate =
        host_estimate_of(one, traits_of(kernel).chases() ? "latency" : "bandwidth_sum");
    if (estimate)
      cells.push_back({label_of(one, "cpu_node"), label_of(one, "memory_node"), *estimate,
                       fmt::format("{}, {} pages", to_text(one.size), one.pages)});
  }
  return cells;
}

/// The cell that the others of these CPUs are compared with: their own node's memory, else the best
/// that they reach; nullptr where there is none.
const Cell* nearest_cell(const std::vector<Cell>& cells, const std::string& cpus, bool least) {
  const auto rank = [&](const Cell& cell) {
    const double value = cell.memory == cpus ? std::numeric_limits<double>::infinity()
                         : least             ? -cell.estimate.value
                                             : cell.estimate.value;
    return cell.cpus == cpus ? std::optional(value) : std::nullopt;
  };
  return highest_of(cells, rank);
}

/// The cell that compares worst with the nearest memory of its CPUs.
std::optional<Fact> worst_remote(const std::vector<Cell>& cells, bool latency) {
  std::optional<Fact> worst;
  for (const Cell& cell : cells) {
    const Cell* const near = nearest_cell(cells, cell.cpus, latency);
    if (near == nullptr || near == &cell || !(near->estimate.value > 0)) continue;
    const Estimate times = ratio_of(cell.estimate, near->estimate);
    const double most = worst ? worst->estimate.value : times.value;
    if (worst && (latency ? times.value <= most : times.value >= most)) continue;
    const bool own = near->memory == near->cpus;
    const std::string nearest = own ? "that of their own node"
                                    : fmt::format("that of node {}, their nearest", near->memory);
    const std::string what = latency ? "latency" : "read bandwidth";
    const std::string places =
        fmt::format("from CPUs of node {} to memory of node {}", cell.cpus, cell.memory);
    worst =
        Fact{latency ? "remote_latency_times" : "remote_bandwidth_part",
             {{"cpu_node", cell.cpus},
              {"memory_node", cell.memory},
              {"compared_with_node", near->memory}},
             fmt::format("{} {}, against {}", what, places, nearest),
             "1",
             times,
             "Remote",
             fmt::format("{} {{}} {} (node {} to {})", latency ? "latency up to" : "read bandwidth",
                         own ? "local" : "that of node " + near->memory, cell.cpus, cell.memory)};
  }
  return worst;
}

/// What "all" are: this process may be kept from some.
std::string cpus_of(const RunReport& report) {
  const bool all = std::all_of(
      report.machines.begin(), report.machines.end(),
      [](const Machine& machine) { return machine.usable_cpus().size() == machine.cpus.size(); });
  return all ? "CPUs" : "allowed CPUs";
}

void add_cells(std::vector<Fact>& facts, const std::vector<Cell>& cells, bool latency,
               const std::string& cpus) {
  for (const Cell& cell : cells) {
    facts.push_back(
        {latency ? "matrix_latency" : "matrix_bandwidth",
         {{"cpu_node", cell.cpus}, {"memory_node", cell.memory}},
         fmt::format("{} from CPUs of node {} to memory of node {}",
                     latency ? "latency of one CPU alone" : "read bandwidth of all " + cpus,
                     cell.cpus, cell.memory),
         latency ? Unit("s") : Unit("B/s"),
         cell.estimate,
         fmt::format("{}, {}",
                     latency ? "Memory latency, one CPU alone"
                             : "Read bandwidth, all " + cpus + " of the node",
                     cell.on)});
    if (!latency) facts.back().where.emplace_back("kernel", "read");
  }
}

/// Every cell of latency and reads, and the worst of those that are not the nearest memory.
std::vector<Fact> facts(const RunReport& report) {
  std::vector<Fact> facts;
  const auto latency = cells_of(report, "chase"), reads = cells_of(report, "read");
  const std::string cpus = cpus_of(report);
  add_cells(facts, latency, true, cpus);
  add_cells(facts, reads, false, cpus);
  for (const auto& [cells, of_latency] : {std::pair(latency, true), std::pair(reads, false)}) {
    if (auto worst = worst_remote(cells, of_latency)) facts.push_back(*std::move(worst));
  }
  return facts;
}

}  // namespace

Benchmark make() {
  const Bound<Options> with;
  const Axis memory_nodes =
      node_axis("memory_node", "--nodes", "", "memory",
                "nodes of the memory, such as 0,2; memories of GPUs only if named");
  return {
      .name = "matrix",
      .help =
          {.summary = "latency and bandwidth of every pair of NUMA nodes",
           .description =
               "Measures, from every node with CPUs to every node with memory (including nodes "
               "without CPUs), the idle latency of one CPU and the bandwidth of all workers of the "
               "node together. Bytes are counted as STREAM does. A cell that cannot be measured "
               "gives the reason. --time covers all cells together.",
           .examples = {{"Latency and bandwidth between all nodes, within 20 s",
                         "numatlas matrix --time 20s --pages base"},
                        {"Only the latencies", "numatlas matrix --only latency"}}},
      .options = {.refused = refused_by_node_pairs(
                      "matrix", "numatlas latency and bandwidth measure one placement"),
                  .shown = {"--strict"},
                  .time = {"10s", true}},
      .is_of_memory = true,
      .varies = {.size = "memory of each worker",
                 .usual_size = "past all caches\n"
                               "That is four times the last-level caches, twice the memory-side "
                               "cache of the memory's node, or 1 GiB where the system may not list "
                               "all caches, shared among the node's workers, and at least 16 MiB; "
                               "at least 256 MiB for the latency",
                 .one_size = true,
                 .kernels = {"read", "write", "copy"},
                 .mixes = "2:1"},
      .sweeps = {{.point = with(point),
                  .name = "latency node {cpu_node} to {memory_node} {pages}",
                  .axes = {{.labels = {"cpu_node"}, .values = with(cpu_nodes("latency"))},
                           memory_nodes},
                  .threads = {.compared = false},
                  .size = {.least = least_chase},
                  .of_kernels = false},
                 {.point = with(point),
                  .name = "{kernel} node {cpu_node} to {memory_node} {pages}",
                  .axes = {{.labels = {"cpu_node"}, .values = with(cpu_nodes("bandwidth"))},
                           memory_nodes.again()},
                  .threads = {.compared = false}}},
      .by_gpus =
          ByGpus{
              .change = with(by_gpus), .cpu_options = {"--nodes", "--order"}, .every_memory = true},
      .add_options = with(add_options),
      .parse_options = with(parse),
      .workers = worker_on_first_cpus,
      .check = check,
      .figures = {.conclude = add_best_shares},
      .shown = {.by_host = true, .tables = tables(), .facts = facts},
      .survey = survey,
  };
}

}  // namespace numatlas::benchmark_matrix
