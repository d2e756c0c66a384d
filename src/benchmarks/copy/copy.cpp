// Copies from memory in one place to memory in another, by CPUs near one of them: all pairs of
// nodes, or a given pair.
#include <algorithm>
#include <cstddef>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "base/text.h"
#include "base/units.h"
#include "benchmarks/axes.h"
#include "benchmarks/copy/team.h"
#include "benchmarks/sizes_option.h"
#include "benchmarks/survey_words.h"
#include "memory/source.h"
#include "record/cache_level.h"
#include "record/labels.h"
#include "run/benchmark.h"
#include "run/choices.h"
#include "run/declare.h"
#include "run/flows.h"
#include "run/levels.h"
#include "run/room.h"

namespace numatlas::benchmark_copy {
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
  if (!spec) return fail(of_option(option, spec.error()));
  if (spec->form == MemorySpec::Form::single) return spec;
  return fail_usage(
      option, fmt::format("'{}' differs from worker to worker", text),
      "give one for all workers: bind:0, interleave:0,1, weighted:0=3,2=1, prefer:0, local, "
      "pmem:DIR");
}

struct Options {
  std::string from_text, to_text, isa;
  std::optional<MemorySpec> from, to;
  Side side = Side::from;
  SizesOption sizes{past_caches_words};
  std::vector<Stores> stores{Stores::regular};
};

/// What the points of all pairs are measured with in turn.
struct Case {
  PageKind pages = PageKind::base;
  Bytes size;
  Stores stores = Stores::regular;
  int threads = 0;
};

void add_options(Options& own, CLI::App& app) {
  add_value(app, "--from", own.from_text, "PLACEMENT",
            "memory that is read: bind:0, interleave:0,1, local\n"
            "Other forms: weighted:0=3,2=1, prefer:0. The default is local if --to is given");
  add_value(app, "--to", own.to_text, "PLACEMENT",
            "memory that is written\nThe default is local if --from is given");
  add_choice<Side>(
      app, "--side", own.side, {{"from", Side::from}, {"to", Side::to}, {"any", Side::any}},
      "CPUs that copy: those of the source nodes, of the target nodes, or any\n"
      "If none of the chosen CPUs qualify, those of the other side copy, else the nearest by "
      "distance");
  own.sizes.add_to(app, "memory that each worker copies");
  add_stores_option(app, own.stores);
  add_isa_option(app, own.isa);
}

Expected<void> parse(Options& own, Benchmark&) {
  TRY(own.sizes.parse());
  TRY(of_option("--isa", use_instruction_set(own.isa)));
  TRY(check_stores(own.stores));
  if (own.from_text.empty() && own.to_text.empty()) return {};
  auto from = TRY(parse_end(own.from_text.empty() ? "local" : own.from_text, "--from"));
  auto to = TRY(parse_end(own.to_text.empty() ? "local" : own.to_text, "--to"));
  own.from = std::move(from);
  own.to = std::move(to);
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
    if (!there) return fail(of_option(option, there.error()));
  }
  return {};
}

/// The pair asked for, which must be there on every host; or all pairs of the nodes of all hosts.
Expected<std::vector<Pair>> pairs_of(const Options& own, const PlanInput& input) {
  NodeSet nodes;
  for (const Machine& machine : input.machines) {
    nodes = nodes | machine.ordinary_memory_nodes();
    if (!own.from) continue;
    if (auto there = resolve_memory(*own.from, machine, 0); !there)
      return fail(of_option("--from", there.error()));
    if (auto there = resolve_memory(*own.to, machine, 0); !there)
      return fail(of_option("--to", there.error()));
  }
  if (own.from) {
    TRY(check_places(*own.from, input, "--from"));
    TRY(check_places(*own.to, input, "--to"));
    const Machine& first = input.machines.front();
    return std::vector<Pair>{{with_all_nodes(*own.from, first), with_all_nodes(*own.to, first)}};
  }
  std::vector<Pair> pairs;
  for (NodeId from : nodes) {
    for (NodeId to : nodes) pairs.push_back({on_node(from), on_node(to)});
  }
  if (pairs.empty())
    return fail_about(ErrorKind::unavailable, "copy",
                      "no node has memory that this process may use");
  return pairs;
}

Flow flow_of(const PlanInput& input, const Pair& pair, const Case& now, int worker) {
  const Worker& who = worker_of(input, worker);
  const KernelSpec kernel{LoopParameters{Operation::copy}, now.stores, input.options.seed};
  Flow flow = plain_flow(input, kernel, worker, now.size, now.pages);
  flow.region.placement = placed(pair.to, input, who);
  flow.source = flow.region;
  flow.source->placement = placed(pair.from, input, who);
  flow.warm_up = warm_up_bytes(machine_of(input, worker), who.placement.cpus, flow);
  return flow;
}

