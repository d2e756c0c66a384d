// Atomic operations: what an addition costs when one CPU, a few or all add to the same counter, to
// neighbouring words, or each to its own lines.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "base/text.h"
#include "benchmarks/common.h"
#include "benchmarks/on_gpus.h"
#include "kernels/traits.h"
#include "record/labels.h"
#include "run/benchmark.h"
#include "run/declare.h"
#include "run/executor.h"
#include "run/flows.h"

namespace numatlas::benchmark_atomics {
namespace {

using Sharings = std::vector<Sharing>;

struct Options {
  std::vector<std::string> operations{"fetch-add", "compare-exchange"};
  Sharings sharings{all_sharings.begin(), all_sharings.end()};
  const CLI::App* app = nullptr;
};

void add_options(Options& own, CLI::App& app) { own.app = &app; }

std::vector<Figure> flow_figures(const FlowResult& flow, const Case&) {
  const auto rate = mean_rate(flow, "operation_time");
  if (!rate) return {};
  return {{"operations", "1/s", *rate, std::nullopt}};
}

std::vector<Figure> totals(const Case& visit, const RunReport&) {
  const auto sum = sum_over_flows(visit, "operations", "operations_sum");
  return sum ? std::vector<Figure>{*sum} : std::vector<Figure>{};
}

Expected<void> parse(Options& own, Benchmark& benchmark) {
  const bool chosen = benchmark.given->gpus && own.app->count("--operation") > 0;
  if (chosen && own.operations != std::vector<std::string>{"fetch-add"})
    return fail_usage("--operation", "GPUs add by fetch-add", "leave out either it or --on");
  return {};
}

Expected<Point> point(const PlanInput& input, const AxisSetting& now) {
  const Machine& machine = input.machines.front();
  const auto& home = now.of<NodeChoice>(1);
  const auto count = static_cast<std::uint64_t>(now.threads);
  Point point{.size = whole_pages(machine, counter_bytes(count), now.pages)};
  for (int worker = 0; worker < now.threads; ++worker) {
    KernelSpec kernel = kernel_named(now.of<std::string>());
    auto& counter = kernel.as<CounterParameters>();
    counter.sharing = now.of<Sharing>(2);
    counter.worker = static_cast<std::uint64_t>(worker);
    counter.workers = count;
    Flow& flow = point.flows.emplace_back(
        plain_flow(input, std::move(kernel), worker, *point.size, now.pages));
    flow.region.placement = home.node ? bound_to(*home.node) : worker_of(input, 0).placement.memory;
    if (worker > 0) flow.shares = 0;
  }
  if (home.node) point.skip = nodes_skip(machine, {*home.node}, "choose nodes with --home");
  return point;
}

SurveyPart survey(const Machine& machine) {
  return {0.5,
          {"--home", machine.ordinary_memory_nodes().size() > 1 ? "all" : "first"},
          {{"homes", {"home"}, 1},
           {"numbers of CPUs", {"threads"}, 3},
           {"operations", {"kernel"}, 1, Keep::first}}};
}

std::vector<Table> tables() {
  Table rates{
      .title = "Atomic operations by {kernel}: millions per second (node of the counters: {home})",
      .kind = ViewKind::curve,
      .apart = {"kernel", "home"},
      .rows = "threads",
      .columns = "sharing",
      .cells = {label_column("CPUs", "threads"),
                figure_column("", "operations_sum", in_millions, Part::with_interval)},
      .notes = {"all CPUs together; same: one counter; neighbours: words of the same lines (false "
                "sharing); own: lines of their own; first: the node of the first CPU"}};
  Table times = rates;
  times.title = "Time per operation by {kernel}, in ns (node of the counters: {home})";
  times.cells[1] = figure_column("", "operation_time", in_ns, Part::spread);
  times.notes = {
      "median CPU (lowest-highest): where these differ, some CPUs get the line more often"};
  Table attempts = rates;
  attempts.title = "Attempts per addition by {kernel} (node of the counters: {home})";
  attempts.cells[1] = figure_column("", "attempts", 1);
  attempts.notes = {"1: succeeded at the first attempt"};
  attempts.only = {"kernel=compare-exchange"};
  return {rates, times, attempts};
}

/// One CPU alone; all of them on one counter; what false sharing costs them.
std::vector<Fact> facts(const RunReport& report) {
  const auto cpus_of = [](Sharing sharing) {
    return [sharing](const Case& one) {
      const bool counts = !traits_of(one.kernel).retries &&
                          label_of(one, "sharing") == name_of(sharing) &&
                          estimate_of(one, "operations_sum");
      return counts ? std::optional(static_cast<double>(one.flows.size())) : std::nullopt;
    };
  };
  std::vector<Fact> facts;
  const auto* const alone = lowest_of(report.cases, cpus_of(Sharing::same));
  const auto* const same = highest_of(report.cases, cpus_of(Sharing::same));
  if (alone != nullptr && alone->flows.size() == 1) {
    facts.push_back({"atomic_add_alone",
                     {{"cpus", "1"}},
                     "fetch-add by one CPU alone",
                     "s",
                     *estimate_of(*alone, "operation_time"),
                     "Atomics",
                     "one CPU {} per addition"});
  }
  if (same == nullptr || same->flows.size() < 2) return facts;
  const std::string cpus = std::to_string(same->flows.size());
  facts.push_back({"atomic_add_contended",
                   {{"cpus", cpus}},
                   fmt::format("fetch-add by {} CPUs to one counter, together", cpus),
                   "1/s",
                   *estimate_of(*same, "operations_sum"),
                   "Atomics",
                   fmt::format("{} CPUs on one counter {{}} together", cpus)});
  const auto* const near = highest_of(report.cases, cpus_of(Sharing::neighbours));
  const auto* const own = highest_of(report.cases, cpus_of(Sharing::own));
  if (near == nullptr || own == nullptr || near->flows.size() != own->flows.size()) return facts;
  const std::string sharers = std::to_string(near->flows.size());
  facts.push_back(
      {"false_sharing_times",
       {{"cpus", sharers}},
       fmt::format("an addition by {} CPUs to neighbouring words, against lines of their own",
                   sharers),
       "1",
       ratio_of(*estimate_of(*own, "operations_sum"), *estimate_of(*near, "operations_sum")),
       "Atomics",
       fmt::format("false sharing slows {} CPUs {{}}", sharers)});
  return facts;
}

// By GPUs -----------------------------------------------------------------------------------------

/// One thread, those of a warp, of a block, and as many as a GPU has at a time.
std::vector<AxisValue> gpu_threads(const PlanInput& input) {
  constexpr std::uint64_t warp = 32, block = DeviceCounterParameters::block,
                          of_multiprocessor = 1024;
  std::vector<AxisValue> values;
  for (const std::uint64_t threads :
       {std::uint64_t{1}, warp, block,
        static_cast<std::uint64_t>(multiprocessors_of_gpus(input)) * of_multiprocessor})
    values.push_back(
        {{std::to_string(threads)}, threads, true, {{"count", count_text(threads, "thread")}}});
  return values;
}

Expected<Point> gpu_counters(const PlanInput& input, const AxisSetting& now) {
  // A launch takes a millisecond or so.
  constexpr std::uint64_t adds_of_launch = 1 << 22, adds_of_launch_at_host = 1 << 18,
                          fewest_adds = 16, most_adds = 4096;
  const bool of_host = is_of_host(now);
  DeviceCounterParameters work;
  work.sharing = now.of<Sharing>();
  work.threads = now.of<std::uint64_t>(1);
  work.adds = std::clamp((of_host ? adds_of_launch_at_host : adds_of_launch) / work.threads,
                         fewest_adds, most_adds);
  AxisSetting sized = now;
  sized.size =
      whole_pages(input.machines.front(), work.bytes(), of_host ? now.pages : PageKind::base);
  Point point = gpu_point(input, sized, [&](int gpu) -> std::vector<KernelSpec> {
    work.gpu = gpu;
    return {{work}};
  });
  point.size = sized.size;
  return point;
}

/// What a GPU's threads do in a second to one counter, and to lines of their own.
std::vector<Fact> facts_on_gpus(const RunReport& report) {
  std::vector<Fact> facts;
  for (const CaseGroup& group : groups_of(report, {"gpus", "memory"})) {
    const std::string gpu = label_of(*group.cases.front(), "gpus"),
                      memory = label_of(*group.cases.front(), "memory");
    for (const auto& [sharing, key, words] :
         {std::tuple(Sharing::same, "gpu_atomic_add_contended", "one counter"),
          std::tuple(Sharing::own, "gpu_atomic_add_own", "lines of their own")}) {
      const auto threads = [its = sharing](const Case* one) {
        const bool counts =
            label_of(*one, "sharing") == name_of(its) && host_estimate_of(*one, "operations_sum");
        return counts ? std::optional(std::stod(label_of(*one, "threads"))) : std::nullopt;
      };
      const auto* const found = highest_of(group.cases, threads);
      if (found == nullptr) continue;
      const Case& widest = **found;
      facts.push_back(
          {key,
           {{"gpu", gpu}, {"memory", memory}},
           fmt::format("fetch-add by {} threads of GPU {} to {} in {}", label_of(widest, "threads"),
                       gpu, words, on_gpus::memory_words(memory)),
           "1/s",
           *host_estimate_of(widest, "operations_sum"),
           "Atomics of GPU " + gpu,
           fmt::format("{{}} to {}", words)});
    }
  }
  return facts;
}

void by_gpus(const Axis& sharing, Benchmark& its) {
  its.sweeps = {{.point = gpu_counters,
                 .name = "gpu {gpus} fetch-add {sharing} {count} memory {memory}",
                 .axes = {sharing.again(), {{"threads"}, gpu_threads}}}};
  its.shown.tables = {
      {.title = "Atomic additions by GPU {gpus} (memory: {memory|place}): millions per second",
       .kind = ViewKind::curve,
       .apart = {"gpus", "memory"},
       .rows = "threads",
       .columns = "sharing",
       .cells = {label_column("threads", "threads"),
                 figure_column("", "operations_sum", in_millions, Part::with_interval)},
       .notes = {"all threads together; same: one counter; neighbours: words of the same lines; "
                 "own: lines of their own"}}};
  its.shown.facts = facts_on_gpus;
}

}  // namespace

Benchmark make() {
  const Bound<Options> with;
  const Axis sharing =
      choice_axis("sharing", "--sharing", named(Sharings(all_sharings.begin(), all_sharings.end())),
                  with.of(&Options::sharings),
                  "what the CPUs add to: one counter, words in the same cache lines, or words in "
                  "lines of their own");
  return {
      .name = "atomics",
      .help =
          {.summary = "atomic operations per second by number of CPUs",
           .listing = {Topic::caches},
           .description =
               "One CPU, then more of them add to counters in memory at the same time: to one "
               "counter (same), to words of their own in the same cache lines (neighbours: false "
               "sharing), or to words in lines of their own (own). The counters' final values are "
               "compared with the number of additions. Without --cpus there is one CPU per core, "
               "in the order of the nodes.",
           .examples = {{"Fetch-add by 1, 2, 4, ... and all cores, contended and uncontended",
                         "numatlas atomics --operation fetch-add"},
                        {"One counter for eight CPUs, with its cache line on each node in turn",
                         "numatlas atomics --sharing same --threads 8 --home all"}}},
      .options = {.usual_cpus = "cores",
                  .usual_threads = "1, 2, 4 and so on to all CPUs",
                  .one_kind_of_pages = true,
                  .time = {"10s", true}},
      .runs_together = true,
      .sweeps = {{.point = point,
                  .name = "{kernel} {sharing} {threads}[ node {at}]",
                  .axes = {choice_axis("kernel", "--operation",
                                       named({"fetch-add", "compare-exchange"}),
                                       with.of(&Options::operations),
                                       "how a CPU adds: by an atomic addition, or by a "
                                       "compare-and-swap that is retried until it succeeds"),
                           node_axis("home", "--home", "first", "counters",
                                     "node of the counters: that of the first CPU, each in turn "
                                     "(all), or these (0,2) in turn"),
                           sharing},
                  .threads = {.label = true, .word = "CPU", .usual = counts_of_cpus}}},
      .by_gpus = ByGpus{.change = [sharing](Benchmark& its) { by_gpus(sharing, its); },
                        .cpu_options = {"--home"}},
      .add_options = with(add_options),
      .parse_options = with(parse),
      .workers = worker_on_every_core,
      .figures = {.of_flow = flow_figures, .totals = totals},
      .shown = {.tables = tables(), .facts = facts},
      .survey = survey,
  };
}

}  // namespace numatlas::benchmark_atomics
