// Migration: how fast the kernel moves pages from one node to another, and what a reader of these
// pages loses meanwhile.
#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/units.h"
#include "benchmarks/common.h"
#include "record/labels.h"
#include "run/benchmark.h"
#include "run/declare.h"
#include "run/flows.h"
#include "run/levels.h"
#include "run/room.h"

namespace numatlas::benchmark_migrate {
namespace {

constexpr Bytes usual_moved_size{64 * mib};

struct Options {
  std::vector<std::string> beside{"none", "chase"};
  std::string from = "all", to = "all";
};

struct Pair {
  NodeId from, to;
  std::vector<int> movers;  ///< workers, the nearest first
};

/// One on every CPU: each pair of nodes takes those of its nodes.
Expected<Workers> workers(const RunOptions& options, const Machine& machine,
                          const TaskContext& task) {
  RunOptions every = options;
  every.placement.threads.reset();
  every.placement.memory.reset();
  return worker_on_every_cpu(every, machine, task);
}

void add_options(Options& own, CLI::App& app) {
  add_value(app, "--from", own.from, "all|NODES", "source nodes; memories of GPUs only if named");
  add_value(app, "--to", own.to, "all|NODES", "destination nodes; memories of GPUs only if named");
  add_choices(
      app, "--beside", own.beside, named({"none", "chase", "read"}),
      "access by another thread while one thread moves the pages: none, a pointer chase, or reads "
      "of all lines");
}

Expected<void> parse(Options& own, Benchmark&) {
  TRY(check_nodes("--from", own.from, ""));
  return check_nodes("--to", own.to, "");
}

/// The most threads that are to move pages.
int most_threads(const PlanInput& input) {
  int threads = input.options.placement.threads.value_or(1);
  for (int count : input.options.thread_counts) threads = std::max(threads, count);
  return threads;
}

/// "there are 4 CPUs to move pages"
std::string movers_text(std::size_t cpus) {
  return cpus == 1 ? "there is 1 CPU to move pages"
                   : fmt::format("there are {} CPUs to move pages", cpus);
}

Expected<void> check(const Options& own, const PlanInput& input) {
  const std::size_t cpus = input.layout.workers.size();
  if (input.options.thread_counts.empty() && static_cast<std::size_t>(most_threads(input)) > cpus)
    return fail_usage("--threads", movers_text(cpus), "ask for fewer, or name more --cpus");
  const bool all = own.from == "all" && own.to == "all";
  if ((all ? ordinary_memory_nodes(input) : memory_nodes(input)).size() >= 2) return {};
  return fail_about(ErrorKind::unavailable, "migrate", only_one_node(input.machines.front()),
                    "it requires a machine with several NUMA nodes (sockets, tiers, or sub-NUMA "
                    "clusters in the firmware's settings)");
}

/// So many workers, on CPUs of the first of these nodes that has some, then of the next; then the
/// others.
std::vector<int> workers_near(const PlanInput& input, const std::vector<NodeId>& nodes,
                              std::size_t most) {
  std::vector<int> workers;
  for (NodeId node : nodes) {
    for (int worker : workers_on(input.layout, {node})) workers.push_back(worker);
  }
  NodeSet taken;
  for (NodeId node : nodes) taken.insert(node);
  for (int worker : all_workers(input.layout)) {
    if (workers.size() >= most) break;
    if (!taken.contains(worker_of(input, worker).placement.cpu_node)) workers.push_back(worker);
  }
  workers.resize(std::min(workers.size(), most));
  return workers;
}

Expected<std::vector<AxisValue>> pairs(const Options& own, const PlanInput& input) {
  std::vector<AxisValue> pairs;
  // One reads beside one that moves.
  const auto most = static_cast<std::size_t>(std::max(2, most_threads(input)));
  const auto froms = TRY(chosen_nodes(input, "--from", own.from));
  const auto tos = TRY(chosen_nodes(input, "--to", own.to));
  for (NodeId from : froms) {
    for (NodeId to : tos) {
      if (from == to) continue;
      pairs.push_back({{std::to_string(from.value), std::to_string(to.value)},
                       Pair{from, to, workers_near(input, {from, to}, most)},
                       false});
    }
  }
  if (!pairs.empty() || own.from == "all" || own.to == "all") return pairs;
  return fail_usage("--to", "names the same node as --from, and no other", "name another one");
}

Expected<std::vector<AxisValue>> moves(const Options& own, const PlanInput&) {
  if (std::ranges::count(own.beside, "none") == 0) return std::vector<AxisValue>{};
  return std::vector<AxisValue>{{{"move"}, {}}};
}

Expected<std::vector<AxisValue>> readers(const Options& own, const PlanInput& input) {
  std::vector<std::string> readers = own.beside;
  std::erase(readers, "none");
  return fixed_axis("reader", named(readers)).values(input);
}

/// From memory, not from a cache; but not for so long as memory-side caches would ask for. Alike
/// for all numbers of threads.
Bytes usual_size_of(const PlanInput& input, const AxisSetting& now) {
  const auto& pair = now.of<Pair>();
  std::vector<int> movers = pair.movers;
  movers.resize(std::min(movers.size(), static_cast<std::size_t>(most_threads(input))));
  const Bytes caches = last_level_caches(input.machines.front(), cpus_of(input, movers, 0));
  Bytes size = std::max(usual_moved_size, Bytes{4 * caches.value});
  for (NodeId node : {pair.from, pair.to})
    size = size_with_room(input, size, flows_on_node(movers, node, now.pages));
  return size;
}

/// A point of this pair, without flows.
Point empty_point(const PlanInput& input, const AxisSetting& now) {
  const Machine& machine = input.machines.front();
  const auto& pair = now.of<Pair>();
  const PageWork work{page_bytes(machine, now.pages)};
  Point point{.labels = {{"page", compact_text(work.page)}}, .size = whole_steps(now.size, work)};
  point.skip = nodes_skip(machine, {pair.to, pair.from}, "choose with --from and --to");
  return point;
}

Flow moving_flow(const PlanInput& input, const AxisSetting& now, Bytes size, int worker) {
  const auto& pair = now.of<Pair>();
  const PageWork work{page_bytes(input.machines.front(), now.pages)};
  const MigrateParameters moves{work, pair.from.value, pair.to.value};
  Flow flow = plain_flow(input, {moves}, worker, size, now.pages);
  flow.region.placement = bound_to(pair.from);
  return flow;
}

Expected<Point> moving_point(const PlanInput& input, const AxisSetting& now) {
  Point point = empty_point(input, now);
  const auto threads = static_cast<std::size_t>(now.threads);
  std::vector<int> movers = now.of<Pair>().movers;
  if (movers.size() < threads)
    point.skip = Error{ErrorKind::unavailable,
                       fmt::format("{} are asked for, and {}", threads, movers_text(movers.size())),
                       "ask for fewer --threads, or name more --cpus"};
  movers.resize(std::min(movers.size(), threads));
  for (int worker : movers) point.flows.push_back(moving_flow(input, now, *point.size, worker));
  return point;
}

/// The reader's pages at rest on one of the nodes, or on their way.
Expected<Point> reading_point(const PlanInput& input, const AxisSetting& now) {
  Point point = empty_point(input, now);
  point.labels.emplace_back("threads", "1");
  const auto& pair = now.of<Pair>();
  const auto& run = now.of<std::string>(2);
  const Flow reads =
      access_flow(input, now.of<std::string>(1), pair.movers.front(), *point.size, now.pages);
  point.flows = {reads};
  point.flows[0].region.placement = bound_to(run == "rest after" ? pair.to : pair.from);
  if (run != "beside") return point;
  if (pair.movers.size() < 2) {
    point.skip = Error{ErrorKind::unavailable, "a concurrent reader requires a second CPU",
                       "name more --cpus"};
    return point;
  }
  point.flows.push_back(moving_flow(input, now, *point.size, pair.movers[1]));
  point.flows.back().shares = 0;
  return point;
}

std::vector<Figure> flow_figures(const FlowResult& flow, const Case& visit) {
  const auto pages = mean_rate(flow, "move_time");
  const auto page = parse_bytes(label_of(visit, "page"));
  if (!pages || !page) return {};
  // What stayed behind was not moved.
  const Figure* const left = find_figure(flow.figures, "left_behind");
  const double arrived = left != nullptr ? 1 - left->value().value_or(0) : 1;
  const double rate = arrived * static_cast<double>(page->value) * pages->value;
  return {{"move_rate", "B/s", as_sure_as(rate, *pages), std::nullopt}};
}

std::vector<Figure> totals(const Case& visit, const RunReport&) {
  std::optional<Estimate> sum;
  for (const FlowResult& flow : visit.flows) {
    const Figure* const rate = find_figure(flow.figures, "move_rate");
    if (rate == nullptr || !rate->estimate) continue;
    sum = sum ? sum_of(*sum, *rate->estimate) : *rate->estimate;
  }
  if (!sum) return {};
  return {{"move_rate_sum", "B/s", *sum, std::nullopt}};
}

SurveyPart survey(const Machine& machine) {
  if (machine.ordinary_memory_nodes().size() < 2) return {.reason = only_one_node(machine)};
  return {1,
          {"--pages", base_and_best_pages(machine)},
          {{"pairs of nodes", {"from", "to"}, 2}, {"kinds of pages", {"page"}, 1, Keep::first}}};
}

/// What the reader of a case takes for its work, of any kind: seconds a load, or a byte.
std::optional<Estimate> reader_cost(const Case& one) {
  for (const FlowResult& flow : one.flows) {
    if (const Figure* latency = find_figure(flow.figures, "latency")) return latency->estimate;
    const Figure* const rate = find_figure(flow.figures, "bandwidth");
    if (rate != nullptr && rate->value().value_or(0) > 0) return divided_into(1, *rate->estimate);
  }
  return std::nullopt;
}

/// Adds "reader_times" to the cases where a reader's pages are moved: how many times as long (or as
/// many bytes less) it takes than with the pages at rest, halfway between both nodes.
void conclude(RunReport& report) {
  for (Case& one : report.cases) {
    if (label_of(one, "run") != "beside") continue;
    const Case* const before = find_alike(report, one, "run", "rest before");
    const Case* const after = find_alike(report, one, "run", "rest after");
    const auto cost = reader_cost(one);
    if (before == nullptr || after == nullptr || !cost) continue;
    const auto first = reader_cost(*before), last = reader_cost(*after);
    if (!first || !last) continue;
    // On average half of the pages have gone.
    const Estimate times = ratio_of(*cost, between(*first, *last, 0.5));
    one.figures.push_back({"reader_times", "cost", times, std::nullopt});
  }
}

std::vector<Table> tables() {
  return {
      {.title = "Migration in GB/s ({pages} pages, {threads|thread})",
       .kind = ViewKind::matrix,
       .apart = {"run", "pages", "threads"},
       .only = {"run=move"},
       .rows = "from",
       .columns = "to",
       .cells = {figure_column("", "move_rate_sum", in_gb_per_s)},
       .notes = {"rows: source nodes; columns: destination nodes"}},
      {.title = "Migration and a concurrent reader",
       .cells = {label_column("run", "run"), label_column("pages", "pages"),
                 label_column("from", "from"), label_column("to", "to"),
                 label_column("threads", "threads"), label_column("reader", "reader"),
                 figure_column("us/page", "move_time", in_us, Part::value, 3),
                 figure_column("GB/s", "move_rate_sum", in_gb_per_s, Part::with_interval),
                 figure_column("left", "left_behind", in_percent, Part::value, 1, " %"),
                 figure_column("chase ns", "latency", in_ns, Part::with_interval),
                 figure_column("read GB/s", "bandwidth", in_gb_per_s, Part::with_interval),
                 figure_column("times", "reader_times", 1)},
       .notes = {"run: move, no reader; rest before and after, the reader alone with the pages on "
                 "the first and on the second node; beside, both at the same time",
                 "left: share of the pages that did not arrive; times: the reader's time relative "
                 "to its time with the pages at rest, midway between both nodes"}}};
}

std::vector<Fact> facts(const RunReport& report) {
  const auto rate = [](const Case& one) {
    return label_of(one, "run") == "move" ? value_of(estimate_of(one, "move_rate_sum"))
                                          : std::nullopt;
  };
  const auto times = [](const Case& one) { return value_of(estimate_of(one, "reader_times")); };
  const auto* const slowest = lowest_of(report.cases, rate);
  const auto* const worst = highest_of(report.cases, times);
  std::vector<Fact> facts;
  const auto add = [&](const char* key, const Case& one, Unit unit, const char* figure,
                       const std::string& what, const std::string& line) {
    facts.push_back(
        {key,
         {{"from", label_of(one, "from")}, {"to", label_of(one, "to")}, {"pages", one.pages}},
         fmt::format("{} from node {} to node {} ({} pages)", what, label_of(one, "from"),
                     label_of(one, "to"), one.pages),
         unit,
         *estimate_of(one, figure),
         "Migration",
         fmt::format("{} (node {} to {}, {} pages)", line, label_of(one, "from"),
                     label_of(one, "to"), one.pages)});
  };
  if (slowest != nullptr)
    add("migration_rate", *slowest, "B/s", "move_rate_sum", "moving pages", "slowest {}");
  if (worst != nullptr) {
    add("migration_reader_times", *worst, "1", "reader_times",
        "a reader of pages that are moved, against the same at rest,",
        "a concurrent reader's time {}");
  }
  return facts;
}

}  // namespace

Benchmark make() {
  const Bound<Options> with;
  const Axis pair_axis{.labels = {"from", "to"}, .values = with(pairs)};
  return {
      .name = "migrate",
      .help =
          {.summary = "page migration rate between nodes, and the slowdown of a concurrent reader",
           .listing = {Topic::pages, true},
           .description =
               "Threads move their own pages from one NUMA node to another, 2 MiB, or one page if "
               "larger, at a time, and back; moving back is not part of the figures. Then a reader "
               "on the source node chases pointers through the pages, or reads them, while one "
               "thread moves them, and before and after the move. The command verifies on which "
               "node the pages arrived.",
           .examples = {{"Between all nodes, base and transparent huge pages",
                         "numatlas migrate --pages base,thp"},
                        {"From node 0 to node 2 by one thread and by four, without a reader",
                         "numatlas migrate --from 0 --to 2 --threads 1,4 --beside none"}}},
      .options = {.refused = {{"--memory", "migrate places the memory itself, node by node",
                               "name nodes with --from and --to"}},
                  .usual_threads = "one",
                  .usual_pages = "base",
                  .time = {"10s", true}},
      .runs_together = true,
      .varies = {.size = "memory of each thread",
                 .usual_size = "64 MiB, or past the caches if that is more\n"
                               "That is four times the last-level caches, at least one page",
                 .one_size = true},
      .sweeps = {{.point = moving_point,
                  .name = "{run} {pages} {from} -> {to}[ {threads}]",
                  .axes = {pair_axis, {.labels = {"run"}, .values = with(moves)}},
                  .threads = {.label = true,
                              .unnamed = ThreadsAxis::Unnamed::one,
                              .usual =
                                  [](const PlanInput& input) {
                                    return std::vector{input.options.placement.threads.value_or(1)};
                                  }},
                  .size = {.usual = usual_size_of}},
                 {.point = reading_point,
                  .name = "{run} {pages} {from} -> {to} {reader}",
                  .axes = {pair_axis,
                           {.labels = {"reader"}, .values = with(readers)},
                           fixed_axis("run", named({"rest before", "rest after", "beside"}))},
                  .threads = {.compared = false},
                  .size = {.usual = usual_size_of}}},
      .add_options = with(add_options),
      .parse_options = with(parse),
      .workers = workers,
      .check = with(check),
      .figures = {.of_flow = flow_figures, .totals = totals, .conclude = conclude},
      .shown = {.expected_warnings = {"pages-moved", "placement", "page-size"},
                .tables = tables(),
                .facts = facts},
      .survey = survey,
  };
}

}  // namespace numatlas::benchmark_migrate
