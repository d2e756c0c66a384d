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

#include "benchmarks/common.h"
#include "memory/source.h"
#include "run/benchmark.h"
#include "run/flows.h"

namespace numatlas::benchmark_copy {
namespace {

/// Where the CPUs of a copy are: --side.
enum class Side { from, to, any };

struct Pair {
  MemorySpec from, to;
};

struct Options {
  std::optional<MemorySpec> from, to;
  Side side = Side::from;

  bool names_places() const { return from || to; }
};

Expected<MemorySpec> parse_end(const std::string& text) {
  auto spec = parse_memory_spec(text);
  if (!spec) return spec;
  if (spec->form == MemorySpec::Form::single && gpu_of(spec->single) >= 0)
    return fail_usage("", fmt::format("'{}' is memory that CPUs cannot copy", text),
                      "numatlas transfer copies to and from GPUs");
  if (spec->form == MemorySpec::Form::single) return spec;
  return fail_usage("", fmt::format("'{}' differs from worker to worker", text),
                    "give one for all workers: bind:0, interleave:0,1, weighted:0=3,2=1, prefer:0, "
                    "local, pmem:DIR");
}

void add_options(Options& own, CLI::App& app) {
  add_parsed(app, "--from", own.from, "", "PLACEMENT",
             "memory that is read: bind:0, interleave:0,1, local\n"
             "Other forms: weighted:0=3,2=1, prefer:0. The default is local if --to is given",
             parse_end);
  add_parsed(app, "--to", own.to, "", "PLACEMENT",
             "memory that is written\nThe default is local if --from is given", parse_end);
  add_choice<Side>(
      app, "--side", own.side, {{"from", Side::from}, {"to", Side::to}, {"any", Side::any}},
      "CPUs that copy: those of the source nodes, of the target nodes, or any\n"
      "If none of the chosen CPUs qualify, those of the other side copy, else the nearest by "
      "distance");
}

AxisValue value_of(Pair pair, bool asked) {
  return {{pair.from.single.text(), pair.to.single.text()}, std::move(pair), asked};
}

/// The pair asked for; or all pairs of the nodes of all hosts.
Expected<std::vector<AxisValue>> pairs(const Options& own, const PlanInput& input) {
  if (own.names_places()) {
    const auto end = [&](const std::optional<MemorySpec>& given) {
      return with_all_nodes(given.value_or(MemorySpec{}), input.machines.front());
    };
    return std::vector{value_of({end(own.from), end(own.to)}, true)};
  }
  NodeSet nodes;
  for (const Machine& machine : input.machines) nodes = nodes | machine.ordinary_memory_nodes();
  std::vector<AxisValue> pairs;
  const auto on = [](NodeId node) {
    MemorySpec spec;
    spec.single = bound_to(node);
    return spec;
  };
  for (NodeId from : nodes) {
    for (NodeId to : nodes) pairs.push_back(value_of({on(from), on(to)}, false));
  }
  if (pairs.empty())
    return fail_about(ErrorKind::unavailable, "copy",
                      "no node has memory that this process may use");
  return pairs;
}

struct Team {
  std::vector<int> workers;  ///< indices into the layout
  std::string side;          ///< "from", "to", "nearest", "any": whose CPUs they were taken from
};

/// Workers on CPUs of these nodes, all without nodes; none unless every host has some.
std::vector<int> workers_near(const PlanInput& input, const NodeSet& nodes) {
  if (nodes.empty()) return all_workers(input.layout);
  const std::vector<int> workers = workers_on(input.layout, nodes);
  std::set<int> hosts;
  for (int index : workers) hosts.insert(worker_of(input, index).host);
  return hosts.size() == input.layout.hosts.size() ? workers : std::vector<int>{};
}

/// From the node of a worker's CPU to all of these together; the greatest number where some
/// distance is unknown.
int distance_to(const Machine& machine, const Worker& worker, const NodeSet& nodes) {
  constexpr int unknown = std::numeric_limits<int>::max();
  const NumaNode* from = machine.find_node(worker.placement.cpu_node);
  if (from == nullptr) return unknown;
  int sum = 0;
  for (NodeId node : nodes) {
    const auto found = from->distance.find(node.value);
    if (found == from->distance.end()) return unknown;
    sum += found->second;
  }
  return sum;
}

/// On each host those with the least distance.
std::vector<int> nearest_workers(const PlanInput& input, const NodeSet& nodes) {
  const auto distance = [&](int index) {
    return distance_to(machine_of(input, index), worker_of(input, index), nodes);
  };
  std::map<int, int> least;  // by host
  for (int index : all_workers(input.layout)) {
    const int host = worker_of(input, index).host;
    const auto [found, added] = least.emplace(host, distance(index));
    if (!added) found->second = std::min(found->second, distance(index));
  }
  std::vector<int> workers;
  for (int index : all_workers(input.layout)) {
    if (distance(index) == least[worker_of(input, index).host]) workers.push_back(index);
  }
  return workers;
}

/// The workers on CPUs of the nodes asked for; where those have none (on some host), on CPUs of the
/// nodes of the other side; else the nearest to the side asked for, by the machine's distances. A
/// placement without nodes of its own (local) is everywhere. At most `threads` of each rank, in the
/// order of the layout.
Team team_for(const PlanInput& input, const MemoryPlacement& from, const MemoryPlacement& to,
              Side side, int threads) {
  Team team;
  const NodeSet source = from.in_force().node_set(), target = to.in_force().node_set();
  const auto asked = [&] { return side == Side::from ? source : target; };
  if (side == Side::any) {
    team = {all_workers(input.layout), "any"};
  } else {
    const NodeSet& other = side == Side::from ? target : source;
    const char* const names[] = {"from", "to"};
    team = {workers_near(input, asked()), names[side == Side::from ? 0 : 1]};
    if (team.workers.empty())
      team = {workers_near(input, other), names[side == Side::from ? 1 : 0]};
    if (team.workers.empty()) team = {nearest_workers(input, asked()), "nearest"};
  }
  std::map<int, int> taken;  // by rank
  std::erase_if(team.workers,
                [&](int index) { return taken[worker_of(input, index).rank]++ >= threads; });
  return team;
}

/// Where one end of a pair is for a worker.
Expected<MemoryPlacement> placed(const MemorySpec& end, const PlanInput& input, int worker,
                                 const char* option) {
  return of_option(option, resolve_memory(end, machine_of(input, worker), 0,
                                          worker_of(input, worker).placement.cpus));
}

Expected<Point> point(const Options& own, const PlanInput& input, const AxisSetting& now) {
  const auto& [from, to] = now.of<Pair>();
  const Team team = team_for(input, from.single, to.single, own.side, now.threads);
  const KernelSpec copy{LoopParameters{Operation::copy}, now.kernel.spec.stores,
                        input.options.seed};
  Point point;
  NodeSet cpu_nodes;
  for (int worker : team.workers) {
    Flow& flow = point.flows.emplace_back(plain_flow(input, copy, worker, now.size, now.pages));
    flow.source = flow.region;
    const auto source = placed(from, input, worker, "--from");
    const auto target = placed(to, input, worker, "--to");
    if (!source || !target) point.skip = source ? target.error() : source.error();
    flow.source->placement = source.value_or(from.single);
    flow.region.placement = target.value_or(to.single);
    const NodeId node = worker_of(input, worker).placement.cpu_node;
    if (node.value >= 0) cpu_nodes.insert(node);
  }
  if (point.skip && own.names_places()) return fail(*point.skip);
  point.labels = {{"side", team.side}, {"cpu_nodes", to_list(cpu_nodes)}};
  point.workers_are = fmt::format("on CPUs of node {}{}", to_list(cpu_nodes),
                                  own.side != Side::any ? " (--side any takes all)" : "");
  return point;
}

/// Every pair, by all CPUs of the node copied from, or by a few of them; else the pair of the
/// lowest and the highest number.
SurveyPart survey(const Machine&) {
  return {2, {}, {{"nodes to copy from", {"from"}}, {"nodes to copy to", {"to"}}}};
}

constexpr double once = 0.5;  ///< bytes read and written are twice the bytes copied

std::vector<Table> tables() {
  const std::string counted = "each byte counts once (STREAM counts it as read and as written)";
  return {
      {.title = "Copies in GB/s ({sizes}, {stores} stores, pages: {pages}, kernels: {isa})"
                "[, threads: {threads}]",
       .kind = ViewKind::matrix,
       .apart = {"pages", "stores", "threads"},
       .if_several = {"from", "to"},
       .rows = "from",
       .columns = "to",
       .cells = {figure_column("", "copy_rate", in_gb_per_s, Part::with_interval)},
       .cells_in_turn = {figure_column("", "bandwidth", once * in_gb_per_s)},
       .legends = {{"side",
                    "CPUs: {}",
                    "{}: copied by CPUs, {}",
                    {{"from", "those of the node copied from"},
                     {"to", "those of the node copied to"},
                     {"nearest", "those nearest to the node"},
                     {"any", "all, whatever their node"}}}},
       .notes = {"one row per source, one column per target; " + counted}},
      {.title = "Copies in GB/s (kernels: {isa}; size: read by a worker, and as much written)",
       .instead = true,
       .cells = {label_column("from", "from"), label_column("to", "to"),
                 label_column("nodes seen", "copied_between"),
                 label_column("CPUs of node", "cpu_nodes"), label_column("chosen", "side"),
                 label_column("stores", "stores"), label_column("size", "size"),
                 label_column("pages", "pages"), label_column("workers", "workers"),
                 figure_column("copied", "copy_rate", in_gb_per_s),
                 figure_column(plus_minus(), "copy_rate", in_gb_per_s, Part::half_width),
                 figure_column("best", "copy_rate", in_gb_per_s, Part::best),
                 figure_column("moved", "traffic_sum", in_gb_per_s),
                 figure_column("worker median", "bandwidth", once * in_gb_per_s)},
       .notes = {"copied: all workers over their common time; " + counted,
                 "moved: read and written, including write-allocate reads of regular stores; -: in "
                 "a cache"}}};
}

}  // namespace

Benchmark make() {
  const Bound<Options> with;
  return {
      .name = "copy",
      .help = {.summary = "copy bandwidth between NUMA nodes",
               .listing = {Topic::memory, true},
               .description =
                   "Each worker copies from its own buffer in one place to one of the same size in "
                   "another. Without --from and --to, every pair of nodes with memory is measured, "
                   "including nodes without CPUs. Each byte copied counts once; STREAM counts it "
                   "twice, as read and as written.",
               .examples =
                   {{"Copies between all pairs of nodes",
                     "numatlas copy --stores regular,non-temporal"},
                    {"From node 2 to two others, by one to eight threads near the target",
                     "numatlas copy --from bind:2 --to interleave:0,1 --side to --threads 1-8"}}},
      .options = {.refused = {{"--memory", "a copy requires a source and a target",
                               "name --from and --to"}},
                  .usual_threads = "OMP_NUM_THREADS, or one per CPU; one under a launcher"},
      .is_of_memory = true,
      .varies = {.size = "memory that each worker copies", .stores = true},
      .sweeps = {{.point = with(point),
                  .name = "{from} -> {to}[ {nt}] {size} {pages}[ {threads}]",
                  .axes = {{.labels = {"from", "to"}, .values = with(pairs)}},
                  .threads = {.label = true}}},
      .add_options = with(add_options),
      .workers = worker_on_every_cpu,
      .figures = {.scaled = {{"copy_rate", "bandwidth_sum", once}}},
      .shown = {.tables = tables(),
                .fact_rules =
                    {{.figure = "copy_rate",
                      .heading = "Copies",
                      .where = {"from", "to", "cpu_nodes"},
                      .words = "copies from {from|place} to {to|place}, by {workers} CPUs of node "
                               "{cpu_nodes}, bytes counted once",
                      .line = "{} ({from|place} to {to|place})",
                      .extremes = true}}},
      .survey = survey,
  };
}

}  // namespace numatlas::benchmark_copy