PlannedScenario point(const Options& own, const PlanInput& input, const Pair& pair,
                      const Case& now) {
  const MemoryPlacement &from = pair.from.single, &to = pair.to.single;
  const Team team = team_for(input.layout, input.machines, from, to, own.side, now.threads);
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
  planned.head.labels = {{"from", from.text()},
                         {"to", to.text()},
                         {"side", team.side},
                         {"cpu_nodes", to_list(cpu_nodes)}};
  if (counts) planned.head.labels.emplace_back("threads", std::to_string(now.threads));
  planned.optional = !own.from;
  const bool several_ranks = input.layout.workers.back().rank > input.layout.workers.front().rank;
  if (input.options.placement.threads && !several_ranks &&
      static_cast<int>(team.workers.size()) < now.threads) {
    planned.skip = Error{
        ErrorKind::unavailable,
        fmt::format("{} asked for; of the workers {} {} on CPUs of node {}{}", now.threads,
                    team.workers.size(), team.workers.size() == 1 ? "is" : "are",
                    to_list(cpu_nodes), own.side != Side::any ? " (--side any takes all)" : ""),
        "", "--threads"};
  }
  for (const Machine& machine : input.machines) {
    if (const auto there = resolve_memory(pair.from, machine, 0); !there)
      planned.skip = of_option("--from", there.error());
    if (const auto there = resolve_memory(pair.to, machine, 0); !there)
      planned.skip = of_option("--to", there.error());
  }
  return planned;
}

