// Copies from memory in one place to memory in another, by CPUs near one of them: all pairs of
// nodes, or a given pair.
#include <algorithm>
#include <cstddef>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "base/count_text.h"
#include "base/size_list.h"
#include "benchmarks/axes.h"
#include "benchmarks/copy/team.h"
#include "benchmarks/copy/views.h"
#include "benchmarks/sizes_option.h"
#include "benchmarks/survey_words.h"
#include "memory/source.h"
#include "run/benchmark.h"
#include "run/choices.h"
#include "run/declare.h"
#include "run/flows.h"
#include "run/levels.h"
#include "run/room.h"

namespace numatlas {
namespace {

struct Pair {
  MemorySpec from, to;
};

MemorySpec on_node(NodeId node) {
  MemorySpec spec;
  spec.single = bound_to(node);
  return spec;
}

Expected<MemorySpec> parse_end(const std::string& text, const char* option) {
  auto spec = parse_memory_spec(text);
  if (!spec) return fail(renamed(spec.error(), "--memory", option));
  if (spec->form == MemorySpec::Form::single) return spec;
  return fail_usage(
      option, fmt::format("'{}' differs from worker to worker", text),
      "give one for all workers: bind:0, interleave:0,1, weighted:0=3,2=1, prefer:0, local, "
      "pmem:DIR");
}

const Spec copy_spec{
    .name = "copy",
    .summary = "copy bandwidth between NUMA nodes",
    .listing = {Topic::memory, true},
    .description =
        "Each worker copies from its own buffer in one place to one of the same size in another. "
        "Without --from and --to, every pair of nodes with memory is measured, including nodes "
        "without CPUs. Each byte copied counts once; STREAM counts it twice, as read and as "
        "written.",
    .examples = {{"Copies between all pairs of nodes",
                  "numatlas copy --stores regular,non-temporal"},
                 {"From node 2 to two others, by one to eight threads near the target",
                  "numatlas copy --from bind:2 --to interleave:0,1 --side to --threads 1-8"}},
    .main_metric = "bandwidth",
    .refused_options = {"--memory", "--csv"},
    .usual_threads = "OMP_NUM_THREADS, or one per CPU; one under a launcher",
};

class Copy final : public Benchmark {
 public:
  Copy() : Benchmark(copy_spec) {}
  void add_options(CLI::App& app) override;
  Expected<void> parse_options() override;
  bool is_of_memory() const override { return true; }
  Expected<std::vector<WorkerPlacement>> workers(const RunOptions& options, const Machine& machine,
                                                 const TaskContext& task) const override {
    return worker_on_every_cpu(options, machine, task);
  }
  Expected<std::vector<PlannedScenario>> plan(const PlanInput& input) const override;
  std::vector<Figure> totals(const ScenarioResult& point, const RunReport&) const override {
    return copy_totals(point);
  }
  SurveyPart survey(const Machine& machine) const override;
  std::vector<View> views(const RunReport& report) const override { return copy_views(report); }
  std::vector<Fact> facts(const RunReport& report) const override { return copy_facts(report); }

 private:
  /// What the points of all pairs are measured with in turn.
  struct Case {
    PageKind pages = PageKind::base;
    Bytes size;
    Stores stores = Stores::regular;
    int threads = 0;
  };

  Expected<std::vector<Pair>> pairs_of(const PlanInput& input) const;
  std::vector<PlannedScenario> plan_of(const PlanInput& input, const std::vector<Pair>& pairs,
                                       const std::vector<Bytes>& sizes) const;
  PlannedScenario point(const PlanInput& input, const Pair& pair, const Case& now) const;
  Flow flow_of(const PlanInput& input, const Pair& pair, const Case& now, int worker) const;
  Bytes past_caches_of(const PlanInput& input, const Pair& pair,
                       const std::vector<Flow>& flows) const;

