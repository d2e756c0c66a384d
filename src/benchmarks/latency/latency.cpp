// Idle latency: a measured pointer chase a worker, all together or (--serial) one after the other.
#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <optional>
#include <ranges>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include "base/add_once.h"
#include "base/text.h"
#include "base/units.h"
#include "benchmarks/common.h"
#include "benchmarks/latency/facts.h"
#include "benchmarks/on_gpus.h"
#include "benchmarks/tail.h"
#include "machine/cache_share.h"
#include "record/labels.h"
#include "run/declare.h"
#include "run/flows.h"
#include "run/levels.h"

namespace numatlas::benchmark_latency {
namespace {

constexpr const char* ladder_words =
    "some in each cache, and one past all caches\n"
    "That one is 4 times the last-level cache, twice a memory-side cache, at least 256 MiB; 1 GiB "
    "where the system may not list all caches. It is the only one with several workers, numbers of "
    "--threads, --chains and --tail";

struct Options {
  TailOption tail;
  ChainOrder order = ChainOrder::random;
  std::vector<Bytes> strides;  ///< of --stride; empty: the machine's cache line
  std::vector<int> chains;     ///< of --chains; empty: one, and nothing is said of it
  std::vector<GpuLoads> loads{GpuLoads::cached};
  bool sized = false;  ///< --size was given

