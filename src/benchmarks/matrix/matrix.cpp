// Node matrices: for every node with CPUs and every node with memory, the idle latency that one CPU
// sees and the bandwidth that all of the node's workers reach together.
#include <algorithm>

#include <fmt/format.h>

#include "base/size_list.h"
#include "benchmarks/flows.h"
#include "benchmarks/matrix/table.h"

namespace numatlas {
namespace {

class Matrix final : public Benchmark {
 public:
  std::string name() const override { return "matrix"; }
  std::string summary() const override {
    return "latency and bandwidth of every node's CPUs to every node's memory";
  }
  std::string description() const override {
    return "For every node with CPUs and every node with memory, those without CPUs included: the\n"
           "latency that one CPU sees while nothing else runs, and the bandwidth of all workers "
           "of\n"
           "the node together. Bytes are counted as STREAM counts them. A cell that cannot be\n"
           "measured says why. --time is for the whole, shared among the cells.";
  }
  void add_options(CLI::App& app) override;
  Expected<void> parse_options() override;
  int default_threads(const RunOptions&) const override { return 0; }
  Expected<std::vector<WorkerPlacement>> workers(const RunOptions& options, const Machine& machine,
                                                 const TaskContext& task) const override {
    return worker_on_every_cpu(options, machine, task);
  }
  TimeOption time_option() const override { return {"30s", true, "15s"}; }
  Expected<std::vector<PlannedScenario>> plan(const PlanInput& input) const override;
  std::string main_metric() const override { return "bandwidth"; }
  std::vector<std::string> survey_words(const Machine&) const override {
    return {"--skip-too-large"};
  }
  std::string table(const RunReport& report, const RunOptions& options) const override {
    return matrix_table(report, options.stats);
  }

 private:
  PlannedScenario point(const PlanInput& input, const std::string& what, Bytes size, PageKind pages,
                        NodeId cpus, NodeId memory) const;
  void add_latency(const PlanInput& input, PageKind pages,
                   std::vector<PlannedScenario>& plan) const;
  void add_bandwidth(const PlanInput& input, const Choice& choice, PageKind pages,
                     std::vector<PlannedScenario>& plan) const;