  std::string from_text_, to_text_, isa_;
  bool matrix_ = false;
  std::optional<MemorySpec> from_, to_;
  Side side_ = Side::from;
  SizesOption sizes_{past_caches_words};
  std::vector<Stores> stores_{Stores::regular};
};

void Copy::add_options(CLI::App& app) {
  auto* from =
      add_value(app, "--from", from_text_, "PLACEMENT",
                "memory that is read: bind:0, interleave:0,1, local\n"
                "Other forms: weighted:0=3,2=1, prefer:0. The default is local if --to is given");
  auto* to = add_value(app, "--to", to_text_, "PLACEMENT",
                       "memory that is written\nThe default is local if --from is given");
  app.add_flag("--matrix", matrix_, "copy between all pairs of nodes, as without --from and --to")
      ->excludes(from)
      ->excludes(to);
  add_choice<Side>(
      app, "--side", side_, {{"from", Side::from}, {"to", Side::to}, {"any", Side::any}},
      "CPUs that copy: those of the source nodes, of the target nodes, or any\n"
      "If none of the chosen CPUs qualify, those of the other side copy, else the nearest by "
      "distance");
  sizes_.add_to(app, "memory that each worker copies");
  add_stores_option(app, stores_);
  add_isa_option(app, isa_);
}

Expected<void> Copy::parse_options() {
  TRY(sizes_.parse());
  TRY(use_instruction_set(isa_));
  TRY(check_stores(stores_));
  if (from_text_.empty() && to_text_.empty()) return {};
  auto from = TRY(parse_end(from_text_.empty() ? "local" : from_text_, "--from"));
  auto to = TRY(parse_end(to_text_.empty() ? "local" : to_text_, "--to"));
  from_ = std::move(from);
  to_ = std::move(to);
  return {};
}

/// Where one end of a pair is for a worker; pairs_of has looked whether there is such a place.
MemoryPlacement placed(const MemorySpec& end, const PlanInput& input, const Worker& worker) {
  const Machine& machine = input.machines[static_cast<std::size_t>(worker.host)];
  return resolve_memory(end, machine, 0, worker.placement.cpus).value_or(end.single);
}

/// Whether every worker has its own of the places asked for ({node}, {socket}).
Expected<void> check_places(const MemorySpec& end, const PlanInput& input, const char* option) {
  if (end.single.source.empty()) return {};
  for (const Worker& worker : input.layout.workers) {
    const Machine& machine = input.machines[static_cast<std::size_t>(worker.host)];
    const auto there = resolve_memory(end, machine, 0, worker.placement.cpus);
    if (!there) return fail(renamed(there.error(), "--memory", option));
  }
  return {};
}

/// The pair asked for, which must be there on every host; or all pairs of the nodes of all hosts.
Expected<std::vector<Pair>> Copy::pairs_of(const PlanInput& input) const {
  NodeSet nodes;
  for (const Machine& machine : input.machines) {
    nodes = nodes | machine.ordinary_memory_nodes();
    if (!from_) continue;
    if (auto there = resolve_memory(*from_, machine, 0); !there)
      return fail(renamed(there.error(), "--memory", "--from"));
    if (auto there = resolve_memory(*to_, machine, 0); !there)
      return fail(renamed(there.error(), "--memory", "--to"));
  }
  if (from_) {
    TRY(check_places(*from_, input, "--from"));
    TRY(check_places(*to_, input, "--to"));
    const Machine& first = input.machines.front();
    return std::vector<Pair>{{with_all_nodes(*from_, first), with_all_nodes(*to_, first)}};
  }
  std::vector<Pair> pairs;
  for (NodeId from : nodes) {
    for (NodeId to : nodes) pairs.push_back({on_node(from), on_node(to)});
  }
  if (pairs.empty())
    return fail_about(ErrorKind::unavailable, "--matrix",
                      "no node has memory that this process may use");
  return pairs;
}

Flow Copy::flow_of(const PlanInput& input, const Pair& pair, const Case& now, int worker) const {
  const Worker& who = worker_of(input, worker);
  Flow flow = plain_flow(input, "copy", worker, now.size, now.pages);
  flow.kernel.stores = now.stores;
  flow.kernel.chain.seed = input.options.seed;
  flow.region.placement = placed(pair.to, input, who);
  flow.source = flow.region;
  flow.source->placement = placed(pair.from, input, who);
  flow.warm_up = warm_up_bytes(machine_of(input, worker), who.placement.cpus, flow);
  return flow;
}

PlannedScenario Copy::point(const PlanInput& input, const Pair& pair, const Case& now) const {
  const MemoryPlacement &from = pair.from.single, &to = pair.to.single;
  const Team team = team_for(input.layout, input.machines, from, to, side_, now.threads);
  const bool counts = !input.options.thread_counts.empty();
  PlannedScenario planned = new_point(input,
                                      fmt::format("{} -> {}{} {} {}", from.text(), to.text(),
                                                  now.stores == Stores::non_temporal ? " nt" : "",
                                                  compact_text(now.size), name_of(now.pages)),
                                      now.size, now.pages);
  if (counts) planned.head.name += " " + count_text(now.threads, "thread");
  NodeSet cpu_nodes;
  for (int worker : team.workers) {
    planned.scenario.flows.push_back(flow_of(input, pair, now, worker));
    const NodeId node = worker_of(input, worker).placement.cpu_node;
    if (node.value >= 0) cpu_nodes.insert(node);
  }
  planned.head.kernel = "copy";
  planned.head.stores = name_of(now.stores);
  planned.head.labels = {{"from", from.text()},
                         {"to", to.text()},
                         {"side", team.side},
                         {"cpu_nodes", to_list(cpu_nodes)}};
  if (counts) planned.head.labels.emplace_back("threads", std::to_string(now.threads));
  planned.scenario.stop.to_the_end = true;
  planned.optional = !from_;
  const bool several_ranks = input.layout.workers.back().rank > input.layout.workers.front().rank;
  if (input.options.placement.threads && !several_ranks &&
      static_cast<int>(team.workers.size()) < now.threads) {
    planned.skip =
        Error{ErrorKind::unavailable,
              fmt::format("{} asked for; of the workers {} {} on CPUs of node {}{}", now.threads,
                          team.workers.size(), team.workers.size() == 1 ? "is" : "are",
                          to_list(cpu_nodes), side_ != Side::any ? " (--side any takes all)" : ""),
              "", "--threads"};
  }
  for (const Machine& machine : input.machines) {
    if (const auto there = resolve_memory(pair.from, machine, 0); !there)
      planned.skip = renamed(there.error(), "--memory", "--from");
    if (const auto there = resolve_memory(pair.to, machine, 0); !there)
      planned.skip = renamed(there.error(), "--memory", "--to");
  }
  return planned;
}

/// What is past the caches of each end, whatever memory-side caches other nodes have.
Bytes Copy::past_caches_of(const PlanInput& input, const Pair& pair,
                           const std::vector<Flow>& flows) const {
  std::vector<int> workers;
  for (const Flow& flow : flows) workers.push_back(flow.worker);
  if (input.options.serial) workers.resize(1);
  Bytes size;
  for (const MemorySpec* end : {&pair.from, &pair.to}) {
    for (NodeId node : end->single.node_set())
      size = std::max(size, size_past_caches(input, workers, least_past_caches, {node}));
  }
  return size;
}

std::vector<PlannedScenario> Copy::plan_of(const PlanInput& input, const std::vector<Pair>& pairs,
                                           const std::vector<Bytes>& sizes) const {
  std::vector<int> counts = input.options.thread_counts;
  if (counts.empty())
    counts = {input.options.placement.threads.value_or(std::numeric_limits<int>::max())};
  std::vector<PlannedScenario> plan;
  for_each_of(
      [&](PageKind pages, Bytes size, Stores stores, int threads, const Pair& pair) {
        PlannedScenario planned = point(input, pair, {pages, size, stores, threads});
        // By the pair's own nodes, whatever others have; as if both ends lay on one of them, so
        // that copies within a node and between two like it have one size.
        std::vector<Flow> there = planned.scenario.flows, here = there;
        for (Flow& flow : there) flow.source->placement = flow.region.placement;
        for (Flow& flow : here) flow.region.placement = flow.source->placement;
        Bytes fitting = size;
        if (sizes_.given().empty() && has_side_caches(input) && !planned.scenario.flows.empty())
          fitting = std::min(fitting, past_caches_of(input, pair, planned.scenario.flows));
        for (const std::vector<Flow>* flows : {&planned.scenario.flows, &there, &here}) {
          if (sizes_.given().empty()) fitting = size_with_room(input, fitting, *flows);
        }
        if (fitting < size) planned = point(input, pair, {pages, fitting, stores, threads});
        add_point(plan, std::move(planned), input.options.serial);
      },
      input.pages, sizes, stores_, counts, pairs);
  return plan;
}

Expected<std::vector<PlannedScenario>> Copy::plan(const PlanInput& input) const {
  if (input.options.placement.memory)
    return fail_usage("--memory", "a copy requires a source and a target", "name --from and --to");
  TRY(check_no_csv(input.options, "the source of a copy"));
  const auto pairs = TRY(pairs_of(input));
  std::vector<Bytes> sizes = sizes_.given();
  if (sizes.empty()) sizes = {size_past_caches(input)};
  KernelSpec copy;
  copy.name = "copy";
  for (Bytes size : sizes) {
    TRY((*make_kernel(copy))->check_size(size));
  }
  return plan_of(input, pairs, sizes);
}

/// Every pair, by all CPUs of the node copied from, or by a few of them; else the pair of the
/// lowest and the highest number.
SurveyPart Copy::survey(const Machine& machine) const {
  SurveyPart part{2, {SurveyWay{{"--skip-too-large"}, ""}}, ""};
  constexpr std::size_t few = 4;
  const CpuSet chosen = few_cpus_a_node(machine, few);
  if (chosen.size() < machine.usable_cpus().size()) {
    part.ways.push_back(SurveyWay{{"--skip-too-large", "--cpus", to_list(chosen)},
                                  fmt::format("all but {} CPUs of each node", few)});
  }
  const NodeSet memory = machine.main_nodes(machine.ordinary_memory_nodes());
  if (memory.size() < 2) return part;
  const int from = memory.front().value, to = memory[memory.size() - 1].value;
  part.ways.push_back(
      SurveyWay{{"--skip-too-large", "--from", fmt::format("bind:{}", from), "--to",
                 fmt::format("bind:{}", to)},
                fmt::format("all pairs but that from node {} to node {}", from, to)});
  return part;
}

}  // namespace

std::unique_ptr<Benchmark> make_copy_benchmark() { return std::make_unique<Copy>(); }

}  // namespace numatlas