  /// Whether one worker measures its caches as well.
  bool has_ladder() const { return !sized && chains.empty() && !tail.asked(); }
};

Expected<std::vector<Bytes>> parse_strides(const std::string& text) {
  std::vector<Bytes> strides;
  for (const std::string& word : words_of(text)) add_once(strides, TRY(parse_bytes(word)));
  return strides;
}

void add_options(Options& own, CLI::App& app) {
  add_order_option(app, own.order);
  own.tail.add_to(app);
  rare(add_parsed(
           app, "--stride", own.strides, "", "BYTES,...",
           "distance of the chain's nodes (default: a cache line)\n"
           "Several, such as 64,256, are measured in turn. At a stride of one cache line, the "
           "prefetch of adjacent lines may hide a part of the latency; a wider one shows it",
           parse_strides))
      ->group("Measurement");
  rare(add_parsed(
           app, "--chains", own.chains, "", "N",
           fmt::format(
               "chains that each worker follows at the same time: a number, or several such as "
               "1-32 or 1,2,4,8 (1 to {})\n"
               "They walk one cycle, far apart, and do not wait for each other",
               most_chains),
           [](const std::string& text) {
             return parse_counts(text, static_cast<int>(most_chains), "--chains");
           }))
      ->group("Measurement");
  rare(add_choices(app, "--gpu-loads", own.loads, named(all_gpu_loads),
                   "which caches of a GPU may answer its loads (--on gpu:0)\n"
                   "cached: all of them; l2: the one that its multiprocessors share, but not their "
                   "own"))
      ->group("Measurement");
}

Expected<void> parse(Options& own, Benchmark& benchmark) {
  own.sized = !benchmark.given->sizes.empty();
  if (own.tail.asked() && !own.chains.empty())
    return fail_usage("--tail", "does not go with --chains", "leave one of them out");
  if (own.strides.size() > 1 && (own.tail.asked() || !own.chains.empty()))
    return fail_usage(
        "--stride",
        fmt::format("one goes with {}, not several", own.tail.asked() ? "--tail" : "--chains"),
        "leave out all but one");
  benchmark.is_of_memory = !own.sized && !own.has_ladder();
  return {};
}

Expected<Workers> workers(const RunOptions& options, const Machine& machine,
                          const TaskContext& task) {
  const bool of_one = options.placement.cpus.is_default;
  return of_one ? one_worker(options, machine, task) : usual_workers(options, machine, task);
}

/// Of a stride that is not given, the machine's cache line.
using Stride = std::optional<Bytes>;

Expected<std::vector<AxisValue>> strides(const Options& own, const PlanInput&) {
  std::vector<AxisValue> strides;
  for (const Bytes stride : own.strides)
    strides.push_back({{compact_text(stride)}, Stride(stride)});
  if (strides.empty()) strides.push_back({{""}, Stride()});
  if (strides.size() == 1) strides.front().labels.front().clear();
  return strides;
}

Expected<std::vector<AxisValue>> chains(const Options& own, const PlanInput&) {
  std::vector<AxisValue> chains;
  for (const int count : own.chains)
    chains.push_back(
        {{std::to_string(count)}, count, true, {{"so_many", count_text(count, "chain")}}});
  if (chains.empty()) chains.push_back({{""}, 1});
  return chains;
}

Expected<Point> point(const Options& own, const PlanInput& input, const AxisSetting& now) {
  Point point;
  for (const int worker : workers_within(input.layout, now.threads)) {
    Flow& flow = point.flows.emplace_back(
        chase_flow(input, worker, now.size, now.pages, {own.order, now.of<Stride>()}));
    flow.kernel.as<ChaseParameters>().chains = static_cast<unsigned>(now.of<int>(1));
    own.tail.set(flow);
  }
  return point;
}

/// Sizes that each cache of a CPU holds, at least two where they show whether its latency is the
/// same, each four times the one before, up to half of the cache; and `last`. A guest or a
/// partition may get only a small part of the last cache: that one also has the least size that it
/// must hold.
std::vector<Bytes> level_sizes(const Machine& machine, CpuId cpu, Bytes last) {
  constexpr std::uint64_t least = 4 * kib;
  constexpr double apart = 1.5;
  std::vector<std::uint64_t> caches;
  for (int level = 1; level <= 4; ++level) {
    const Cache* const cache = machine.cache_of(cpu, level);
    if (cache != nullptr && cache->size.value > 0)
      caches.push_back(own_cache_share(machine, *cache, cpu).value);
  }
  std::set<Bytes> sizes;
  for (std::size_t i = 0; i < caches.size(); ++i) {
    const std::uint64_t cache = caches[i], before = i > 0 ? 2 * caches[i - 1] : least;
    if (cache / 2 < before) continue;  // it holds little that the one before does not
    const bool is_last = i + 1 == caches.size();
    std::set<std::uint64_t> its{cache / 2};
    while (its.size() < (is_last ? 3 : 2) && *its.begin() / 4 >= before)
      its.insert(*its.begin() / 4);
    const bool is_far = static_cast<double>(*its.begin()) >= apart * static_cast<double>(before);
    if (i > 0 && is_far && (is_last || its.size() == 1)) its.insert(before);
    if (its.size() == 1) its.insert(cache / 4 * 3);
    for (const std::uint64_t size : its) {
      const std::uint64_t step = std::max(least, std::bit_floor(size / 16));  // 8 MiB, not 8320 KiB
      sizes.insert(Bytes{size / step * step});
    }
  }
  std::vector<Bytes> all(sizes.begin(), sizes.lower_bound(last));
  all.push_back(last);
  return all;
}

/// Of the one worker that measures its caches as well.
std::vector<Bytes> smaller_sizes(const Options& own, const PlanInput& input, Bytes largest) {
  const std::vector<Worker>& workers = input.layout.workers;
  const bool alone = workers.size() == 1 && !workers.front().placement.cpus.empty();
  if (!own.has_ladder() || !alone || !input.options.thread_counts.empty()) return {};
  std::vector<Bytes> sizes =
      level_sizes(machine_of(input, 0), workers.front().placement.cpus.front(), largest);
  sizes.pop_back();
  std::erase_if(sizes, [&](Bytes size) {  // too few nodes at a wide --stride
    return std::ranges::any_of(own.strides, [&](Bytes stride) {
      return !check_size({ChaseParameters{ChainSpec{own.order, stride}}}, size);
    });
  });
  return sizes;
}

Expected<void> check(const Options& own, const PlanInput& input) {
  if (!own.chains.empty()) TRY(check_one_number_of_threads(input.options, "latency --chains"));
  if (own.strides.size() < 2) return {};
  return check_one_number_of_threads(input.options, "latency with several --stride");
}

/// The powers of two from 16 KiB up, and `last`.
std::string ladder(Bytes last) {
  std::string sizes;
  // One that is nearly the last would say nothing else.
  for (Bytes size{16 * kib}; size.value < last.value / 4 * 3; size.value *= 2)
    sizes += compact_text(size) + ",";
  return sizes + compact_text(last);
}

/// One worker a node that has CPUs, one after the other: every level of the memory as one CPU of
/// each node sees it when nothing else runs.
SurveyPart survey(const Machine& machine) {
  const FirstCpus firsts = first_cpu_of_each_node(machine);
  return {3,
          {"--size", ladder(firsts.past_caches), "--serial", "--stats", "--pages",
           base_and_best_pages(machine), "--cpus", firsts.list},
          {{"sizes", {"size"}, 5},
           {"CPUs", {"worker"}, 1},
           {"kinds of pages", {"pages"}, 1, Keep::last},
           {"sizes", {"size"}, 3}}};
}

SurveyPart survey_on_gpus(const Machine& machine) {
  return on_gpus::survey_part(
      machine, {3, {"--on", "gpus"}, {{"sizes", {"size"}, 3}, {"GPUs", {"gpus"}, 1}}});
}

std::vector<Figure> flow_figures(const Options& own, const FlowResult& flow, const Case& visit) {
  if (own.tail.asked()) return own.tail.figures(flow);
  const std::string chains = label_of(visit, "chains");
  const Figure* const latency = find_figure(flow, "latency");
  if (chains.empty() || latency == nullptr || !(latency->value() > 0.0)) return {};
  // A stride below a line finds the rest of the line there.
  const Bytes line = own.strides.empty() ? flow.stride : std::min(flow.stride, usual_line);
  const double bytes = std::atof(chains.c_str()) * static_cast<double>(line.value);
  return {{"chains_bandwidth", "B/s", divided_into(bytes, *latency->estimate), std::nullopt}};
}

void conclude(const Options& own, RunReport& report) { own.tail.conclude(report); }

Table curve_of_chains(const RunReport& report) {
  Table table{
      .title = "Independent chains from one CPU ({size} {order}, {pages} pages)",
      .kind = ViewKind::curve,
      .apart = {"pages", "size"},
      .rows = "chains",
      .cells = {label_column("chains", "chains"), label_column("fits", "level"),
                figure_column("latency ns", "latency", in_ns, Part::with_interval),
                figure_column("GB/s", "chains_bandwidth", in_gb_per_s),
                figure_column("in flight", "loads_in_flight", 1, Part::value, 1)},
      .notes = {"latency: of a load while all chains have one in flight; bandwidth: the lines that "
                "they load",
                "in flight: loads per second times the latency of one chain (Little's law)"}};
  if (report.workers.size() > 1 && !report.serial)
    table.notes.push_back("medians of the workers, which run at the same time");
  return table;
}

/// By size, or by the number of workers that chase at the same time.
Table curve_of_latency(const RunReport& report, const std::string& rows,
                       const std::vector<std::string>& apart, const std::string& of) {
  const bool several = report.workers.size() > 1 || rows == "threads";
  Table table{
      .title = "Pointer-chase latency in ns" + of,
      .kind = ViewKind::curve,
      .level = ViewLevel::groups,
      .apart = apart,
      .rows = rows,
      .columns = "nodes",
      .cells = {label_column(rows, rows), label_column("fits", "level"),
                figure_column("", "latency", in_ns, Part::spread)},
      .notes = {fmt::format("one row per {}, one column per pair of nodes: those of the CPUs -> "
                            "those of the memory",
                            rows == "threads" ? "number of workers that run together" : rows),
                several ? "median of the pair's workers (lowest-highest)"
                        : "p95: 95th percentile of blocks of loads"}};
  if (!several) table.cells.push_back(figure_column("", "latency", in_ns, Part::p95, 2, " p95"));
  return table;
}

Table table_of_workers(const RunReport& report, const std::vector<std::string>& apart,
                       const std::string& of) {
  Table table{.title = "Latency of each worker in ns" + of,
              .level = ViewLevel::flows,
              .apart = apart,
              .columns = "size",
              .cells = {label_column("worker", "worker")},
              .notes = {"one row per worker, one column per size"}};
  if (report.hosts.size() > 1) table.cells.push_back(label_column("host", "host"));
  if (report.ranks > 1) table.cells.push_back(label_column("rank", "rank"));
  for (const auto& [head, label] :
       {std::pair("CPU", "cpu"), std::pair("node", "cpu_node"), std::pair("memory", "memory")})
    table.cells.push_back(label_column(head, label));
  table.cells.push_back(figure_column("", "latency", in_ns));
  return table;
}

Table curve_of_tlb_costs(const RunReport& report, bool strides) {
  return {.title = fmt::format(
              "Cost of TLB misses in ns: latency with {} pages minus that with others{}",
              report.cases.front().pages, strides ? ", stride {stride}" : ""),
          .kind = ViewKind::curve,
          .apart = strides ? std::vector<std::string>{"stride"} : std::vector<std::string>{},
          .if_several = {"pages"},
          .rows = "size",
          .columns = "pages",
          .cells = {label_column("size", "size"),
                    figure_column("", "tlb_cost", in_ns, Part::with_interval)},
          .notes = {"one row per size, one column per kind of pages; medians of all workers"}};
}

std::vector<View> views(const Options& own, const RunReport& report) {
  if (!own.chains.empty()) return views_of({curve_of_chains(report)}, report);
  const bool threads = std::ranges::any_of(
      report.cases, [](const Case& one) { return find_label(one, "threads") != nullptr; });
  const bool strides = own.strides.size() > 1;
  std::vector<std::string> apart{"pages"};
  if (threads || strides) apart.emplace_back(threads ? "size" : "stride");
  const std::string of = threads   ? " by number of threads ({size}, {pages} pages)"
                         : strides ? " ({pages} pages, stride {stride})"
                                   : " ({pages} pages)";
  std::vector<Table> tables{curve_of_latency(report, threads ? "threads" : "size", apart, of)};
  if (!threads && report.workers.size() > 1) tables.push_back(table_of_workers(report, apart, of));
  std::vector<std::string> labels{"size", "nodes"};
  if (threads) labels.insert(labels.begin() + 1, "threads");
  for (Table& table : own.tail.tables(labels)) tables.push_back(std::move(table));
  if (!threads && !report.cases.empty()) tables.push_back(curve_of_tlb_costs(report, strides));
  return views_of(tables, report);
}

std::vector<Fact> facts(const Options& own, const RunReport& report) {
  std::vector<Fact> facts;
  // Of the largest size, with the largest pages.
  if (own.tail.asked() && !report.cases.empty())
    facts = tail_facts(
        *std::max_element(report.cases.rbegin(), report.cases.rend(),
                          [](const Case& one, const Case& other) { return one.size < other.size; }),
        "Idle latency");
  std::ranges::move(latency_facts(report), std::back_inserter(facts));
  return facts;
}

/// That the largest of the usual sizes had to be one that a cache holds.
std::vector<Warning> warnings(const Options& own, const RunReport& report) {
  if (!own.has_ladder() || report.cases.empty()) return {};
  RunReport largest;
  largest.cases = {*std::ranges::max_element(report.cases, {}, &Case::size)};
  return cache_warnings(largest);
}

}  // namespace

Benchmark make() {
  const Bound<Options> with;
  return {
      .name = "latency",
      .help = {.summary = "pointer-chase latency by working-set size",
               .description = "Each worker chases pointers in a random cycle through all lines of "
                              "its own buffer, one dependent load per step. All workers run "
                              "concurrently unless --serial is given. Sizes that fit in a cache "
                              "show its latency; larger sizes show memory and, with base pages, "
                              "TLB misses.",
               .examples = {{"Latency of each cache and of memory", "numatlas latency"},
                            {"How many misses one CPU keeps open at once",
                             "numatlas latency --chains 1-32"}}},
      .options = {.usual_cpus = "one CPU",
                  .usual_threads = "OMP_NUM_THREADS, or one",
                  .shown = {"--strict"}},
      .is_of_memory = true,
      .varies = {.size = "memory of each worker", .usual_size = ladder_words},
      .sweeps = {{.point = with(point),
                  .name = "{size} {pages}[ {so_many}][ {threads}][ stride {stride}]",
                  .axes = {{.labels = {"stride"}, .values = with(strides)},
                           {.labels = {"chains"}, .values = with(chains)}},
                  .threads = {.label = true},
                  .size = {.form = SizeRule::Form::by_worker,
                           .least = least_chase,
                           .alone = true,
                           .smaller = with(smaller_sizes)}}},
      .by_gpus =
          ByGpus{.change = with([](const Options& own, Benchmark& its) {
                   on_gpus::use(its, {on_gpus::latency(own.loads)});
                 }),
                 .cpu_options = {"--stride", "--chains", "--tail", "--tail-group", "--order"},
                 .gpu_options = {"--gpu-loads"},
                 .survey = survey_on_gpus},
      .add_options = with(add_options),
      .parse_options = with(parse),
      .workers = workers,
      .check = with(check),
      .figures = {.against = {loads_in_flight,
                              // What the misses of the TLB cost with the first kind of pages.
                              {.key = "tlb_cost",
                               .figure = "latency",
                               .label = "pages",
                               .alike = {"size", "stride", "threads", "chains"},
                               .as = Against::As::less}},
                  .of_flow = with(flow_figures),
                  .conclude = with(conclude)},
      .shown = {.warnings = with(warnings), .views = with(views), .facts = with(facts)},
      .survey = survey,
  };
}

}  // namespace numatlas::benchmark_latency
