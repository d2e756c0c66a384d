// Idle latency: a measured pointer chase a worker, all together or (--serial) one after the other.
#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
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
#include "benchmarks/latency/facts.h"
#include "benchmarks/memory_of_gpus.h"
#include "benchmarks/on_gpus.h"
#include "benchmarks/survey_words.h"
#include "benchmarks/tail.h"
#include "machine/cache_share.h"
#include "record/cache_level.h"
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
  on_gpus::OnOption on = {};
  std::string strides_text, chains_text;
  TailOption tail;
  ChainOrder order = ChainOrder::random;
  std::vector<Bytes> strides;  ///< of --stride; empty: the machine's cache line
  std::vector<int> chains;     ///< of --chains; empty: one, and nothing is said of it
  std::vector<GpuLoads> loads{GpuLoads::cached};
  bool sized = false;  ///< --size was given

  /// Whether one worker measures its caches as well.
  bool has_ladder() const { return !sized && chains.empty() && !tail.asked(); }
};

void add_options(Options& own, CLI::App& app) {
  own.on.add_to(app);
  add_order_option(app, own.order);
  own.tail.add_to(app);
  rare(add_value(app, "--stride", own.strides_text, "BYTES,...",
                 "distance of the chain's nodes (default: a cache line)\n"
                 "Of several, such as 64,256, each is measured: at a cache line, the prefetch of "
                 "adjacent lines may hide a part of the latency, which a wider stride shows"))
      ->group("Measurement");
  rare(add_value(
           app, "--chains", own.chains_text, "N",
           fmt::format(
               "chains that each worker follows at the same time: a number, or several such as "
               "1-32 or 1,2,4,8 (1 to {})\n"
               "They are independent, and far apart on one cycle",
               most_chains)))
      ->group("Measurement");
  rare(add_choices(app, "--gpu-loads", own.loads, named(all_gpu_loads),
                   "which caches of a GPU may answer its loads (--on gpu:0)\n"
                   "cached: all of them; l2: those that its multiprocessors share, past the one "
                   "that each has"))
      ->group("Measurement");
}

/// Of the chase of a GPU the size is what there is to choose.
Expected<void> run_on_gpus(const Options& own, Benchmark& benchmark) {
  TRY(own.on.refuse("chases by CPUs", {{"--stride", !own.strides_text.empty()},
                                       {"--chains", !own.chains_text.empty()},
                                       {"--tail", own.tail.asked()},
                                       {"--order", own.order != ChainOrder::random}}));
  memory_of_gpus::take_over(benchmark, own.on,
                            {.latency = true, .sizes = benchmark.given->sizes, .loads = own.loads});
  return {};
}

Expected<void> parse(Options& own, Benchmark& benchmark) {
  own.sized = !benchmark.given->sizes.empty();
  TRY(own.on.parse());
  if (own.on.on_gpus()) return run_on_gpus(own, benchmark);
  TRY(own.on.refuse("GPUs", {{"--gpu-loads", own.loads != std::vector{GpuLoads::cached}}}));
  if (own.tail.asked() && !own.chains_text.empty())
    return fail_usage("--tail", "does not go with --chains", "leave one of them out");
  if (!own.strides_text.empty()) {
    for (const std::string& word : words_of(own.strides_text)) {
      const auto stride = parse_bytes(word);
      if (!stride) return fail(about("--stride", stride.error()));
      add_once(own.strides, *stride);
    }
  }
  for (const auto& [option, given] :
       {std::pair("--chains", !own.chains_text.empty()), std::pair("--tail", own.tail.asked())}) {
    if (own.strides.size() > 1 && given)
      return fail_usage("--stride", fmt::format("one goes with {}, not several", option),
                        "leave out all but one");
  }
  if (!own.chains_text.empty()) {
    own.chains = TRY(parse_counts(own.chains_text, static_cast<int>(most_chains), "--chains"));
  }
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
    chains.push_back({{}, count, true, {{"chains", count_text(count, "chain")}}});
  if (chains.empty()) chains.push_back({{}, 1});
  return chains;
}

Expected<Point> point(const Options& own, const PlanInput& input, const AxisSetting& now) {
  Point point;
  const int chains = now.of<int>(1);
  if (!own.chains.empty()) point.labels = {{"chains", std::to_string(chains)}};
  for (const int worker : workers_within(input.layout, now.threads)) {
    Flow& flow = point.flows.emplace_back(
        chase_flow(input, worker, now.size, now.pages, {own.order, now.of<Stride>()}));
    flow.kernel.as<ChaseParameters>().chains = static_cast<unsigned>(chains);
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
          {{"sizes", {"size"}, 5}, {"CPUs", {"worker"}}, {"kinds of pages", {"pages"}, 1, true}}};
}