  std::string size_text_, order_text_ = "random", only_;
  std::optional<Bytes> size_;  ///< absent: beyond the caches
  ChainOrder order_ = ChainOrder::random;
  KernelOptions kernels_{"read,write,copy", "2:1"};
  std::vector<Choice> choices_;
};

void Matrix::add_options(CLI::App& app) {
  refuse_empty(
      app.add_option(
          "--size", size_text_,
          "memory a worker: MiB, or with a unit (default: what no cache holds; of the chase "
          "at least 256 MiB)"))
      ->type_name("SIZE");
  app.add_option("--only", only_, "latency, or bandwidth: one of the two")->type_name("WHAT");
  app.add_option("--order", order_text_,
                 "of the chase: random, page-local (TLB-friendly), sequential")
      ->type_name("ORDER")
      ->capture_default_str();
  kernels_.add_to(app);
}

Expected<void> Matrix::parse_options() {
  if (!size_text_.empty()) {
    const auto size = parse_one_size(size_text_, name());
    if (!size) return fail(size.error());
    size_ = *size;
  }
  if (!only_.empty() && only_ != "latency" && only_ != "bandwidth") {
    return fail(ErrorKind::usage,
                fmt::format("--only: '{}' is not one of latency, bandwidth", only_));
  }
  const auto order = parse_chain_order(order_text_);
  if (!order) return fail(order.error());
  order_ = *order;
  auto choices = kernels_.parse();
  if (!choices) return fail(choices.error());
  choices_ = *std::move(choices);
  for (const Choice& choice : choices_) {
    if (!size_) break;
    if (auto fits = (*make_kernel(choice.spec))->check_size(*size_); !fits) return fits;
  }
  return {};
}

PlannedScenario Matrix::point(const PlanInput& input, const std::string& what, Bytes size,
                              PageKind pages, NodeId cpus, NodeId memory) const {
  PlannedScenario planned;
  planned.head.name =
      fmt::format("{} node {} to {} {}", what, cpus.value, memory.value, name_of(pages));
  planned.head.size = size;
  planned.head.pages = name_of(pages);
  planned.head.labels = {{"cell_cpu_node", std::to_string(cpus.value)},
                         {"cell_memory_node", std::to_string(memory.value)}};
  planned.scenario = {planned.head.name, {}, input.options.stop};
  planned.optional = true;
  return planned;
}

/// Flows of those whose hosts have that memory; else why there are none.
void keep_possible(const PlanInput& input, NodeId memory, std::vector<Flow>& flows,
                   PlannedScenario& planned) {
  std::erase_if(flows, [&](const Flow& flow) {
    const std::string problem = memory_node_problem(machine_of(input, flow.worker), memory);
    if (!problem.empty()) planned.skip = problem;
    return !problem.empty();
  });
  if (!flows.empty()) planned.skip.clear();
  for (Flow& flow : flows) {
    flow.region.placement = {};
    flow.region.placement.mode = MemoryMode::bind;
    flow.region.placement.nodes = {{memory, 1}};
  }
}

void Matrix::add_latency(const PlanInput& input, PageKind pages,
                         std::vector<PlannedScenario>& plan) const {
  for (NodeId cpus : worker_nodes(input)) {
    for (NodeId memory : memory_nodes(input)) {
      const std::vector<int> workers = workers_on(input, cpus);
      std::vector<Flow> flows;
      Bytes size;
      // One of each host.
      for (int worker : workers) {
        const int host = input.layout.workers[static_cast<std::size_t>(worker)].host;
        const bool first = std::none_of(flows.begin(), flows.end(), [&](const Flow& flow) {
          return input.layout.workers[static_cast<std::size_t>(flow.worker)].host == host;
        });
        if (!first) continue;
        size = size_.value_or(chase_size_beyond_caches(input, worker, memory));
        flows.push_back(chase_flow(input, worker, size, pages, {order_, {}}));
      }
      PlannedScenario planned = point(input, "latency", size, pages, cpus, memory);
      planned.head.order = name_of(order_);
      planned.head.stride = flows.front().kernel.chain.stride;
      keep_possible(input, memory, flows, planned);
      add_point(plan, std::move(planned), std::move(flows), false);
    }
  }
}

void Matrix::add_bandwidth(const PlanInput& input, const Choice& choice, PageKind pages,
                           std::vector<PlannedScenario>& plan) const {
  for (NodeId cpus : worker_nodes(input)) {
    for (NodeId memory : memory_nodes(input)) {
      const std::vector<int> workers = workers_on(input, cpus);
      const Bytes size = size_.value_or(size_beyond_caches(input, workers, memory));
      std::vector<Flow> flows;
      for (int worker : workers) flows.push_back(stream_flow(input, choice, worker, size, pages));
      PlannedScenario planned = point(input, choice.short_name(), size, pages, cpus, memory);
      planned.head.kernel = choice.name;
      planned.head.stores = choice.stores();
      planned.scenario.stop.to_the_end = true;
      keep_possible(input, memory, flows, planned);
      add_point(plan, std::move(planned), std::move(flows), false);
    }
  }
}

Expected<std::vector<PlannedScenario>> Matrix::plan(const PlanInput& input) const {
  if (!input.options.thread_counts.empty() || input.options.serial) {
    return fail(ErrorKind::usage,
                fmt::format("{}: matrix measures all workers of a node together",
                            input.options.serial ? "--serial" : "--threads"),
                "numatlas bandwidth compares numbers of threads");
  }
  if (input.options.placement.memory) {
    return fail(ErrorKind::usage, "--memory: matrix places the memory itself, on every node",
                "numatlas latency and bandwidth measure one placement");
  }
  if (!input.options.csv_file.empty()) {
    return fail(ErrorKind::usage, "--csv: its format is for one kernel, a row a size",
                "use --format csv");
  }
  if (worker_nodes(input).empty()) {
    return fail(ErrorKind::unavailable, "matrix: the nodes of the workers' CPUs are not known",
                "name the CPUs with --cpus, and leave OMP_PLACES and OMP_PROC_BIND unset");
  }
  std::vector<PlannedScenario> plan;
  for (PageKind pages : input.options.pages) {
    if (only_ != "bandwidth") add_latency(input, pages, plan);
    if (only_ == "latency") continue;
    for (const Choice& choice : choices_) add_bandwidth(input, choice, pages, plan);
  }
  return plan;
}

}  // namespace

std::unique_ptr<Benchmark> make_matrix_benchmark() { return std::make_unique<Matrix>(); }

}  // namespace numatlas