/// What is past the caches of each end, whatever memory-side caches other nodes have.
Bytes past_caches_of(const PlanInput& input, const Pair& pair, const std::vector<Flow>& flows) {
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

Plan plan_of(const Options& own, const PlanInput& input, const std::vector<Pair>& pairs,
             const std::vector<Bytes>& sizes) {
  std::vector<int> counts = input.options.thread_counts;
  if (counts.empty())
    counts = {input.options.placement.threads.value_or(std::numeric_limits<int>::max())};
  Plan plan;
  for_each_of(
      [&](PageKind pages, Bytes size, Stores stores, int threads, const Pair& pair) {
        PlannedScenario planned = point(own, input, pair, {pages, size, stores, threads});
        // By the pair's own nodes, whatever others have; as if both ends lay on one of them, so
        // that copies within a node and between two like it have one size.
        std::vector<Flow> there = planned.scenario.flows, here = there;
        for (Flow& flow : there) flow.source->placement = flow.region.placement;
        for (Flow& flow : here) flow.region.placement = flow.source->placement;
        Bytes fitting = size;
        if (own.sizes.given().empty() && has_side_caches(input) && !planned.scenario.flows.empty())
          fitting = std::min(fitting, past_caches_of(input, pair, planned.scenario.flows));
        for (const std::vector<Flow>* flows : {&planned.scenario.flows, &there, &here}) {
          if (own.sizes.given().empty()) fitting = size_with_room(input, fitting, *flows);
        }
        if (fitting < size) planned = point(own, input, pair, {pages, fitting, stores, threads});
        add_point(plan, std::move(planned), input.options.serial);
      },
      input.pages, sizes, own.stores, counts, pairs);
  return plan;
}

Expected<Plan> plan(const Options& own, const PlanInput& input) {
  if (input.options.placement.memory)
    return fail_usage("--memory", "a copy requires a source and a target", "name --from and --to");
  const auto pairs = TRY(pairs_of(own, input));
  std::vector<Bytes> sizes = own.sizes.given();
  if (sizes.empty()) sizes = {size_past_caches(input)};
  for (Bytes size : sizes) {
    TRY(check_size({LoopParameters{Operation::copy}}, size));
  }
  return plan_of(own, input, pairs, sizes);
}

/// Every pair, by all CPUs of the node copied from, or by a few of them; else the pair of the
/// lowest and the highest number.
SurveyPart survey(const Machine& machine) {
  SurveyPart part{2, {SurveyWay{{"--skip-too-large"}, ""}}, ""};
  constexpr std::size_t few = 4;
  const CpuSet chosen = few_cpus_per_node(machine, few);
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

/// Bytes read and written are twice the bytes copied.
constexpr double once = 0.5;

/// Whose CPUs copied.
std::string side_words(const std::string& side) {
  if (side == "from") return "those of the node copied from";
  if (side == "to") return "those of the node copied to";
  if (side == "nearest") return "those nearest to the node";
  return "all, whatever their node";
}

View matrix_of(const RunReport& report, const CaseGroup& group) {
  const ScenarioResult& any = *group.cases.front();
  std::set<std::string> sides;
  std::size_t workers = 0;
  for (const ScenarioResult* one : group.cases) {
    if (one->flows.empty()) continue;
    sides.insert(label_text(report, *one, "side"));
    workers = std::max(workers, one->flows.size());
  }
  View view;
  view.kind = ViewKind::matrix;
  view.where = group.labels;
  view.rows = "from";
  view.columns = "to";
  view.title = fmt::format("Copies in GB/s ({}, {} stores, pages: {}, kernels: {})",
                           to_text(any.size), any.stores, any.pages, report.isa);
  if (has_label(report, "threads"))
    view.title += ", threads: " + label_text(report, any, "threads");
  view.notes = {
      "one row per source, one column per target; each byte counts once (STREAM counts it as read "
      "and as written)"};
  // Workers that ran in turn have no sum: the median of what each copied.
  const bool in_turn = report.serial && workers > 1;
  view.cells = {in_turn ? figure_column("", "bandwidth", once * in_gb_per_s)
                        : figure_column("", "copy_rate", in_gb_per_s, Part::with_interval)};
  if (in_turn) view.notes.push_back("workers ran one after the other: the median of them");
  if (sides.size() == 1)
    view.notes.push_back("CPUs: " + side_words(*sides.begin()));
  else
    view.cells.push_back(label_column("", "side"));
  if (sides.size() > 1) {
    for (const std::string& side : sides)
      view.notes.push_back(fmt::format("{}: copied by CPUs, {}", side, side_words(side)));
  }
  return view;
}

View table_of(const RunReport& report) {
  View view;
  view.title = fmt::format(
      "Copies in GB/s (kernels: {}; size: read by a worker, and as much written)", report.isa);
  view.notes = {
      "copied: all workers over their common time; each byte counts once (STREAM counts it as read "
      "and as written)",
      "moved: read and written, including write-allocate reads of regular stores; -: in a cache"};
  view.cells = {label_column("from", "from"),
                label_column("to", "to"),
                label_column("nodes seen", "copied_between"),
                label_column("CPUs of node", "cpu_nodes"),
                label_column("chosen", "side"),
                label_column("stores", "stores"),
                label_column("size", "size"),
                label_column("pages", "pages"),
                label_column("workers", "workers"),
                figure_column("copied", "copy_rate", in_gb_per_s),
                figure_column(plus_minus(), "copy_rate", in_gb_per_s, Part::half_width),
                figure_column("best", "copy_rate", in_gb_per_s, Part::best),
                figure_column("moved", "traffic_sum", in_gb_per_s),
                figure_column("worker median", "bandwidth", once * in_gb_per_s)};
  return view;
}

/// "copy_rate" in B/s over all workers of a point: bytes count once, not as read and as written.
std::vector<Figure> totals(const ScenarioResult& point, const RunReport&) {
  const Figure* sum = find_total(point, "bandwidth_sum");
  if (sum == nullptr || !sum->estimate) return {};
  return {{"copy_rate", sum->unit, scaled(*sum->estimate, once), std::nullopt}};
}

std::vector<View> views(const RunReport& report) {
  if (groups_of(report, {"from", "to"}).size() < 2) return {table_of(report)};
  std::vector<View> views;
  for (const CaseGroup& group : groups_of(report, {"pages", "size", "stores", "threads"}))
    views.push_back(matrix_of(report, group));
  return views;
}

/// Every pair of places; the slowest and the fastest are shown.
std::vector<Fact> facts(const RunReport& report) {
  std::vector<Fact> facts;
  for (const ScenarioResult& point : report.scenarios) {
    const auto rate = host_estimate_of(point, "copy_rate");
    if (!rate || !cache_text(point).empty()) continue;
    const std::string from = label_of(point, "from"), to = label_of(point, "to");
    facts.push_back({"copy_rate",
                     {{"from", from}, {"to", to}, {"cpu_nodes", label_of(point, "cpu_nodes")}},
                     fmt::format("copies from {} to {}, by {} CPUs of node {}, bytes counted once",
                                 place_words(from), place_words(to), point.flows.size(),
                                 label_of(point, "cpu_nodes")),
                     "B/s",
                     *rate});
  }
  const auto [low, high] = std::minmax_element(
      facts.begin(), facts.end(),
      [](const Fact& a, const Fact& b) { return a.estimate.value < b.estimate.value; });
  for (const auto& [fact, word] : {std::pair(low, "lowest "), {high, "highest "}}) {
    if (fact == facts.end()) continue;
    fact->heading = "Copies";
    fact->line =
        fmt::format("{}{{}} ({} to {})", low == high ? "" : word,
                    place_words(where_of(*fact, "from")), place_words(where_of(*fact, "to")));
  }
  return facts;
}

}  // namespace

Benchmark make() {
  const Bound<Options> with;
  return {
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
      .refused_options = {"--memory"},
      .usual_threads = "OMP_NUM_THREADS, or one per CPU; one under a launcher",
      .is_of_memory = true,
      .add_options = with(add_options),
      .parse_options = with(parse),
      .workers = worker_on_every_cpu,
      .plan = with(plan),
      .totals = totals,
      .views = views,
      .facts = facts,
      .survey = survey,
  };
}

}  // namespace numatlas::benchmark_copy