SurveyPart survey_on_gpus(const Machine& machine) {
  return on_gpus::survey_part(machine,
                              {3, {"--on", "gpus"}, {{"sizes", {"size"}, 3}, {"GPUs", {"gpus"}}}});
}

std::vector<Figure> flow_figures(const Options& own, const FlowResult& flow,
                                 const ScenarioResult& visit) {
  if (own.tail.asked()) return tail_figures(flow.distribution, own.tail.loads());
  // A stride below a line finds the rest of the line there.
  return chains_figures(flow, visit,
                        own.strides.empty() ? flow.stride : std::min(flow.stride, usual_line));
}

/// What the misses of the TLB cost with the first kind of pages: how much less the others take.
void conclude(const Options& own, RunReport& report) {
  if (!own.chains.empty()) return add_loads_in_flight(report);
  if (own.tail.asked()) conclude_tails(report, own.tail.loads());
  for (ScenarioResult& one : report.scenarios) {
    for (const ScenarioResult& base : report.scenarios) {
      if (base.size != one.size || base.stride != one.stride || &base == &one) continue;
      if (base.pages != report.scenarios.front().pages) continue;
      if (label_of(base, "threads") != label_of(one, "threads")) continue;
      const auto usual = estimate_of(base, "latency"), other = estimate_of(one, "latency");
      if (usual && other)
        one.figures.push_back({"tlb_cost", "s", difference_of(*usual, *other), std::nullopt});
    }
  }
}

/// By the number of workers that chase at the same time.
std::vector<View> threads_views(const RunReport& report) {
  std::vector<View> views;
  for (const CaseGroup& group : groups_of(report, {"pages", "size"})) {
    const ScenarioResult& any = *group.cases.front();
    View view;
    view.kind = ViewKind::curve;
    view.level = ViewLevel::groups;
    view.where = group.labels;
    view.title = fmt::format("Pointer-chase latency in ns by number of threads ({}, {} pages)",
                             to_text(any.size), any.pages);
    view.notes = {
        "one row per number of workers that run together, one column per pair of nodes: those of "
        "the CPUs -> those of the memory",
        "median of the pair's workers (lowest-highest)"};
    view.rows = "threads";
    view.columns = "nodes";
    view.cells = {label_column("threads", "threads"), label_column("fits", "level"),
                  figure_column("", "latency", in_ns, Part::spread)};
    views.push_back(std::move(view));
  }
  return views;
}

/// Whether the run compares numbers of threads.
bool compares_threads(const RunReport& report) {
  return std::ranges::any_of(report.scenarios,
                             [](const auto& one) { return !label_of(one, "threads").empty(); });
}

