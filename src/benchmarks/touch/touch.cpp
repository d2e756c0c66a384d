// First touch: memory lies on the node of the CPU that touches it first. What it costs a worker to
// use memory that another touched, alone and while the others do the same.
#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "base/units.h"
#include "benchmarks/common.h"
#include "kernels/kernel.h"
#include "kernels/traits.h"
#include "record/labels.h"
#include "run/benchmark.h"
#include "run/declare.h"
#include "run/flows.h"

namespace numatlas::benchmark_touch {
namespace {

constexpr double touch_line = 64;  // bytes; as the kernels count lines

/// Seconds for a line, from the flow's first figure.
std::optional<Estimate> seconds_per_line(const FlowResult& flow) {
  if (const Figure* latency = find_figure(flow, "latency")) return latency->estimate;
  const Figure* const bandwidth = find_figure(flow, "bandwidth");
  if (bandwidth == nullptr || !(bandwidth->value().value_or(0) > 0)) return std::nullopt;
  const auto bytes = static_cast<double>(traffic_per_step(kernel_named(flow.kernel)).counted());
  // An update reads and writes the same line; the others' bytes are each of a line of their own.
  const bool in_place = traits_of(flow.kernel).in_place;
  return divided_into(in_place ? bytes : touch_line, *bandwidth->estimate);
}

/// The worker that touches first what `worker` of `workers` then uses: itself ("own"), worker 0
/// ("other"), or the next one ("crossed").
int toucher_of(const std::string& pattern, int worker, int workers) {
  if (pattern == "other") return 0;
  return pattern == "crossed" ? (worker + 1) % workers : worker;
}

/// Whether a ratio differs from 1 by more than its interval.
bool is_told(const Estimate& ratio) {
  return ratio.low && ratio.high && (*ratio.low > 1 || *ratio.high < 1);
}

/// What memory that another worker touched first costs, against one's own.
Against against_own() { return {"times_as_long_as_own", "access_time", "pattern", "own"}; }

/// "access_time" and "pass_time" in s: for a line of 64 bytes, read, written, or both; and for as
/// many as the size holds. Nothing where nothing was measured.
std::vector<Figure> flow_figures(const FlowResult& flow, const Case& one) {
  const auto access = seconds_per_line(flow);
  if (!access) return {};
  const double lines = static_cast<double>(one.size.value) / touch_line;
  return {{"access_time", "s", *access, std::nullopt},
          {"pass_time", "s", scaled(*access, lines), std::nullopt}};
}

/// CPUs of the nodes in turn, and as many as there are main nodes.
PlacementSpec placement(const RunOptions& options, const Machine& machine) {
  PlacementSpec spec = options.placement;
  const auto cpus = resolve_cpus(spec.cpus, machine, TaskContext{});
  if (!cpus) return spec;
  std::size_t wanted = cpus->size();
  if (spec.cpus.is_default) {
    std::map<int, int> seen;
    std::vector<std::pair<int, int>> ranked;  // how many of its node come before it; itself
    for (CpuId id : *cpus) {
      const Cpu* const cpu = machine.find_cpu(id);
      ranked.emplace_back(seen[cpu == nullptr ? -1 : cpu->node.value]++, id.value);
    }
    std::stable_sort(ranked.begin(), ranked.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    std::vector<int> list;
    for (const auto& [before, id] : ranked) list.push_back(id);
    CpuSet all;
    for (CpuId id : *cpus) all.insert(id);
    const std::size_t main = machine.main_nodes(machine.nodes_of(all)).size();
    wanted = std::min(list.size(), std::max<std::size_t>(2, main));
    spec.cpus = {CpuSpec::Form::list, {list}, false};
  }
  if (!spec.threads) spec.threads = static_cast<int>(wanted);
  return spec;
}

Expected<Workers> workers(const RunOptions& options, const Machine& machine,
                          const TaskContext& task) {
  return resolve_placement(placement(options, machine), machine, task, 0);
}

constexpr const char* on_one_node = "all CPUs are on one node, so first touch makes no difference";

/// Error (unavailable): nobody chose the CPUs, and all of them are on one node.
Expected<void> check_nodes_differ(const PlanInput& input) {
  const PlacementSpec& asked = input.options.placement;
  if (!asked.cpus.is_default || asked.threads || worker_nodes(input).size() != 1) return {};
  return fail_about(ErrorKind::unavailable, "touch", on_one_node,
                    "it requires a machine with several NUMA nodes; --cpus names CPUs to measure "
                    "in any case");
}

Expected<void> check(const PlanInput& input) {
  TRY(check_one_process(input, "touch"));
  TRY(distinct_cpus(input, "touch"));
  return check_nodes_differ(input);
}

/// The workers that run: each alone, and all together.
Expected<std::vector<AxisValue>> runs(const PlanInput& input) {
  const std::vector<int> all = all_workers(input.layout);
  std::vector<AxisValue> runs;
  for (int worker : all) {
    const std::string who = all.size() > 1 ? fmt::format("worker {}", worker) : "";
    runs.push_back({{"alone"}, std::vector{worker}, true, {{"who", who}}});
  }
  if (all.size() > 1 && !input.options.serial) runs.push_back({{"together"}, all});
  return runs;
}

Expected<Point> point(const PlanInput& input, const AxisSetting& now) {
  const auto workers = static_cast<int>(input.layout.workers.size());
  const auto& pattern = now.of<std::string>(1);
  Point point;
  if (workers < 2 && pattern != "own")
    point.skip =
        Error{ErrorKind::unavailable,
              "there is only one worker, so no other can touch its memory first (--cpus)", ""};
  for (const int worker : now.of<std::vector<int>>(2)) {
    Flow& flow = point.flows.emplace_back(
        access_flow(input, now.of<std::string>(), worker, now.size, now.pages));
    const int toucher = toucher_of(pattern, worker, workers);
    if (toucher != worker) flow.first_touch = toucher;
  }
  return point;
}

std::string remarks(const RunReport& report, const RunOptions& options) {
  std::string text;
  const auto& asked = options.placement.memory;
  const bool by_option =
      asked &&
      (asked->form != MemorySpec::Form::single || !asked->single.source.empty() ||
       (asked->single.mode != MemoryMode::local && asked->single.mode != MemoryMode::inherit));
  // Unasked, it is inherited only where there is a policy.
  const bool by_policy = !asked && report.workers.front().memory.starts_with("inherit");
  if (by_option || by_policy) {
    text += fmt::format(
        "warning: {} determines where the memory lies, so the first touch does not; use --memory "
        "local to let the first touch decide\n",
        by_option ? "--memory" : "the inherited memory policy (numactl or the launcher)");
  }
  return text;
}

SurveyPart survey(const Machine& machine) {
  if (machine.nodes_of(machine.usable_cpus()).size() < 2) return {.reason = on_one_node};
  constexpr Bytes least{64 * mib};  // each point has its memory made anew
  const Bytes size = std::max(least, first_cpu_of_each_node(machine, least).past_caches);
  return {1, {"--size", compact_text(size)}, {{"CPUs", {"worker"}, 2}}};
}

std::string cpu_words(const RunReport& report, int index) {
  const WorkerRow& worker = report.workers[static_cast<std::size_t>(index)];
  return fmt::format("CPU {} (node {})", to_list(worker.cpus),
                     worker.cpu_node.value < 0 ? "-" : std::to_string(worker.cpu_node.value));
}

/// One row per worker and case.
Table table() {
  return {
      .title =
          "Memory used by a worker and first touched by the same or another ({kernel}, "
          "{size}, pages {pages})",
      .level = ViewLevel::flows,
      .apart = {"kernel", "size", "pages"},
      .cells = {label_column("pattern", "pattern"), label_column("run", "run"),
                label_column("worker", "worker"), label_column("CPU", "cpu"),
                label_column("node", "cpu_node"), label_column("touched by", "first_touch"),
                label_column("pages on", "memory_node"),
                figure_column("ms/pass", "pass_time", 1e3, Part::value, 3),
                figure_column("ns/access", "access_time", in_ns),
                figure_column("GB/s", "bandwidth", in_gb_per_s),
                figure_column(plus_minus(), "access_time", in_ns, Part::half_width),
                figure_column("times own", "times_as_long_as_own", 1, Part::with_interval, 2)},
      .notes = {"access: one line of 64 bytes, read, written or both; a pass: all lines",
                "run: alone, the others sleep; together, all at the same time",
                "times own: how many times as long as to memory that the worker touched itself"}};
}

/// The worst of those that ran alone, and what an access to its own memory takes.
std::vector<Fact> facts(const RunReport& report) {
  std::vector<Fact> worst;
  for (const Case& one : report.cases) {
    if (label_of(one, "pattern") == "own" || label_of(one, "run") != "alone") continue;
    for (const FlowResult& flow : one.flows) {
      const Figure* const cost = find_figure(flow, "times_as_long_as_own");
      if (cost == nullptr || !cost->estimate || !flow.first_touch) continue;
      const Estimate& times = *cost->estimate;
      if (!worst.empty() && times.value <= worst.front().estimate.value) continue;
      const FlowResult* const own_flow = find_against(against_own(), report, one, flow);
      const Figure* const own =
          own_flow == nullptr ? nullptr : find_figure(*own_flow, "access_time");
      const std::string user = cpu_words(report, flow.worker);
      const std::string toucher = cpu_words(report, *flow.first_touch);
      const std::string cache = cache_text(one).empty() ? "" : " in " + cache_text(one);
      worst = {
          {"first_touch_times",
           {{"used_by", user}, {"touched_by", toucher}},
           fmt::format("an access by {} to memory first touched by {}, relative to memory that "
                       "it touched itself",
                       user, toucher),
           "1",
           times,
           "First touch",
           fmt::format("memory touched by another at worst {{}} as slow ({}used by "
                       "{}, touched by {})",
                       is_told(times) ? "" : "no significant difference; ", user, toucher)}};
      if (own == nullptr || !own->estimate) continue;
      worst.push_back({"first_touch_own",
                       {{"used_by", user}},
                       fmt::format("an access by {} to memory that it touched itself", user),
                       own->unit,
                       *own->estimate,
                       "First touch",
                       fmt::format("own memory{} {{}} per access", cache)});
    }
  }
  return worst;
}

}  // namespace

Benchmark make() {
  using Words = std::vector<std::string>;
  return {
      .name = "touch",
      .help =
          {.summary = "cost of memory first touched by another CPU",
           .listing = {Topic::memory, true},
           .description =
               "The kernel places a page on the node of the CPU that first touches it. Workers use "
               "memory first touched by themselves (own), by worker 0 (other) and by the next "
               "worker (crossed), each alone and then all together; each has its own region. "
               "Without --cpus, one CPU of each NUMA node runs a worker; on a single node nothing "
               "is measured.",
           .examples = {{"All patterns, on all nodes", "numatlas touch"},
                        {"A CPU of each of two nodes, and plain reads as well",
                         "numatlas touch --cpus 0,32 --kernel scatter,read"}}},
      .options = {.refused = {{"--threads", "touch accepts one number", "run it once for each",
                               true}},
                  .usual_cpus = "one per node"},
      .is_of_memory = true,
      .varies = {.size = "memory of each worker", .usual_size = chase_past_caches_words},
      .sweeps = {{.point = point,
                  .name = "{pattern} {kernel} {size} {pages} {run}[ {who}]",
                  .axes = {choice_axis(
                               "kernel", "--kernel",
                               named({"scatter", "update", "chase", "read", "write", "copy",
                                      "triad"}),
                               Words{"scatter"},
                               "access pattern: scatter updates a word per line, far from the "
                               "last; update every word\n"
                               "scatter advances about 57 lines each time, wrapping around, so "
                               "that prefetchers hide little of it and updates do not wait for "
                               "each other; update goes line by line; the others are those of "
                               "`numatlas latency` and `numatlas bandwidth`"),
                           choice_axis("pattern", "--pattern", named({"own", "other", "crossed"}),
                                       Words{"own", "other", "crossed"},
                                       "which worker first touches a worker's memory: itself "
                                       "(own), worker 0 (other), or the next one (crossed)\nCosts "
                                       "are relative to own"),
                           {.labels = {"run"}, .values = runs}},
                  .size = {.form = SizeRule::Form::in_plan, .least = least_chase, .alone = true},
                  .may_be_serial = false}},
      .workers = workers,
      .check = check,
      .figures = {.against = {against_own()}, .of_flow = flow_figures},
      .shown = {.tables = {table()}, .facts = facts, .remarks = remarks},
      .survey = survey,
  };
}

}  // namespace numatlas::benchmark_touch
