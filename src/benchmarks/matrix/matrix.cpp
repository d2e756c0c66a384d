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

#include "base/product.h"
#include "base/units.h"
#include "benchmarks/best_share.h"
#include "benchmarks/extremes.h"
#include "benchmarks/memory_of_gpus.h"
#include "benchmarks/node_pairs.h"
#include "benchmarks/on_gpus.h"
#include "benchmarks/survey_words.h"
#include "kernels/traits.h"
#include "record/cache_level.h"
#include "record/labels.h"
#include "record/report.h"
#include "run/declare.h"
#include "run/flows.h"

namespace numatlas::benchmark_matrix {
namespace {

struct Options {
  NodePairOptions pairs{{{"read", "write", "copy"}, "2:1"}};
  std::string only, nodes = "all";
  const CLI::Option* order_option = nullptr;  ///< the app's
  on_gpus::OnOption on = {};
};

void add_options(Options& own, CLI::App& app) {
  own.on.add_to(app, false);
  add_choice(app, "--only", own.only, named({"latency", "bandwidth"}), "measure only this");
  add_value(app, "--nodes", own.nodes, "all|NODES",
            "nodes of the memory, such as 0,2; memories of GPUs only if named");
  own.pairs.add_to(
      app,
      "memory of each worker, in MiB or with a unit (default: past all caches)\n"
      "That is four times the last-level caches, twice the memory-side cache of the memory's node, "
      "or 1 GiB where the system may not list all caches, shared among the node's workers, and at "
      "least 16 MiB; at least 256 MiB for the latency; less where that is more than half of a "
      "node's free memory",
      "kernels to run");
  own.order_option = app.get_option("--order");
}

/// Rows are GPUs then, and columns the memory of nodes and of GPUs.
Expected<void> run_on_gpus(const Options& own, Benchmark& benchmark) {
  TRY(own.on.refuse("matrices of CPUs",
                    {{"--nodes", own.nodes != "all"}, {"--order", own.order_option->count() > 0}}));
  memory_of_gpus::Options its{
      .latency = own.only != "bandwidth",
      .bandwidth = own.only != "latency",
      .every_memory = true,
      .kernels = TRY(on_gpus::kernels_of(own.pairs.choices, own.pairs.kernels.given()))};
  if (const auto& size = own.pairs.size.given()) its.sizes = {*size};
  memory_of_gpus::take_over(benchmark, own.on, its);
  return {};
}

Expected<void> parse(Options& own, Benchmark& benchmark) {
  TRY(own.on.parse());
  TRY(own.pairs.parse("matrix"));
  TRY(check_nodes("--nodes", own.nodes, ""));
  const std::string of_bandwidth = own.pairs.kernels.given();
  if (own.only == "latency" && !of_bandwidth.empty()) {
    return fail_usage(of_bandwidth, "--only latency does not measure bandwidth",
                      "leave one of them out");
  }
  if (own.only == "bandwidth" && own.order_option->count() > 0) {
    return fail_usage("--order", "--only bandwidth does not measure latency",
                      "leave one of them out");
  }
  if (own.on.on_gpus()) return run_on_gpus(own, benchmark);
  return {};
}

PlannedScenario cell_point(const PlanInput& input, const std::string& what, Bytes size,
                           PageKind pages, NodeId cpus, NodeId memory) {
  PlannedScenario planned = new_point(
      input, fmt::format("{} node {} to {} {}", what, cpus.value, memory.value, name_of(pages)),
      size, pages);
  planned.head.labels = {{"cpu_node", std::to_string(cpus.value)},
                         {"memory_node", std::to_string(memory.value)}};
  planned.optional = true;
  return planned;
}

/// Flows of those whose hosts have that memory; else why there are none.
void keep_possible(const PlanInput& input, NodeId memory, PlannedScenario& planned) {
  std::vector<Flow> possible;
  std::string problem;
  for (Flow& flow : planned.scenario.flows) {
    flow.region.placement = bound_to(memory);
    const std::string its = memory_node_problem(machine_of(input, flow.worker), memory);
    if (its.empty())
      possible.push_back(flow);
    else
      problem = its;
  }
  if (possible.empty())
    planned.skip = Error{ErrorKind::unavailable, problem, ""};
  else
    planned.scenario.flows = std::move(possible);
}

PlannedScenario latency_point(const Options& own, const PlanInput& input, PageKind pages,
                              NodeId cpus, NodeId memory) {
  std::vector<Flow> flows;
  std::set<int> hosts;  // one worker of each
  Bytes size;
  for (int worker : workers_on(input.layout, {cpus})) {
    if (!hosts.insert(worker_of(input, worker).host).second) continue;
    size = own.pairs.size.given().value_or(chase_size_beyond_caches(input, worker, memory));
    flows.push_back(chase_flow(input, worker, size, pages, {own.pairs.order, {}}));
  }
  PlannedScenario planned = cell_point(input, "latency", size, pages, cpus, memory);
  planned.scenario.flows = std::move(flows);
  keep_possible(input, memory, planned);
  return planned;
}

PlannedScenario bandwidth_point(const Options& own, const PlanInput& input, const Choice& choice,
                                PageKind pages, NodeId cpus, NodeId memory) {
  const std::vector<int> workers = workers_on(input.layout, {cpus});
  const Bytes size = own.pairs.size.given().value_or(size_beyond_caches(input, workers, memory));
  PlannedScenario planned = cell_point(input, choice.short_name(), size, pages, cpus, memory);
  for (int worker : workers)
    planned.scenario.flows.push_back(stream_flow(input, choice, worker, size, pages));
  keep_possible(input, memory, planned);
  return planned;
}

Expected<Plan> plan(const Options& own, const PlanInput& input) {
  TRY(check_node_pairs(input, "matrix", "numatlas latency and bandwidth measure one placement"));
  Plan plan;
  const auto with_memory = TRY(chosen_nodes(input, "--nodes", own.nodes));
  const NodeSet with_workers = worker_nodes(input);
  for (PageKind pages : input.pages) {
    const auto add_latency = [&](NodeId cpus, NodeId memory) {
      add_point(plan, latency_point(own, input, pages, cpus, memory));
    };
    const auto add_bandwidth = [&](const Choice& choice, NodeId cpus, NodeId memory) {
      add_point(plan, bandwidth_point(own, input, choice, pages, cpus, memory));
    };
    if (own.only != "bandwidth") for_each_of(add_latency, with_workers, with_memory);
    if (own.only != "latency")
      for_each_of(add_bandwidth, own.pairs.choices, with_workers, with_memory);
  }
  return plan;
}

/// "256MiB", or "64MiB to 256MiB" where nodes have room for less.
std::string sizes_text(const CaseGroup& group) {
  const auto smaller = [](const ScenarioResult* a, const ScenarioResult* b) {
    return a->size < b->size;
  };
  const auto [least, most] = std::minmax_element(group.cases.begin(), group.cases.end(), smaller);
  const std::string text = to_text((*least)->size);
  return (*least)->size == (*most)->size ? text : text + " to " + to_text((*most)->size);
}

std::vector<View> views(const Options& own, const RunReport& report) {
  NodeSet without_cpus, of_gpus;
  for (const Machine& machine : report.machines) {
    for (const NumaNode& node : machine.nodes) {
      if (node.cpus.empty()) without_cpus.insert(node.id);
      if (node.kind == "gpu" && node.may_have_memory()) of_gpus.insert(node.id);
    }
  }
  std::vector<View> views;
  for (const CaseGroup& group : groups_of(report, {"pages", "kernel", "stores"})) {
    const ScenarioResult& any = *group.cases.front();
    View view;
    view.kind = ViewKind::matrix;
    view.where = group.labels;
    view.rows = "cpu_node";
    view.columns = "memory_node";
    view.notes = {"one row per node of the CPUs, one column per node of the memory"};
    if (!without_cpus.empty()) view.notes.push_back("nodes without CPUs: " + to_list(without_cpus));
    for (const Machine& machine : report.machines) {
      const std::string shared = shared_cpus_text(machine);
      if (!shared.empty() && view.notes.back() != shared) view.notes.push_back(shared);
    }
    if (!of_gpus.empty() && own.nodes == "all")
      view.notes.push_back("memory of GPUs, measured only with --nodes: node " + to_list(of_gpus));
    if (traits_of(any.kernel).chases()) {
      view.title =
          fmt::format("Idle latency in ns (one CPU of the node, {} chase over {}, {} pages)",
                      any.order, sizes_text(group), any.pages);
      view.cells = {figure_column("", "latency", in_ns, Part::with_interval, 1),
                    label_column("", "cache")};
    } else {
      view.title = fmt::format(
          "Bandwidth of {} in GB/s (all workers of the node, {} each{}, {} pages)", any.kernel,
          sizes_text(group), any.stores.empty() ? "" : ", " + any.stores + " stores", any.pages);
      view.cells = {figure_column("", "bandwidth_sum", in_gb_per_s, Part::with_interval),
                    label_column("", "cache")};
    }
    views.push_back(std::move(view));
  }
  return views;
}

SurveyPart survey(const Machine& machine) {
  const std::vector<std::string> all{"--skip-too-large"};
  std::vector<std::string> reads = all;
  reads.insert(reads.end(), {"--kernels", "read", "--mix", "none"});
  const std::string kernels = "the matrices of writes, copies and the mix";
  SurveyPart part{4, {SurveyWay{all, ""}, SurveyWay{reads, kernels}}, ""};
  const NodeSet nodes = machine.nodes_of(machine.usable_cpus());
  for (const std::size_t rows : {std::size_t{2}, std::size_t{1}}) {
    if (nodes.size() <= rows) continue;
    const NodeSet main = machine.main_nodes(nodes);
    NodeSet first;
    for (std::size_t i = 0; i < std::min(rows, main.size()); ++i) first.insert(main[i]);
    SurveyWay way{reads,
                  fmt::format("{}; the CPUs of nodes other than {}", kernels, to_list(first))};
    way.words.insert(way.words.end(), {"--cpus", "node:" + to_list(first)});
    part.ways.push_back(std::move(way));
  }
  return part;
}

/// A cell of a matrix.
struct Cell {
  std::string cpus, memory;
  Estimate estimate;
  std::string on;  ///< "256 MiB, thp pages": of each worker
};

std::vector<Cell> cells_of(const RunReport& report, const std::string& kernel) {
  std::vector<Cell> cells;
  for (const ScenarioResult& point : report.scenarios) {
    if (point.kernel != kernel || !cache_text(point).empty()) continue;
    const auto estimate =
        host_estimate_of(point, traits_of(kernel).chases() ? "latency" : "bandwidth_sum");
    if (estimate)
      cells.push_back({label_of(point, "cpu_node"), label_of(point, "memory_node"), *estimate,
                       fmt::format("{}, {} pages", to_text(point.size), point.pages)});
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
  return {
      .name = "matrix",
      .summary = "latency and bandwidth of every pair of NUMA nodes",
      .description =
          "Measures, from every node with CPUs to every node with memory (including nodes without "
          "CPUs), the idle latency of one CPU and the bandwidth of all workers of the node "
          "together. Bytes are counted as STREAM does. A cell that cannot be measured gives the "
          "reason. --time covers all cells together.",
      .examples = {{"Latency and bandwidth between all nodes, within 20 s",
                    "numatlas matrix --time 20s --pages base"},
                   {"Only the latencies", "numatlas matrix --only latency"}},
      .refused_options = {"--memory", "--serial"},
      .shown_options = {"--strict"},
      .time = {"10s", true},
      .by_host = true,
      .is_of_memory = true,
      .add_options = with(add_options),
      .parse_options = with(parse),
      .workers = worker_on_first_cpus,
      .plan = with(plan),
      .conclude = add_best_shares,
      .views = with(views),
      .facts = facts,
      .survey = survey,
  };
}

}  // namespace numatlas::benchmark_matrix