std::vector<View> views(const Options& own, const RunReport& report) {
  if (!own.chains.empty()) return chains_views(report);
  std::vector<View> views;
  if (compares_threads(report)) {
    views = threads_views(report);
    if (own.tail.asked())
      views.push_back(tail_view(own.tail.loads(), {"size", "threads", "nodes"}));
    return views;
  }
  const std::vector<CaseGroup> kinds = groups_of(report, {"pages"});
  const bool several = report.workers.size() > 1;
  const bool strides = own.strides.size() > 1;
  const auto at_stride = [strides](const CaseGroup& group) {
    return strides ? ", stride " + group.labels.back().second : "";
  };
  const auto apart = [strides](std::vector<std::string> labels) {
    if (strides) labels.emplace_back("stride");
    return labels;
  };
  for (const CaseGroup& kind : groups_of(report, apart({"pages"}))) {
    const std::string of_pages =
        fmt::format(" ({} pages{})", kind.labels.front().second, at_stride(kind));
    View view;
    view.kind = ViewKind::curve;
    view.level = ViewLevel::groups;
    view.where = kind.labels;
    view.title = "Pointer-chase latency in ns" + of_pages;
    view.notes = {
        "one row per size, one column per pair of nodes: those of the CPUs -> those of the memory",
        several ? "median of the pair's workers (lowest-highest)"
                : "p95: 95th percentile of blocks of loads"};
    view.rows = "size";
    view.columns = "nodes";
    view.cells = {label_column("size", "size"), label_column("fits", "level"),
                  figure_column("", "latency", in_ns, Part::spread)};
    if (!several) view.cells.push_back(figure_column("", "latency", in_ns, Part::p95, 2, " p95"));
    views.push_back(view);
    if (!several) continue;
    view.kind = ViewKind::table;
    view.level = ViewLevel::flows;
    view.title = "Latency of each worker in ns" + of_pages;
    view.notes = {"one row per worker, one column per size"};
    view.rows = "";
    view.columns = "size";
    view.cells = {label_column("worker", "worker")};
    if (report.hosts.size() > 1) view.cells.push_back(label_column("host", "host"));
    if (report.ranks > 1) view.cells.push_back(label_column("rank", "rank"));
    for (const auto& [head, label] :
         {std::pair("CPU", "cpu"), std::pair("node", "cpu_node"), std::pair("memory", "memory")})
      view.cells.push_back(label_column(head, label));
    view.cells.push_back(figure_column("", "latency", in_ns));
    views.push_back(std::move(view));
  }
  if (own.tail.asked()) views.push_back(tail_view(own.tail.loads(), {"size", "nodes"}));
  if (kinds.size() < 2) return views;
  for (const CaseGroup& group : groups_of(report, apart({}))) {
    View view;
    view.kind = ViewKind::curve;
    view.where = group.labels;
    view.title =
        fmt::format("Cost of TLB misses in ns: latency with {} pages minus that with others{}",
                    kinds.front().labels.front().second, at_stride(group));
    view.notes = {"one row per size, one column per kind of pages; medians of all workers"};
    view.rows = "size";
    view.columns = "pages";
    view.cells = {label_column("size", "size"),
                  figure_column("", "tlb_cost", in_ns, Part::with_interval)};
    views.push_back(std::move(view));
  }
  return views;
}

std::vector<Fact> facts(const Options& own, const RunReport& report) {
  if (!own.chains.empty()) return chains_facts(report);
  std::vector<Fact> facts = compares_threads(report) ? facts_by(report, "threads")
                            : own.strides.size() > 1 ? facts_by(report, "stride")
                                                     : latency_facts(report);
  // Of the largest size, with the largest pages.
  const ScenarioResult* most = nullptr;
  for (const ScenarioResult& one : report.scenarios)
    if (most == nullptr || one.size >= most->size) most = &one;
  if (!own.tail.asked() || most == nullptr) return facts;
  std::vector<Fact> all = tail_facts(*most, "Idle latency");
  std::ranges::move(facts, std::back_inserter(all));
  return all;
}

/// That the largest of the usual sizes had to be one that a cache holds.
std::vector<Warning> warnings(const Options& own, const RunReport& report) {
  if (!own.has_ladder() || report.scenarios.empty()) return {};
  RunReport largest;
  largest.scenarios = {*std::ranges::max_element(report.scenarios, {}, &ScenarioResult::size)};
  return cache_warnings(largest);
}

}  // namespace

Benchmark make() {
  const Bound<Options> with;
  return {
      .name = "latency",
      .summary = "pointer-chase latency by working-set size",
      .description =
          "Each worker chases pointers in a random cycle through all lines of its own buffer, one "
          "dependent load per step. All workers run concurrently unless --serial is given. Sizes "
          "that fit in a cache show its latency; larger sizes show memory and, with base pages, "
          "TLB misses.",
      .examples = {{"Latency of each cache and of memory", "numatlas latency"},
                   {"How many misses one CPU keeps open at once",
                    "numatlas latency --chains 1-32"}},
      .usual_cpus = "one CPU",
      .usual_threads = "OMP_NUM_THREADS, or one",
      .shown_options = {"--strict"},
      .is_of_memory = true,
      .varies = {.size = "memory of each worker", .usual_size = ladder_words},
      .sweeps = {{.point = with(point),
                  .name = "{size} {pages}[ {chains}][ {threads}][ stride {stride}]",
                  .axes = {{.labels = {"stride"}, .values = with(strides)},
                           {.labels = {}, .values = with(chains)}},
                  .threads = {.label = true},
                  .size = {.form = SizeRule::Form::by_worker,
                           .least = least_chase,
                           .alone = true,
                           .smaller = with(smaller_sizes)}}},
      .add_options = with(add_options),
      .parse_options = with(parse),
      .workers = workers,
      .check = with(check),
      .flow_figures = with(flow_figures),
      .conclude = with(conclude),
      .warnings = with(warnings),
      .views = with(views),
      .facts = with(facts),
      .survey = survey,
      .survey_on_gpus = survey_on_gpus,
  };
}

}  // namespace numatlas::benchmark_latency
